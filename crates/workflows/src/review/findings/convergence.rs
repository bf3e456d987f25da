//! Detects rounds of a run, and reviews of one target, that do not converge: each raises findings in the lines that the
//! fixes before it added, so that each fix is the occasion of the next finding.
//!
//! A finding that asks to undo a fix is no such finding. It is a reversal, and becomes a dispute.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use similar::DiffTag;

use crate::review::code::sources::Sources;
use crate::review::state::ReviewState;

use glee_model::domain::{FileChange, Finding, FindingId, RawFinding, RunId};
use glee_model::rules::review::reversal;
use glee_protocol::text::printable;
use glee_store::history::JournalError;
use glee_store::history::store::Journal;
use glee_workspace::diff::parse::{self, DiffMark};
use glee_workspace::diff::unified;

/// After this number of such rounds in a row, no further round begins. After this number of such reviews, a notice names
/// their findings.
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
    Some(format!(
        "the rounds do not converge: each of the last {MOST} raised findings in the lines of the fixes before it ({}); no \
         further round begins, decide what these lines have to do",
        named(findings)
    ))
}

/// Says that the last reviews of the run's target do not converge, and names the findings and their lines. A review that
/// came to no result, or of a tree that the next one reviewed again, is passed over.
pub(crate) fn notice_of_reviews(
    state: &ReviewState,
    run: &RunId,
    journal: &Journal,
) -> Result<Option<String>, JournalError> {
    let Some(mut now) = Reviewed::of(state, run, journal) else {
        return Ok(None);
    };
    let mut all = Vec::new();
    let mut found = 0;
    let mut newest = run.clone();
    while !now.findings.is_empty()
        && let Some(earlier) = journal.result_before(&newest, &now.tree)?
    {
        let before = ReviewState::of(&journal.events(&earlier)?);
        let Some(before) = Reviewed::of(&before, &earlier, journal) else {
            return Ok(None);
        };
        let of_review = now.in_fixes_of(&before);
        if of_review.is_empty() {
            return Ok(None);
        }
        all.splice(0..0, of_review);
        found += 1;
        if found == MOST {
            return Ok(Some(format!(
                "the reviews of this target do not converge: each of the last {MOST} raised mandatory findings in the \
                 lines of the fixes before it ({}); decide what these lines have to do",
                named(&all)
            )));
        }
        now = before;
        newest = earlier;
    }
    Ok(None)
}

fn named<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> String {
    let places = findings.into_iter().map(|finding| {
        let place = finding.raw.location().map(|place| place.to_string());
        format!(
            "{} {}",
            finding.id,
            printable::line(&place.unwrap_or_default())
        )
    });
    places.collect::<Vec<_>>().join(", ")
}

/// The mandatory findings of a run, and the code in which they were raised.
struct Reviewed {
    tree: String,
    findings: Vec<Finding>,
    folder: PathBuf,
    last_round: u32,
}

impl Reviewed {
    fn of(state: &ReviewState, run: &RunId, journal: &Journal) -> Option<Self> {
        let mandatory = state.findings.iter().filter(|finding| {
            finding.mandatory && finding.reverses.is_none() && !finding.is_rejected()
        });
        Some(Self {
            tree: state.plan.as_ref()?.tree.clone(),
            findings: mandatory.cloned().collect(),
            folder: journal.folder_of(run),
            last_round: state.round(),
        })
    }

    fn of_round(&self, round: u32) -> impl Iterator<Item = &Finding> {
        let of_round = move |finding: &&Finding| finding.round == round;
        self.findings.iter().filter(of_round)
    }

    /// The texts of a round; empty if they were pruned.
    fn texts(&self, round: u32) -> BTreeMap<String, String> {
        let files = Sources::read(&self.folder, round).unwrap_or_default();
        let files = files.into_iter();
        files.map(|file| (file.path, file.text)).collect()
    }

    /// The new findings of the first round near lines that fix the findings of `before`.
    fn in_fixes_of(&self, before: &Self) -> Vec<Finding> {
        let known: BTreeSet<FindingId> = before.findings.iter().map(|finding| finding.id).collect();
        let was = before.texts(before.last_round);
        let mut fixed: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
        let now = self.texts(1);
        for (file, text) in &now {
            let of_file = before.of_round(before.last_round);
            let of_file = of_file.filter(|finding| finding.raw.file.as_ref() == Some(file));
            let places: Vec<(u32, u32)> = of_file.filter_map(|found| found.raw.lines()).collect();
            if let Some(was) = was.get(file).filter(|_| !places.is_empty()) {
                fixed.insert(file, fixes(was, text, &places));
            }
        }
        let new = self
            .of_round(1)
            .filter(|finding| !known.contains(&finding.id) && is_near(&finding.raw, &fixed));
        new.cloned().collect()
    }
}

/// The lines of a text that replace lines near `places` of an earlier text, or stand between them.
fn fixes(was: &str, now: &str, places: &[(u32, u32)]) -> BTreeSet<u32> {
    let mut fixes = BTreeSet::new();
    let diff = unified::lines(was, now);
    for op in diff.ops().iter().filter(|op| op.tag() != DiffTag::Equal) {
        let old = op.old_range();
        // Added lines are near the lines on both sides of them.
        let first = unified::number(old.start);
        let last = unified::number(old.end) + 1;
        let is_fix = places.iter().any(|place| {
            let near = reversal::near(*place);
            first.max(1) <= *near.end() && *near.start() <= last
        });
        if is_fix {
            let new = op.new_range();
            fixes.extend(unified::number(new.start) + 1..=unified::number(new.end));
        }
    }
    fixes
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
    let changes = state.tree_changes.iter().filter(|change| {
        let fixed_in = change.call.purpose.round();
        fixed_in.is_some_and(|fixed_in| fixed_in < round)
    });
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
