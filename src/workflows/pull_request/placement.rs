//! Finds the lines for a new comment. If the lines of the finding are not in the diff, the comment is about the
//! whole file. A comment is never moved to a nearby line.

use std::ops::RangeInclusive;

use crate::domain::{Finding, SettledFinding};
use crate::protocol::secrets::redact;
use crate::protocol::text::{markup, printable};
use crate::workflows::hosts::{ChangedFile, HostKind};
use crate::workflows::pull_request::input::RequestReview;
use crate::workspace::code::anchors::Blocks;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommentPlace {
    pub(crate) path: String,
    /// `None` for the whole file.
    pub(crate) line: Option<u32>,
    /// For a comment on several lines, the number of the first line, which is less than `line`.
    pub(crate) start_line: Option<u32>,
    /// The suggestion block. The host offers to replace exactly the lines of the comment with the text in this
    /// block.
    pub(crate) suggestion: Option<String>,
}

/// Returns the path and the lines for a comment on a finding. Returns `None` if the pull request does not change
/// the file.
pub(crate) fn place(review: &RequestReview<'_>, settled: &SettledFinding) -> Option<CommentPlace> {
    let raw = &settled.finding.raw;
    let file = review
        .files
        .iter()
        .find(|file| Some(&file.path) == raw.file.as_ref())?;
    let at = |lines: &RangeInclusive<u32>, suggestion| {
        let (first, last) = (*lines.start(), *lines.end());
        let start_line = (first < last).then_some(first);
        CommentPlace {
            path: file.path.clone(),
            line: Some(last),
            start_line,
            suggestion,
        }
    };
    if let Some((lines, block)) = suggestion(review, &settled.finding, file) {
        return Some(at(&lines, Some(block)));
    }
    let whole = CommentPlace {
        path: file.path.clone(),
        line: None,
        start_line: None,
        suggestion: None,
    };
    let Some(first) = raw.line else {
        return Some(whole);
    };
    let lines = first..=raw.end_line.unwrap_or(first).max(first);
    Some(if is_in_diff(file, &lines) {
        at(&lines, None)
    } else if file.lines.contains(&first) {
        at(&(first..=first), None)
    } else {
        whole
    })
}

/// Whether the host accepts a comment on every line in `lines`. If lines of a diff have consecutive numbers, the
/// lines are always in the same hunk.
fn is_in_diff(file: &ChangedFile, lines: &RangeInclusive<u32>) -> bool {
    // Ranges come from agents and can have any size.
    let count = lines.end() - lines.start();
    usize::try_from(count).is_ok_and(|count| count < file.lines.len())
        && lines.clone().all(|line| file.lines.contains(&line))
}

/// Returns the suggestion block for the exact fix, and the lines that the block replaces. Returns `None` if the
/// host has no suggestion blocks, or if the text cannot be shown unchanged. Also returns `None` if the lines are
/// not in the diff or have changed.
fn suggestion(
    review: &RequestReview<'_>,
    finding: &Finding,
    file: &ChangedFile,
) -> Option<(RangeInclusive<u32>, String)> {
    let fix = finding.exact_fix.as_ref()?;
    let lines = fix.line..=fix.end_line;
    let text = printable::block(&fix.shown());
    let has_command = text.lines().any(markup::is_command);
    let is_plain = fix.shown() == *text && redact(&text) == text && !has_command;
    let is_exact =
        is_plain && is_in_diff(file, &lines) && is_unchanged(review, finding, &file.path);
    (is_exact && review.host != HostKind::Gitea)
        .then(|| (lines, markup::fenced_as("suggestion", &text)))
}

/// Whether, at the head commit, the lines of the finding still contain the code of the finding.
fn is_unchanged(review: &RequestReview<'_>, finding: &Finding, path: &str) -> bool {
    let Some((anchor, text)) = finding.anchor.as_ref().zip((review.text_of)(path)) else {
        return false;
    };
    let now = Blocks::of(path, &text).anchor(&finding.raw);
    (&now.block, now.offset) == (&anchor.block, anchor.offset)
}
