//! Finds waivers, which are comments of the form `glee-allow: <rule> -- <reason>`.
//!
//! The author of the code writes a waiver to object to a rule. A waiver is on a line of the flagged code or
//! directly above the code. The text `glee-allow:` in a string literal is not a waiver. A waiver does not
//! disable the rule, but the fixer returns the waiver's reason as an objection to the finding.

use std::ops::Range;

use super::scan::{Hit, SyntaxTree};
use crate::code::symbols;

const MARK: &str = "glee-allow:";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Waiver {
    pub reason: String,
    pub bytes: Range<usize>,
}

struct Line {
    number: u32,
    text: String,
    /// The bytes to delete. If the line contains only the comment, these bytes are the whole line. Otherwise,
    /// the bytes are the comment and the blanks before the comment.
    bytes: Range<usize>,
    alone: bool,
}

pub(crate) fn waiver(tree: &SyntaxTree, hit: &Hit) -> Option<Waiver> {
    let comments = comment_lines(tree);
    let (first, last) = hit.lines;
    let on_it = comments
        .iter()
        .filter(|line| (first..=last).contains(&line.number))
        .map(std::slice::from_ref);
    let above = [first, statement_line(tree, hit)].map(|line| block_above(&comments, line));
    on_it.chain(above).find_map(|lines| read(lines, &hit.rule))
}

/// Parses the waiver for `rule` in adjacent comment lines. The waiver ends at the last comment line or before the
/// next waiver.
fn read(lines: &[Line], rule: &str) -> Option<Waiver> {
    let starts = |line: &Line| line.text.contains(MARK);
    let at = lines.iter().position(|line| {
        let ids = line
            .text
            .split_once(MARK)
            .map(|(_, rest)| rest.split("--").next().unwrap_or_default());
        ids.is_some_and(|ids| ids.split(',').any(|id| id.trim() == rule))
    })?;
    let end = lines[at + 1..]
        .iter()
        .position(starts)
        .map_or(lines.len(), |next| at + 1 + next);
    let mut words: Vec<&str> = lines[at]
        .text
        .split_once("--")
        .map(|(_, reason)| reason.trim())
        .into_iter()
        .collect();
    words.extend(lines[at + 1..end].iter().map(|line| line.text.trim()));
    let reason = words.join(" ").trim().to_owned();
    Some(Waiver {
        reason,
        bytes: lines[at].bytes.start..lines[end - 1].bytes.end,
    })
}

fn block_above(comments: &[Line], line: u32) -> &[Line] {
    let Some(last) = line.checked_sub(1).and_then(|number| {
        comments
            .iter()
            .position(|comment| comment.number == number && comment.alone)
    }) else {
        return &[];
    };
    let mut first = last;
    while first > 0
        && comments[first - 1].alone
        && comments[first - 1].number + 1 == comments[first].number
    {
        first -= 1;
    }
    &comments[first..=last]
}

fn statement_line(tree: &SyntaxTree, hit: &Hit) -> u32 {
    let node = symbols::covering(tree, &hit.range);
    let statement = std::iter::once(node.clone())
        .chain(node.ancestors())
        .find(|node| {
            let kind = node.kind();
            kind.ends_with("_statement")
                || kind.ends_with("_declaration")
                || kind.ends_with("_item")
        });
    statement.map_or(hit.lines.0, |statement| symbols::lines(&statement).0)
}

fn comment_lines(tree: &SyntaxTree) -> Vec<Line> {
    let source = tree.source();
    let mut lines: Vec<Line> = Vec::new();
    for node in tree
        .root()
        .dfs()
        .filter(|node| node.kind().ends_with("comment"))
    {
        let range = node.range();
        let (mut number, _) = symbols::lines(&node);
        let mut start = range.start;
        for part in source[range.clone()].split_inclusive('\n') {
            let line_start = source[..start].rfind('\n').map_or(0, |at| at + 1);
            let line_end = source[start..]
                .find('\n')
                .map_or(source.len(), |at| start + at + 1);
            let before = &source[line_start..start];
            let after = source[(start + part.len()).min(line_end)..line_end].trim();
            let alone = before.trim().is_empty() && after.is_empty();
            let bytes = match alone {
                true => line_start..line_end,
                false => line_start + before.trim_end().len()..start + part.trim_end().len(),
            };
            if !part.trim().is_empty() {
                lines.push(Line {
                    number,
                    text: unmarked(part),
                    bytes,
                    alone,
                });
            }
            start += part.len();
            number += 1;
        }
    }
    lines.dedup_by(|b, a| a.bytes == b.bytes);
    lines
}

fn unmarked(line: &str) -> String {
    let line = line
        .trim()
        .trim_start_matches(['#', '/', '*', '!'])
        .trim_start();
    line.trim_end_matches("*/").trim_end().to_owned()
}
