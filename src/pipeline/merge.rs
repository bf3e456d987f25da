//! From the answers of reviewers to the numbered findings of a round.
//!
//! Words of other scales become tags, places get their anchors, what several reviewers mean alike becomes one finding
//! (`rules::consensus`), and reversals and findings that were ruled on earlier are recognised. Nothing is dropped: a
//! finding that anybody calls mandatory stays mandatory, whatever the others say.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::config::settings::{Advisories, Settings};
use crate::domain::{
    Advised, AgentName, Anchor, Confidence, Corroboration, Disposition, DisputeNumber, Finding, FindingId,
    Position, RawFinding, Role, Severity, Tag, Untrusted,
};
use crate::event::{CallAnswer, CallId, EventKind, Purpose};
use crate::journal::Binding;
use crate::pipeline::edits;
use crate::pipeline::sources::Sources;
use crate::pipeline::state::State;
use crate::protocol::{claims, review};
use crate::rules::consensus::identity::Profile;
use crate::rules::consensus::{self, Checked, Claim, Consensus, Debate, Decision, Level, Policy, Standing};
use crate::rules::{mandatory, reversal};
use crate::workspace::blocks::Blocks;
use crate::workspace::{Workspace, advisories, citation};

/// Who raises what Glee itself has to say.
const GLEE: &str = "glee";

#[derive(Clone, Debug)]
pub(crate) struct Lists {
    pub(crate) mandatory: Vec<String>,
    pub(crate) optional: Vec<String>,
    pub(crate) policy: Policy,
}

impl Lists {
    pub(crate) fn of(settings: &Settings) -> Self {
        let review = &settings.review;
        Self { mandatory: review.mandatory(), optional: review.optional(), policy: review.consensus.policy }
    }
}

pub(crate) struct Bench<'a> {
    pub(crate) state: &'a State,
    pub(crate) round: u32,
    pub(crate) lists: &'a Lists,
    pub(crate) sources: &'a Sources,
    pub(crate) workspace: &'a Workspace,
}

pub(crate) struct Raised {
    /// Where it was read: the call and the place in its answer.
    pub(crate) said: String,
    pub(crate) finding: Finding,
}

