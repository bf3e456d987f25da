//! Lists two kinds of files: the index entries with their recorded times and sizes, and the untracked files that
//! are not ignored.
//!
//! Glee decides from `lstat` alone whether a file equals its index entry, because a comparison by git can run the
//! repository's filters. Only `ls-files --debug` prints the times in the index. The scan fails if a field is
//! missing in the output of `ls-files --debug`.

use std::collections::HashMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};
use std::time::SystemTime;

use crate::git::listed_index::{FileStat, IndexEntry, IndexTime, LINK, SUBMODULE, Scan};
use crate::git::output::object_id;
use crate::git::path_bytes;
use crate::git::plumbing::Repository;
use crate::{Result, WorkspaceError};

const SKIP_WORKTREE: u32 = 1 << 30;
const INTENT_TO_ADD: u32 = 1 << 29;

const UNTRACKED: [&str; 5] = ["ls-files", "-z", "-t", "--others", "--exclude-standard"];
const INDEX: [&str; 3] = ["--stage", "--debug", "--cached"];

impl Repository {
    pub fn scan(&self) -> Result<Scan> {
        // The write time of git's index is read before the entries of the index. If git writes the index between
        // the two reads, Glee hashes more files than necessary, but detects every changed file.
        let now = SystemTime::now();
        let meta = std::fs::metadata(&self.index).ok();
        let file = meta.as_ref().map(FileStat::of);
        let mut known = self.listed.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut scan = match (&*known, &file) {
            (Some((listed, scan)), Some(file)) if listed == file => scan.clone(),
            _ => Scan {
                index_written: meta.map_or((0, 0), |meta| times(&meta).1),
                ..Scan::default()
            },
        };
        let is_known = !scan.entries.is_empty();
        let index = if is_known { [].as_slice() } else { &INDEX };
        let listed = self.call(UNTRACKED.iter().chain(index).copied()).output()?;
        let mut entries = Vec::new();
        let mut rest = listed.as_slice();
        while !rest.is_empty() {
            rest = scan
                .take(rest, &mut entries)
                .ok_or_else(|| WorkspaceError::Git {
                    command: "ls-files".to_owned(),
                    message: "it printed an unexpected format".to_owned(),
                })?;
        }
        if !is_known {
            scan.entries = Arc::new(entries);
            let settled = file.filter(|file| file.is_settled(now));
            *known = settled.map(|file| {
                let index = Scan {
                    entries: Arc::clone(&scan.entries),
                    index_written: scan.index_written,
                    ..Scan::default()
                };
                (file, index)
            });
        }
        Ok(scan)
    }
}

