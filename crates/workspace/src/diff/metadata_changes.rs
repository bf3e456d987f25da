//! Creates files with a diff in git's format for the following changes: deletions, mode changes, link changes and
//! new submodule commits.

use crate::Result;
use crate::code::text_files;
use crate::diff::unified;
use crate::git::listed_index::{LINK, SUBMODULE};
use crate::select::filter::{self, Before, Selected};
use crate::select::notebook;
use glee_model::domain::{SkipReason, number_of};
use glee_protocol::request::SourceFile;

/// The maximum total size, in bytes, that the diffs of deleted files can have in one target.
pub(crate) const SHOWN: usize = 512 << 10;

pub(crate) fn submodule(commit: &str) -> Vec<u8> {
    format!("Subproject commit {commit}\n").into_bytes()
}

pub(crate) fn is_regular(mode: u32) -> bool {
    !matches!(mode, 0 | LINK | SUBMODULE)
}

/// Returns the diff lines for a changed file mode, or `None` if the modes are equal or one mode is 0.
pub(crate) fn modes(path: &[u8], old: u32, new: u32) -> Option<String> {
    if old == new || old == 0 || new == 0 {
        return None;
    }
    let from = unified::name("a/", path);
    let to = unified::name("b/", path);
    Some(format!(
        "diff --git {from} {to}\nold mode {old:06o}\nnew mode {new:06o}\n"
    ))
}

pub(crate) struct MetadataEdit<'a> {
    pub path: &'a [u8],
    /// The path and the content before the change, or `None` for a new file. If the old file cannot be read, the
    /// content is `None`.
    pub old: Option<(&'a [u8], Option<Vec<u8>>)>,
    /// The attribute `linguist-generated` after the change and before the change.
    pub generated: (Option<bool>, Option<bool>),
    pub modes: Option<String>,
}

impl MetadataEdit<'_> {
    /// Creates a file for review from the change. If git converts the line endings of the file, the diff is
    /// computed from `compared`, which is the converted content.
    pub(crate) fn file(
        self,
        bytes: Vec<u8>,
        compared: Option<Vec<u8>>,
    ) -> Result<SourceFile, SkipReason> {
        let Self {
            path,
            old,
            generated,
            modes,
        } = self;
        let before = match &old {
            Some((old_path, Some(old))) if *old_path == path => Before::Was(old),
            _ => Before::Unknown,
        };
        let is_renamed = old.as_ref().is_some_and(|(old, _)| *old != path);
        let name = filter::path_text(path);
        let text = filter::text(&name, bytes, Selected::ByWalk, generated, before)?;
        let compared = compared.map(|bytes| filter::reviewed(&name, text_files::lossy(bytes)));
        let new = (Some(path), compared.as_deref().unwrap_or(&text));
        let found = match old {
            None => Some(unified::between((None, ""), new)),
            Some((path, Some(old))) if filter::is_text(&filter::path_text(path), &old) => {
                let name = filter::path_text(path);
                let old = filter::reviewed(&name, text_files::lossy(old));
                Some(unified::between((Some(path), &old), new))
            }
            Some(_) => None,
        };
        let (changed, diff) = match found {
            // The change is in the outputs alone.
            Some(found)
                if notebook::is_cells(&name, &text)
                    && modes.is_none()
                    && !is_renamed
                    && found.added + found.removed == 0 =>
            {
                return Err(SkipReason::NotebookOutputs);
            }
            // If only the mode changed, the whole file is reviewed.
            Some(found) if modes.is_some() && !is_renamed && found.added + found.removed == 0 => {
                (found.changed, modes)
            }
            Some(found) => (found.changed, Some(modes.unwrap_or_default() + &found.text)),
            None => (Vec::new(), modes),
        };
        Ok(SourceFile {
            path: name,
            text,
            changed,
            diff,
        })
    }
}

pub(crate) fn deleted(path: &[u8], mode: u32, old: Option<&[u8]>) -> SourceFile {
    let name = filter::path_text(path);
    let mode = if mode == 0 {
        String::new()
    } else {
        format!(" mode {mode:06o}")
    };
    let text = old
        .filter(|old| filter::is_text(&name, old))
        .map(|old| text_files::lossy(old.to_vec()));
    let shown = unified::between(
        (Some(path), text.as_deref().unwrap_or_default()),
        (None, ""),
    );
    let content = match (&text, old) {
        (Some(_), _) => String::new(),
        (None, Some(old)) => format!(", {}, not text", number_of(old.len(), "byte")),
        (None, None) => ", its content could not be read".to_owned(),
    };
    let diff = format!("deleted file{mode}{content}\n{}", shown.text);
    SourceFile {
        path: name,
        text: String::new(),
        changed: Vec::new(),
        diff: Some(diff),
    }
}

