//! From the answers of reviewers to the numbered findings of a round.
//!
//! Words of other scales become tags, places get their anchors, what several reviewers mean alike becomes one finding
//! (`rules::consensus`), and reversals and findings that were ruled on earlier are recognised. Nothing is dropped: a
//! finding that anybody calls mandatory stays mandatory, whatever the others say.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::config::settings::Advisories;
use crate::domain::event::{CallAnswer, CallId, EventKind, Purpose, ReviewEvent};
use crate::domain::{
    AdvisoryStatus, AgentName, Confidence, Corroboration, Finding, FindingId, Position, RawFinding, Role, Severity,
    Tag, Untrusted,
};
use crate::history::queries::rows::Binding;
use crate::protocol::claims;
use crate::protocol::replies::review;
use crate::rules::consensus::claim::{Claim, ClaimDecision, ClaimStanding, Consensus, Level};
use crate::rules::consensus::{self, CheckedEvidence, Debate};
use crate::rules::review::{mandatory, reversal};
use crate::workflows::review::code::edits;
use crate::workflows::review::code::sources::Sources;
use crate::workflows::review::findings::past::Past;
use crate::workflows::review::findings::recognition;
use crate::workflows::review::findings::round::{MergeSettings, Round, TextOf};
use crate::workflows::review::state::ReviewState;
use crate::workspace::advisories::check;
use crate::workspace::code::anchors::Blocks;
use crate::workspace::code::citation;
use crate::workspace::root::Workspace;

/// Who raises what Glee itself has to say.
const GLEE: &str = "glee";

pub(crate) struct RoundContext<'a> {
    pub(crate) state: &'a ReviewState,
    pub(crate) round: u32,
    pub(crate) lists: &'a MergeSettings,
    pub(crate) sources: &'a Sources,
    pub(crate) workspace: &'a Workspace,
    /// Absent where only answers are merged.
    pub(crate) past: Option<Past<'a>>,
}

pub(crate) struct RaisedFinding {
    /// Where it was read: the call and the place in its answer.
    pub(crate) said: String,
    pub(crate) finding: Finding,
}

