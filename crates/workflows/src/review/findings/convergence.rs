//! Detects rounds that do not converge: each round raises findings in the lines that the fixes before it added, so that
//! each fix is the occasion of the next finding.
//!
//! A finding that asks to undo a fix is no such finding. It is a reversal, and becomes a dispute.

use std::collections::{BTreeMap, BTreeSet};

use crate::review::state::ReviewState;
use glee_model::domain::event::TreeChange;
use glee_model::domain::{FileChange, Finding, RawFinding};
use glee_model::rules::review::reversal;
use glee_protocol::text::printable;
use glee_workspace::diff::parse::{self, DiffMark};

/// After this number of such rounds in a row, no further round begins.
const MOST: u32 = 3;

/// Whether the last rounds of the run do not converge.
pub(crate) fn diverges(state: &ReviewState) -> bool {
    !last_findings(state).is_empty()
}

/// Says that the rounds do not converge, and names the findings and their lines.
pub(crate) fn notice(state: &ReviewState) -> Option<String> {
    let findings = last_findings(state);
    if findings.is_empty() {
        return None;
    }
    let places = findings.into_iter().map(|finding| {
        let place = finding.raw.location().map(|place| place.to_string());
        format!(
            "{} {}",
            finding.id,
            printable::line(&place.unwrap_or_default())
        )
    });
    Some(format!(
        "the rounds do not converge: each of the last {MOST} raised findings in the lines of the fixes before it ({}); no \
         further round begins, decide what these lines have to do",
        places.collect::<Vec<_>>().join(", ")
    ))
}

/// The findings of the last rounds in the lines of the fixes before them. Empty if one of these rounds raised none.
fn last_findings(state: &ReviewState) -> Vec<&Finding> {
    let mut all = Vec::new();
    for before in 0..MOST {
        let round = state.round().saturating_sub(before);
        let mut of_round = in_fixes(state, round).peekable();
        if of_round.peek().is_none() {
            return Vec::new();
        }
        all.splice(0..0, of_round);
    }
    all
}

/// The findings of a round near lines that the fixes of the rounds before it added.
fn in_fixes(state: &ReviewState, round: u32) -> impl Iterator<Item = &Finding> {
    let mut fixed: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
    let is_before = |change: &&TreeChange| {
        let fixed_in = change.call.purpose.round();
        fixed_in.is_some_and(|fixed_in| fixed_in < round)
    };
    let changes = state.tree_changes.iter().filter(is_before);
    for change in changes.flat_map(|change| &change.changes) {
        let lines = fixed.entry(change.file.as_str()).or_default();
        *lines = after(change, lines);
    }
    state.findings.iter().filter(move |finding| {
        finding.round == round
            && finding.reverses.is_none()
            && !finding.is_rejected()
            && is_near(&finding.raw, &fixed)
    })
}

fn is_near(finding: &RawFinding, fixed: &BTreeMap<&str, BTreeSet<u32>>) -> bool {
    let lines = finding.file.as_deref().and_then(|file| fixed.get(file));
    let (Some(lines), Some(place)) = (lines, finding.lines()) else {
        return false;
    };
    lines.range(reversal::near(place)).next().is_some()
}

/// The lines of a file where they are after a change, with the lines that the change added.
fn after(change: &FileChange, lines: &BTreeSet<u32>) -> BTreeSet<u32> {
    let mut added = BTreeSet::new();
    let mut moved = lines.clone();
    let diff = parse::parse(change.diff.as_deref().unwrap_or_default().as_bytes());
    // From the last line to the first, so that no line is moved twice.
    let hunks = diff.patches.into_iter().flat_map(|patch| patch.hunks);
    for hunk in hunks.collect::<Vec<_>>().into_iter().rev() {
        let mut old = hunk.old_start;
        let mut new = hunk.new_start;
        let mut edits = Vec::new();
        for (mark, _) in hunk.lines {
            match mark {
                DiffMark::Removed => edits.push((old, false)),
                DiffMark::Added => {
                    edits.push((old, true));
                    added.insert(new);
                }
                DiffMark::Kept => {}
            }
            old += u32::from(mark != DiffMark::Added);
            new += u32::from(mark != DiffMark::Removed);
        }
        for (at, is_added) in edits.into_iter().rev() {
            let behind = moved.split_off(&at);
            let behind = behind.into_iter().filter(|line| is_added || *line != at);
            moved.extend(behind.map(|line| if is_added { line + 1 } else { line - 1 }));
        }
    }
    moved.extend(added);
    moved
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after_diff(diff: &str, lines: &[u32]) -> Vec<u32> {
        let change = FileChange {
            file: "a.py".into(),
            added: 0,
            removed: 0,
            diff: Some(format!("--- a/a.py\n+++ b/a.py\n{diff}")),
        };
        after(&change, &lines.iter().copied().collect())
            .into_iter()
            .collect()
    }

    #[test]
    fn lines_of_a_fix_are_followed_through_later_fixes() {
        let inserts = "@@ -1,2 +1,4 @@\n one\n+new\n+new\n two\n";
        assert_eq!(after_diff(inserts, &[1, 2, 9]), [1, 2, 3, 4, 11]);
        let replaces = "@@ -4,3 +4,2 @@\n four\n-five\n-six\n+both\n";
        assert_eq!(after_diff(replaces, &[4, 5, 6, 7]), [4, 5, 6]);
        let twice = "@@ -1,1 +1,2 @@\n+top\n one\n@@ -8,2 +9,1 @@\n-eight\n nine\n";
        assert_eq!(after_diff(twice, &[1, 8, 9]), [1, 2, 9]);
    }
}
