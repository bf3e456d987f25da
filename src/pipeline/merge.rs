//! From the answers of reviewers to the numbered findings of a round.
//!
//! Words of other scales become tags, places get their anchors, what several reviewers say in the same words is
//! folded into one finding, and reversals and findings that were ruled on earlier are recognised. Nothing is dropped.

use std::collections::BTreeSet;

use crate::domain::{AgentName, Disposition, DisputeNumber, Finding, FindingId, RawFinding};
use crate::event::{CallAnswer, EventKind};
use crate::journal::Binding;
use crate::pipeline::edits;
use crate::pipeline::sources::Sources;
use crate::pipeline::state::State;
use crate::rules::{mandatory, reversal};
use crate::workspace::{Workspace, blocks};

/// The configured lists of words.
#[derive(Clone, Debug)]
pub(crate) struct Lists {
    pub(crate) mandatory: Vec<String>,
    pub(crate) optional: Vec<String>,
}

/// The events that merging the answered reviews of a round brings.
pub(crate) fn merge(
    state: &State,
    round: u32,
    lists: &Lists,
    bindings: &[Binding],
    sources: &Sources,
    workspace: &Workspace,
) -> Vec<EventKind> {
    let mut findings: Vec<Finding> = Vec::new();
    for (raised_by, raw) in answered(state) {
        let mut finding = complete(raised_by, raw, round, lists, sources, workspace);
        match findings.iter_mut().find(|other| is_same(other, &finding)) {
            Some(other) => fold(other, finding),
            None => {
                finding.reverses = reversed(state, &finding);
                findings.push(finding);
            }
        }
    }
    findings.retain(|finding| !repeats_open(state, finding));
    findings.sort_by(|a, b| {
        let key = |f: &Finding| (f.raw.file.is_none(), f.raw.file.clone(), f.raw.line, f.raw.severity.tag);
        key(a).cmp(&key(b))
    });
    let first = state.findings.iter().map(|finding| finding.id.0).max().unwrap_or(0) + 1;
    for (number, finding) in (first..).zip(&mut findings) {
        finding.id = FindingId(number);
    }
    let ruled = findings.iter().filter_map(|finding| earlier(finding, bindings)).collect::<Vec<_>>();
    std::iter::once(EventKind::FindingsMerged { round, findings }).chain(ruled).collect()
}

/// What the unmerged reviews raise, the better of two attempts each, reviewer by reviewer.
fn answered(state: &State) -> Vec<(AgentName, RawFinding)> {
    let unmerged: BTreeSet<_> = state.unmerged().collect();
    let mut raised = Vec::new();
    let asked: BTreeSet<_> = unmerged.iter().map(|id| (&id.agent, &id.purpose)).collect();
    for (agent, purpose) in asked {
        let answers = unmerged.iter().filter(|id| id.agent == *agent && id.purpose == *purpose);
        let best = answers
            .filter_map(|id| match &state.calls.get(*id)?.answer {
                CallAnswer::Review { status, findings, .. } => Some((status.is_complete(), findings)),
                _ => None,
            })
            .max_by_key(|(complete, findings)| (*complete, findings.len()));
        raised.extend(best.into_iter().flat_map(|(_, findings)| findings).map(|raw| (agent.clone(), raw.clone())));
    }
    raised
}

fn complete(
    raised_by: AgentName,
    mut raw: RawFinding,
    round: u32,
    lists: &Lists,
    sources: &Sources,
    workspace: &Workspace,
) -> Finding {
    raw.severity = mandatory::normalised(raw.severity);
    let mut anchor = None;
    if let Some(path) = raw.file.as_deref().and_then(|path| known_path(path, round, sources, workspace)) {
        let text = sources
            .file(round, &path)
            .map(|source| source.text.clone())
            .or_else(|| workspace.read(&path))
            .unwrap_or_default();
        raw.file = Some(path.clone());
        anchor = Some(blocks::anchor(&raw, &path, &text));
    }
    let is_mandatory = mandatory::is_mandatory(&raw.severity, &lists.mandatory, &lists.optional);
    Finding {
        id: FindingId(0),
        raw,
        mandatory: is_mandatory,
        raised_by: vec![raised_by],
        round,
        anchor,
        reverses: None,
    }
}

/// The path inside the tree that a finding names; `None` for one that does not exist there.
fn known_path(path: &str, round: u32, sources: &Sources, workspace: &Workspace) -> Option<String> {
    let plain = path.strip_prefix("./").unwrap_or(path);
    if sources.file(round, plain).is_some() { Some(plain.to_owned()) } else { workspace.resolve(path) }
}

/// Whether two findings say the same of the same place.
fn is_same(a: &Finding, b: &Finding) -> bool {
    let place = a.raw.file.is_some() && a.raw.file == b.raw.file && a.raw.line == b.raw.line;
    let rule = a.raw.rule.is_some() && a.raw.rule == b.raw.rule;
    place && (rule || a.raw.title == b.raw.title)
}

/// Folds `b` into `a`: the graver of the two severities stands, both names stay.
fn fold(a: &mut Finding, b: Finding) {
    if b.mandatory && !a.mandatory {
        a.mandatory = true;
        a.raw.severity = b.raw.severity;
    }
    for name in b.raised_by {
        if !a.raised_by.contains(&name) {
            a.raised_by.push(name);
        }
    }
}

/// Whether a finding of a later round repeats one of this run that the coder will be given again anyway.
fn repeats_open(state: &State, finding: &Finding) -> bool {
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
    let suggestion = finding.raw.suggestion.as_deref().unwrap_or_default();
    let text = format!("{}\n{}\n{suggestion}", finding.raw.title, finding.raw.body);
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
fn earlier(finding: &Finding, bindings: &[Binding]) -> Option<EventKind> {
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
