//! What git knows of a work tree, read without touching a file's content: the index, its recorded times and sizes,
//! and the untracked files that are not ignored.
//!
//! Whether a file is as the index recorded it is decided here from `lstat` alone, because git's own check reads
//! files whose times leave room for doubt through the repository's filters.

use std::collections::HashMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::git::{Repository, object_id};
use super::{Result, WorkspaceError, names};

/// An entry is not in the work tree on purpose.
const SKIP_WORKTREE: u32 = 1 << 30;
/// An entry without content (`git add --intent-to-add`).
const INTENT_TO_ADD: u32 = 1 << 29;

/// Lists the index and the untracked files that are not ignored.
const LIST: [&str; 8] =
    ["ls-files", "-z", "-t", "--stage", "--debug", "--cached", "--others", "--exclude-standard"];

/// The mode of a symbolic link in git.
pub(super) const LINK: u32 = 0o120_000;
/// The mode of a submodule in git.
pub(super) const SUBMODULE: u32 = 0o160_000;

/// Seconds and nanoseconds, cut to 32 bits as the index does.
type Time = (u32, u32);

#[derive(Debug)]
pub(super) struct Entry {
    pub(super) path: Vec<u8>,
    pub(super) mode: u32,
    pub(super) id: String,
    /// 0, or 1 to 3 during a merge.
    pub(super) stage: u8,
    ctime: Time,
    mtime: Time,
    ino: u32,
    size: u32,
    flags: u32,
}

#[derive(Debug, Default)]
pub(super) struct Scan {
    pub(super) entries: Vec<Entry>,
    /// Untracked and not ignored; a path with a slash at its end is a repository of its own.
    pub(super) others: Vec<Vec<u8>>,
    written: Time,
}

impl Repository {
    pub(super) fn scan(&self) -> Result<Scan> {
        // Taken first: an index written later only makes more entries doubtful.
        let written = std::fs::metadata(&self.index).map_or((0, 0), |meta| times(&meta).1);
        let mut scan = Scan { written, ..Scan::default() };
        scan.read(&self.call(LIST).output()?)?;
        Ok(scan)
    }
}

impl Scan {
    /// Reads what git listed.
    fn read(&mut self, mut listed: &[u8]) -> Result<()> {
        while !listed.is_empty() {
            listed = self.take(listed).ok_or_else(|| WorkspaceError::Git {
                command: "ls-files".to_owned(),
                message: "it printed what Glee cannot read".to_owned(),
            })?;
        }
        Ok(())
    }

    /// Reads one record and returns what follows it.
    fn take<'a>(&mut self, listed: &'a [u8]) -> Option<&'a [u8]> {
        let mut text = Text(listed);
        if text.past(b"? ").is_some() {
            self.others.push(text.until(0)?.to_vec());
            return Some(text.0);
        }
        text.until(b' ')?;
        let mode = text.number(8)?;
        text.past(b" ")?;
        let id = object_id(text.until(b' ')?)?;
        let stage = u8::try_from(text.number(10)?).ok()?;
        text.past(b"\t")?;
        let path = text.until(0)?.to_vec();
        let ctime = text.time(b"  ctime: ")?;
        let mtime = text.time(b"  mtime: ")?;
        text.past(b"  dev: ")?;
        text.until(b'\t')?;
        text.past(b"ino: ")?;
        let ino = text.number(10)?;
        text.past(b"\n")?;
        text.until(b'\n')?;
        text.past(b"  size: ")?;
        let size = text.number(10)?;
        text.past(b"\tflags: ")?;
        let flags = text.number(16)?;
        text.past(b"\n")?;
        self.entries.push(Entry { path, mode, id, stage, ctime, mtime, ino, size, flags });
        Some(text.0)
    }

    /// Whether a file is surely as it was when the index recorded it.
    pub(super) fn is_clean(&self, entry: &Entry, meta: &Metadata) -> bool {
        let same_kind = match entry.mode {
            LINK => meta.is_symlink(),
            SUBMODULE => meta.is_dir(),
            mode => meta.is_file() && is_executable(meta) == (mode & 0o111 != 0),
        };
        if entry.mode == SUBMODULE {
            return same_kind;
        }
        let (ctime, mtime) = times(meta);
        let same =
            (ctime, mtime, cut(meta.ino()), cut(meta.len())) == (entry.ctime, entry.mtime, entry.ino, entry.size);
        // A change within the tick in which the index was written leaves no trace in the times.
        same_kind && same && entry.stage == 0 && entry.mtime < self.written && !entry.is_intent()
    }
}

