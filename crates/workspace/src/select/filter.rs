//! Decides which files are reviewed: text files of a bounded size that people write.
//!
//! Glee records a reason for each skipped file. A marker of generated code counts only if the file had the marker
//! before the change. A change can therefore not exclude itself from the review.

use crate::code::text_files;
use crate::git::path_bytes;
use crate::select::{by_rule, notebook};
use glee_model::domain::{Skip, SkipReason};

/// The extensions of text formats. A file with one of these extensions is text if the file does not have many
/// control characters.
const TEXT: &str = " asm astro awk bash bat bicep c cc cfg cjs clj cljs cls cmake cmd conf cpp cs css csv cts cxx dart \
    diff el ex exs fish fs go gradle graphql groovy h hbs hcl hh hpp hs htm html hxx ini ipynb java jinja jl js json \
    json5 jsonc jsonl jsp jsx kt kts ksh less lisp lua m4 make md mjs mk ml mli mm mts nim nix patch php phtml pl pm \
    properties proto ps1 psm1 py pyi pyw pyx r rake rb rego rkt rs rst s sass scala scm scss sh sol sql svelte svg \
    swift tcl tex tf tfvars toml ts tsx txt v vb vbs vhd vim vue xhtml xml xsl yaml yml zig zsh ";

/// The extensions of documents.
const DOCUMENTS: [&str; 8] = [
    "md", "markdown", "rst", "adoc", "asciidoc", "org", "textile", "txt",
];

/// The names of documents without an extension.
const NOTICES: [&str; 10] = [
    "README",
    "LICENSE",
    "LICENCE",
    "COPYING",
    "NOTICE",
    "AUTHORS",
    "CONTRIBUTORS",
    "CONTRIBUTING",
    "CHANGELOG",
    "CHANGES",
];

/// Glee reads this number of bytes at the start of a file to decide whether the file is text.
const HEAD: usize = 8 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Selected {
    /// The user requested the file by its path, so the file is reviewed even if it is generated.
    ByName,
    /// Below a folder that the user named, and that is vendored itself.
    InVendored,
    ByWalk,
}

/// The content of a file before the change under review.
#[derive(Clone, Copy, Debug)]
pub enum Before<'a> {
    /// The target is not a change, so the current content of the file decides whether the file is generated.
    Same,
    /// The file is new, or its earlier content is unknown. Glee ignores markers of generated code in the file,
    /// because the change could have added the markers.
    Unknown,
    Was(&'a [u8]),
}

/// Returns the text of a file, or the reason why the file is skipped. `now` is the value of the attribute
/// `linguist-generated` after the change, and `then` is the value before the change.
pub fn text(
    path: &str,
    bytes: Vec<u8>,
    chosen: Selected,
    (now, then): (Option<bool>, Option<bool>),
    before: Before<'_>,
) -> Result<String, SkipReason> {
    if !is_text(path, &bytes) {
        // Code with bytes that hide it from the review is not left out by design.
        return Err(match is_named_text(path, &bytes) {
            true => SkipReason::Unreadable,
            false => SkipReason::Binary,
        });
    }
    let text = text_files::lossy(bytes);
    let is_new = matches!(before, Before::Unknown);
    let skipped = match now {
        Some(false) => None,
        Some(true) if then == Some(true) || matches!(before, Before::Same) => {
            Some(SkipReason::Generated)
        }
        _ => by_rule::reason(path, &text, is_new)
            .or_else(|| is_marked(&text, before).then_some(SkipReason::Generated)),
    };
    let left_out = skipped.filter(|reason| match chosen {
        Selected::ByName => false,
        Selected::InVendored => *reason != SkipReason::Vendored,
        Selected::ByWalk => true,
    });
    match left_out {
        Some(reason) => Err(reason),
        None => Ok(reviewed(path, text)),
    }
}

/// Whether a file is marked as generated, and was before the change.
fn is_marked(text: &str, before: Before<'_>) -> bool {
    match before {
        Before::Unknown => false,
        Before::Same => has_generated_marker(text),
        Before::Was(old) => {
            has_generated_marker(text) && has_generated_marker(&text_files::lossy(old.to_vec()))
        }
    }
}