impl Bench<'_> {
    /// The events that merging the answered reviews of a round brings.
    pub(crate) fn merge(&self, bindings: &[Binding]) -> Vec<EventKind> {
        let raised = self.unmerged();
        let claims = self.claims(&raised);
        let debate = self.debate();
        let consensus = consensus::merge(&claims, &debate, &self.paths(), self.lists.policy);
        let mut findings: Vec<Finding> = self.findings(&raised, &claims, &consensus);
        let waiting = Waiting::of(self.state);
        findings.retain(|finding| !waiting.has(finding));
        findings.sort_by(|a, b| {
            let key = |f: &Finding| (f.raw.file.is_none(), f.raw.file.clone(), f.raw.line, f.raw.severity.tag);
            key(a).cmp(&key(b))
        });
        let first = self.state.findings.iter().map(|finding| finding.id.0).max().unwrap_or(0) + 1;
        for (number, finding) in (first..).zip(&mut findings) {
            finding.id = FindingId(number);
        }
        let ruled = earlier(&findings, bindings, self.lists);
        std::iter::once(EventKind::FindingsMerged { round: self.round, findings }).chain(ruled).collect()
    }

    pub(crate) fn unmerged(&self) -> Vec<Raised> {
        let unmerged: BTreeSet<&CallId> = self.state.unmerged().collect();
        let mut raised = self.raised(|id| unmerged.contains(id));
        if self.state.merged.is_empty() {
            raised.extend(self.own());
        }
        raised
    }

    /// The event that asking the databases about security findings brings, each finding asked about once (phase 6);
    /// says so where they cannot be asked.
    pub(crate) fn advise(&self, raised: &[Raised], databases: &Advisories) -> Option<EventKind> {
        let mut claims: Vec<Claim> = raised.iter().map(|raised| self.claim(raised)).collect();
        claims.retain(|claim| !self.state.advised.contains_key(&claim.id));
        if let Err(error) = advisories::check(&mut claims, self.workspace, databases) {
            let cause = std::error::Error::source(&error).map(|cause| format!(" ({cause})")).unwrap_or_default();
            let text = format!("{error}{cause}: no finding was checked against them");
            return (!self.state.notices.contains(&text)).then_some(EventKind::Notice { text });
        }
        let answers = claims.into_iter().map(|claim| (claim.id, claim.checked.advisory));
        let answers: BTreeMap<_, _> = answers.filter(|(_, said)| *said != Advised::Unasked).collect();
        (!answers.is_empty()).then_some(EventKind::AdvisoriesAsked { answers })
    }

    /// What the answers to these calls raise, the better of two attempts each, reviewer by reviewer.
    pub(crate) fn raised(&self, wanted: impl Fn(&CallId) -> bool) -> Vec<Raised> {
        let mut best: BTreeMap<(&AgentName, &Purpose), (bool, &CallId, &[RawFinding])> = BTreeMap::new();
        for (id, call) in self.state.calls.iter().filter(|(id, _)| wanted(id)) {
            let CallAnswer::Review { status, findings, .. } = &call.answer else { continue };
            let answer = (status.is_complete(), id, findings.as_slice());
            let known = best.entry((&id.agent, &id.purpose)).or_insert(answer);
            if (known.0, known.2.len()) <= (answer.0, answer.2.len()) {
                *known = answer;
            }
        }
        self.complete(best.into_values().flat_map(|(_, id, findings)| {
            let stem = id.file_stem();
            findings.iter().enumerate().map(move |(index, raw)| (format!("{stem}/{index}"), &id.agent, raw))
        }))
    }

    pub(crate) fn own(&self) -> Vec<Raised> {
        let (own, glee) = (self.state.plan.iter().flat_map(|plan| &plan.own).enumerate(), AgentName::from(GLEE));
        self.complete(own.map(|(index, raw)| (format!("{GLEE}/{index}"), &glee, raw)))
    }

    pub(crate) fn debate(&self) -> Debate {
        let reviewers = self.state.agents(Role::Reviewer).map(|agent| agent.name.0.clone()).collect();
        Debate { reviewers, ..Debate::default() }
    }

    pub(crate) fn paths(&self) -> Vec<String> {
        let round = usize::try_from(self.round - 1).ok().and_then(|round| self.state.rounds.get(round));
        let covered = round.into_iter().flatten().flatten();
        covered.map(|file| file.file.clone()).collect()
    }

    /// What was raised, each with where it was said and by whom, with its place in the tree. A file is read once,
    /// whatever the number of findings in it.
    pub(crate) fn complete<'r>(
        &self,
        said: impl Iterator<Item = (String, &'r AgentName, &'r RawFinding)>,
    ) -> Vec<Raised> {
        let mut known: HashMap<&str, Option<String>> = HashMap::new();
        let mut by_file: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        let mut all = Vec::new();
        for (said, by, raw) in said {
            let mut finding = self.unplaced(by.clone(), raw.clone());
            let mut named = raw.file.as_deref();
            if raw.line.is_none()
                && let Some((path, line, end_line)) = named.and_then(review::split)
                && known.entry(path).or_insert_with(|| self.known_path(path)).is_some()
            {
                named = Some(path);
                (finding.raw.line, finding.raw.end_line) = (Some(line), end_line);
            }
            if let Some(named) = named
                && let Some(path) = known.entry(named).or_insert_with(|| self.known_path(named))
            {
                finding.raw.file = Some(path.clone());
                by_file.entry(path.clone()).or_default().push(all.len());
            }
            all.push(Raised { said, finding });
        }
        for (path, indices) in by_file {
            let text = self.text(&path);
            let blocks = Blocks::of(&path, &text);
            for index in indices {
                let finding = &mut all[index].finding;
                finding.anchor = Some(blocks.anchor(&finding.raw));
            }
        }
        all
    }

    fn unplaced(&self, raised_by: AgentName, mut raw: RawFinding) -> Finding {
        raw.severity = mandatory::normalised(raw.severity);
        let is_mandatory = mandatory::is_mandatory(&raw.severity, &self.lists.mandatory, &self.lists.optional);
        Finding {
            id: FindingId(0),
            raw,
            mandatory: is_mandatory,
            raised_by: vec![raised_by],
            round: self.round,
            anchor: None,
            reverses: None,
            consensus: None,
        }
    }

    fn text(&self, path: &str) -> String {
        let reviewed = self.sources.file(self.round, path).map(|source| source.text.clone());
        reviewed.or_else(|| self.workspace.read(path)).unwrap_or_default()
    }

    /// The path inside the tree that a finding names: as it stands, or a bare name that one file under review has;
    /// `None` for one that does not exist there.
    fn known_path(&self, path: &str) -> Option<String> {
        // Quotes and backticks around a path are no part of it.
        let path = path.trim().trim_matches(['`', '"', '\'']);
        let plain = path.strip_prefix("./").unwrap_or(path);
        if self.sources.file(self.round, plain).is_some() {
            return Some(plain.to_owned());
        }
        self.workspace.resolve(path).or_else(|| {
            let round = usize::try_from(self.round - 1).ok().and_then(|round| self.state.rounds.get(round));
            let covered = round.into_iter().flatten().flatten().map(|file| &file.file);
            let mut named = covered.filter(|known| known.rsplit('/').next() == Some(plain));
            named.next().filter(|_| named.next().is_none()).cloned()
        })
    }

    /// The claims of the findings, in their order, checked against the code.
    pub(crate) fn claims(&self, raised: &[Raised]) -> Vec<Claim> {
        let mut claims: Vec<Claim> = raised.iter().map(|raised| self.claim(raised)).collect();
        let mut by_file: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (index, Raised { finding, .. }) in raised.iter().enumerate() {
            if let Some(anchor) = &finding.anchor {
                by_file.entry(&anchor.file).or_default().push(index);
            } else if finding.raw.file.is_some() {
                claims[index].checked.place = Some(false);
            }
        }
        for (file, indices) in by_file {
            let text = self.text(file);
            let blocks = Blocks::of(file, &text);
            for index in indices {
                citation::check(&mut claims[index], &text, &blocks);
            }
        }
        claims
    }

    fn claim(&self, Raised { said, finding }: &Raised) -> Claim {
        let raw = &finding.raw;
        let model = finding.raised_by.first().map(|name| name.0.clone()).unwrap_or_default();
        let agent = self.state.agents(Role::Reviewer).find(|agent| agent.name.0 == model);
        // A reviewer's name is the user's word; its model or its program says who made it.
        let vendor = agent.map(|agent| {
            let program = agent.command.first().map(String::as_str).unwrap_or_default();
            consensus::vendor(agent.model.as_deref().unwrap_or(program))
        });
        let mut description = raw.body.as_written().to_owned();
        for evidence in &raw.evidence {
            description.push('\n');
            description.push_str(evidence.as_written());
        }
        Claim {
            id: said.clone(),
            model,
            vendor,
            file: raw.file.clone(),
            line: raw.line,
            end_line: raw.end_line,
            block: None,
            severity: Some(Level::of(raw.severity.tag)),
            confidence: raw.confidence.map(Confidence::get),
            category: raw.category.clone(),
            rule: raw.rule.clone(),
            title: raw.title.as_written().to_owned(),
            description,
            suggestion: raw.suggestion.as_ref().map(|text| text.as_written().to_owned()).unwrap_or_default(),
            denies: claims::denies(raw.title.as_written()),
            observed: false,
            checked: Checked {
                confirmed: raw.rule.is_some(),
                advisory: self.state.advised.get(said).cloned().unwrap_or_default(),
                ..Checked::default()
            },
        }
    }

    pub(crate) fn findings(&self, raised: &[Raised], claims: &[Claim], consensus: &Consensus) -> Vec<Finding> {
        let reviewers = self.state.agents(Role::Reviewer).count();
        consensus
            .decisions
            .iter()
            .map(|decision| {
                let mut finding = fold(raised, claims, decision);
                self.take_advice(&mut finding, &decision.advised);
                if reviewers > 1 {
                    finding.consensus = Some(corroboration(raised, claims, decision, reviewers));
                }
                finding.reverses = reversed(self.state, &finding);
                finding
            })
            .collect()
    }
}

