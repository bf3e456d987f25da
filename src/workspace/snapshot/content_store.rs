//! Images outside git: copies in the state folder, named by their content, and a list of them.
//!
//! A list holds a line `kind permissions hash path` for each file, and one with its commit for each repository; its id is the hash of the list.

use std::io::{self, Read, Seek as _};
use std::path::{Path, PathBuf};

use crate::system::{files, private};
use crate::workspace::code::text_files;
use crate::workspace::git::path_bytes;
use crate::workspace::git::plumbing::{GitObject, Objects};
use crate::workspace::git::worktree_scan::Lstat;
use crate::workspace::guard::nested_repos::listing;
use crate::workspace::snapshot::manifest::{Beyond, FileKind, Image, ManifestEntry, RecordedTree, TreeId};
use crate::workspace::snapshot::note::SnapshotNote;
use crate::workspace::snapshot::{content_store, permissions};
use crate::workspace::{Result, WorkspaceError};

/// Files that are copied at most.
const FILES: usize = 100_000;
/// Bytes that are copied at most.
const BYTES: u64 = 2 << 30;

/// What stands for the commit of a repository that has none.
pub(crate) const NO_COMMIT: &str = "0000000000000000000000000000000000000000";

/// Copies what is new and writes the list; returns its id and the files that could not be read.
pub(crate) fn record(root: &Path, state_dir: &Path, beyond: &Beyond) -> Result<RecordedTree> {
    let mut text = Vec::new();
    let mut unreadable = Vec::new();
    let mut total = 0_u64;
    let too_large = || WorkspaceError::TooLarge { root: root.to_owned(), files: FILES, bytes: BYTES };
    let (mut paths, inside) = listing(root)?;
    paths.extend(beyond.paths.iter().cloned());
    if paths.len() > FILES {
        return Err(too_large());
    }
    let mut lstat = Lstat::below(root);
    for path in paths {
        let full = root.join(path_bytes::path(&path));
        let Some(meta) = lstat.get(&path) else { continue };
        let (word, hash) = if meta.is_symlink() {
            let Ok(target) = std::fs::read_link(&full) else { continue };
            ("link", store(state_dir, &mut path_bytes::bytes(&target).as_slice()).map_err(|e| state(state_dir, e))?)
        } else if meta.is_file() {
            total = total.saturating_add(meta.len());
            if total > BYTES {
                return Err(too_large());
            }
            match text_files::open_regular(&full) {
                Ok(mut file) => ("file", store(state_dir, &mut file).map_err(|error| state(state_dir, error))?),
                Err(_) => {
                    unreadable.push(path.clone());
                    ("unreadable", permissions::state(&meta))
                }
            }
        } else {
            continue;
        };
        let permissions = if word == "file" { permissions::permissions(&meta) } else { 0 };
        text.extend(
            format!("{word} {permissions:o} {hash} ").bytes().chain(path_bytes::quoted(&path)).chain([b'\n']),
        );
    }
    for nested in &inside.repositories {
        let head = nested.head.as_deref().unwrap_or(NO_COMMIT);
        text.extend(
            format!("repository 0 {head} ").bytes().chain(path_bytes::quoted(&nested.folder)).chain([b'\n']),
        );
    }
    unreadable.extend(inside.unfollowed.into_iter().map(|nested| nested.folder.into_bytes()));
    let hash = store(state_dir, &mut text.as_slice()).map_err(|error| state(state_dir, error))?;
    Ok(RecordedTree { tree: TreeId(format!("blake3:{hash}")), unreadable, sparse: Vec::new() })
}

/// The root of the tree that a note of an older Glee keeps.
pub(crate) fn kept_root(kept_as: &str) -> Option<PathBuf> {
    noted(Path::new(kept_as)).map(|(_, root)| root)
}

/// Reads a note: the id of the tree, and its root.
fn noted(note: &Path) -> Option<(String, PathBuf)> {
    let text = files::read(note).ok()?;
    let mut lines = text.split(|byte| *byte == b'\n');
    let tree = path_bytes::shown(lines.next()?);
    Some((tree, path_bytes::path(&path_bytes::unquoted(lines.next()?)?)))
}

/// The trees that notes keep, of all projects, in both forms.
pub(crate) fn noted_trees(state_dir: &Path) -> Vec<TreeId> {
    let below = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut trees = Vec::new();
    for run in below(&state_dir.join("kept")) {
        match SnapshotNote::read_in(&run) {
            Some(note) => trees.extend(note.trees()),
            None => trees.extend(below(&run).filter_map(|note| noted(&note)).map(|(tree, _)| TreeId(tree))),
        }
    }
    trees
}

/// The files of a list, given by its id or by the note that keeps it.
pub(crate) fn image(tree: &str, state_dir: &Path) -> Result<Image> {
    let gone = || WorkspaceError::Gone(tree.to_owned());
    let id = match tree.strip_prefix("blake3:") {
        Some(_) => tree.to_owned(),
        None if Path::new(tree).starts_with(state_dir) => noted(Path::new(tree)).ok_or_else(gone)?.0,
        None => return Err(gone()),
    };
    let hash = id.strip_prefix("blake3:").ok_or_else(gone)?;
    let GitObject::Bytes(text) = read(state_dir, hash, u64::MAX) else { return Err(gone()) };
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| entry(line).ok_or_else(gone)).collect()
}

pub(crate) fn read(state_dir: &Path, hash: &str, cap: u64) -> GitObject {
    if hash.len() != 64 || !hash.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return GitObject::Missing;
    }
    let path = place(state_dir, hash);
    match text_files::read_capped(&path, cap) {
        Ok(Some(bytes)) => GitObject::Bytes(bytes),
        Ok(None) => GitObject::Larger(std::fs::metadata(path).map_or(cap, |meta| meta.len())),
        Err(_) => GitObject::Missing,
    }
}

/// Reads `kind permissions hash path`.
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
    Some((path_bytes::unquoted(fields.next()?)?, ManifestEntry { kind, id, permissions }))
}

pub(crate) fn place(state_dir: &Path, hash: &str) -> PathBuf {
    let (folder, name) = hash.split_at(2);
    state_dir.join("copies").join(folder).join(name)
}

/// Copies some bytes under the name of their hash.
pub(crate) fn store(state_dir: &Path, source: &mut impl Read) -> io::Result<String> {
    let folder = state_dir.join("copies");
    private::folder(&folder)?;
    let mut copy = tempfile::NamedTempFile::new_in(&folder)?;
    let mut hasher = blake3::Hasher::new();
    io::copy(source, &mut copy)?;
    copy.rewind()?;
    hasher.update_reader(&mut copy)?;
    let hash = hasher.finalize().to_hex().to_string();
    let place = place(state_dir, &hash);
    if !place.exists() {
        copy.as_file().sync_data()?;
        private::folder(place.parent().unwrap_or(&folder))?;
        copy.persist(&place).map_err(|error| error.error)?;
    }
    Ok(hash)
}

fn state(path: &Path, source: io::Error) -> WorkspaceError {
    WorkspaceError::State { path: path.to_owned(), source }
}

/// A reader of the bytes of images.
pub(crate) enum Bytes {
    Git(Box<Objects>),
    Copy(PathBuf),
}

impl Bytes {
    pub(crate) fn read(&mut self, id: &str, cap: u64) -> Result<GitObject> {
        match self {
            Self::Git(objects) => objects.read(id, cap),
            Self::Copy(state_dir) => Ok(content_store::read(state_dir, id, cap)),
        }
    }
}
