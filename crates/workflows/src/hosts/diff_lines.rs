//! The lines of a unified diff on which hosts accept comments.

use std::collections::{BTreeMap, BTreeSet};

/// Line numbers in the new version of a file. The first line has the number 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DiffLines {
    /// The added lines and the context lines of all hunks.
    pub shown: BTreeSet<u32>,
    /// The lines that the change adds.
    pub added: BTreeSet<u32>,
    /// For each context line, maps the line number in the new version to the line number in the old version.
    pub context: BTreeMap<u32, u32>,
}

impl DiffLines {
    /// Reads the hunks of one file. Lines before the first hunk are ignored.
    pub(super) fn of(hunks: &str) -> Self {
        let mut found = Self::default();
        // `before` is the number of the next line in the old file, and `next` is the number of the next line in
        // the new file. `old` and `new` count the lines of the hunk that have not been read yet: `old` for the old
        // file, and `new` for the new file.
        let (mut before, mut next, mut old, mut new) = (0_u32, 0_u32, 0_u32, 0_u32);
        for line in hunks.lines() {
            if old == 0 && new == 0 {
                if let Some(hunk) = header(line) {
                    ((before, old), (next, new)) = hunk;
                }
                continue;
            }
            match line.as_bytes().first() {
                Some(b'+') => {
                    found.added.insert(next);
                    found.shown.insert(next);
                    (next, new) = (next.saturating_add(1), new.saturating_sub(1));
                }
                Some(b'-') => (before, old) = (before.saturating_add(1), old.saturating_sub(1)),
                // `\ No newline at end of file` belongs to the line before it.
                Some(b'\\') => {}
                _ => {
                    found.shown.insert(next);
                    found.context.insert(next, before);
                    (next, new) = (next.saturating_add(1), new.saturating_sub(1));
                    (before, old) = (before.saturating_add(1), old.saturating_sub(1));
                }
            }
        }
        found
    }
}

/// Parses the header of a hunk, such as `@@ -1,2 +3,4 @@`. For the old and the new version, returns the number of
/// the first line and the count of lines.
fn header(line: &str) -> Option<((u32, u32), (u32, u32))> {
    let mut words = line.strip_prefix("@@ -")?.split(' ');
    let old = range(words.next()?)?;
    let new = range(words.next()?.strip_prefix('+')?)?;
    Some((old, new))
}

fn range(text: &str) -> Option<(u32, u32)> {
    match text.split_once(',') {
        Some((first, count)) => Some((first.parse().ok()?, count.parse().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn context_and_added_lines_are_shown() {
        let hunks = "@@ -1,3 +1,4 @@ fn a\n one\n-two\n+2\n+3\n three\n\\ No newline at end of file\n@@ -10 +11 @@\n-+++ b\n+--- a\n";
        let found = DiffLines::of(hunks);
        assert_eq!(found.shown, BTreeSet::from([1, 2, 3, 4, 11]));
        assert_eq!(found.added, BTreeSet::from([2, 3, 11]));
        assert_eq!(found.context, BTreeMap::from([(1, 1), (4, 3)]));
        assert_eq!(
            DiffLines::of("@@ -0,0 +1,2 @@\n+a\n+@@ -1 +1 @@\n").added,
            BTreeSet::from([1, 2])
        );
        assert_eq!(
            DiffLines::of("@@ -1,2 +0,0 @@\n-a\n-b\n"),
            DiffLines::default()
        );
        assert_eq!(DiffLines::of("Binary files differ\n"), DiffLines::default());
    }
}
