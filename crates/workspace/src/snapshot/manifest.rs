//! The data types of snapshots: the entries of a snapshot, and the note that lists the snapshots of a run.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::git::{LINK, SUBMODULE};
use crate::guard::TreeIdentity;
use crate::{Result, WorkspaceError};
use glee_model::domain::RunId;
use glee_system::private;

/// The paths that a snapshot includes although git or the ignore files exclude them.
#[derive(Debug, Default)]
pub struct Beyond {
    pub paths: BTreeSet<Vec<u8>>,
    /// The files that a sparse checkout excluded before the coder began. The field is `None` if Glee does not
    /// know the excluded files.
    pub sparse: Option<BTreeSet<Vec<u8>>>,
}

/// The maximum size of a file that is compared line by line, in bytes.
pub const COMPARED_CAP: u64 = 4 << 20;

/// The id of a recorded tree. Two trees with the same id have the same bytes and permissions.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TreeId(pub String);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileKind {
    File,
    Link,
    /// A nested repository. The files of the nested repository are separate entries.
    Submodule,
    /// A file whose content could not be read.
    Unreadable,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestEntry {
    pub kind: FileKind,
    /// For a file or a link, the id of the bytes or of the link's target. For a nested repository, the id of the
    /// commit at `HEAD`. For an unreadable file, the id is a hash of the file's size and modification time.
    pub id: String,
    /// The permission bits of a file; 0 for all other kinds of entries.
    pub permissions: u32,
}

impl ManifestEntry {
    /// The git mode of the entry. The mode of a file contains all permission bits, not only the executable bit.
    pub fn mode(&self) -> u32 {
        match self.kind {
            FileKind::File => 0o100_000 | self.permissions,
            FileKind::Link => LINK,
            FileKind::Submodule => SUBMODULE,
            FileKind::Unreadable => 0,
        }
    }
}

pub type Image = BTreeMap<Vec<u8>, ManifestEntry>;

#[derive(Debug)]
pub struct RecordedTree {
    pub tree: TreeId,
    pub unreadable: Vec<Vec<u8>>,
    /// The tracked files that are missing because a sparse checkout excludes them.
    pub sparse: Vec<Vec<u8>>,
}

/// The entries that differ between two maps, ordered by key.
pub fn differing<'a, K: Ord, V: PartialEq>(
    old: &'a BTreeMap<K, V>,
    new: &'a BTreeMap<K, V>,
) -> impl Iterator<Item = (&'a K, Option<&'a V>, Option<&'a V>)> {
    let mut old = old.iter().peekable();
    let mut new = new.iter().peekable();
    std::iter::from_fn(move || {
        loop {
            let order = match (old.peek(), new.peek()) {
                (Some((old, _)), Some((new, _))) => old.cmp(new),
                (Some(_), None) => Ordering::Less,
                (None, _) => Ordering::Greater,
            };
            let before = if order.is_le() { old.next() } else { None };
            let after = if order.is_ge() { new.next() } else { None };
            let (key, _) = before.or(after)?;
            let [before, after] = [before, after].map(|side| side.map(|(_, value)| value));
            if before != after {
                return Some((key, before, after));
            }
        }
    })
}

pub fn run_folder(run: &RunId, state_dir: &Path) -> PathBuf {
    state_dir.join("kept").join(&run.0)
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallSpan {
    pub before: TreeId,
    /// The tree after the call. `None` while the call is running, or if Glee was killed during the call.
    pub after: Option<TreeId>,
    /// The files that were put back after the call. In `after` they are as they were before the call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub put_back: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotNote {
    pub form: u32,
    pub history: String,
    /// The identities of the work tree at the start of the run and after each call of the coder.
    pub places: Vec<TreeIdentity>,
    pub spans: Vec<CallSpan>,
    /// Whether the coder works in a worktree, and not in the tree of `places`.
    #[serde(default)]
    pub is_apart: bool,
}

impl SnapshotNote {
    /// Returns `None` if the run has no coder.
    pub fn read(run: &RunId, state_dir: &Path) -> Option<Self> {
        Self::read_in(&run_folder(run, state_dir))
    }

    pub(crate) fn read_in(folder: &Path) -> Option<Self> {
        serde_json::from_slice(&std::fs::read(folder.join("before")).ok()?).ok()
    }

    pub fn trees(self) -> Vec<TreeId> {
        self.spans
            .into_iter()
            .flat_map(|span| [Some(span.before), span.after])
            .flatten()
            .collect()
    }

    pub fn write(&self, run: &RunId, state_dir: &Path) -> Result<()> {
        write_json(&run_folder(run, state_dir).join("before"), self)
    }
}

/// Returns `None` if the file does not exist.
pub(crate) fn read_json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>> {
    let bytes = match std::fs::read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        bytes => bytes.map_err(WorkspaceError::state(path))?,
    };
    let value = serde_json::from_slice(&bytes).map_err(std::io::Error::from);
    value.map(Some).map_err(WorkspaceError::state(path))
}

pub(crate) fn write_json(path: &Path, value: &impl Serialize) -> Result<()> {
    let bytes = serde_json::to_vec(value).map_err(std::io::Error::other);
    let written = bytes.and_then(|bytes| private::write(path, &bytes));
    written.map_err(WorkspaceError::state(path))
}
