//! What git's index and the work tree list: entries, untracked files, and what `lstat` says about a file.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

/// The assumed resolution of file timestamps. If a file changes twice within `TICK`, its timestamps can be the
/// same after both changes.
const TICK: Duration = Duration::from_millis(20);

pub const LINK: u32 = 0o120_000;
pub const SUBMODULE: u32 = 0o160_000;

/// The seconds and nanoseconds of a time, each truncated to 32 bits as in git's index.
pub(super) type IndexTime = (u32, u32);

#[derive(Debug)]
pub struct IndexEntry {
    pub path: Vec<u8>,
    pub mode: u32,
    pub id: String,
    /// The stage number in git's index: 1 to 3 for the versions of a file with a merge conflict, or 0 for other
    /// files.
    pub stage: u8,
    pub(super) ctime: IndexTime,
    pub(super) mtime: IndexTime,
    pub(super) ino: u32,
    pub(super) size: u32,
    /// Whether a sparse checkout excludes the file.
    pub(crate) is_sparse: bool,
    /// Whether the index contains only the name of the file (`git add --intent-to-add`).
    pub(crate) is_intent: bool,
}

/// What `lstat` says about a file, except its permissions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileStat {
    pub kind: char,
    pub size: u64,
    place: (u64, u64),
    modified: (i64, i64),
    changed: (i64, i64),
}

impl FileStat {
    pub fn of(meta: &Metadata) -> Self {
        Self {
            kind: match meta.file_type() {
                kind if kind.is_file() => 'f',
                kind if kind.is_symlink() => 'l',
                _ => 'o',
            },
            size: meta.len(),
            place: (meta.dev(), meta.ino()),
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
        }
    }

    /// Whether an equal `FileStat` that is taken after `now` proves that the content is unchanged.
    pub fn is_settled(&self, now: SystemTime) -> bool {
        let (seconds, nanos) = self.changed;
        let (Ok(seconds), Ok(nanos)) = (u64::try_from(seconds), u32::try_from(nanos)) else {
            return true;
        };
        SystemTime::UNIX_EPOCH
            .checked_add(Duration::new(seconds, nanos) + TICK)
            .is_some_and(|time| time < now)
    }
}

/// The index that was listed last, with its file at that time. It is listed again when the file has changed.
#[derive(Clone, Debug, Default)]
pub(crate) struct ListedIndex(pub(super) Arc<Mutex<Option<(FileStat, Scan)>>>);

#[derive(Clone, Debug, Default)]
pub struct Scan {
    /// Sorted by path. Two scans share the entries if the index did not change between them.
    pub entries: Arc<Vec<IndexEntry>>,
    /// The untracked files that are not ignored.
    pub untracked: Vec<Vec<u8>>,
    /// The untracked folders that are git repositories.
    pub repositories: Vec<Vec<u8>>,
    pub(super) index_written: IndexTime,
}