impl Bench<'_> {
    /// What an advisory says goes with the evidence; the severity of what is patched falls by one.
    fn take_advice(&self, finding: &mut Finding, advised: &Advised) {
        finding.raw.evidence.extend(advised.note().map(Untrusted::from));
        if let Advised::Patched { .. } = advised {
            let tag = match Level::of(finding.raw.severity.tag).lower() {
                Level::Critical => Tag::Critical,
                Level::High => Tag::High,
                Level::Medium => Tag::Medium,
                Level::Low => Tag::Low,
            };
            finding.raw.severity = Severity::known(tag);
            let (must, may) = (&self.lists.mandatory, &self.lists.optional);
            finding.mandatory = mandatory::is_mandatory(&finding.raw.severity, must, may);
        }
    }
}

/// The one finding of a decision: a rule's where one matched, else that of the surest reviewer. The gravest severity
/// that makes it mandatory stands, all names and all evidence stay.
fn fold(raised: &[Raised], claims: &[Claim], decision: &Decision) -> Finding {
    let members = || decision.members.iter().map(|at| &raised[*at].finding);
    let all = || decision.members.iter().chain(&decision.repeats).map(|at| &raised[*at].finding);
    let lead = members().find(|finding| finding.raw.rule.is_some()).or_else(|| members().next());
    let mut finding = lead.expect("a decision has members").clone();
    let affirming = || decision.members.iter().chain(&decision.repeats).filter(|at| !claims[**at].denies);
    let gravest = affirming()
        .map(|at| &raised[*at].finding)
        .filter(|other| other.mandatory)
        .min_by_key(|other| other.raw.severity.tag);
    let agreed = || members().find(|other| Level::of(other.raw.severity.tag) == decision.severity);
    if let Some(other) = gravest.or_else(agreed) {
        finding.raw.severity = other.raw.severity.clone();
        finding.mandatory = other.mandatory;
    }
    if finding.raw.rule.is_none() {
        let said = |at: usize| raised.get(at).map(|raised| &raised.finding.raw);
        if let Some(detailed) = said(decision.described_by) {
            finding.raw.body = decision.revised.clone().map_or_else(|| detailed.body.clone(), Untrusted::from);
        }
        finding.raw.suggestion = said(decision.suggested_by).and_then(|raw| raw.suggestion.clone());
    }
    for other in all() {
        for name in &other.raised_by {
            if !finding.raised_by.contains(name) {
                finding.raised_by.push(name.clone());
            }
        }
        for evidence in &other.raw.evidence {
            if !finding.raw.evidence.contains(evidence) {
                finding.raw.evidence.push(evidence.clone());
            }
        }
    }
    finding
}

