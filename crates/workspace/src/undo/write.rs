//! Writes and removes files in the work tree. No other module changes files of the work tree. Each file is compared
//! with its expected content before the file is replaced. The new content is written outside the tree, and is then
//! moved to its path. Links in parent folders are never followed, and only empty folders are removed.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write as _};
#[cfg(target_os = "linux")]
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

#[cfg(target_os = "linux")]
use nix::{
    fcntl::{AT_FDCWD, AtFlags, OFlag},
    unistd::linkat,
};

use crate::code::text_files;
use crate::git::{Repository, path_bytes};
use crate::select::walk;
use crate::snapshot::permissions;
use crate::undo::three_way::{Clash, FileContent, UndoEffect};
use crate::undo::undo_log::{Copied, UndoEntry, UndoLog};
use glee_system::files;

/// Whether a write at a path is possible. A file or a link at the path itself does not prevent the write,
/// because Glee can replace files and links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Occupancy {
    Free,
    Folder,
    /// A parent folder is necessary, but a file or a link is at the path of this folder. The variant contains this
    /// path.
    Above(Vec<u8>),
}

#[derive(Debug)]
pub(crate) struct WriteStep {
    pub path: Vec<u8>,
    pub(crate) occupancy: Occupancy,
    /// The current and the new content of the file. The undo log contains copies of the current and the new
    /// content.
    pub entry: UndoEntry,
    pub effect: UndoEffect,
}

impl WriteStep {
    pub(crate) fn removes(&self) -> bool {
        self.entry.put.is_none()
    }

    /// Returns the reason why the file cannot be written. The files in `removed` count as already removed. Returns
    /// `None` if the file can be written, or if the step removes the file.
    pub(crate) fn clash(&self, root: &Path, removed: &BTreeSet<Vec<u8>>) -> Option<Clash> {
        match &self.occupancy {
            _ if self.removes() => None,
            Occupancy::Free => None,
            Occupancy::Above(above) => (!removed.contains(above)).then_some(Clash::Above),
            Occupancy::Folder => (!holds_only(root, &self.path, removed)).then_some(Clash::Folder),
        }
    }

    /// Writes the file of this step, or removes the file. After the removal of a file, also removes each parent
    /// folder that becomes empty and is not in `folders`.
    pub(crate) fn execute(
        &self,
        root: &Path,
        folders: &BTreeSet<Vec<u8>>,
        log: &UndoLog,
        asides: &[PathBuf],
    ) -> io::Result<()> {
        if !inspect(root, &self.path).is_ok_and(|(now, _)| Copied::of(&now) == self.entry.found) {
            return Err(io::Error::other("it was changed at this moment"));
        }
        let full = root.join(path_bytes::path(&self.path));
        if !self.removes() {
            let content = log
                .content(self.entry.put.as_ref())
                .map_err(io::Error::other)?;
            if self.occupancy == Occupancy::Folder {
                remove_folders(&full)?;
            }
            make_folders(root, path_bytes::folder(&self.path))?;
            return put(root, &self.path, &content, asides);
        }
        fs::remove_file(&full)?;
        let mut folder = path_bytes::folder(&self.path);
        while !folder.is_empty()
            && !folders.contains(folder)
            && fs::remove_dir(root.join(path_bytes::path(folder))).is_ok()
        {
            folder = path_bytes::folder(folder);
        }
        Ok(())
    }
}

pub fn inspect(root: &Path, path: &[u8]) -> Result<(FileContent, Occupancy), Clash> {
    for folder in path_bytes::above(path) {
        match lstat(root, folder)? {
            Some(meta) if meta.is_dir() => {}
            Some(_) => return Ok((FileContent::Nothing, Occupancy::Above(folder.to_vec()))),
            None => return Ok((FileContent::Nothing, Occupancy::Free)),
        }
    }
    let full = root.join(path_bytes::path(path));
    let content = match lstat(root, path)? {
        None => FileContent::Nothing,
        Some(meta) if meta.is_dir() => return Ok((FileContent::Nothing, Occupancy::Folder)),
        Some(meta) if meta.is_symlink() => FileContent::Link(path_bytes::bytes(
            &fs::read_link(&full).map_err(|_| Clash::Unreadable)?,
        )),
        Some(meta) if meta.is_file() => {
            let bytes = text_files::read_capped(&full, u64::MAX - 1)
                .ok()
                .flatten()
                .ok_or(Clash::Unreadable)?;
            FileContent::File {
                bytes,
                permissions: permissions::permissions(&meta),
            }
        }
        Some(_) => return Err(Clash::Kind),
    };
    Ok((content, Occupancy::Free))
}