impl RoundContext<'_> {
    /// The events that merging the answered reviews of a round brings.
    pub(crate) fn merge(&self, bindings: &[Binding]) -> Vec<EventKind> {
        let raised = self.unmerged();
        let claims = self.claims(&raised);
        let debate = self.debate();
        let consensus = consensus::merge(&claims, &debate, &self.paths(), self.lists.policy);
        let mut findings: Vec<Finding> = self.findings(&raised, &claims, &consensus);
        let text_of = |path: &str| self.text(path);
        let repeated = recognition::repeated(self.state, &findings, &text_of);
        let mut index = 0..;
        findings.retain(|_| !index.next().is_some_and(|index| repeated.contains(&index)));
        findings.sort_by(|a, b| {
            let key = |f: &Finding| (f.raw.file.is_none(), f.raw.file.clone(), f.raw.line, f.raw.severity.tag);
            key(a).cmp(&key(b))
        });
        let first = self.state.findings.iter().map(|finding| finding.id.0).max().unwrap_or(0) + 1;
        for (number, finding) in (first..).zip(&mut findings) {
            finding.id = FindingId(number);
        }
        let ruled = recognition::earlier(&findings, bindings, &self.compared(&text_of));
        std::iter::once(EventKind::Review(ReviewEvent::FindingsMerged { round: self.round, findings }))
            .chain(ruled)
            .collect()
    }

    pub(crate) fn compared<'b>(&'b self, text_of: TextOf<'b>) -> Round<'b> {
        Round { state: self.state, lists: self.lists, text_of, past: self.past }
    }

    pub(crate) fn unmerged(&self) -> Vec<RaisedFinding> {
        let unmerged: BTreeSet<&CallId> = self.state.unmerged().collect();
        let mut raised = self.raised(|id| unmerged.contains(id));
        if self.state.merged.is_empty() {
            raised.extend(self.own());
        }
        raised
    }

    /// The event that asking the databases about security findings brings, each finding asked about once (phase 6);
    /// says so where they cannot be asked.
    pub(crate) fn advise(&self, raised: &[RaisedFinding], databases: &Advisories) -> Option<EventKind> {
        let mut claims: Vec<Claim> = raised.iter().map(|raised| self.claim(raised)).collect();
        claims.retain(|claim| !self.state.advised.contains_key(&claim.id));
        if let Err(error) = check::check(&mut claims, self.workspace, databases) {
            let cause = std::error::Error::source(&error).map(|cause| format!(" ({cause})")).unwrap_or_default();
            let text = format!("{error}{cause}: no finding was checked against them");
            return (!self.state.notices.contains(&text)).then_some(EventKind::notice(text));
        }
        let answers = claims.into_iter().map(|claim| (claim.id, claim.checked.advisory));
        let answers: BTreeMap<_, _> = answers.filter(|(_, said)| *said != AdvisoryStatus::Unasked).collect();
        (!answers.is_empty()).then_some(EventKind::Review(ReviewEvent::AdvisoriesAsked { answers }))
    }

    /// What the answers to these calls raise, the better of two attempts each, reviewer by reviewer.
    pub(crate) fn raised(&self, wanted: impl Fn(&CallId) -> bool) -> Vec<RaisedFinding> {
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
            // Of a call that was not made, the answer itself holds what is reused.
            let part = self.state.reuse(id);
            let part = part.filter(|part| !part.asked.is_empty());
            let carried = part.map(|part| part.findings.as_slice()).unwrap_or_default();
            // The reviewer may have said the same again of what it was shown around the changed lines.
            let is_said = |raw: &RawFinding| {
                findings
                    .iter()
                    .any(|said| (&said.file, said.line, &said.title) == (&raw.file, raw.line, &raw.title))
            };
            let carried = carried.iter().enumerate().filter(move |(_, raw)| !is_said(raw));
            let reused = carried.map({
                let stem = stem.clone();
                move |(index, raw)| (format!("{stem}/reused-{index}"), &id.agent, raw)
            });
            let said =
                findings.iter().enumerate().map(move |(index, raw)| (format!("{stem}/{index}"), &id.agent, raw));
            said.chain(reused)
        }))
    }

    pub(crate) fn own(&self) -> Vec<RaisedFinding> {
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
    ) -> Vec<RaisedFinding> {
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
            all.push(RaisedFinding { said, finding });
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

    pub(crate) fn text(&self, path: &str) -> String {
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
    pub(crate) fn claims(&self, raised: &[RaisedFinding]) -> Vec<Claim> {
        let mut claims: Vec<Claim> = raised.iter().map(|raised| self.claim(raised)).collect();
        let mut by_file: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (index, RaisedFinding { finding, .. }) in raised.iter().enumerate() {
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

    fn claim(&self, RaisedFinding { said, finding }: &RaisedFinding) -> Claim {
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
            checked: CheckedEvidence {
                confirmed: raw.rule.is_some(),
                advisory: self.state.advised.get(said).cloned().unwrap_or_default(),
                ..CheckedEvidence::default()
            },
        }
    }

    pub(crate) fn findings(
        &self,
        raised: &[RaisedFinding],
        claims: &[Claim],
        consensus: &Consensus,
    ) -> Vec<Finding> {
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

impl RoundContext<'_> {
    /// What an advisory says goes with the evidence; the severity of what is patched falls by one.
    fn take_advice(&self, finding: &mut Finding, advised: &AdvisoryStatus) {
        finding.raw.evidence.extend(advised.note().map(Untrusted::from));
        if let AdvisoryStatus::Patched { .. } = advised {
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
fn fold(raised: &[RaisedFinding], claims: &[Claim], decision: &ClaimDecision) -> Finding {
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
    // One reviewer that names a ruling does not bind what another raises without it.
    let mut named = all().map(|other| &other.raw.insists_on);
    let first = named.next().cloned().flatten();
    finding.raw.insists_on = first.filter(|first| named.all(|other| other.as_ref() == Some(first)));
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

fn corroboration(
    raised: &[RaisedFinding],
    claims: &[Claim],
    decision: &ClaimDecision,
    reviewers: usize,
) -> Corroboration {
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
        doubted: decision.challenge.is_some() || matches!(decision.standing, ClaimStanding::Conflicted(_)),
        withdrawn: decision.withdrawn,
    }
}

/// The earlier finding of this run that a finding asks to undo.
fn reversed(state: &ReviewState, finding: &Finding) -> Option<FindingId> {
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
