//! What a change does besides editing lines: deletions, modes, links and the commits of submodules.
//!
//! Each is shown to reviewers as a file with a diff in git's words, so that none is passed over.

use crate::domain::SkipReason;
use crate::protocol::request::SourceFile;

use super::scan::{LINK, SUBMODULE};
use super::sift::{self, Before, Chosen};
use super::{content, difference, names};

/// The bytes of the diffs of deleted files that are shown of one target.
pub(super) const SHOWN: usize = 512 << 10;

/// What stands for the content of a submodule.
pub(super) fn submodule(commit: &str) -> Vec<u8> {
    format!("Subproject commit {commit}\n").into_bytes()
}

pub(super) fn is_regular(mode: u32) -> bool {
    !matches!(mode, 0 | LINK | SUBMODULE)
}

/// The lines that say how the mode of a file changed; none where it did not, or where one side is missing.
pub(super) fn modes(path: &[u8], old: u32, new: u32) -> Option<String> {
    if old == new || old == 0 || new == 0 {
        return None;
    }
    let name = |side: &str| names::shown(&names::quoted(&[side.as_bytes(), path].concat()));
    Some(format!("diff --git {} {}\nold mode {old:06o}\nnew mode {new:06o}\n", name("a/"), name("b/")))
}

/// What is known of a changed file besides its new bytes.
pub(super) struct Edit<'a> {
    pub(super) path: &'a [u8],
    /// The path and the bytes before, where these are known; `None` for a new file.
    pub(super) old: Option<(&'a [u8], Option<Vec<u8>>)>,
    /// What `.gitattributes` says on `linguist-generated` now, and what it said before.
    pub(super) generated: (Option<bool>, Option<bool>),
    /// The lines that say how the mode changed.
    pub(super) modes: Option<String>,
}

impl Edit<'_> {
    /// The file as it is reviewed. `compared` stands for its bytes where the old side has other line ends.
    pub(super) fn file(self, bytes: Vec<u8>, compared: Option<Vec<u8>>) -> Result<SourceFile, SkipReason> {
        let Self { path, old, generated, modes } = self;
        let before = match &old {
            Some((old_path, Some(old))) if *old_path == path => Before::Was(old),
            _ => Before::Unknown,
        };
        let is_renamed = old.as_ref().is_some_and(|(old, _)| *old != path);
        let name = sift::path_text(path);
        let text = sift::text(&name, bytes, Chosen::Met, generated, before)?;
        let compared = compared.map(content::lossy);
        let new = (Some(path), compared.as_deref().unwrap_or(&text));
        let found = match old {
            None => Some(difference::between((None, ""), new)),
            Some((path, Some(old))) if sift::is_text(&sift::path_text(path), &old) => {
                Some(difference::between((Some(path), &content::lossy(old)), new))
            }
            Some(_) => None,
        };
        let (changed, diff) = match found {
            // Where only the mode changed, the whole file is shown with it.
            Some(found) if modes.is_some() && !is_renamed && found.added + found.removed == 0 => {
                (found.changed, modes)
            }
            Some(found) => (found.changed, Some(modes.unwrap_or_default() + &found.text)),
            None => (Vec::new(), modes),
        };
        Ok(SourceFile { path: name, text, changed, diff })
    }
}

/// A file that the change deletes, with the bytes it had where these are known.
pub(super) fn deleted(path: &[u8], mode: u32, old: Option<&[u8]>) -> SourceFile {
    let name = sift::path_text(path);
    let mode = if mode == 0 { String::new() } else { format!(" mode {mode:06o}") };
    let text = old.filter(|old| sift::is_text(&name, old)).map(|old| content::lossy(old.to_vec()));
    let shown = difference::between((Some(path), text.as_deref().unwrap_or_default()), (None, ""));
    let content = match (&text, old) {
        (Some(_), _) => String::new(),
        (None, Some(old)) => format!(", {} bytes, not text", old.len()),
        (None, None) => ", its content could not be read".to_owned(),
    };
    let diff = format!("deleted file{mode}{content}\n{}", shown.text);
    SourceFile { path: name, text: String::new(), changed: Vec::new(), diff: Some(diff) }
}

/// The same without its lines, of which it says how many there were.
pub(super) fn named(file: SourceFile) -> SourceFile {
    let lines = file.deleted_lines();
    let diff = file.diff.as_deref().unwrap_or_default();
    let mut head = diff.lines().take_while(|line| !line.starts_with("@@ "));
    let first = head.next().unwrap_or_default();
    let rest: String = head.map(|line| format!("{line}\n")).collect();
    let diff = format!("{first}, {lines} lines, not shown: they are too many\n{rest}");
    SourceFile { diff: Some(diff), ..file }
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
        assert_eq!(diff(&binary), "deleted file mode 100644, 2 bytes, not text\n--- a/logo.png\n+++ /dev/null\n");
        assert!(diff(&deleted(b"x", 0, None)).starts_with("deleted file, its content could not be read\n"));
        assert!(deleted(b"empty.py", 0o100_755, Some(b"")).is_deleted());
    }

    #[test]
    fn modes_are_told_where_both_are_known() {
        assert_eq!(modes(b"x", 0o100_644, 0o100_644), None);
        assert_eq!(modes(b"x", 0, 0o100_644), None);
        let told = modes(b"a b\n", 0o100_644, 0o120_000);
        assert_eq!(
            told.as_deref(),
            Some("diff --git \"a/a b\\n\" \"b/a b\\n\"\nold mode 100644\nnew mode 120000\n")
        );
    }
}