fn corroboration(raised: &[Raised], claims: &[Claim], decision: &Decision, reviewers: usize) -> Corroboration {
    let position = |at: &usize| Position {
        said: raised[*at].said.clone(),
        reviewer: raised[*at].finding.raised_by.first().expect("a raised finding has its raiser").clone(),
        severity: raised[*at].finding.raw.severity.clone(),
        confidence: raised[*at].finding.raw.confidence,
        denies: claims[*at].denies,
    };
    let mut positions: Vec<Position> = decision.members.iter().map(position).collect();
    positions.sort_by(|a, b| a.reviewer.cmp(&b.reviewer));
    Corroboration {
        class: decision.class,
        reviewers: u32::try_from(reviewers).unwrap_or(u32::MAX),
        positions,
        confirmed_by: decision.supporters.iter().map(|name| AgentName::from(name.as_str())).collect(),
        confidence: decision.confidence.map(|sure| Confidence::clamped(i64::from(sure))),
        formula: decision.formula.clone(),
        score: decision.score,
        why: decision.why.clone(),
        would_decide: decision.reversal.clone(),
        notes: decision.notes.clone(),
        escalate: decision.escalate,
        doubted: decision.challenge.is_some() || matches!(decision.standing, Standing::Conflicted(_)),
        withdrawn: decision.withdrawn,
    }
}

/// Whether two findings of a place that does not exist in the tree say the same.
fn is_same(a: &Finding, b: &Finding) -> bool {
    a.raw.file.is_some() && a.raw.file == b.raw.file && a.raw.line == b.raw.line && a.raw.title == b.raw.title
}

