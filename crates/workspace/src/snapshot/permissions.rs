//! Records the permissions of files, because git records only the executable bit.

use std::collections::{BTreeMap, HashMap};
use std::fs::Metadata;
use std::os::unix::fs::PermissionsExt as _;

use crate::git::path_bytes;

/// The permissions of the files in a snapshot. `plain` contains the permissions that occur most often among
/// files that are not executable. `program` contains the permissions that occur most often among executable
/// files. `exceptions` contains the permissions of each file whose permissions are neither `plain` nor
/// `program`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Modes {
    plain: u32,
    program: u32,
    exceptions: BTreeMap<Vec<u8>, u32>,
    /// Maps each unreadable file to a hash of its size and modification time.
    pub unreadable: BTreeMap<Vec<u8>, String>,
}

impl Modes {
    pub(crate) fn note(&mut self, path: &[u8], meta: &Metadata) {
        if meta.is_file() {
            self.exceptions.insert(path.to_vec(), permissions(meta));
        }
    }

    /// Sets `plain` to the most common permissions of files that are not executable, and `program` to the most
    /// common permissions of executable files. Removes from `exceptions` all files whose permissions are `plain`
    /// or `program`.
    pub(crate) fn settle(&mut self) {
        self.plain = self.most_common(false).unwrap_or(0o644);
        self.program = self.most_common(true).unwrap_or(0o755);
        let plain = self.plain;
        let program = self.program;
        self.exceptions
            .retain(|_, mode| *mode != plain && *mode != program);
    }

    fn most_common(&self, program: bool) -> Option<u32> {
        let mut counts: HashMap<u32, usize> = HashMap::new();
        for mode in self
            .exceptions
            .values()
            .filter(|mode| (*mode & 0o100 != 0) == program)
        {
            *counts.entry(*mode).or_default() += 1;
        }
        counts
            .into_iter()
            .max_by_key(|(mode, count)| (*count, *mode))
            .map(|(mode, _)| mode)
    }

    pub(crate) fn of(&self, path: &[u8], is_program: bool) -> u32 {
        let common = if is_program { self.program } else { self.plain };
        self.exceptions.get(path).copied().unwrap_or(common)
    }

    /// Formats the permissions for the entry `modes` of a snapshot. The first line contains `plain` and `program`
    /// as octal numbers. A line `mode path` lists a file whose permissions are neither `plain` nor `program`. A
    /// line `?hash path` lists an unreadable file.
    pub(crate) fn text(&self) -> Vec<u8> {
        let mut text = format!("{:o} {:o}\n", self.plain, self.program).into_bytes();
        let exceptions = self
            .exceptions
            .iter()
            .map(|(path, mode)| (format!("{mode:o}"), path));
        let unreadable = self
            .unreadable
            .iter()
            .map(|(path, state)| (format!("?{state}"), path));
        for (word, path) in exceptions.chain(unreadable) {
            text.extend(
                word.bytes()
                    .chain([b' '])
                    .chain(path_bytes::quoted(path))
                    .chain([b'\n']),
            );
        }
        text
    }

    pub(crate) fn read(text: &[u8]) -> Option<Self> {
        let mut lines = text.split(|byte| *byte == b'\n');
        let first = path_bytes::shown(lines.next()?);
        let (plain, program) = first.split_once(' ')?;
        let octal = |word: &str| u32::from_str_radix(word, 8).ok();
        let mut modes = Self {
            plain: octal(plain)?,
            program: octal(program)?,
            ..Self::default()
        };
        for line in lines.filter(|line| !line.is_empty()) {
            let (word, path) = path_bytes::word_and_path(line)?;
            match word.strip_prefix('?') {
                Some(state) => drop(modes.unreadable.insert(path, state.to_owned())),
                None => drop(modes.exceptions.insert(path, octal(&word)?)),
            }
        }
        Some(modes)
    }
}

/// Hashes the size and the modification time of an unreadable file.
pub fn state(meta: &Metadata) -> String {
    blake3::hash(format!("{}/{:?}", meta.len(), meta.modified().ok()).as_bytes())
        .to_hex()
        .to_string()
}

pub fn permissions(meta: &Metadata) -> u32 {
    meta.permissions().mode() & 0o7777
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stored_is_read_back() {
        let mut modes = Modes::default();
        let paths: [(&[u8], u32); 5] = [
            (b"a", 0o644),
            (b"b", 0o644),
            (b"c d", 0o600),
            (b"\xff\n", 0o755),
            (b"e", 0o700),
        ];
        modes.exceptions = paths
            .iter()
            .map(|(path, mode)| (path.to_vec(), *mode))
            .collect();
        modes.unreadable.insert(b"f".to_vec(), "12ab".to_owned());
        modes.settle();
        assert_eq!(modes.text(), b"644 755\n600 c d\n700 e\n?12ab f\n");
        let read = Modes::read(&modes.text());
        assert_eq!(read.as_ref(), Some(&modes));
        for (path, mode) in paths {
            assert_eq!(modes.of(path, mode & 0o100 != 0), mode);
        }
        assert_eq!(Modes::read(b"no modes"), None);
    }
}
