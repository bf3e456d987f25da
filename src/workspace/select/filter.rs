//! Which files are reviewed: text that a person may have written, of a bounded size.
//!
//! What is left out is named with its reason. In a change, a mark of generated code counts only where the file bore it
//! before the change: a change does not decide that it is not reviewed.

use crate::domain::{Skip, SkipReason};
use crate::workspace::code::text_files;
use crate::workspace::git::path_bytes;

const LOCK_FILES: [&str; 14] = [
    "Cargo.lock",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "bun.lock",
    "go.sum",
    "poetry.lock",
    "uv.lock",
    "Pipfile.lock",
    "pdm.lock",
    "Gemfile.lock",
    "composer.lock",
    "flake.lock",
];

const MINIFIED: [&str; 4] = [".min.js", ".min.css", ".min.mjs", ".js.map"];

/// Endings of files that programs run or read as text, whatever bytes are in them.
const TEXT: &str = " asm astro awk bash bat bicep c cc cfg cjs clj cljs cls cmake cmd conf cpp cs css csv cts cxx dart \
    diff el ex exs fish fs go gradle graphql groovy h hbs hcl hh hpp hs htm html hxx ini ipynb java jinja jl js json \
    json5 jsonc jsonl jsp jsx kt kts ksh less lisp lua m4 make md mjs mk ml mli mm mts nim nix patch php phtml pl pm \
    properties proto ps1 psm1 py pyi pyw pyx r rake rb rego rkt rs rst s sass scala scm scss sh sol sql svelte svg \
    swift tcl tex tf tfvars toml ts tsx txt v vb vbs vhd vim vue xhtml xml xsl yaml yml zig zsh ";

/// The bytes of a file that are looked at to tell text from other content.
const HEAD: usize = 8 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Chosen {
    /// A person named it: it is taken even if it is generated.
    ByName,
    Met,
}

/// The file before the change under review.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Before<'a> {
    /// The target is no change: the marks of the tree count.
    Same,
    /// There was none at this path, or it is not known: no mark counts.
    Unknown,
    Was(&'a [u8]),
}

impl Before<'_> {
    /// Whether its text said so before, too.
    fn said_so(self) -> bool {
        match self {
            Self::Same => true,
            Self::Unknown => false,
            Self::Was(bytes) => says_generated(&text_files::lossy(bytes.to_vec())),
        }
    }
}

/// The text of a file, or why it is not reviewed. `now` and `then` are what `.gitattributes` says on `linguist-generated`,
/// and what it said before the change.
pub(crate) fn text(
    path: &str,
    bytes: Vec<u8>,
    chosen: Chosen,
    (now, then): (Option<bool>, Option<bool>),
    before: Before<'_>,
) -> Result<String, SkipReason> {
    if !is_text(path, &bytes) {
        return Err(SkipReason::Binary);
    }
    let text = text_files::lossy(bytes);
    let generated = match now {
        Some(false) => false,
        Some(true) if then == Some(true) || matches!(before, Before::Same) => true,
        Some(true) | None => {
            is_lock_file(path)
                || has_generated_name(path) && !matches!(before, Before::Unknown)
                || says_generated(&text) && before.said_so()
        }
    };
    if generated && chosen == Chosen::Met {
        return Err(SkipReason::Generated);
    }
    Ok(text)
}

/// Whether a file is read as text: by its name or first line where these name a language, else by its bytes.
pub(crate) fn is_text(path: &str, bytes: &[u8]) -> bool {
    let ending =
        file_name(path).rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).unwrap_or_default();
    let is_code = !ending.is_empty() && TEXT.contains(&format!(" {ending} ")) || bytes.starts_with(b"#!");
    match is_code {
        // Bytes above ASCII may be of any older encoding; random bytes hold a tenth of control characters.
        true => {
            let head = &bytes[..bytes.len().min(HEAD)];
            text_files::wide(bytes).is_some() || controls(head).saturating_mul(20) <= head.len()
        }
        false => !is_binary(bytes),
    }
}

