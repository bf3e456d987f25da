//! Splits the diff of a pull request into files.

use std::collections::BTreeMap;

use crate::hosts::diff_lines::DiffLines;
use glee_workspace::diff::parse;

/// Maps the new path of each file in a git diff to the lines of the file's hunks. Files without hunks are left
/// out.
pub(super) fn files(diff: &str) -> BTreeMap<String, DiffLines> {
    let mut found = BTreeMap::new();
    for patch in parse::parse(diff.as_bytes()).patches {
        let lines = DiffLines::of_patch(&patch);
        let path = patch.new.and_then(|path| String::from_utf8(path).ok());
        if let Some(path) = path.filter(|_| !patch.hunks.is_empty()) {
            found.insert(path, lines);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_has_its_lines() {
        let diff = "diff --git a/a b b/a b\n--- a/a b\t\n+++ b/a b\t\n@@ -1 +1,2 @@\n one\n+++ b/evil\n\
                    diff --git a/gone b/gone\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n\
                    diff --git a/x b/y\nrename from x\nrename to y\n\
                    diff --git \"a/\\303\\244\" \"b/\\303\\244\"\n--- /dev/null\n+++ \"b/\\303\\244\"\n@@ -0,0 +1 @@\n+one\n";
        let found: Vec<String> = files(diff)
            .iter()
            .map(|(path, lines)| format!("{path} {:?}", lines.added))
            .collect();
        assert_eq!(found, ["a b {2}", "ä {1}"]);
    }
}
