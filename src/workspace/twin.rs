//! A before-image that outlives the repository: a coder may remove `.git` with everything in it.
//!
//! The twin is a small repository in the state folder whose objects are hard links to the user's, so it costs no
//! space and little time; across file systems it is a copy, if it is not too large. It is only ever read.

use std::io;
use std::path::{Path, PathBuf};

use crate::domain::RunId;

use super::git::{Repository, object_id};
use super::image::TreeId;
use super::{WorkspaceError, names};

/// Bytes that are copied at most where objects cannot be linked.
const COPIED: u64 = 256 << 20;

/// Makes the twin of a repository that holds a tree; says whether it is whole.
pub(super) fn make(
    repository: &Repository,
    run: &RunId,
    tree: &TreeId,
    state_dir: &Path,
) -> Result<bool, WorkspaceError> {
    let folder = folder(run, state_dir);
    let note = folder.join("tree");
    if note.exists() {
        return Ok(true);
    }
    let write = || -> io::Result<bool> {
        std::fs::create_dir_all(folder.join("refs"))?;
        std::fs::write(folder.join("HEAD"), "ref: refs/heads/none\n")?;
        let format = match repository.empty_tree.len() {
            64 => "[core]\n\trepositoryFormatVersion = 1\n[extensions]\n\tobjectFormat = sha256\n",
            _ => "[core]\n\trepositoryFormatVersion = 0\n",
        };
        std::fs::write(folder.join("config"), format)?;
        let objects = repository.common.join("objects");
        let mut left = COPIED;
        if !link(&objects, &folder.join("objects"), &mut left)? {
            std::fs::remove_dir_all(&folder)?;
            return Ok(false);
        }
        alternates(&objects, &folder.join("objects"))?;
        let root = names::quoted(&names::bytes(&repository.top));
        std::fs::write(&note, [tree.0.as_bytes(), b"\n", &root, b"\n"].concat())?;
        Ok(true)
    };
    write().map_err(|source| WorkspaceError::State { path: folder.clone(), source })
}

/// The twin made for a run, with the tree it keeps and the root that the tree belongs to.
pub(super) fn open(
    run: &RunId,
    root: &Path,
    state_dir: &Path,
) -> Result<Option<(Repository, String, PathBuf)>, WorkspaceError> {
    let folder = folder(run, state_dir);
    let Ok(note) = std::fs::read(folder.join("tree")) else { return Ok(None) };
    let mut lines = note.split(|byte| *byte == b'\n');
    let tree = lines.next().and_then(object_id);
    let kept_root = lines.next().and_then(names::unquoted);
    let (Some(tree), Some(kept_root)) = (tree, kept_root) else { return Ok(None) };
    Ok(Some((Repository::twin(&folder, root)?, tree, names::path(&kept_root))))
}

fn folder(run: &RunId, state_dir: &Path) -> PathBuf {
    state_dir.join("kept").join(&run.0)
}

/// Links every file of a folder into another one, or copies it as long as `left` bytes allow.
fn link(from: &Path, to: &Path, left: &mut u64) -> io::Result<bool> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            if entry.file_name() != "info" && !link(&entry.path(), &target, left)? {
                return Ok(false);
            }
        } else if kind.is_file() && !target.exists() && std::fs::hard_link(entry.path(), &target).is_err() {
            let size = match entry.metadata() {
                Ok(meta) => meta.len(),
                // Packed away by somebody else; the pack is met too, or was.
                Err(_) => continue,
            };
            if size > *left {
                return Ok(false);
            }
            *left -= size;
            std::fs::copy(entry.path(), &target)?;
        }
    }
    Ok(true)
}

/// Writes where the user's repository borrows objects from, as absolute paths.
fn alternates(from: &Path, to: &Path) -> io::Result<()> {
    let Ok(text) = std::fs::read(from.join("info/alternates")) else { return Ok(()) };
    let mut lines = Vec::new();
    for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty() && !line.starts_with(b"#")) {
        let Some(path) = names::unquoted(line) else { continue };
        lines.extend(names::quoted(&names::bytes(&from.join(names::path(&path)))));
        lines.push(b'\n');
    }
    std::fs::create_dir_all(to.join("info"))?;
    std::fs::write(to.join("info/alternates"), lines)
}