/// The findings of this run that the coder will be given again anyway.
pub(crate) struct Waiting<'a> {
    anchored: HashMap<(&'a str, &'a str), Vec<Profile<'a>>>,
    all: HashMap<(Option<&'a str>, Option<u32>), Vec<&'a Finding>>,
}

impl<'a> Waiting<'a> {
    pub(crate) fn of(state: &'a State) -> Self {
        let mut waiting = Self { anchored: HashMap::new(), all: HashMap::new() };
        let open = state
            .findings
            .iter()
            .filter(|earlier| !state.finding_state(earlier).is_closed() && state.dispute_of(earlier.id).is_none());
        for earlier in open {
            waiting.all.entry((earlier.raw.file.as_deref(), earlier.raw.line)).or_default().push(earlier);
            if let Some(anchor) = &earlier.anchor {
                waiting.anchored.entry((&anchor.file, &anchor.block)).or_default().push(Profile::of(anchor));
            }
        }
        waiting
    }

    /// Whether a finding of a later round repeats one of them.
    pub(crate) fn has(&self, finding: &Finding) -> bool {
        let at_its_place = self.all.get(&(finding.raw.file.as_deref(), finding.raw.line)).into_iter().flatten();
        let unanchored = at_its_place
            .filter(|earlier| earlier.anchor.is_none() || finding.anchor.is_none())
            .any(|earlier| is_same(earlier, finding));
        unanchored
            || finding.anchor.as_ref().is_some_and(|anchor| {
                let known = self.anchored.get(&(anchor.file.as_str(), anchor.block.as_str()));
                let profile = Profile::of(anchor);
                known.into_iter().flatten().any(|earlier| earlier.likeness(&profile).is_some())
            })
    }
}

/// The earlier finding of this run that a finding asks to undo.
fn reversed(state: &State, finding: &Finding) -> Option<FindingId> {
    let file = finding.raw.file.as_deref()?;
    let lines = finding.raw.line.map(|line| (line, finding.raw.end_line.unwrap_or(line)));
    let said = [Some(&finding.raw.title), Some(&finding.raw.body), finding.raw.suggestion.as_ref()];
    let text = said.map(|text| text.map_or("", Untrusted::as_written)).join("\n");
    state.tree_changes.iter().rev().find_map(|change| {
        let edit = change.changes.iter().filter_map(edits::edit_of).find(|edit| edit.file == file)?;
        if !reversal::reverses(file, lines, &text, &edit) {
            return None;
        }
        let asked = |id: &&FindingId| {
            state.finding(**id).is_some_and(|earlier| {
                earlier.round < finding.round
                    && earlier.raw.file.as_deref() == Some(file)
                    && state.is_done(earlier.id)
            })
        };
        change.touched.iter().find(asked).copied()
    })
}

/// What earlier disputes say of some findings of a round.
///
/// A dispute binds one finding of a reviewer: a reviewer that names two problems means two, and a decision was on one.
/// The surest pair is taken first, of equals the newest dispute.
pub(crate) fn earlier<'a>(
    findings: impl IntoIterator<Item = &'a Finding>,
    bindings: &[Binding],
    lists: &Lists,
) -> Vec<EventKind> {
    let findings: Vec<&Finding> = findings.into_iter().collect();
    let mut by_block: HashMap<(&str, &str), Vec<Read<'_>>> = HashMap::new();
    for binding in bindings {
        let anchor = &binding.anchor;
        by_block.entry((&anchor.file, &anchor.block)).or_default().push((binding, Profile::of(anchor)));
    }
    // Equal words are surer than any others, so these are taken before anything else is compared.
    let mut by_text: HashMap<(&str, &str, &str), Vec<&Read<'_>>> = HashMap::new();
    for known in by_block.values().flatten() {
        let anchor = &known.0.anchor;
        by_text.entry((&anchor.file, &anchor.block, &anchor.text)).or_default().push(known);
    }
    let mut bound = Bound { findings: &findings, by: BTreeMap::new(), taken: BTreeSet::new() };
    let anchored = || findings.iter().enumerate().filter_map(|(at, finding)| Some((at, finding.anchor.as_ref()?)));
    let mut pairs = Vec::new();
    for (index, anchor) in anchored() {
        let place = (anchor.file.as_str(), anchor.block.as_str(), anchor.text.as_str());
        let same = by_text.get(&place).into_iter().flatten().copied();
        pairs.extend(alike(index, anchor, same).filter(|pair| pair.0 >= 1.0));
    }
    bound.take(std::mem::take(&mut pairs));
    for (index, anchor) in anchored().filter(|(index, _)| !bound.by.contains_key(index)) {
        let near = by_block.get(&(anchor.file.as_str(), anchor.block.as_str())).into_iter().flatten();
        let free = near.filter(|(binding, _)| bound.is_free(index, binding));
        pairs.extend(alike(index, anchor, free).filter(|pair| pair.0 < 1.0));
    }
    bound.take(pairs);
    bound.by.into_iter().filter_map(|(index, binding)| ruled(findings[index].id, binding, lists)).collect()
}