/// The part of a text that is reviewed: of a notebook its cells, with all other lines empty.
pub(crate) fn reviewed(path: &str, text: String) -> String {
    let cells = notebook::is_notebook(path).then(|| notebook::cells(&text));
    cells.flatten().unwrap_or(text)
}

/// Whether a file is text. A file with an extension in the constant `TEXT` or with a `#!` line is text if the file
/// does not have many control characters. For all other files, [`is_binary`] decides whether the file is text.
pub fn is_text(path: &str, bytes: &[u8]) -> bool {
    match is_named_text(path, bytes) {
        // Non-ASCII bytes can be letters in a legacy encoding, so Glee counts only control characters.
        true => {
            let head = &bytes[..bytes.len().min(HEAD)];
            text_files::wide(bytes).is_some() || controls(head).saturating_mul(20) <= head.len()
        }
        false => !is_binary(bytes),
    }
}

fn is_named_text(path: &str, bytes: &[u8]) -> bool {
    let ending = ending(path);
    !ending.is_empty() && TEXT.contains(&format!(" {ending} ")) || bytes.starts_with(b"#!")
}

fn ending(path: &str) -> String {
    file_name(path)
        .rsplit_once('.')
        .map(|(_, ending)| ending.to_ascii_lowercase())
        .unwrap_or_default()
}

/// Whether a file is prose for people. Text that programs or agents follow is not: `requirements.txt`, `CMakeLists.txt`,
/// and everything in a folder or file whose name begins with a dot.
pub fn is_document(path: &str) -> bool {
    let is_followed = path.split('/').any(|part| part.starts_with('.'))
        || ["requirements", "constraints", "CMakeLists"]
            .iter()
            .any(|name| path.contains(name));
    let name = file_name(path);
    !is_followed && (DOCUMENTS.contains(&ending(path).as_str()) || NOTICES.contains(&name))
}

/// Whether a file is binary: more than a tenth of its first 8 KiB is not text. A UTF-16 file is never binary.
pub(crate) fn is_binary(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(HEAD)];
    let invalid: usize = head.utf8_chunks().map(|chunk| chunk.invalid().len()).sum();
    let nul = head.iter().filter(|byte| **byte == 0).count();
    (invalid + nul + controls(head)) * 10 > head.len() && text_files::wide(bytes).is_none()
}

/// Counts the control characters that are unusual in text files. NUL, backspace, white space and ESC are not
/// counted.
fn controls(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .filter(|byte| matches!(byte, 1..=7 | 0xe..=0x1a | 0x1c..=0x1f | 0x7f))
        .count()
}