/// Shortens the diff of a deleted file to its header and the number of removed lines.
pub(crate) fn named(file: SourceFile) -> SourceFile {
    let lines = file.deleted_lines();
    let diff = file.diff.as_deref().unwrap_or_default();
    let mut head = diff.lines().take_while(|line| !line.starts_with("@@ "));
    let first = head.next().unwrap_or_default();
    let rest: String = head.map(|line| format!("{line}\n")).collect();
    let diff = format!("{first}, {lines} lines, not shown: they are too many\n{rest}");
    SourceFile {
        diff: Some(diff),
        ..file
    }
}

/// Glee reads a changed file only if its size is at most `FACTOR` times the size limit for reviewed files.
pub(crate) const FACTOR: u64 = 16;

/// For a file over the size limit: the number of lines that are shown before and after each changed line.
const AROUND: u32 = 20;

/// Reduces a file over the size limit to the changed lines and the lines around the changed lines. The lines of
/// the reduced file keep their original line numbers. A line over the size limit is left out. The boolean in the result
/// is true if the reduced file lacks some changed lines.
pub(crate) fn part(file: SourceFile, max_file: u64) -> Result<(SourceFile, bool), SkipReason> {
    let last = text_files::lines(&file.text);
    let changed = if file.changed.is_empty() {
        vec![(1, last)]
    } else {
        file.changed.clone()
    };
    let mut near = changed
        .iter()
        .map(|(first, last)| (first.saturating_sub(AROUND), last.saturating_add(AROUND)))
        .peekable();
    let mut under = changed.iter().peekable();
    let mut text = String::new();
    let mut left: Vec<(u32, u32)> = Vec::new();
    let mut is_cut = false;
    for (line, number) in file.text.split_inclusive('\n').zip(1..) {
        while near.next_if(|(_, last)| *last < number).is_some() {}
        while under.next_if(|(_, last)| *last < number).is_some() {}
        let is_near = near.peek().is_some_and(|(first, _)| *first <= number);
        let is_under = under.peek().is_some_and(|(first, _)| *first <= number);
        let is_long = line.len() as u64 > max_file;
        text.push_str(if is_near && !is_long { line } else { "\n" });
        is_cut |= is_under && is_long;
        if is_under && !is_long {
            match left.last_mut() {
                Some((_, last)) if *last + 1 == number => *last = number,
                _ => left.push((number, number)),
            }
        }
    }
    if left.is_empty() {
        return Err(SkipReason::Oversized);
    }
    Ok((
        SourceFile {
            text,
            changed: left,
            ..file
        },
        is_cut,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(file: &SourceFile) -> &str {
        file.diff.as_deref().unwrap_or_default()
    }

    #[test]
    fn a_deleted_file_is_shown_or_named() {
        let file = deleted(b"a/check.py", 0o100_644, Some(b"one\ntwo\n"));
        assert!(file.is_deleted());
        assert_eq!(file.deleted_lines(), 2);
        assert_eq!(
            diff(&file),
            "deleted file mode 100644\n--- a/a/check.py\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-two\n"
        );
        let named = named(file);
        assert!(named.is_deleted());
        assert_eq!(
            diff(&named),
            "deleted file mode 100644, 2 lines, not shown: they are too many\n--- a/a/check.py\n+++ /dev/null\n"
        );
        let binary = deleted(b"logo.png", 0o100_644, Some(b"\0\x01"));
        assert_eq!(
            diff(&binary),
            "deleted file mode 100644, 2 bytes, not text\n--- a/logo.png\n+++ /dev/null\n"
        );
        assert!(
            diff(&deleted(b"x", 0, None))
                .starts_with("deleted file, its content could not be read\n")
        );
        assert!(deleted(b"empty.py", 0o100_755, Some(b"")).is_deleted());
    }

    #[test]
    fn changed_modes_are_shown_where_both_are_known() {
        assert_eq!(modes(b"x", 0o100_644, 0o100_644), None);
        assert_eq!(modes(b"x", 0, 0o100_644), None);
        let lines = modes(b"a b\n", 0o100_644, 0o120_000);
        assert_eq!(
            lines.as_deref(),
            Some("diff --git \"a/a b\\n\" \"b/a b\\n\"\nold mode 100644\nnew mode 120000\n")
        );
    }
}
