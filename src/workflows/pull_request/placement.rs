//! The place of a new comment: lines in the diff, else the whole file, else none. A comment is never moved to a near
//! line.

use std::ops::RangeInclusive;

use crate::agents::builtin::exact_fix;
use crate::domain::SettledFinding;
use crate::protocol::secrets::redact;
use crate::protocol::text::{markup, printable};
use crate::workflows::hosts::ChangedFile;
use crate::workflows::pull_request::input::RequestReview;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommentPlace {
    pub(crate) path: String,
    /// `None` for the whole file.
    pub(crate) line: Option<u32>,
    /// The first line of a range, below `line`.
    pub(crate) start_line: Option<u32>,
    /// The text that replaces the lines exactly.
    pub(crate) fix: Option<String>,
}

/// The place of a comment on a finding. `None` if the pull request does not change the file.
pub(crate) fn place(review: &RequestReview<'_>, settled: &SettledFinding) -> Option<CommentPlace> {
    let raw = &settled.finding.raw;
    let file = review.files.iter().find(|file| Some(&file.path) == raw.file.as_ref())?;
    let at = |lines: &RangeInclusive<u32>, fix| {
        let (first, last) = (*lines.start(), *lines.end());
        let start_line = (first < last).then_some(first);
        CommentPlace { path: file.path.clone(), line: Some(last), start_line, fix }
    };
    if let Some((lines, fix)) = fix(review, settled, file) {
        return Some(at(&lines, Some(fix)));
    }
    let whole = CommentPlace { path: file.path.clone(), line: None, start_line: None, fix: None };
    let Some(first) = raw.line else { return Some(whole) };
    let lines = first..=raw.end_line.unwrap_or(first).max(first);
    Some(if is_in_diff(file, &lines) {
        at(&lines, None)
    } else if file.lines.contains(&first) {
        at(&(first..=first), None)
    } else {
        whole
    })
}

/// Whether the host accepts comments on all lines. The lines are consecutive, so they are in one hunk.
fn is_in_diff(file: &ChangedFile, lines: &RangeInclusive<u32>) -> bool {
    // Ranges come from agents and can have any size.
    let count = lines.end() - lines.start();
    usize::try_from(count).is_ok_and(|count| count < file.lines.len())
        && lines.clone().all(|line| file.lines.contains(&line))
}

/// The fix of an embedded rule, if the fix replaces whole lines in the diff and can be shown unchanged.
fn fix(
    review: &RequestReview<'_>,
    settled: &SettledFinding,
    file: &ChangedFile,
) -> Option<(RangeInclusive<u32>, String)> {
    let text = (review.text_of)(&file.path)?;
    let (lines, fix) = exact_fix(&file.path, &text, &settled.finding.raw)?;
    let has_command = fix.lines().any(markup::is_command);
    let is_plain = redact(&fix) == fix && printable::block(&fix) == fix && !has_command;
    (is_plain && is_in_diff(file, &lines)).then_some((lines, fix))
}