/// Whether a file is generated by its name or by its first lines. Attributes of git are not read.
pub(crate) fn looks_generated(path: &str, text: &str) -> bool {
    by_rule::is_generated_name(path) || has_generated_marker(text)
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Whether one of the first five lines contains a marker of generated code.
fn has_generated_marker(text: &str) -> bool {
    text.lines()
        .take(5)
        .any(|line| line.contains("@generated") || line.contains("DO NOT EDIT"))
}

/// Converts a path to text. A path that is not UTF-8 is escaped as in git's output.
pub(crate) fn path_text(path: &[u8]) -> String {
    match std::str::from_utf8(path) {
        Ok(text) => text.to_owned(),
        Err(_) => path_bytes::shown(path_bytes::quoted(path).trim_ascii())
            .trim_matches('"')
            .to_owned(),
    }
}

pub fn skip(path: &[u8], reason: SkipReason) -> Skip {
    Skip {
        file: path_text(path),
        reason,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_out_what_no_person_wrote_unless_named() {
        let sift = |path: &str, bytes: &[u8], chosen| {
            text(path, bytes.to_vec(), chosen, (None, None), Before::Same)
        };
        let generated = Err(SkipReason::Generated);
        assert_eq!(sift("a/Cargo.lock", b"x", Selected::ByWalk), generated);
        assert_eq!(sift("a/x.min.js", b"x", Selected::ByWalk), generated);
        assert_eq!(
            sift(
                "a.go",
                b"// Code generated by x. DO NOT EDIT.\n",
                Selected::ByWalk
            ),
            generated
        );
        assert_eq!(
            sift("a.go", b"1\n2\n3\n4\n5\n// @generated\n", Selected::ByWalk)
                .map(|text| text.len()),
            Ok(24)
        );
        assert_eq!(
            sift("a/Cargo.lock", b"x", Selected::ByName),
            Ok("x".to_owned())
        );
        assert_eq!(
            sift("a", b"x\0y", Selected::ByName),
            Err(SkipReason::Binary)
        );
        assert_eq!(
            sift("a", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", Selected::ByWalk),
            Err(SkipReason::Binary)
        );
        assert_eq!(
            sift("a", b"caf\xe9 au lait, merci", Selected::ByWalk),
            Ok("caf\u{fffd} au lait, merci".to_owned())
        );
    }

    #[test]
    fn the_attribute_decides_where_it_is_set() {
        let sift = |path: &str, now, then, before| {
            text(path, b"x".to_vec(), Selected::ByWalk, (now, then), before).map(drop)
        };
        let generated = Err(SkipReason::Generated);
        assert_eq!(sift("a.rs", Some(true), None, Before::Same), generated);
        assert_eq!(sift("Cargo.lock", Some(false), None, Before::Same), Ok(()));
        for before in [Before::Unknown, Before::Was(b"")] {
            assert_eq!(
                sift("a.rs", Some(true), Some(true), before),
                generated,
                "{before:?}"
            );
            assert_eq!(
                sift("a.rs", Some(true), Some(false), before),
                Ok(()),
                "{before:?}"
            );
            assert_eq!(sift("a.rs", Some(true), None, before), Ok(()), "{before:?}");
            assert_eq!(sift("a.rs", None, Some(true), before), Ok(()), "{before:?}");
        }
    }

    #[test]
    fn marks_that_a_change_brings_do_not_count() {
        let code = "# DO NOT EDIT\nevil()\n";
        let sift =
            |path: &str, before| text(path, code.into(), Selected::ByWalk, (None, None), before);
        let generated = Err(SkipReason::Generated);
        assert_eq!(sift("a.py", Before::Unknown), Ok(code.to_owned()));
        assert_eq!(sift("a.py", Before::Was(b"good()\n")), Ok(code.to_owned()));
        assert_eq!(
            sift("a.py", Before::Was(b"# DO NOT EDIT\ngood()\n")),
            generated
        );
        assert_eq!(sift("a.min.js", Before::Unknown), Ok(code.to_owned()));
        assert_eq!(sift("a.min.js", Before::Was(b"good()\n")), generated);
        assert_eq!(sift("Cargo.lock", Before::Unknown), generated);
    }

    #[test]
    fn code_is_text_whatever_bytes_are_in_it() {
        let rows: [(&str, &[u8], bool); 9] = [
            ("a.py", b"# \0\nevil()\n", true),
            ("a.sh", b"\0\0\0\0\0\0\0\0\0\0evil\n", true),
            ("run", b"#!/bin/sh\n\0\0\0\0\0\0\0\0\0\0\0\0evil\n", true),
            ("a.php", b"\xcf\xf0\xe8\xe2\xe5\xf2 \xcc\xe8\xf0\n", true),
            ("a.py", b"\x01\x02\x03\x04\x05\x06", false),
            (
                "notes",
                b"a long line with one \0 in it, and much more text around it\n",
                true,
            ),
            ("notes", b"\0\x01\x02\x03", false),
            ("notes", b"e\0v\0i\0l\0(\0)\0\n\0", true),
            ("x.bin", b"\x7fELF\x02\x01\x01\0\0\0\0\0", false),
        ];
        for (path, bytes, expected) in rows {
            assert_eq!(is_text(path, bytes), expected, "{path} {bytes:?}");
        }
    }

    #[test]
    fn a_name_that_is_no_text_is_escaped() {
        assert_eq!(path_text(b"caf\xe9.py"), "caf\\351.py");
        assert_eq!(path_text("größe.py".as_bytes()), "größe.py");
    }
}
