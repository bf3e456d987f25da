//! Whether this machine can run a file at all, told by its first bytes, so that nobody is paid before it turns out.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// The bytes that tell: the header of an ELF file, or the first line of a script, which Linux cuts here too.
const HEAD: u64 = 256;

/// What is wrong with a file, in a few words; `None` if it can be run, or if that cannot be told.
pub(crate) fn objection(path: &Path) -> Option<String> {
    // What may be executed and not read is left to the kernel.
    let head = head(path)?;
    if let Some(line) = head.strip_prefix(b"#!") {
        let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let word = line.trim_ascii().split(u8::is_ascii_whitespace).next().unwrap_or_default();
        let interpreter = PathBuf::from(String::from_utf8_lossy(word).into_owned());
        let missing = interpreter.is_absolute() && !interpreter.exists();
        return missing.then(|| format!("its interpreter `{}` is missing", interpreter.display()));
    }
    if !cfg!(target_os = "linux") || emulates() {
        return None;
    }
    match (machine(&head), head_of_glee().as_deref().and_then(machine)) {
        (None, _) => Some("it is neither a program nor a script that begins with `#!`".to_owned()),
        (Some(its), Some(ours)) if its != ours && !is_compatible(its, ours) => {
            Some("it was built for another kind of machine".to_owned())
        }
        (Some(_), _) => None,
    }
}

fn head(path: &Path) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    File::open(path).ok()?.take(HEAD).read_to_end(&mut head).ok()?;
    Some(head)
}

fn head_of_glee() -> Option<Vec<u8>> {
    head(&std::env::current_exe().ok()?)
}

/// The machine that an ELF file is for (`e_machine`).
fn machine(head: &[u8]) -> Option<u16> {
    let bytes = [*head.get(18)?, *head.get(19)?];
    let order = head.strip_prefix(b"\x7fELF")?.get(1)?;
    Some(if *order == 2 { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) })
}

/// Whether a kernel for `ours` usually runs programs of its 32-bit forebear: 386 on x86-64, ARM on AArch64.
fn is_compatible(its: u16, ours: u16) -> bool {
    matches!((its, ours), (3, 62) | (40, 183))
}

/// Whether the kernel has further formats of executables (`binfmt_misc`): any file may run then.
fn emulates() -> bool {
    let Ok(entries) = std::fs::read_dir("/proc/sys/fs/binfmt_misc") else { return false };
    entries.flatten().any(|entry| !matches!(entry.file_name().to_str(), Some("register" | "status")))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn the_table_of_heads() {
        let folder = tempfile::tempdir().unwrap();
        let told = |bytes: &[u8]| {
            let path = folder.path().join("program");
            std::fs::write(&path, bytes).unwrap();
            objection(&path)
        };
        assert_eq!(told(b"#!/bin/sh\necho"), None);
        assert_eq!(told(b"#! /usr/bin/env python3"), None, "whether `env` finds it is not for Glee to say");
        assert_eq!(told(b"#!/nowhere/sh -e\n").as_deref(), Some("its interpreter `/nowhere/sh` is missing"));
        assert_eq!(objection(&std::env::current_exe().unwrap()), None);
        assert_eq!(objection(Path::new("/nowhere/program")), None);
        if cfg!(target_os = "linux") && !emulates() {
            let neither = Some("it is neither a program nor a script that begins with `#!`");
            assert_eq!(told(b"").as_deref(), neither);
            assert_eq!(told(b"echo hello\n").as_deref(), neither);
            let foreign = [b"\x7fELF\x02\x01\x01".as_slice(), &[0; 9], &[2, 0, 0xf3, 0], &[0; 100]].concat();
            assert_eq!(told(&foreign).as_deref(), Some("it was built for another kind of machine"));
        }
    }
}