/// Whether more than a tenth of the first 8 KiB is neither UTF-8 nor text, and it is no UTF-16.
pub(crate) fn is_binary(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(HEAD)];
    let invalid: usize = head.utf8_chunks().map(|chunk| chunk.invalid().len()).sum();
    let nul = head.iter().filter(|byte| **byte == 0).count();
    (invalid + nul + controls(head)) * 10 > head.len() && text_files::wide(bytes).is_none()
}

/// How many bytes are control characters that no text has; NUL is not counted.
fn controls(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| matches!(byte, 1..=7 | 0xe..=0x1a | 0x1c..=0x1f | 0x7f)).count()
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn is_lock_file(path: &str) -> bool {
    LOCK_FILES.contains(&file_name(path))
}

fn has_generated_name(path: &str) -> bool {
    MINIFIED.iter().any(|ending| file_name(path).ends_with(ending))
}

/// Whether one of the first five lines says so, as most generators write.
fn says_generated(text: &str) -> bool {
    text.lines().take(5).any(|line| line.contains("@generated") || line.contains("DO NOT EDIT"))
}

/// A path as text; bytes that are not UTF-8 are written as git escapes them.
pub(crate) fn path_text(path: &[u8]) -> String {
    match std::str::from_utf8(path) {
        Ok(text) => text.to_owned(),
        Err(_) => path_bytes::shown(path_bytes::quoted(path).trim_ascii()).trim_matches('"').to_owned(),
    }
}

pub(crate) fn skip(path: &[u8], reason: SkipReason) -> Skip {
    Skip { file: path_text(path), reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_out_what_no_person_wrote_unless_named() {
        let sift =
            |path: &str, bytes: &[u8], chosen| text(path, bytes.to_vec(), chosen, (None, None), Before::Same);
        let generated = Err(SkipReason::Generated);
        assert_eq!(sift("a/Cargo.lock", b"x", Chosen::Met), generated);
        assert_eq!(sift("a/x.min.js", b"x", Chosen::Met), generated);
        assert_eq!(sift("a.go", b"// Code generated by x. DO NOT EDIT.\n", Chosen::Met), generated);
        assert_eq!(sift("a.go", b"1\n2\n3\n4\n5\n// @generated\n", Chosen::Met).map(|text| text.len()), Ok(24));
        assert_eq!(sift("a/Cargo.lock", b"x", Chosen::ByName), Ok("x".to_owned()));
        assert_eq!(sift("a", b"x\0y", Chosen::ByName), Err(SkipReason::Binary));
        assert_eq!(sift("a", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", Chosen::Met), Err(SkipReason::Binary));
        assert_eq!(sift("a", b"caf\xe9 au lait, merci", Chosen::Met), Ok("caf\u{fffd} au lait, merci".to_owned()));
    }

    #[test]
    fn the_attribute_decides_where_it_is_set() {
        let sift =
            |path: &str, now, then, before| text(path, b"x".to_vec(), Chosen::Met, (now, then), before).map(drop);
        let generated = Err(SkipReason::Generated);
        assert_eq!(sift("a.rs", Some(true), None, Before::Same), generated);
        assert_eq!(sift("Cargo.lock", Some(false), None, Before::Same), Ok(()));
        for before in [Before::Unknown, Before::Was(b"")] {
            assert_eq!(sift("a.rs", Some(true), Some(true), before), generated, "{before:?}");
            assert_eq!(sift("a.rs", Some(true), Some(false), before), Ok(()), "{before:?}");
            assert_eq!(sift("a.rs", Some(true), None, before), Ok(()), "{before:?}");
            assert_eq!(sift("a.rs", None, Some(true), before), Ok(()), "{before:?}");
        }
    }

    #[test]
    fn marks_that_a_change_brings_do_not_count() {
        let code = "# DO NOT EDIT\nevil()\n";
        let sift = |path: &str, before| text(path, code.into(), Chosen::Met, (None, None), before);
        let generated = Err(SkipReason::Generated);
        assert_eq!(sift("a.py", Before::Unknown), Ok(code.to_owned()));
        assert_eq!(sift("a.py", Before::Was(b"good()\n")), Ok(code.to_owned()));
        assert_eq!(sift("a.py", Before::Was(b"# DO NOT EDIT\ngood()\n")), generated);
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
            ("notes", b"a long line with one \0 in it, and much more text around it\n", true),
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
