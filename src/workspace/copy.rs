//! Images outside git: copies in the state folder, named by their content, and a list of them.
//!
//! A list holds a line `kind permissions hash path` for each file, and one with its commit for each repository; its id is the hash of the list.

use std::collections::BTreeSet;
use std::io::{self, Read, Seek as _};
use std::path::{Path, PathBuf};

use crate::files;
use crate::private;

use super::git::Object;
use super::hidden::Beyond;
use super::image::{Entry, Image, Kind, Recorded, TreeId};
use super::keep::Note;
use super::nested::{self, Inside, Walked};
use super::scan::Lstat;
use super::{Result, WorkspaceError, content, modes, names};

/// Files that are copied at most.
const FILES: usize = 100_000;
/// Bytes that are copied at most.
const BYTES: u64 = 2 << 30;

/// What stands for the commit of a repository that has none.
pub(super) const NO_COMMIT: &str = "0000000000000000000000000000000000000000";

/// Copies what is new and writes the list; returns its id and the files that could not be read.
pub(super) fn record(root: &Path, state_dir: &Path, beyond: &Beyond) -> Result<Recorded> {
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
        let full = root.join(names::path(&path));
        let Some(meta) = lstat.get(&path) else { continue };
        let (word, hash) = if meta.is_symlink() {
            let Ok(target) = std::fs::read_link(&full) else { continue };
            ("link", store(state_dir, &mut names::bytes(&target).as_slice()).map_err(|e| state(state_dir, e))?)
        } else if meta.is_file() {
            total = total.saturating_add(meta.len());
            if total > BYTES {
                return Err(too_large());
            }
            match content::open_regular(&full) {
                Ok(mut file) => ("file", store(state_dir, &mut file).map_err(|error| state(state_dir, error))?),
                Err(_) => {
                    unreadable.push(path.clone());
                    ("unreadable", modes::state(&meta))
                }
            }
        } else {
            continue;
        };
        let permissions = if word == "file" { modes::permissions(&meta) } else { 0 };
        text.extend(format!("{word} {permissions:o} {hash} ").bytes().chain(names::quoted(&path)).chain([b'\n']));
    }
    for nested in &inside.repositories {
        let head = nested.head.as_deref().unwrap_or(NO_COMMIT);
        text.extend(format!("repository 0 {head} ").bytes().chain(names::quoted(&nested.folder)).chain([b'\n']));
    }
    unreadable.extend(inside.unfollowed.into_iter().map(|nested| nested.folder.into_bytes()));
    let hash = store(state_dir, &mut text.as_slice()).map_err(|error| state(state_dir, error))?;
    Ok(Recorded { tree: TreeId(format!("blake3:{hash}")), unreadable, sparse: Vec::new() })
}

/// The root of the tree that a note of an older Glee keeps.
pub(super) fn kept_root(kept_as: &str) -> Option<PathBuf> {
    noted(Path::new(kept_as)).map(|(_, root)| root)
}

/// Reads a note: the id of the tree, and its root.
fn noted(note: &Path) -> Option<(String, PathBuf)> {
    let text = files::read(note).ok()?;
    let mut lines = text.split(|byte| *byte == b'\n');
    let tree = names::shown(lines.next()?);
    Some((tree, names::path(&names::unquoted(lines.next()?)?)))
}

/// The trees that notes keep, of all projects, in both forms.
pub(super) fn noted_trees(state_dir: &Path) -> Vec<TreeId> {
    let below = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut trees = Vec::new();
    for run in below(&state_dir.join("kept")) {
        match Note::read_in(&run) {
            Some(note) => trees.extend(note.trees()),
            None => trees.extend(below(&run).filter_map(|note| noted(&note)).map(|(tree, _)| TreeId(tree))),
        }
    }
    trees
}

/// The files of a list, given by its id or by the note that keeps it.
pub(super) fn image(tree: &str, state_dir: &Path) -> Result<Image> {
    let gone = || WorkspaceError::Gone(tree.to_owned());
    let id = match tree.strip_prefix("blake3:") {
        Some(_) => tree.to_owned(),
        None if Path::new(tree).starts_with(state_dir) => noted(Path::new(tree)).ok_or_else(gone)?.0,
        None => return Err(gone()),
    };
    let hash = id.strip_prefix("blake3:").ok_or_else(gone)?;
    let Object::Bytes(text) = read(state_dir, hash, u64::MAX) else { return Err(gone()) };
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| entry(line).ok_or_else(gone)).collect()
}

pub(super) fn read(state_dir: &Path, hash: &str, cap: u64) -> Object {
    if hash.len() != 64 || !hash.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Object::Missing;
    }
    let path = place(state_dir, hash);
    match content::read_capped(&path, cap) {
        Ok(Some(bytes)) => Object::Bytes(bytes),
        Ok(None) => Object::Larger(std::fs::metadata(path).map_or(cap, |meta| meta.len())),
        Err(_) => Object::Missing,
    }
}

/// All files that `.gitignore` does not leave out, hidden ones too, and those of the repositories among them; with these.
pub(super) fn listing(root: &Path) -> Result<(BTreeSet<Vec<u8>>, Inside)> {
    let Walked { files, candidates } = nested::walked(root, b"")
        .map_err(|source| WorkspaceError::Unreadable { path: root.display().to_string(), source })?;
    let inside = nested::inside(root, candidates);
    Ok((files.into_iter().chain(inside.files.iter().cloned()).collect(), inside))
}

/// Reads `kind permissions hash path`.
fn entry(line: &[u8]) -> Option<(Vec<u8>, Entry)> {
    let mut fields = line.splitn(4, |byte| *byte == b' ');
    let kind = match fields.next()? {
        b"file" => Kind::File,
        b"link" => Kind::Link,
        b"unreadable" => Kind::Unreadable,
        b"repository" => Kind::Submodule,
        _ => return None,
    };
    let permissions = u32::from_str_radix(&names::shown(fields.next()?), 8).ok()?;
    let id = names::shown(fields.next()?);
    Some((names::unquoted(fields.next()?)?, Entry { kind, id, permissions }))
}

pub(super) fn place(state_dir: &Path, hash: &str) -> PathBuf {
    let (folder, name) = hash.split_at(2);
    state_dir.join("copies").join(folder).join(name)
}

/// Copies some bytes under the name of their hash.
pub(super) fn store(state_dir: &Path, source: &mut impl Read) -> io::Result<String> {
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
