//! Unified diffs, computed from bytes: no command of git that could run a filter or an external diff.

use std::time::Duration;

use similar::{Algorithm, DiffOp, TextDiff};

use crate::workspace::git::path_bytes;

/// After this time a diff is finished coarsely: it stays right, it is no longer the smallest.
pub(crate) const PATIENCE: Duration = Duration::from_millis(500);

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct UnifiedDiff {
    /// The unified diff with its two header lines.
    pub(crate) text: String,
    /// The lines of the new side that are under review, 1-based and inclusive; a deletion marks its neighbours.
    pub(crate) changed: Vec<(u32, u32)>,
    pub(crate) added: u32,
    pub(crate) removed: u32,
}

/// Compares two sides of a file, each with its path; no path is no file.
pub(crate) fn between(old: (Option<&[u8]>, &str), new: (Option<&[u8]>, &str)) -> UnifiedDiff {
    let diff = TextDiff::configure().algorithm(Algorithm::Myers).timeout(PATIENCE).diff_lines(old.1, new.1);
    let (mut changed, mut added, mut removed) = (Vec::new(), 0_u32, 0_u32);
    let total = line_number(diff.new_len());
    for op in diff.ops() {
        let (old_len, new_range) = match op {
            DiffOp::Equal { .. } => continue,
            DiffOp::Delete { old_len, new_index, .. } => (*old_len, *new_index..*new_index),
            DiffOp::Insert { new_index, new_len, .. } => (0, *new_index..*new_index + *new_len),
            DiffOp::Replace { old_len, new_index, new_len, .. } => (*old_len, *new_index..*new_index + *new_len),
        };
        added += line_number(new_range.len());
        removed += line_number(old_len);
        let (first, last) = match new_range.is_empty() {
            true => (line_number(new_range.start), line_number(new_range.start) + 1),
            false => (line_number(new_range.start) + 1, line_number(new_range.end)),
        };
        push(&mut changed, (first.max(1), last.min(total)));
    }
    let mut text = header(old.0, new.0);
    text.push_str(&diff.unified_diff().context_radius(3).to_string());
    UnifiedDiff { text, changed, added, removed }
}

/// The unified diff of two texts without a header, with three lines of context.
pub(crate) fn hunks(old: &str, new: &str) -> String {
    let diff = TextDiff::configure().algorithm(Algorithm::Myers).timeout(PATIENCE).diff_lines(old, new);
    diff.unified_diff().context_radius(3).to_string()
}

/// The line of the new text at the place of a line of the old one, both counted from 1.
pub(crate) fn line_now(old: &str, new: &str, line: u32) -> u32 {
    let diff = TextDiff::configure().algorithm(Algorithm::Myers).timeout(PATIENCE).diff_lines(old, new);
    let index = usize::try_from(line.saturating_sub(1)).unwrap_or(usize::MAX);
    let now = diff.ops().iter().find(|op| op.old_range().contains(&index)).map(|op| {
        let within = index - op.old_range().start;
        op.new_range().start + within.min(op.new_range().len().saturating_sub(1))
    });
    now.map_or(line, |now| line_number(now) + 1)
}

fn header(old: Option<&[u8]>, new: Option<&[u8]>) -> String {
    let name = |side: &str, path: Option<&[u8]>| match path {
        Some(path) => path_bytes::shown(&path_bytes::quoted(&[side.as_bytes(), path].concat())),
        None => "/dev/null".to_owned(),
    };
    format!("--- {}\n+++ {}\n", name("a/", old), name("b/", new))
}

/// Adds a range that does not begin before the last one, joined with it where they touch.
pub(crate) fn push(ranges: &mut Vec<(u32, u32)>, range: (u32, u32)) {
    if range.0 > range.1 {
        return;
    }
    match ranges.last_mut() {
        Some(last) if range.0 <= last.1.saturating_add(1) => last.1 = last.1.max(range.1),
        _ => ranges.push(range),
    }
}

fn line_number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_the_lines_of_the_new_side() {
        let difference = between((Some(b"x"), "a\nb\nc\nd\ne\n"), (Some(b"x"), "a\nB\nc\nd\ne\nf\ng\n"));
        assert_eq!(
            difference,
            UnifiedDiff {
                text: "--- a/x\n+++ b/x\n@@ -1,5 +1,7 @@\n a\n-b\n+B\n c\n d\n e\n+f\n+g\n".to_owned(),
                changed: vec![(2, 2), (6, 7)],
                added: 3,
                removed: 1,
            }
        );
    }

    #[test]
    fn a_deletion_marks_the_lines_it_stood_between() {
        let changed = |old, new| between((Some(b"x"), old), (Some(b"x"), new)).changed;
        assert_eq!(changed("a\nb\nc\n", "a\nc\n"), [(1, 2)]);
        assert_eq!(changed("a\nb\n", "b\n"), [(1, 1)]);
        assert_eq!(changed("a\nb\n", "a\n"), [(1, 1)]);
        assert_eq!(changed("a\n", ""), []);
    }

    #[test]
    fn names_both_sides_and_missing_line_ends() {
        let difference = between((None, ""), (Some(b"a\nb"), "x"));
        assert_eq!(
            difference.text,
            "--- /dev/null\n+++ \"b/a\\nb\"\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n"
        );
        assert_eq!(difference.changed, [(1, 1)]);
    }
}