impl Entry {
    /// Whether its file is missing on purpose (a sparse checkout).
    pub(super) fn may_be_missing(&self) -> bool {
        self.flags & SKIP_WORKTREE != 0
    }

    /// Whether only its name is in the index.
    pub(super) fn is_intent(&self) -> bool {
        self.flags & INTENT_TO_ADD != 0
    }
}

/// `lstat` below a root that does not follow links in any folder of the path.
#[derive(Debug)]
pub(super) struct Lstat<'a> {
    root: &'a Path,
    folders: HashMap<Vec<u8>, bool>,
}

impl<'a> Lstat<'a> {
    pub(super) fn below(root: &'a Path) -> Self {
        Self { root, folders: HashMap::new() }
    }

    /// The metadata of a path; `None` if it is missing or lies behind a link.
    pub(super) fn get(&mut self, path: &[u8]) -> Option<Metadata> {
        let is_real = self.is_real(names::folder(path));
        is_real.then(|| std::fs::symlink_metadata(self.full(path)).ok()).flatten()
    }

    pub(super) fn full(&self, path: &[u8]) -> PathBuf {
        self.root.join(names::path(path))
    }

    /// Whether a folder is one, and not a link to one, with all folders above it.
    fn is_real(&mut self, folder: &[u8]) -> bool {
        if folder.is_empty() {
            return true;
        }
        if let Some(known) = self.folders.get(folder) {
            return *known;
        }
        let real = self.is_real(names::folder(folder))
            && std::fs::symlink_metadata(self.full(folder)).is_ok_and(|meta| meta.is_dir());
        self.folders.insert(folder.to_vec(), real);
        real
    }
}

/// Whether the owner may execute a file.
pub(super) fn is_executable(meta: &Metadata) -> bool {
    meta.mode() & 0o100 != 0
}

fn times(meta: &Metadata) -> (Time, Time) {
    let time = |seconds: i64, nanos: i64| (cut(seconds.cast_unsigned()), cut(nanos.cast_unsigned()));
    (time(meta.ctime(), meta.ctime_nsec()), time(meta.mtime(), meta.mtime_nsec()))
}

/// The low 32 bits, as the index keeps them.
fn cut(value: u64) -> u32 {
    u32::try_from(value & u64::from(u32::MAX)).unwrap_or(u32::MAX)
}

/// What is left of a listing.
struct Text<'a>(&'a [u8]);

impl<'a> Text<'a> {
    /// Goes past a text that has to stand here.
    fn past(&mut self, expected: &[u8]) -> Option<()> {
        self.0 = self.0.strip_prefix(expected)?;
        Some(())
    }

    /// What stands before the next such byte; goes past it.
    fn until(&mut self, end: u8) -> Option<&'a [u8]> {
        let (before, rest) = self.0.split_at(memchr::memchr(end, self.0)?);
        self.0 = &rest[1..];
        Some(before)
    }

    /// The number that stands here.
    fn number(&mut self, radix: u32) -> Option<u32> {
        let length = self.0.iter().position(|byte| !char::from(*byte).is_digit(radix)).unwrap_or(self.0.len());
        let (digits, rest) = self.0.split_at_checked(length).filter(|(digits, _)| !digits.is_empty())?;
        self.0 = rest;
        digits.iter().try_fold(0_u32, |number, digit| {
            number.checked_mul(radix)?.checked_add(char::from(*digit).to_digit(radix)?)
        })
    }

    /// Reads a line such as `  mtime: 12:34`.
    fn time(&mut self, label: &[u8]) -> Option<Time> {
        self.past(label)?;
        let seconds = self.number(10)?;
        self.past(b":")?;
        let time = (seconds, self.number(10)?);
        self.past(b"\n")?;
        Some(time)
    }
}
