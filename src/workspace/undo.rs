//! Brings the tree back to an image: bytes, permissions and links of every file in it, and nothing else there.
//!
//! Works on files only; index, HEAD, branches and stash stay as they are. The tree as it was found is kept first, so
//! that an undo loses nothing. Each file is written beside its place and renamed into it.

use std::collections::BTreeSet;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::domain::RunId;

use super::git::Object;
use super::image::{Bytes, Entry, Image, Kind};
use super::scan::Lstat;
use super::{Workspace, WorkspaceError, content, copy, modes, names, twin};

/// What an undo did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Undone {
    /// The files that were restored or removed.
    pub files: u64,
}

/// What a run has kept, opened.
struct Kept {
    image: Image,
    bytes: Bytes,
    /// The root it was taken at, if that is known.
    root: Option<PathBuf>,
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
        let Kept { image: before, mut bytes, root } = self.kept(run, kept_as, state_dir)?;
        // A repository that was moved is still its own.
        if root.is_some_and(|root| root != self.root() && root.exists()) {
            return Err(WorkspaceError::OtherTree { kept_as: kept_as.to_owned(), root: self.root().to_owned() });
        }
        let found = self.keep_found(run, state_dir)?;
        let mut failed = Vec::new();
        let mut files = BTreeSet::new();
        for (path, kept) in before.iter().filter(|(path, kept)| found.get(*path) != Some(*kept)) {
            let result = match kept.kind {
                // Its own repository keeps it; a file that could not be read was not kept.
                Kind::Submodule | Kind::Unreadable => continue,
                Kind::File | Kind::Link => match bytes.read(&kept.id, u64::MAX)? {
                    Object::Bytes(bytes) if self.stands(path, kept, &bytes) => continue,
                    Object::Bytes(bytes) => {
                        self.make_way(path, &before, &mut files).and_then(|()| put(self.root(), path, kept, &bytes))
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

    /// Writes what [`Workspace::keep`] kept into a folder that is new or empty, and leaves the tree as it is.
    ///
    /// # Errors
    /// [`WorkspaceError::Occupied`] for a folder with something in it; else as [`Workspace::undo`].
    pub fn restore(
        &self,
        run: &RunId,
        kept_as: &str,
        state_dir: &Path,
        into: &Path,
    ) -> Result<Undone, WorkspaceError> {
        let unwritable = |source: io::Error| WorkspaceError::NotRestored {
            files: vec![format!("`{}` ({source})", into.display())],
        };
        let Kept { image, mut bytes, .. } = self.kept(run, kept_as, state_dir)?;
        std::fs::create_dir_all(into).map_err(unwritable)?;
        if std::fs::read_dir(into).map_err(unwritable)?.next().is_some() {
            return Err(WorkspaceError::Occupied { path: into.to_owned() });
        }
        let mut failed = Vec::new();
        let mut files = 0;
        for (path, kept) in &image {
            let found = match kept.kind {
                // Its own repository keeps it; a file that could not be read was not kept.
                Kind::Submodule | Kind::Unreadable => continue,
                Kind::File | Kind::Link => bytes.read(&kept.id, u64::MAX)?,
            };
            let result = match found {
                Object::Bytes(bytes) => std::fs::create_dir_all(into.join(names::path(names::folder(path))))
                    .and_then(|()| put(into, path, kept, &bytes)),
                Object::Larger(_) | Object::Missing => Err(io::Error::other("its copy is gone")),
            };
            match result {
                Ok(()) => files += 1,
                Err(error) => failed.push(format!("`{}` ({error})", names::shown(path))),
            }
        }
        if failed.is_empty() { Ok(Undone { files }) } else { Err(WorkspaceError::NotRestored { files: failed }) }
    }

    /// Opens what is kept: in the repository, or in its twin if the repository has lost it.
    fn kept(&self, run: &RunId, kept_as: &str, state_dir: &Path) -> Result<Kept, WorkspaceError> {
        if !kept_as.starts_with("refs/") {
            let image = copy::image(kept_as, state_dir)?;
            let bytes = Bytes::Copy(state_dir.to_owned());
            return Ok(Kept { image, bytes, root: copy::kept_root(kept_as) });
        }
        let in_repository = match &self.repository {
            Some(git) => git.image(kept_as, state_dir).map(|image| (git, image)),
            None => Err(WorkspaceError::Gone { tree: kept_as.to_owned() }),
        };
        match in_repository {
            Ok((git, image)) => {
                let bytes = Bytes::Git(Box::new(git.objects(None)?));
                Ok(Kept { image, bytes, root: git.kept_root(kept_as)? })
            }
            Err(error @ WorkspaceError::Gone { .. }) => {
                let Some((twin, tree, root)) = twin::open(run, self.root(), state_dir)? else { return Err(error) };
                let image = twin.image(&tree, state_dir)?;
                Ok(Kept { image, bytes: Bytes::Git(Box::new(twin.objects(None)?)), root: Some(root) })
            }
            Err(error) => Err(error),
        }
    }

    /// Whether a file is already as it is kept.
    fn stands(&self, path: &[u8], kept: &Entry, bytes: &[u8]) -> bool {
        let Some(meta) = Lstat::below(self.root()).get(path) else { return false };
        let full = self.root().join(names::path(path));
        match kept.kind {
            Kind::Link => std::fs::read_link(full).is_ok_and(|target| names::bytes(&target) == bytes),
            Kind::File => {
                meta.is_file()
                    && modes::permissions(&meta) == kept.permissions
                    && content::read_capped(&full, bytes.len() as u64)
                        .is_ok_and(|now| now.as_deref() == Some(bytes))
            }
            Kind::Submodule | Kind::Unreadable => false,
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
    fn make_way(&self, path: &[u8], before: &Image, removed: &mut BTreeSet<Vec<u8>>) -> io::Result<()> {
        for end in (0..path.len()).filter(|index| path[*index] == b'/') {
            let folder = self.root().join(names::path(&path[..end]));
            match std::fs::symlink_metadata(&folder) {
                Ok(meta) if meta.is_dir() => {}
                // What the image has below it shows that this was a folder.
                Ok(_) => {
                    std::fs::remove_file(&folder)?;
                    removed.insert(path[..end].to_vec());
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
                removed.insert(path);
            }
        }
        match std::fs::remove_dir(&full) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Removes a folder and those above it as far as nothing is in them.
    fn remove_empty_folders(&self, mut folder: &[u8]) {
        while !folder.is_empty() && std::fs::remove_dir(self.root().join(names::path(folder))).is_ok() {
            folder = names::folder(folder);
        }
    }
}

/// Puts a file or a link in its place in one step.
fn put(root: &Path, path: &[u8], kept: &Entry, bytes: &[u8]) -> io::Result<()> {
    let full = root.join(names::path(path));
    let folder = full.parent().ok_or(io::ErrorKind::NotFound)?;
    if kept.kind == Kind::Link {
        let target = names::path(bytes);
        let link = tempfile::Builder::new().prefix(".glee-").make_in(folder, |place| symlink(&target, place))?;
        return link.persist(&full).map(drop).map_err(|error| error.error);
    }
    let mut file = tempfile::Builder::new().prefix(".glee-").tempfile_in(folder)?;
    file.write_all(bytes)?;
    set_permissions(file.as_file(), kept.permissions)?;
    file.as_file().sync_data()?;
    file.persist(&full).map(drop).map_err(|error| error.error)
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
