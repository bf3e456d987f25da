//! What an outcome says beside its findings: what was not reviewed or not compared, what is optional here and why, and what
//! the coder did that nobody asked for.

use std::collections::BTreeSet;

use crate::review::code::coder_changes::names;
use crate::review::findings::convergence;
use crate::review::state::ReviewState;
use glee_model::domain::event::{CallAnswer, Purpose};
use glee_model::domain::{AdvisoryStatus, FileChange, Outcome, Role, RunId, Tag, number_of};
use glee_protocol::text::printable;

/// The sentences of a run beside its findings. `changes` are those of the coder.
pub(super) fn all(state: &ReviewState, run: &RunId, changes: &[FileChange]) -> Vec<String> {
    let mut notices = state.notices.clone();
    notices.extend(not_compared(state));
    notices.extend(withdrawn(state));
    notices.extend(lowered(state));
    notices.extend(optional(state));
    notices.extend(convergence::notice(state));
    for verified in state.failing() {
        let tries = state.repairs(verified.round);
        let tried = match tries {
            0 => String::new(),
            1 => ", even after one repair".to_owned(),
            tries => format!(", even after {tries} repairs"),
        };
        notices.push(format!(
            "`{}` {}{tried}",
            verified.command,
            Outcome::VERIFY_FAILS
        ));
    }
    for finding in &state.findings {
        if let Some(dispute) = state.progress(finding.id).enforced_by() {
            let then = if state.agents(Role::Coder).next().is_some() {
                "; the finding was sent directly to the coder"
            } else {
                ""
            };
            notices.push(format!(
                "{} was enforced in dispute {dispute}{then}",
                finding.id
            ));
        }
    }
    notices.extend(put_back(state));
    notices.extend(unasked(state, run, changes));
    notices
}

/// Counts the findings that reviewers withdrew because their places do not exist.
fn withdrawn(state: &ReviewState) -> Vec<String> {
    let mut notices = Vec::new();
    for (id, call) in &state.calls {
        let CallAnswer::Close { places, .. } = &call.answer else {
            continue;
        };
        let withdrawn = places.iter().filter(|given| given.place.is_none()).count();
        if withdrawn > 0 {
            let findings = number_of(withdrawn, "finding");
            let place = "because there is no such place";
            notices.push(format!("`{}` withdrew {findings}, {place}", id.agent));
        }
    }
    notices
}

fn not_compared(state: &ReviewState) -> Vec<String> {
    let mut notices = Vec::new();
    for (id, call) in state.last_calls() {
        let (CallAnswer::Failed { error, .. } | CallAnswer::Invalid { error }) = &call.answer
        else {
            continue;
        };
        let what = match id.purpose {
            Purpose::Same { .. } => "findings that may be the same",
            Purpose::Compare { .. } => "findings with earlier disputes",
            _ => continue,
        };
        notices.push(format!("`{}` did not compare {what}: {error}", id.agent));
    }
    notices
}

/// Names the findings whose tags an advisory lowered.
fn lowered(state: &ReviewState) -> Vec<String> {
    let optional = state.findings.iter().filter(|finding| !finding.mandatory);
    let lowered = optional.filter_map(|finding| {
        let mut evidence = finding.raw.evidence.iter();
        let why = evidence.find(|text| text.as_written().ends_with(AdvisoryStatus::LOWERED))?;
        let id = finding.id;
        let tag = &finding.raw.severity;
        Some(printable::line(
            &why.labelled(&format!("{id} is {tag} here: ")),
        ))
    });
    lowered.collect()
}

/// Counts the findings whose tags are mandatory by default, and which the settings make optional.
fn optional(state: &ReviewState) -> Vec<String> {
    let review = &state.settings.review;
    let opinions = ("opinions", &review.opinions.mandatory);
    let issues = ("issues", &review.issues.mandatory);
    let tags = [
        (Tag::Critical, issues),
        (Tag::Must, opinions),
        (Tag::High, issues),
    ];
    let mut notices = Vec::new();
    for (tag, (section, list)) in tags {
        let findings = state.findings.iter();
        let count = findings
            .filter(|finding| {
                finding.raw.severity.tag == Some(tag) && !finding.mandatory && !finding.older
            })
            .count();
        if count > 0 {
            let verb = if count == 1 { "is" } else { "are" };
            notices.push(format!(
                "{} with the tag {tag} {verb} optional here: `review.{section}.mandatory` is [{}]",
                number_of(count, "finding"),
                list.join(", ")
            ));
        }
    }
    notices
}

/// Names the files that were put back after a call of a coder.
fn put_back(state: &ReviewState) -> Option<String> {
    let changes = state.tree_changes.iter();
    let files: BTreeSet<&str> = changes
        .flat_map(|change| &change.put_back)
        .map(String::as_str)
        .collect();
    let list = files.iter().copied().collect::<Vec<_>>().join(", ");
    (!files.is_empty()).then(|| {
        format!(
            "the coder also edited files that no finding names, and they were put back (`review.fix.scope: \
             findings`): {list}"
        )
    })
}

/// Names the files that the coder changed although no finding names them.
fn unasked(state: &ReviewState, run: &RunId, changes: &[FileChange]) -> Option<String> {
    let files = changes.iter().map(|change| &change.file);
    let unasked: Vec<String> = files
        .filter(|file| !state.findings.iter().any(|finding| names(finding, file)))
        .cloned()
        .collect();
    let run = run.short();
    let list = unasked.join(", ");
    (!unasked.is_empty()).then(|| {
        format!(
            "the coder also changed files that no finding names: {list}; `glee runs undo {run} PATH` takes a file back"
        )
    })
}
