//! The lines of a unified diff on which hosts accept comments.

use std::collections::{BTreeMap, BTreeSet};

use glee_workspace::diff::parse::{self, DiffMark, Patch};

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
    /// Reads the hunks of one file.
    pub(super) fn of(hunks: &str) -> Self {
        let diff = format!("--- a/file\n+++ b/file\n{hunks}");
        let patches = parse::parse(diff.as_bytes()).patches;
        patches.first().map(Self::of_patch).unwrap_or_default()
    }

    pub(super) fn of_patch(patch: &Patch) -> Self {
        let mut found = Self::default();
        for hunk in &patch.hunks {
            let mut before = hunk.old_start;
            let mut next = hunk.new_start;
            for (mark, _) in &hunk.lines {
                match mark {
                    DiffMark::Added => {
                        found.added.insert(next);
                    }
                    DiffMark::Kept => {
                        found.context.insert(next, before);
                    }
                    DiffMark::Removed => {}
                }
                if *mark != DiffMark::Removed {
                    found.shown.insert(next);
                    next = next.saturating_add(1);
                }
                if *mark != DiffMark::Added {
                    before = before.saturating_add(1);
                }
            }
        }
        found
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
