//! Stores snapshots of trees that are not in a git repository. The state folder contains a copy of each file in
//! a snapshot. The name of a copy is the hash of the file's content. Each snapshot also has a list of its files.
//!
//! The list of a snapshot contains a line `kind permissions hash path` for each file. For each nested
//! repository, the list of a snapshot contains a line with a commit id in place of the hash. The id of a
//! snapshot is the hash of its list.

use std::io::{self, Read, Seek as _};
use std::path::{Path, PathBuf};

use crate::code::text_files;
use crate::diff::metadata_changes;
use crate::git::{GitObject, Lstat, Objects, path_bytes};
use crate::guard::nested_repos::listing;
use crate::snapshot::manifest::{
    Beyond, FileKind, Image, ManifestEntry, RecordedTree, SnapshotNote, TreeId,
};
use crate::snapshot::{content_store, permissions};
use crate::{Result, WorkspaceError};
use glee_model::domain::SkipReason;
use glee_system::private;

/// The maximum number of files in a snapshot.
const FILES: usize = 100_000;
/// The maximum total size of the files in a snapshot, in bytes.
const BYTES: u64 = 2 << 30;

/// The value in place of a commit id, for a nested repository without commits.
pub(crate) const NO_COMMIT: &str = "0000000000000000000000000000000000000000";

/// Takes a snapshot of the tree at `root`. Stores only contents that are not stored yet.
pub(crate) fn record(root: &Path, state_dir: &Path, beyond: &Beyond) -> Result<RecordedTree> {
    let mut text = Vec::new();
    let mut unreadable = Vec::new();
    let mut total = 0_u64;
    let store =
        |source: &mut dyn Read| store(state_dir, source).map_err(WorkspaceError::state(state_dir));
    let (mut paths, inside) = listing(root)?;
    paths.extend(beyond.paths.iter().cloned());
    if paths.len() > FILES {
        return Err(too_large(root));
    }
    let mut lstat = Lstat::below(root);
    for path in paths {
        let full = root.join(path_bytes::path(&path));
        let Some(meta) = lstat.get(&path) else {
            continue;
        };
        let (word, hash) = if meta.is_symlink() {
            let Ok(target) = std::fs::read_link(&full) else {
                continue;
            };
            ("link", store(&mut path_bytes::bytes(&target).as_slice())?)
        } else if meta.is_file() {
            total = total.saturating_add(meta.len());
            if total > BYTES {
                return Err(too_large(root));
            }
            match text_files::open_regular(&full) {
                Ok(mut file) => ("file", store(&mut file)?),
                Err(_) => {
                    unreadable.push(path.clone());
                    ("unreadable", permissions::state(&meta))
                }
            }
        } else {
            continue;
        };
        let permissions = if word == "file" {
            permissions::permissions(&meta)
        } else {
            0
        };
        text.extend(line(format!("{word} {permissions:o} {hash} "), &path));
    }
    for nested in &inside.repositories {
        let head = nested.head.as_deref().unwrap_or(NO_COMMIT);
        text.extend(line(format!("repository 0 {head} "), &nested.folder));
    }
    unreadable.extend(
        inside
            .unfollowed
            .into_iter()
            .map(|nested| nested.folder.into_bytes()),
    );
    let hash = store(&mut text.as_slice())?;
    Ok(RecordedTree {
        tree: TreeId(format!("blake3:{hash}")),
        unreadable,
        sparse: Vec::new(),
    })
}

fn line(head: String, path: &[u8]) -> Vec<u8> {
    [head.as_bytes(), &path_bytes::quoted(path), b"\n"].concat()
}

fn too_large(root: &Path) -> WorkspaceError {
    WorkspaceError::TooLarge {
        root: root.to_owned(),
        files: FILES,
        bytes: BYTES,
    }
}

