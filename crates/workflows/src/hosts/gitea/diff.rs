//! Splits the diff of a pull request into files.

use std::collections::BTreeMap;

use crate::hosts::diff_lines::DiffLines;

/// Maps the new path of each file in a git diff to the lines of the file's hunks. Files without hunks are left
/// out.
pub(super) fn files(diff: &str) -> BTreeMap<String, DiffLines> {
    let mut found = BTreeMap::new();
    let (mut path, mut hunks, mut is_header) = (None, String::new(), false);
    for line in diff.split_inclusive('\n') {
        // This line begins with `diff --git`. Lines of hunks begin with a space, `+`, `-` or `\`, so this line is
        // not in a hunk.
        if line.starts_with("diff --git ") {
            insert(&mut found, path.take(), &hunks);
            hunks.clear();
            is_header = true;
        } else if is_header && let Some(name) = line.strip_prefix("+++ ") {
            path = new_path(name.trim_end_matches(['\n', '\r']));
        } else if line.starts_with("@@ ") {
            is_header = false;
            hunks.push_str(line);
        } else if !is_header {
            hunks.push_str(line);
        }
    }
    insert(&mut found, path, &hunks);
    found
}

fn insert(found: &mut BTreeMap<String, DiffLines>, path: Option<String>, hunks: &str) {
    if let Some(path) = path.filter(|_| !hunks.is_empty()) {
        found.insert(path, DiffLines::of(hunks));
    }
}

/// Returns the path without the prefix `b/`. Git puts a path with unusual characters in quotation marks. `None`
/// for a deleted file.
fn new_path(name: &str) -> Option<String> {
    let name = match name
        .strip_prefix('"')
        .and_then(|name| name.strip_suffix('"'))
    {
        Some(quoted) => unquoted(quoted)?,
        // Git writes a tab after a name that contains spaces.
        None => name.trim_end_matches('\t').to_owned(),
    };
    name.strip_prefix("b/").map(str::to_owned)
}

fn unquoted(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        bytes.push(match rest.next()? {
            b'a' => 7,
            b'b' => 8,
            b't' => b'\t',
            b'n' => b'\n',
            b'v' => 11,
            b'f' => 12,
            b'r' => b'\r',
            first @ b'0'..=b'3' => {
                let digit = |byte: u8| matches!(byte, b'0'..=b'7').then(|| byte - b'0');
                (first - b'0') * 64 + digit(rest.next()?)? * 8 + digit(rest.next()?)?
            }
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
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
