//! Checks the header of a program's file, to find out whether this machine can run the program.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// The number of bytes that Glee reads from the start of a program's file. These bytes contain the ELF header, or
/// the first line of a script. Linux reads at most 256 bytes of the first line of a script.
const HEAD: u64 = 256;

/// Returns the reason why a file cannot be run. The reason is a part of a sentence, for use in an error message.
/// Returns `None` if the file can be run or the check is inconclusive.
pub fn objection(path: &Path) -> Option<String> {
    let head = head(path)?;
    if let Some(words) = first_line(&head) {
        let interpreter = PathBuf::from(words.first().cloned().unwrap_or_default());
        let missing = interpreter.is_absolute() && !interpreter.exists();
        return missing.then(|| format!("its interpreter `{}` is missing", interpreter.display()));
    }
    if !cfg!(target_os = "linux") || emulates() {
        return None;
    }
    let Some(machine) = machine(&head) else {
        return Some("it is neither a program nor a script that begins with `#!`".to_owned());
    };
    let own = self::machine(&self::head(&std::env::current_exe().ok()?)?)?;
    // A 64-bit kernel usually also runs 32-bit programs. The values of `e_machine` are 3 (386), 62 (x86-64),
    // 40 (ARM) and 183 (AArch64).
    let runs = machine == own || matches!((machine, own), (3, 62) | (40, 183));
    (!runs).then(|| "it was built for another kind of machine".to_owned())
}

/// The programs that run a script: the one that its first line names, and the one that `env` then looks up.
pub fn interpreter(path: &Path) -> Vec<String> {
    let words = head(path)
        .and_then(|head| first_line(&head))
        .unwrap_or_default();
    let is_env = words.first().is_some_and(|word| word.ends_with("/env"));
    let looked_up = words
        .iter()
        .skip(1)
        .find(|word| !word.starts_with('-') && !word.contains('='))
        .filter(|_| is_env);
    words
        .first()
        .into_iter()
        .chain(looked_up)
        .cloned()
        .collect()
}

/// The words after `#!`.
fn first_line(head: &[u8]) -> Option<Vec<String>> {
    let line = head
        .strip_prefix(b"#!")?
        .split(|byte| *byte == b'\n')
        .next()?;
    let words = String::from_utf8_lossy(line);
    Some(
        words
            .split_ascii_whitespace()
            .map(ToOwned::to_owned)
            .collect(),
    )
}

fn head(path: &Path) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    File::open(path)
        .ok()?
        .take(HEAD)
        .read_to_end(&mut head)
        .ok()?;
    Some(head)
}

/// Reads the machine type (`e_machine`) from the header of an ELF file, in native byte order.
fn machine(head: &[u8]) -> Option<u16> {
    let bytes = head.strip_prefix(b"\x7fELF")?.get(14..16)?;
    Some(u16::from_ne_bytes(bytes.try_into().ok()?))
}

/// Returns whether an interpreter is registered in `binfmt_misc`. With a registered interpreter, the kernel can
/// also run programs in other formats, for example programs for another type of processor.
fn emulates() -> bool {
    let Ok(entries) = std::fs::read_dir("/proc/sys/fs/binfmt_misc") else {
        return false;
    };
    entries
        .flatten()
        .any(|entry| !matches!(entry.file_name().to_str(), Some("register" | "status")))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn the_table_of_heads() {
        let folder = tempfile::tempdir().unwrap();
        let objection_to = |bytes: &[u8]| {
            let path = folder.path().join("program");
            std::fs::write(&path, bytes).unwrap();
            objection(&path)
        };
        assert_eq!(objection_to(b"#!/bin/sh\necho"), None);
        assert_eq!(
            objection_to(b"#! /usr/bin/env python3"),
            None,
            "`env` resolves the interpreter itself"
        );
        assert_eq!(
            objection_to(b"#!/nowhere/sh -e\n").as_deref(),
            Some("its interpreter `/nowhere/sh` is missing")
        );
        assert_eq!(objection(&std::env::current_exe().unwrap()), None);
        assert_eq!(objection(Path::new("/nowhere/program")), None);
        if cfg!(target_os = "linux") && !emulates() {
            let neither = Some("it is neither a program nor a script that begins with `#!`");
            assert_eq!(objection_to(b"").as_deref(), neither);
            assert_eq!(objection_to(b"echo hello\n").as_deref(), neither);
            let foreign = [
                b"\x7fELF\x02\x01\x01".as_slice(),
                &[0; 9],
                &[2, 0, 0xf3, 0],
                &[0; 100],
            ]
            .concat();
            assert_eq!(
                objection_to(&foreign).as_deref(),
                Some("it was built for another kind of machine")
            );
        }
    }
}