/// The recorded trees in the notes of all runs.
pub(crate) fn noted_trees(state_dir: &Path) -> Vec<TreeId> {
    let runs = std::fs::read_dir(state_dir.join("kept"))
        .into_iter()
        .flatten()
        .flatten();
    runs.filter_map(|run| SnapshotNote::read_in(&run.path()))
        .flat_map(SnapshotNote::trees)
        .collect()
}

/// Reads the files of a snapshot.
pub(crate) fn image(tree: &str, state_dir: &Path) -> Result<Image> {
    let gone = || WorkspaceError::Gone(tree.to_owned());
    let hash = tree.strip_prefix("blake3:").ok_or_else(gone)?;
    let GitObject::Bytes(text) = read(state_dir, hash, u64::MAX) else {
        return Err(gone());
    };
    path_bytes::items(&text, b'\n')
        .map(|line| entry(line).ok_or_else(gone))
        .collect()
}

pub(crate) fn read(state_dir: &Path, hash: &str, cap: u64) -> GitObject {
    if hash.len() != 64 || !hash.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return GitObject::Missing;
    }
    match text_files::read_capped(&place(state_dir, hash), cap) {
        Ok(Some(bytes)) => GitObject::Bytes(bytes),
        Ok(None) => GitObject::Larger,
        Err(_) => GitObject::Missing,
    }
}

fn entry(line: &[u8]) -> Option<(Vec<u8>, ManifestEntry)> {
    let mut fields = line.splitn(4, |byte| *byte == b' ');
    let kind = match fields.next()? {
        b"file" => FileKind::File,
        b"link" => FileKind::Link,
        b"unreadable" => FileKind::Unreadable,
        b"repository" => FileKind::Submodule,
        _ => return None,
    };
    let permissions = u32::from_str_radix(&path_bytes::shown(fields.next()?), 8).ok()?;
    let id = path_bytes::shown(fields.next()?);
    Some((
        path_bytes::unquoted(fields.next()?)?,
        ManifestEntry {
            kind,
            id,
            permissions,
        },
    ))
}

pub(crate) fn place(state_dir: &Path, hash: &str) -> PathBuf {
    let (folder, name) = hash.split_at(2);
    state_dir.join("copies").join(folder).join(name)
}

/// Stores bytes in a file whose name is the hash of the bytes. Returns the hash.
pub(crate) fn store(state_dir: &Path, mut source: &mut dyn Read) -> io::Result<String> {
    let folder = state_dir.join("copies");
    private::folder(&folder)?;
    let mut copy = tempfile::NamedTempFile::new_in(&folder)?;
    io::copy(&mut source, &mut copy)?;
    copy.rewind()?;
    let hash = blake3::Hasher::new()
        .update_reader(&mut copy)?
        .finalize()
        .to_hex()
        .to_string();
    let place = place(state_dir, &hash);
    if !place.exists() {
        copy.as_file().sync_data()?;
        private::folder(place.parent().unwrap_or(&folder))?;
        copy.persist(&place).map_err(|error| error.error)?;
    }
    Ok(hash)
}

/// Reads the contents of recorded files from git objects or from copies in the state folder.
pub enum Bytes {
    Git(Box<Objects>),
    Copy(PathBuf),
}

impl Bytes {
    pub fn read(&mut self, id: &str, cap: u64) -> Result<GitObject> {
        match self {
            Self::Git(objects) => objects.read(id, cap),
            Self::Copy(state_dir) => Ok(content_store::read(state_dir, id, cap)),
        }
    }

    /// The bytes of an entry that a diff compares.
    pub fn compared(
        &mut self,
        entry: &ManifestEntry,
        cap: u64,
    ) -> Result<Result<Vec<u8>, SkipReason>> {
        Ok(match entry.kind {
            FileKind::Submodule => Ok(metadata_changes::submodule(&entry.id)),
            FileKind::Unreadable => Err(SkipReason::Unreadable),
            FileKind::File | FileKind::Link => self.read(&entry.id, cap)?.bytes(),
        })
    }
}
