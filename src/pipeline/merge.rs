//! From the answers of reviewers to the numbered findings of a round.
//!
//! Words of other scales become tags, places get their anchors, what several reviewers mean alike becomes one finding
//! (`rules::consensus`), and reversals and findings that were ruled on earlier are recognised. Nothing is dropped: a
//! finding that anybody calls mandatory stays mandatory, whatever the others say.

use std::collections::{BTreeMap, BTreeSet};

use crate::config::settings::{Advisories, Settings};
use crate::domain::{
    Advised, AgentName, Confidence, Corroboration, Disposition, DisputeNumber, Finding, FindingId, Position,
    RawFinding, Role, Severity, Tag, Untrusted,
};
use crate::event::{CallAnswer, CallId, EventKind, Purpose};
use crate::journal::Binding;
use crate::pipeline::edits;
use crate::pipeline::sources::Sources;
use crate::pipeline::state::State;
use crate::protocol::claims;
use crate::rules::consensus::{self, Checked, Claim, Consensus, Debate, Decision, Level, Policy, Standing};
use crate::rules::{mandatory, reversal};
use crate::workspace::blocks::Blocks;
use crate::workspace::{Workspace, advisories, blocks, citation};

/// Who raises what Glee itself has to say.
const GLEE: &str = "glee";

/// The configured words and the policy.
#[derive(Clone, Debug)]
pub(crate) struct Lists {
    pub(crate) mandatory: Vec<String>,
    pub(crate) optional: Vec<String>,
    pub(crate) policy: Policy,
}

impl Lists {
    /// Those of the settings in force.
    pub(crate) fn of(settings: &Settings) -> Self {
        let review = &settings.review;
        Self { mandatory: review.mandatory.clone(), optional: review.optional.clone(), policy: review.consensus }
    }
}

/// What a round's reviews are merged with.
pub(crate) struct Bench<'a> {
    pub(crate) state: &'a State,
    pub(crate) round: u32,
    pub(crate) lists: &'a Lists,
    pub(crate) sources: &'a Sources,
    pub(crate) workspace: &'a Workspace,
}

/// A finding as one reviewer raised it.
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
        findings.retain(|finding| !repeats_open(self.state, finding));
        findings.sort_by(|a, b| {
            let key = |f: &Finding| (f.raw.file.is_none(), f.raw.file.clone(), f.raw.line, f.raw.severity.tag);
            key(a).cmp(&key(b))
        });
        let first = self.state.findings.iter().map(|finding| finding.id.0).max().unwrap_or(0) + 1;
        for (number, finding) in (first..).zip(&mut findings) {
            finding.id = FindingId(number);
        }
        let ruled = findings.iter().filter_map(|finding| earlier(finding, bindings)).collect::<Vec<_>>();
        std::iter::once(EventKind::FindingsMerged { round: self.round, findings }).chain(ruled).collect()
    }

    /// What has not been merged yet.
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
            let text = format!("{error}: no finding was checked against them");
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
        best.into_values()
            .flat_map(|(_, id, findings)| {
                findings.iter().enumerate().map(|(index, raw)| Raised {
                    said: format!("{}/{index}", id.file_stem()),
                    finding: self.complete(id.agent.clone(), raw.clone()),
                })
            })
            .collect()
    }

    /// What Glee itself raises.
    pub(crate) fn own(&self) -> impl Iterator<Item = Raised> {
        let own = self.state.plan.iter().flat_map(|plan| &plan.own).enumerate();
        own.map(|(index, raw)| Raised {
            said: format!("{GLEE}/{index}"),
            finding: self.complete(GLEE.into(), raw.clone()),
        })
    }

    /// A debate in which nobody has said anything yet.
    pub(crate) fn debate(&self) -> Debate {
        let reviewers = self.state.agents(Role::Reviewer).map(|agent| agent.name.0.clone()).collect();
        Debate { reviewers, ..Debate::default() }
    }

    /// The paths under review.
    pub(crate) fn paths(&self) -> Vec<String> {
        let round = usize::try_from(self.round - 1).ok().and_then(|round| self.state.rounds.get(round));
        let covered = round.into_iter().flatten().flatten();
        covered.map(|file| file.file.clone()).collect()
    }

    pub(crate) fn complete(&self, raised_by: AgentName, mut raw: RawFinding) -> Finding {
        raw.severity = mandatory::normalised(raw.severity);
        let mut anchor = None;
        if let Some(path) = raw.file.as_deref().and_then(|path| self.known_path(path)) {
            raw.file = Some(path.clone());
            anchor = Some(blocks::anchor(&raw, &path, &self.text(&path)));
        }
        let is_mandatory = mandatory::is_mandatory(&raw.severity, &self.lists.mandatory, &self.lists.optional);
        Finding {
            id: FindingId(0),
            raw,
            mandatory: is_mandatory,
            raised_by: vec![raised_by],
            round: self.round,
            anchor,
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
        let plain = path.strip_prefix("./").unwrap_or(path);
        if self.sources.file(self.round, plain).is_some() {
            return Some(plain.to_owned());
        }
        self.workspace.resolve(path).or_else(|| {
            let paths = self.paths();
            let mut named = paths.iter().filter(|known| known.rsplit('/').next() == Some(plain));
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
        confidence: Confidence::clamped(i64::from(decision.confidence)),
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

/// Whether two findings say the same of the same place.
fn is_same(a: &Finding, b: &Finding) -> bool {
    let place = a.raw.file.is_some() && a.raw.file == b.raw.file && a.raw.line == b.raw.line;
    let rule = a.raw.rule.is_some() && a.raw.rule == b.raw.rule;
    place && (rule || a.raw.title == b.raw.title)
}

/// Whether a finding of a later round repeats one of this run that the coder will be given again anyway.
pub(crate) fn repeats_open(state: &State, finding: &Finding) -> bool {
    state.findings.iter().any(|earlier| {
        let same = match (&earlier.anchor, &finding.anchor) {
            (Some(a), Some(b)) => blocks::matches(a, b),
            _ => is_same(earlier, finding),
        };
        same && !state.finding_state(earlier).is_closed() && state.dispute_of(earlier.id).is_none()
    })
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

/// What an earlier dispute says of a finding, the newest first.
pub(crate) fn earlier(finding: &Finding, bindings: &[Binding]) -> Option<EventKind> {
    let anchor = finding.anchor.as_ref()?;
    let binding = bindings.iter().rev().find(|binding| blocks::matches(&binding.anchor, anchor))?;
    Some(match &binding.disposition {
        Some(disposition) => EventKind::AlreadyRuled {
            finding: finding.id,
            dispute: binding.dispute,
            disposition: disposition.clone(),
        },
        None => EventKind::StillDisputed { finding: finding.id, dispute: binding.dispute },
    })
}

/// The rulings that reviewers of these files are told of.
pub(crate) fn in_force<'a>(
    bindings: &'a [Binding],
    files: impl Fn(&str) -> bool + 'a,
) -> impl Iterator<Item = (&'a Binding, DisputeNumber, Disposition)> + 'a {
    bindings.iter().filter(move |binding| files(&binding.anchor.file)).filter_map(|binding| {
        let disposition = binding.disposition.clone().filter(Disposition::closes)?;
        Some((binding, binding.dispute, disposition))
    })
}
