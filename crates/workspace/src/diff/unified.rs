//! Computes unified diffs in memory and without git, because git commands could run filters or external diff
//! programs.

use std::time::Duration;

use similar::{Algorithm, DiffTag, TextDiff};

use crate::git::path_bytes;

/// After this time, the search for the shortest diff stops. The resulting diff is correct, but possibly longer
/// than necessary.
pub const PATIENCE: Duration = Duration::from_millis(500);

#[derive(Debug, PartialEq, Eq)]
pub struct UnifiedDiff {
    pub text: String,
    /// The line ranges under review in the new text, 1-based and inclusive. If lines were removed without a
    /// replacement, the lines directly before and after the gap are under review.
    pub changed: Vec<(u32, u32)>,
    pub added: u32,
    pub removed: u32,
}

/// Compares two versions of a file. Each version consists of a path and a text. The path is `None` if the file
/// does not exist in this version.
pub fn between(old: (Option<&[u8]>, &str), new: (Option<&[u8]>, &str)) -> UnifiedDiff {
    let diff = lines(old.1, new.1);
    let mut changed = Vec::new();
    let mut added = 0_u32;
    let mut removed = 0_u32;
    let total = number(diff.new_len());
    for op in diff.ops().iter().filter(|op| op.tag() != DiffTag::Equal) {
        let new = op.new_range();
        added += number(new.len());
        removed += number(op.old_range().len());
        let (first, last) = match new.is_empty() {
            true => (number(new.start), number(new.start) + 1),
            false => (number(new.start) + 1, number(new.end)),
        };
        push(&mut changed, (first.max(1), last.min(total)));
    }
    let [from, to] = [("a/", old.0), ("b/", new.0)].map(|(side, path)| match path {
        Some(path) => name(side, path),
        None => "/dev/null".to_owned(),
    });
    let text =
        format!("--- {from}\n+++ {to}\n") + &diff.unified_diff().context_radius(3).to_string();
    UnifiedDiff {
        text,
        changed,
        added,
        removed,
    }
}

pub fn lines<'a>(old: &'a str, new: &'a str) -> TextDiff<'a, 'a, str> {
    TextDiff::configure()
        .algorithm(Algorithm::Myers)
        .timeout(PATIENCE)
        .diff_lines(old, new)
}

/// Returns a unified diff of two texts with three lines of context, but without the file header.
pub fn hunks(old: &str, new: &str) -> String {
    lines(old, new).unified_diff().context_radius(3).to_string()
}

/// Converts a line number of the old text to a line number of the new text. Both line numbers are 1-based.
pub fn line_now(diff: &TextDiff<'_, '_, str>, line: u32) -> u32 {
    let index = usize::try_from(line.saturating_sub(1)).unwrap_or(usize::MAX);
    let now = diff
        .ops()
        .iter()
        .find(|op| op.old_range().contains(&index))
        .map(|op| {
            let within = index - op.old_range().start;
            op.new_range().start + within.min(op.new_range().len().saturating_sub(1))
        });
    now.map_or(line, |now| number(now) + 1)
}

/// Formats a path for the header of a diff, with quotes if necessary. `side` is the prefix of the path, such as
/// `a/`.
pub fn name(side: &str, path: &[u8]) -> String {
    path_bytes::shown(&path_bytes::quoted(&[side.as_bytes(), path].concat()))
}

/// Appends a range, and joins overlapping or adjacent ranges. The ranges must be sorted by their start.
pub fn push(ranges: &mut Vec<(u32, u32)>, range: (u32, u32)) {
    if range.0 > range.1 {
        return;
    }
    match ranges.last_mut() {
        Some(last) if range.0 <= last.1.saturating_add(1) => last.1 = last.1.max(range.1),
        _ => ranges.push(range),
    }
}

pub fn joined(mut ranges: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    ranges.sort_unstable();
    let mut joined = Vec::new();
    ranges
        .into_iter()
        .for_each(|range| push(&mut joined, range));
    joined
}

pub fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_the_lines_of_the_new_side() {
        let diff = between(
            (Some(b"x"), "a\nb\nc\nd\ne\n"),
            (Some(b"x"), "a\nB\nc\nd\ne\nf\ng\n"),
        );
        assert_eq!(
            diff,
            UnifiedDiff {
                text: "--- a/x\n+++ b/x\n@@ -1,5 +1,7 @@\n a\n-b\n+B\n c\n d\n e\n+f\n+g\n"
                    .to_owned(),
                changed: vec![(2, 2), (6, 7)],
                added: 3,
                removed: 1,
            }
        );
    }

    #[test]
    fn a_deletion_marks_its_neighbours() {
        let changed = |old, new| between((Some(b"x"), old), (Some(b"x"), new)).changed;
        assert_eq!(changed("a\nb\nc\n", "a\nc\n"), [(1, 2)]);
        assert_eq!(changed("a\nb\n", "b\n"), [(1, 1)]);
        assert_eq!(changed("a\nb\n", "a\n"), [(1, 1)]);
        assert_eq!(changed("a\n", ""), []);
    }

    #[test]
    fn names_both_sides_and_missing_line_ends() {
        let diff = between((None, ""), (Some(b"a\nb"), "x"));
        assert_eq!(
            diff.text,
            "--- /dev/null\n+++ \"b/a\\nb\"\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n"
        );
        assert_eq!(diff.changed, [(1, 1)]);
    }
}