/// What a dispute binds, with its words read.
type Read<'a> = (&'a Binding, Profile<'a>);

/// How alike a finding and a dispute are, and which.
type Pair<'a> = (f32, DisputeNumber, usize, &'a Binding);

/// The disputes that a finding may be about.
fn alike<'a>(
    index: usize,
    anchor: &Anchor,
    known: impl Iterator<Item = &'a Read<'a>>,
) -> impl Iterator<Item = Pair<'a>> {
    let profile = Profile::of(anchor);
    let pairs: Vec<Pair<'a>> = known
        .filter_map(|(binding, other)| Some((other.likeness(&profile)?, binding.dispute, index, *binding)))
        .collect();
    pairs.into_iter()
}

struct Bound<'a> {
    findings: &'a [&'a Finding],
    by: BTreeMap<usize, &'a Binding>,
    taken: BTreeSet<(DisputeNumber, &'a AgentName)>,
}

impl<'a> Bound<'a> {
    fn is_free(&self, index: usize, binding: &Binding) -> bool {
        !self.findings[index].raised_by.iter().any(|name| self.taken.contains(&(binding.dispute, name)))
    }

    /// Takes pairs, the surest first.
    fn take(&mut self, mut pairs: Vec<Pair<'a>>) {
        pairs.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)).then(a.2.cmp(&b.2)));
        for (_, dispute, index, binding) in pairs {
            if !self.by.contains_key(&index) && self.is_free(index, binding) {
                self.by.insert(index, binding);
                self.taken.extend(self.findings[index].raised_by.iter().map(|name| (dispute, name)));
            }
        }
    }
}

/// What a dispute says of a finding; nothing where it gave it a tag that is mandatory by now, which takes no obligation away.
fn ruled(finding: FindingId, binding: &Binding, lists: &Lists) -> Option<EventKind> {
    let (dispute, new_tag) = (binding.dispute, binding.new_tag);
    let Some(disposition) = binding.disposition.clone() else {
        return Some(EventKind::StillDisputed { finding, dispute });
    };
    let is_mandatory = |tag: Tag| mandatory::is_mandatory(&Severity::known(tag), &lists.mandatory, &lists.optional);
    (!new_tag.is_some_and(is_mandatory)).then_some(EventKind::AlreadyRuled {
        finding,
        dispute,
        disposition,
        new_tag,
    })
}