fn lstat(root: &Path, path: &[u8]) -> Result<Option<fs::Metadata>, Clash> {
    match fs::symlink_metadata(root.join(path_bytes::path(path))) {
        Ok(meta) => Ok(Some(meta)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(_) => Err(Clash::Unreadable),
    }
}

/// The folder for new versions beside their path, for a path on another file system than each of `asides`.
const BESIDE: &str = ".glee-new";

/// The places outside the tree where an undo writes new versions.
pub(crate) fn asides(repository: Option<&Repository>, log: &UndoLog) -> Vec<PathBuf> {
    let git = repository.map(Repository::aside);
    git.into_iter().chain([log.aside()]).collect()
}

/// Removes what a killed undo left.
pub fn clean(root: &Path, log: &UndoLog, asides: &[PathBuf]) -> io::Result<()> {
    asides.iter().try_for_each(|aside| files::remove(aside))?;
    let folders: BTreeSet<&[u8]> = log
        .undone
        .keys()
        .map(|path| path_bytes::folder(path))
        .collect();
    for folder in folders {
        let beside = path_bytes::bytes(&path_bytes::path(folder).join(BESIDE));
        if matches!(inspect(root, &beside), Ok((_, Occupancy::Folder))) {
            fs::remove_dir_all(root.join(path_bytes::path(&beside)))?;
        }
    }
    Ok(())
}

/// Writes a file or a link atomically.
pub fn put(root: &Path, path: &[u8], content: &FileContent, asides: &[PathBuf]) -> io::Result<()> {
    if *content == FileContent::Nothing {
        return Ok(());
    }
    let full = root.join(path_bytes::path(path));
    let make = |new: &Path| create(new, content)?.map_or(Ok(()), |file| file.sync_data());
    let replace = |aside: &Path| files::replace(&full, aside, make);
    if asides.iter().any(|aside| replace(aside).is_ok()) {
        return Ok(());
    }
    let beside = full.parent().ok_or(io::ErrorKind::NotFound)?.join(BESIDE);
    fs::create_dir_all(&beside)?;
    // With this file, `git add` takes nothing from the folder. Until its line is there, git would take the file itself.
    let ignore = beside.join(".gitignore");
    if appear(&ignore, b"*\n").is_err() {
        fs::write(&ignore, "*\n")?;
    }
    let replaced = replace(&beside.join("new"));
    fs::remove_dir_all(&beside)?;
    replaced
}

/// Creates a file that has no name before it is complete. Fails where the file system has no files without a name.
#[cfg(target_os = "linux")]
fn appear(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder = path.parent().ok_or(io::ErrorKind::NotFound)?;
    let mut unnamed = fs::OpenOptions::new()
        .write(true)
        .custom_flags(OFlag::O_TMPFILE.bits())
        .open(folder)?;
    unnamed.write_all(content)?;
    let descriptor = format!("/proc/self/fd/{}", unnamed.as_raw_fd());
    let follow = AtFlags::AT_SYMLINK_FOLLOW;
    Ok(linkat(
        AT_FDCWD,
        descriptor.as_str(),
        AT_FDCWD,
        path,
        follow,
    )?)
}

#[cfg(not(target_os = "linux"))]
fn appear(_path: &Path, _content: &[u8]) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Creates a file or a link at a free path. Returns the file, which is not synced.
pub(crate) fn create(new: &Path, content: &FileContent) -> io::Result<Option<fs::File>> {
    match content {
        FileContent::Nothing => Ok(None),
        FileContent::Link(target) => symlink(path_bytes::path(target), new).map(|()| None),
        FileContent::File { bytes, permissions } => {
            let mut file = fs::OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(new)?;
            file.write_all(bytes)?;
            file.set_permissions(fs::Permissions::from_mode(*permissions))?;
            Ok(Some(file))
        }
    }
}

fn holds_only(root: &Path, folder: &[u8], files: &BTreeSet<Vec<u8>>) -> bool {
    let mut entries = walk::everything(&root.join(path_bytes::path(folder)));
    entries.all(|entry| {
        entry.is_ok_and(|entry| {
            let path = entry.path().strip_prefix(root);
            !walk::is_file(&entry)
                || path.is_ok_and(|path| files.contains(&path_bytes::bytes(path)))
        })
    })
}

/// Removes a folder that contains only folders. Fails if the folder contains a file.
fn remove_folders(folder: &Path) -> io::Result<()> {
    if !folder.exists() {
        return Ok(());
    }
    let below = walk::everything(folder).collect::<io::Result<Vec<_>>>()?;
    // The entries are removed in reverse order, so that the deepest folders are removed first.
    below
        .iter()
        .rev()
        .try_for_each(|entry| fs::remove_dir(entry.path()))
}

/// Creates a folder and its parent folders. Fails if a file or a link exists at the path of one of the folders.
fn make_folders(root: &Path, folder: &[u8]) -> io::Result<()> {
    if folder.is_empty() {
        return Ok(());
    }
    make_folders(root, path_bytes::folder(folder))?;
    let full = root.join(path_bytes::path(folder));
    match fs::symlink_metadata(&full) {
        Ok(meta) if meta.is_dir() => Ok(()),
        Ok(_) => Err(io::Error::other(
            "its folder was replaced by a file or a link",
        )),
        Err(_) => fs::create_dir(&full),
    }
}
