//! The one place that writes to files of the work tree: each is looked at again, written beside its place and renamed into
//! it. Links above a path are never followed, and a folder is removed only when nothing is in it.

use std::collections::BTreeSet;
use std::fs::Permissions;
use std::io::{self, Write as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use crate::workspace::code::text_files;
use crate::workspace::git::path_bytes;
use crate::workspace::select::walk;
use crate::workspace::snapshot::permissions;
use crate::workspace::undo::three_way::{Clash, FileContent};
use crate::workspace::undo::undo_log::{Copied, UndoEntry, UndoLog};

/// What is in the way of a path, besides a file or a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Occupancy {
    Free,
    Folder,
    /// Something that is no folder is in the place of this one above it.
    Above(Vec<u8>),
}

#[derive(Debug)]
pub(crate) struct WriteStep {
    pub(crate) path: Vec<u8>,
    pub(crate) spot: Occupancy,
    /// What it is and what it becomes; copies of both are kept.
    pub(crate) deed: UndoEntry,
    /// Whether changes that were made since are still in it.
    pub(crate) is_merged: bool,
}

impl WriteStep {
    pub(crate) fn removes(&self) -> bool {
        self.deed.put.is_none()
    }

    /// Why it cannot be done once the files in `removed` are gone.
    pub(crate) fn clash(&self, root: &Path, removed: &BTreeSet<Vec<u8>>) -> Option<Clash> {
        match &self.spot {
            _ if self.removes() => None,
            Occupancy::Free => None,
            Occupancy::Above(above) => (!removed.contains(above)).then_some(Clash::Above),
            Occupancy::Folder => (!holds_only(root, &self.path, removed)).then_some(Clash::Folder),
        }
    }

    /// Changes the file. Folders in `folders` stay, even without a file.
    pub(crate) fn take(&self, root: &Path, folders: &BTreeSet<Vec<u8>>, deeds: &UndoLog) -> io::Result<()> {
        let changed = || io::Error::other("it was changed at this moment");
        match spot(root, &self.path) {
            Ok((now, _)) if Copied::of(&now) == self.deed.found => {}
            _ => return Err(changed()),
        }
        let full = root.join(path_bytes::path(&self.path));
        if !self.removes() {
            let content = deeds.content(self.deed.put.as_ref()).map_err(io::Error::other)?;
            if self.spot == Occupancy::Folder {
                remove_folders(&full)?;
            }
            make_folders(root, path_bytes::folder(&self.path))?;
            return put(root, &self.path, &content);
        }
        std::fs::remove_file(&full)?;
        let mut folder = path_bytes::folder(&self.path);
        while !folder.is_empty()
            && !folders.contains(folder)
            && std::fs::remove_dir(root.join(path_bytes::path(folder))).is_ok()
        {
            folder = path_bytes::folder(folder);
        }
        Ok(())
    }
}

/// What is at a path now.
pub(crate) fn spot(root: &Path, path: &[u8]) -> Result<(FileContent, Occupancy), Clash> {
    let missing = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
    for folder in path_bytes::above(path) {
        match std::fs::symlink_metadata(root.join(path_bytes::path(folder))) {
            Ok(meta) if meta.is_dir() => {}
            Ok(_) => {
                return Ok((FileContent::Nothing, Occupancy::Above(folder.to_vec())));
            }
            Err(error) if missing(&error) => {
                return Ok((FileContent::Nothing, Occupancy::Free));
            }
            Err(_) => return Err(Clash::Unreadable),
        }
    }
    let full = root.join(path_bytes::path(path));
    let meta = match std::fs::symlink_metadata(&full) {
        Ok(meta) => meta,
        Err(error) if missing(&error) => {
            return Ok((FileContent::Nothing, Occupancy::Free));
        }
        Err(_) => return Err(Clash::Unreadable),
    };
    if meta.is_dir() {
        return Ok((FileContent::Nothing, Occupancy::Folder));
    }
    if meta.is_symlink() {
        let target = std::fs::read_link(&full).map_err(|_| Clash::Unreadable)?;
        return Ok((FileContent::Link(path_bytes::bytes(&target)), Occupancy::Free));
    }
    if !meta.is_file() {
        return Err(Clash::Kind);
    }
    match text_files::read_capped(&full, u64::MAX - 1) {
        Ok(Some(bytes)) => {
            Ok((FileContent::File { bytes, permissions: permissions::permissions(&meta) }, Occupancy::Free))
        }
        Ok(None) | Err(_) => Err(Clash::Unreadable),
    }
}

/// Puts a file or a link in its place in one step.
pub(crate) fn put(root: &Path, path: &[u8], content: &FileContent) -> io::Result<()> {
    let full = root.join(path_bytes::path(path));
    let folder = full.parent().ok_or(io::ErrorKind::NotFound)?;
    match content {
        FileContent::Nothing => Ok(()),
        FileContent::Link(target) => {
            let target = path_bytes::path(target);
            let link =
                tempfile::Builder::new().prefix(".glee-").make_in(folder, |place| symlink(&target, place))?;
            link.persist(&full).map(drop).map_err(|error| error.error)
        }
        FileContent::File { bytes, permissions } => {
            let mut file = tempfile::Builder::new().prefix(".glee-").tempfile_in(folder)?;
            file.write_all(bytes)?;
            file.as_file().set_permissions(Permissions::from_mode(*permissions))?;
            file.as_file().sync_data()?;
            file.persist(&full).map(drop).map_err(|error| error.error)
        }
    }
}

fn holds_only(root: &Path, folder: &[u8], files: &BTreeSet<Vec<u8>>) -> bool {
    let is_known = |path: &Path| path.strip_prefix(root).is_ok_and(|path| files.contains(&path_bytes::bytes(path)));
    walk::everything(&root.join(path_bytes::path(folder)))
        .all(|entry| entry.is_ok_and(|entry| !walk::is_file(&entry) || is_known(entry.path())))
}

/// Removes a folder that holds nothing but folders.
fn remove_folders(folder: &Path) -> io::Result<()> {
    if !folder.exists() {
        return Ok(());
    }
    let below = walk::everything(folder).collect::<io::Result<Vec<_>>>()?;
    // The deepest first; one that holds anything else cannot be removed.
    below.iter().rev().try_for_each(|entry| std::fs::remove_dir(entry.path()))
}

/// Makes a folder with those above it; none of them may be a link.
fn make_folders(root: &Path, folder: &[u8]) -> io::Result<()> {
    if folder.is_empty() {
        return Ok(());
    }
    make_folders(root, path_bytes::folder(folder))?;
    let full = root.join(path_bytes::path(folder));
    match std::fs::symlink_metadata(&full) {
        Ok(meta) if meta.is_dir() => Ok(()),
        Ok(_) => Err(io::Error::other("a file or a link is in the place of its folder")),
        Err(_) => std::fs::create_dir(&full),
    }
}
