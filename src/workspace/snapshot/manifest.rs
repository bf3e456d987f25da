use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::workspace::git::worktree_scan::{LINK, SUBMODULE};

/// What is looked at besides what git, or the ignore files, list.
#[derive(Debug, Default)]
pub(crate) struct Beyond {
    pub(crate) paths: BTreeSet<Vec<u8>>,
    /// Files that were missing on purpose before the coder began; `None` if that is not known.
    pub(crate) sparse: Option<BTreeSet<Vec<u8>>>,
}

/// The bytes of a file that are compared line by line at most.
pub(crate) const COMPARED_CAP: u64 = 4 << 20;

/// The id of a recorded tree: equal ids are equal bytes and permissions.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TreeId(pub String);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum FileKind {
    File,
    Link,
    /// A repository inside the tree; its files, if they are followed, are entries of their own.
    Submodule,
    /// It was there and could not be read; its content is unknown.
    Unreadable,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ManifestEntry {
    pub(crate) kind: FileKind,
    /// What its bytes are found under; a link's bytes are its target.
    pub(crate) id: String,
    /// The permission bits of a file; 0 for anything else.
    pub(crate) permissions: u32,
}

impl ManifestEntry {
    /// What git calls its mode, with all permissions of a file.
    pub(crate) fn mode(&self) -> u32 {
        match self.kind {
            FileKind::File => 0o100_000 | self.permissions,
            FileKind::Link => LINK,
            FileKind::Submodule => SUBMODULE,
            FileKind::Unreadable => 0,
        }
    }
}

pub(crate) type Image = BTreeMap<Vec<u8>, ManifestEntry>;

#[derive(Debug)]
pub(crate) struct RecordedTree {
    pub(crate) tree: TreeId,
    pub(crate) unreadable: Vec<Vec<u8>>,
    /// The files that are missing on purpose (a sparse checkout).
    pub(crate) sparse: Vec<Vec<u8>>,
}

/// What two maps hold otherwise, in the order of the keys.
pub(crate) fn differing<'a, K: Ord, V: PartialEq>(
    old: &'a BTreeMap<K, V>,
    new: &'a BTreeMap<K, V>,
) -> impl Iterator<Item = (&'a K, Option<&'a V>, Option<&'a V>)> {
    let keys: BTreeSet<&K> = old.keys().chain(new.keys()).collect();
    keys.into_iter().map(|key| (key, old.get(key), new.get(key))).filter(|(_, old, new)| old != new)
}
