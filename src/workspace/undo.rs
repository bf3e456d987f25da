//! Brings the tree back to an image: bytes, permissions and links of every file in it, and nothing else there.
//!
//! Works on files only; index, HEAD, branches and stash stay as they are. The tree as it was found is kept first, so
//! that an undo loses nothing. Each file is written beside its place and renamed into it.

use std::collections::BTreeSet;
use std::io::{self, Write as _};
use std::path::Path;

use crate::domain::RunId;

use super::git::Object;
use super::image::{Image, Kept, Kind};
use super::{Workspace, WorkspaceError, names};

/// What an undo did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Undone {
    /// The files that were restored or removed.
    pub files: u64,
}

impl Workspace {
    /// Brings back what [`Workspace::keep`] kept: changed and deleted files are restored, files that came since are
    /// removed unless they are ignored. The tree as it was found is kept as
    /// `refs/glee/run/<id>/undone-<digits>` (outside git beside the before-image).
    ///
    /// # Errors
    /// The image is gone, or [`WorkspaceError::NotRestored`] with every file that could not be brought back; all
    /// others are.
    pub fn undo(&self, run: &RunId, kept_as: &str, state_dir: &Path) -> Result<Undone, WorkspaceError> {
        let before = self.image(kept_as, state_dir)?;
        let found = self.keep_found(run, state_dir)?;
        let mut failed = Vec::new();
        let mut files = BTreeSet::new();
        let mut bytes = self.bytes(state_dir)?;
        for (path, kept) in before.iter().filter(|(path, kept)| found.get(*path) != Some(*kept)) {
            let result = match kept.kind {
                // Its own repository keeps it; a file that could not be read was not kept.
                Kind::Submodule | Kind::Unreadable => continue,
                Kind::File | Kind::Link => match bytes.read(&kept.id, u64::MAX)? {
                    Object::Bytes(bytes) => {
                        self.make_way(path, &before).and_then(|()| self.put(path, kept, &bytes))
                    }
                    Object::Larger(_) | Object::Missing => Err(io::Error::other("its copy is gone")),
                },
            };
            match result {
                Ok(()) => drop(files.insert(path.clone())),
                Err(error) => failed.push(format!("`{}` ({error})", names::shown(path))),
            }
        }
        // Listed again: with the ignore files back in place, what they leave out is left alone.
        for path in self.paths_now()? {
            if before.contains_key(&path) {
                continue;
            }
            match std::fs::remove_file(self.root().join(names::path(&path))) {
                Ok(()) => {
                    self.remove_empty_folders(names::folder(&path));
                    files.insert(path);
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => failed.push(format!("`{}` ({error})", names::shown(&path))),
            }
        }
        if failed.is_empty() {
            Ok(Undone { files: files.len() as u64 })
        } else {
            Err(WorkspaceError::NotRestored { files: failed })
        }
    }

    /// Keeps the tree as it is found, under a name of its own, and returns its image.
    fn keep_found(&self, run: &RunId, state_dir: &Path) -> Result<Image, WorkspaceError> {
        let now = self.snapshot(state_dir)?;
        let digits: String = now.0.trim_start_matches("blake3:").chars().take(12).collect();
        let kept = self.keep_as(run, &format!("undone-{digits}"), state_dir)?;
        self.image(&kept.tree.0, state_dir)
    }

    /// Makes the folders above a path real folders, and removes what stands in the path's place.
    fn make_way(&self, path: &[u8], before: &Image) -> io::Result<()> {
        for end in (0..path.len()).filter(|index| path[*index] == b'/') {
            let folder = self.root().join(names::path(&path[..end]));
            match std::fs::symlink_metadata(&folder) {
                Ok(meta) if meta.is_dir() => {}
                // What the image has below it shows that this was a folder.
                Ok(_) => {
                    std::fs::remove_file(&folder)?;
                    std::fs::create_dir(&folder)?;
                }
                Err(_) => std::fs::create_dir(&folder)?,
            }
        }
        let full = self.root().join(names::path(path));
        if !std::fs::symlink_metadata(&full).is_ok_and(|meta| meta.is_dir()) {
            return Ok(());
        }
        let prefix = [path, b"/"].concat();
        for path in self.paths_now().map_err(io::Error::other)? {
            if path.starts_with(&prefix) && !before.contains_key(&path) {
                std::fs::remove_file(self.root().join(names::path(&path)))?;
                self.remove_empty_folders(names::folder(&path));
            }
        }
        match std::fs::remove_dir(&full) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Puts a file or a link in its place in one step.
    fn put(&self, path: &[u8], kept: &Kept, bytes: &[u8]) -> io::Result<()> {
        let full = self.root().join(names::path(path));
        let folder = full.parent().ok_or(io::ErrorKind::NotFound)?;
        if kept.kind == Kind::Link {
            let target = names::path(bytes);
            let link =
                tempfile::Builder::new().prefix(".glee-").make_in(folder, |place| symlink(&target, place))?;
            return link.persist(&full).map(drop).map_err(|error| error.error);
        }
        let mut file = tempfile::Builder::new().prefix(".glee-").tempfile_in(folder)?;
        file.write_all(bytes)?;
        set_permissions(file.as_file(), kept.permissions)?;
        file.as_file().sync_data()?;
        file.persist(&full).map(drop).map_err(|error| error.error)
    }

    /// Removes a folder and those above it as far as nothing is in them.
    fn remove_empty_folders(&self, mut folder: &[u8]) {
        while !folder.is_empty() && std::fs::remove_dir(self.root().join(names::path(folder))).is_ok() {
            folder = names::folder(folder);
        }
    }
}

#[cfg(unix)]
fn symlink(target: &Path, place: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, place)
}

#[cfg(not(unix))]
fn symlink(_target: &Path, _place: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(unix)]
fn set_permissions(file: &std::fs::File, permissions: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    file.set_permissions(std::fs::Permissions::from_mode(permissions))
}

#[cfg(not(unix))]
fn set_permissions(_file: &std::fs::File, _permissions: u32) -> io::Result<()> {
    Ok(())
}
