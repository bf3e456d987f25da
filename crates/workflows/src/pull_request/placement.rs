//! Finds the lines for a new comment. If the lines of the finding are not in the diff, the comment is about the
//! whole file. A comment is never moved to a nearby line.

use std::ops::RangeInclusive;

use crate::hosts::{ChangedFile, HostKind};
use crate::pull_request::input::RequestReview;
use glee_model::domain::{Finding, Location, SettledFinding};
use glee_protocol::secrets::redact;
use glee_protocol::text::{markup, printable};
use glee_workspace::code::anchors::Blocks;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommentPlace {
    pub path: String,
    /// `None` for the whole file.
    pub line: Option<u32>,
    /// For a comment on several lines, the number of the first line, which is less than `line`.
    pub start_line: Option<u32>,
    /// The suggestion block. The host offers to replace exactly the lines of the comment with the text in this
    /// block.
    pub suggestion: Option<String>,
}

/// Returns the path and the lines for a comment on a finding. If the finding has several places, the comment stands at
/// the first place whose lines are in the diff. Returns `None` if the pull request changes none of the files.
pub(super) fn place(review: &RequestReview<'_>, settled: &SettledFinding) -> Option<CommentPlace> {
    let mut whole = None;
    for (number, place) in settled.finding.raw.locations().iter().enumerate() {
        let Some(file) = review.files.iter().find(|file| file.path == place.file) else {
            continue;
        };
        if number == 0
            && let Some((lines, block)) = suggestion(review, &settled.finding, file)
        {
            return Some(CommentPlace::at(file, &lines, Some(block)));
        }
        if let Some(lines) = lines_in_diff(file, place) {
            return Some(CommentPlace::at(file, &lines, None));
        }
        whole.get_or_insert(CommentPlace {
            path: file.path.clone(),
            line: None,
            start_line: None,
            suggestion: None,
        });
    }
    whole
}

impl CommentPlace {
    fn at(file: &ChangedFile, lines: &RangeInclusive<u32>, suggestion: Option<String>) -> Self {
        let first = *lines.start();
        let last = *lines.end();
        Self {
            path: file.path.clone(),
            line: Some(last),
            start_line: (first < last).then_some(first),
            suggestion,
        }
    }
}

/// Returns the lines of a place, or only the first line if the other lines are not in the diff.
fn lines_in_diff(file: &ChangedFile, place: &Location) -> Option<RangeInclusive<u32>> {
    let first = place.line?;
    let lines = first..=place.end_line.unwrap_or(first).max(first);
    if is_in_diff(file, &lines) {
        return Some(lines);
    }
    file.lines.contains(&first).then_some(first..=first)
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