/// The rulings that reviewers of these files are told of.
pub(crate) fn in_force<'a>(
    bindings: &'a [Binding],
    files: impl Fn(&str) -> bool + 'a,
) -> impl Iterator<Item = (&'a Binding, DisputeNumber, Disposition)> + 'a {
    // What is open under another tag is raised again.
    let binds = move |binding: &&Binding| binding.new_tag.is_none() && files(&binding.anchor.file);
    bindings.iter().filter(binds).filter_map(|binding| {
        let disposition = binding.disposition.clone().filter(Disposition::closes)?;
        Some((binding, binding.dispute, disposition))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rules::consensus::identity;

    const TITLES: [&str; 6] =
        ["weak hash", "a weak hash is used", "weak md5 hash", "sql injection", "remove the lock", "add the lock"];

    fn anchor((block, title, offset): (u8, usize, Option<u32>)) -> Anchor {
        Anchor {
            file: "a.py".into(),
            block: format!("b{block}"),
            category: "bug".into(),
            text: TITLES[title].into(),
            offset,
            ..Anchor::default()
        }
    }

    fn finding(number: usize, place: (u8, usize, Option<u32>), by: &[u8]) -> Finding {
        Finding {
            id: FindingId(u32::try_from(number).expect("few") + 1),
            raw: RawFinding {
                severity: Severity::known(Tag::Must),
                title: TITLES[place.1].into(),
                file: Some("a.py".into()),
                line: place.2,
                ..RawFinding::default()
            },
            mandatory: true,
            raised_by: by.iter().map(|name| AgentName::from(name.to_string().as_str())).collect(),
            round: 1,
            anchor: Some(anchor(place)),
            reverses: None,
            consensus: None,
        }
    }

    /// Every pair compared, the surest taken first.
    fn naive(findings: &[Finding], bindings: &[Binding]) -> Vec<EventKind> {
        let mut pairs = Vec::new();
        for (index, finding) in findings.iter().enumerate() {
            for binding in bindings {
                let likeness = identity::likeness(&binding.anchor, finding.anchor.as_ref().expect("each has one"));
                pairs.extend(likeness.map(|likeness| (likeness, binding.dispute, index, binding)));
            }
        }
        pairs.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)).then(a.2.cmp(&b.2)));
        let (mut bound, mut taken) = (BTreeMap::new(), BTreeSet::new());
        for (_, dispute, index, binding) in pairs {
            let by = &findings[index].raised_by;
            if !bound.contains_key(&index) && !by.iter().any(|name| taken.contains(&(dispute, name))) {
                bound.insert(index, binding);
                taken.extend(by.iter().map(|name| (dispute, name)));
            }
        }
        bound.into_iter().filter_map(|(index, binding)| ruled(findings[index].id, binding, &lists())).collect()
    }

    fn lists() -> Lists {
        Lists { mandatory: vec!["MUST".to_owned()], optional: vec!["SHOULD".to_owned()], policy: Policy::Panel }
    }

    type Place = (u8, usize, Option<u32>);

    fn place() -> impl Strategy<Value = Place> {
        (0..2_u8, 0..TITLES.len(), proptest::option::of(0..6_u32))
    }

    proptest! {
        #[test]
        fn what_binds_is_what_comparing_every_pair_finds(
            raised in proptest::collection::vec((place(), proptest::collection::vec(0..3_u8, 1..3)), 0..9),
            disputes in proptest::collection::vec(place(), 0..9),
        ) {
            let findings: Vec<Finding> =
                raised.iter().enumerate().map(|(number, (place, by))| finding(number, *place, by)).collect();
            let bindings: Vec<Binding> = (1_u64..)
                .zip(disputes)
                .map(|(number, place)| Binding {
                    dispute: DisputeNumber(number),
                    run: crate::domain::RunId("r".into()),
                    anchor: anchor(place),
                    title: "".into(),
                    location: None,
                    disposition: Some(Disposition::Refuted),
                    new_tag: None,
                    rationale: "".into(),
                })
                .collect();
            prop_assert_eq!(earlier(&findings, &bindings, &lists()), naive(&findings, &bindings));
        }

        #[test]
        fn a_later_round_repeats_what_a_walk_through_all_findings_finds(
            known in proptest::collection::vec((place(), any::<bool>()), 0..9), new in place(), anchored in any::<bool>(),
        ) {
            let made = |number, place, anchored| {
                let mut made = finding(number, place, &[0]);
                made.anchor = made.anchor.filter(|_| anchored);
                made
            };
            let findings =
                known.into_iter().enumerate().map(|(number, (place, anchored))| made(number, place, anchored));
            let state = State { findings: findings.collect(), ..State::default() };
            let new = made(99, new, anchored);
            let walked = state.findings.iter().any(|earlier| match (&earlier.anchor, &new.anchor) {
                (Some(a), Some(b)) => identity::likeness(a, b).is_some(),
                _ => is_same(earlier, &new),
            });
            prop_assert_eq!(Waiting::of(&state).has(&new), walked);
        }
    }
}