impl Scan {
    fn take<'a>(&mut self, listed: &'a [u8], entries: &mut Vec<IndexEntry>) -> Option<&'a [u8]> {
        let (record, rest) = listed.split_at(memchr::memchr(0, listed)?);
        let rest = &rest[1..];
        if let Some(path) = record.strip_prefix(b"? ") {
            match path.strip_suffix(b"/") {
                Some(folder) => self.repositories.push(folder.to_vec()),
                None => self.untracked.push(path.to_vec()),
            }
            return Some(rest);
        }
        let (head, path) = record.split_at(memchr::memchr(b'\t', record)?);
        let (details, rest) = rest.split_at(memchr::memchr_iter(b'\n', rest).nth(4)? + 1);
        let [head, details] =
            [head, details].map(|text| std::str::from_utf8(text).unwrap_or_default());
        let [_, mode, id, stage] = head.split(' ').collect::<Vec<_>>()[..] else {
            return None;
        };
        let flags = u32::from_str_radix(field(details, "flags:")?, 16).ok()?;
        entries.push(IndexEntry {
            path: path[1..].to_vec(),
            mode: u32::from_str_radix(mode, 8).ok()?,
            id: object_id(id.as_bytes())?,
            stage: stage.parse().ok()?,
            ctime: time(details, "ctime:")?,
            mtime: time(details, "mtime:")?,
            ino: field(details, "ino:")?.parse().ok()?,
            size: field(details, "size:")?.parse().ok()?,
            is_sparse: flags & SKIP_WORKTREE != 0,
            is_intent: flags & INTENT_TO_ADD != 0,
        });
        Some(rest)
    }

    /// The index entry of a file whose metadata `meta` proves that its content equals the entry.
    pub fn clean(&self, path: &[u8], meta: &Metadata) -> Option<&IndexEntry> {
        let at = self
            .entries
            .binary_search_by(|entry| entry.path.as_slice().cmp(path))
            .ok()?;
        Some(&self.entries[at]).filter(|entry| self.is_clean(entry, meta))
    }

    /// Whether the metadata `meta` proves that the content of a file equals the index entry `entry`.
    pub fn is_clean(&self, entry: &IndexEntry, meta: &Metadata) -> bool {
        let same_kind = match entry.mode {
            SUBMODULE => return meta.is_dir(),
            LINK => meta.is_symlink(),
            mode => meta.is_file() && is_executable(meta) == (mode & 0o111 != 0),
        };
        let (ctime, mtime) = times(meta);
        let same = (ctime, mtime, cut(meta.ino()), cut(meta.len()))
            == (entry.ctime, entry.mtime, entry.ino, entry.size);
        // If a file was written in the same clock tick as the index, a later write can leave the file's
        // timestamps unchanged.
        same_kind
            && same
            && entry.stage == 0
            && entry.mtime < self.index_written
            && !entry.is_intent
    }
}

fn field<'a>(details: &'a str, name: &str) -> Option<&'a str> {
    details
        .split_ascii_whitespace()
        .skip_while(|word| *word != name)
        .nth(1)
}

/// The seconds and nanoseconds of a time.
fn time(details: &str, name: &str) -> Option<(u32, u32)> {
    let (seconds, nanoseconds) = field(details, name)?.split_once(':')?;
    Some((seconds.parse().ok()?, nanoseconds.parse().ok()?))
}

/// Calls `lstat` on paths below a root. A path that passes through a symbolic link to a folder counts as missing.
#[derive(Debug)]
pub struct Lstat<'a> {
    root: &'a Path,
    folders: HashMap<Vec<u8>, bool>,
}

impl<'a> Lstat<'a> {
    pub fn below(root: &'a Path) -> Self {
        Self {
            root,
            folders: HashMap::new(),
        }
    }

    /// The metadata of a path. Returns `None` if the path does not exist, or if the path passes through a symbolic
    /// link to a folder.
    pub fn get(&mut self, path: &[u8]) -> Option<Metadata> {
        let is_real = self.is_real(path_bytes::folder(path));
        is_real
            .then(|| std::fs::symlink_metadata(self.full(path)).ok())
            .flatten()
    }

    pub fn full(&self, path: &[u8]) -> PathBuf {
        self.root.join(path_bytes::path(path))
    }

    fn is_real(&mut self, folder: &[u8]) -> bool {
        if folder.is_empty() {
            return true;
        }
        if let Some(known) = self.folders.get(folder) {
            return *known;
        }
        let real = self.is_real(path_bytes::folder(folder))
            && std::fs::symlink_metadata(self.full(folder)).is_ok_and(|meta| meta.is_dir());
        self.folders.insert(folder.to_vec(), real);
        real
    }
}

pub(crate) fn is_executable(meta: &Metadata) -> bool {
    meta.mode() & 0o100 != 0
}

fn times(meta: &Metadata) -> (IndexTime, IndexTime) {
    (
        cut_time(meta.ctime(), meta.ctime_nsec()),
        cut_time(meta.mtime(), meta.mtime_nsec()),
    )
}

fn cut_time(seconds: i64, nanos: i64) -> (u32, u32) {
    (cut(seconds.cast_unsigned()), cut(nanos.cast_unsigned()))
}

fn cut(value: u64) -> u32 {
    u32::try_from(value & u64::from(u32::MAX)).unwrap_or(u32::MAX)
}
