//! Walks folders of the work tree: every file that is not ignored.
//!
//! Links are met, never followed; nothing is opened but folders and ignore files.

use std::fs::FileType;
use std::io;
use std::path::Path;

use ignore::{DirEntry, WalkBuilder};

use super::ignores::Ignores;
use crate::workspace::git::path_bytes;

/// Whether names that begin with a dot are met (`.git` never is).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hidden {
    /// They are, for copies.
    Met,
    /// They are not, as with ripgrep: a hidden file or folder is reviewed when it is named.
    PassedOver,
}

#[derive(Debug)]
pub(crate) enum Met {
    File(Vec<u8>),
    Link(Vec<u8>),
    /// A FIFO, a socket or a device.
    Other(Vec<u8>),
    Unreadable(Vec<u8>),
}

impl Met {
    /// The path of a file or a link.
    pub(crate) fn file(self) -> Option<Vec<u8>> {
        match self {
            Self::File(path) | Self::Link(path) => Some(path),
            Self::Other(_) | Self::Unreadable(_) => None,
        }
    }
}

/// The files and folders below one that are ignored; a folder ends with a slash, and what is in it is not looked at.
pub(crate) fn ignored(root: &Path, folder: &[u8], ignores: &mut Ignores<'_>) -> io::Result<Vec<Vec<u8>>> {
    let mut found = Vec::new();
    visit(root, folder, &mut |path, kind| {
        let Some(kind) = kind else { return false };
        let is_ignored = ignores.is_ignored_here(path, kind.is_dir());
        if is_ignored {
            found.push(if kind.is_dir() { [path, b"/"].concat() } else { path.to_vec() });
        }
        !is_ignored
    })?;
    Ok(found)
}

/// Walks one folder, given relative to the root (empty for the root itself).
pub(crate) fn walk(root: &Path, folder: &[u8], ignores: &mut Ignores<'_>, hidden: Hidden) -> io::Result<Vec<Met>> {
    walk_until(root, folder, ignores, hidden, &mut |_| false)
}

/// As [`walk`], without the folders below it for which `is_left_out` holds.
pub(crate) fn walk_until(
    root: &Path,
    folder: &[u8],
    ignores: &mut Ignores<'_>,
    hidden: Hidden,
    is_left_out: &mut dyn FnMut(&[u8]) -> bool,
) -> io::Result<Vec<Met>> {
    let mut met = Vec::new();
    visit(root, folder, &mut |path, kind| {
        let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        let is_met = !(hidden == Hidden::PassedOver && name.starts_with(b"."));
        match kind {
            None => met.push(Met::Unreadable(path.to_vec())),
            Some(kind) if !is_met || ignores.is_ignored_here(path, kind.is_dir()) => {}
            Some(kind) if kind.is_dir() => return !is_left_out(path),
            Some(kind) if kind.is_file() => met.push(Met::File(path.to_vec())),
            Some(kind) if kind.is_symlink() => met.push(Met::Link(path.to_vec())),
            Some(_) => met.push(Met::Other(path.to_vec())),
        }
        false
    })?;
    Ok(met)
}

/// Hands over everything below a folder but `.git`, with its type; goes into those folders for which `visit` holds. One
/// that cannot be read is handed over once more, without a type.
fn visit(root: &Path, folder: &[u8], visit: &mut dyn FnMut(&[u8], Option<FileType>) -> bool) -> io::Result<()> {
    let mut waiting = vec![folder.to_vec()];
    let mut is_first = true;
    while let Some(folder) = waiting.pop() {
        let entries = match std::fs::read_dir(root.join(path_bytes::path(&folder))) {
            Ok(entries) => entries,
            Err(error) if is_first => return Err(error),
            Err(_) => {
                visit(&folder, None);
                continue;
            }
        };
        is_first = false;
        for entry in entries {
            let entry = entry?;
            let name = path_bytes::bytes(Path::new(&entry.file_name()));
            if name.eq_ignore_ascii_case(b".git") {
                continue;
            }
            let path = if folder.is_empty() { name } else { [folder.as_slice(), b"/", &name].concat() };
            let kind = entry.file_type()?;
            if visit(&path, Some(kind)) && kind.is_dir() {
                waiting.push(path);
            }
        }
    }
    Ok(())
}

/// Everything at and below a path outside the tree, or in it by any name; links below it are not followed.
pub(crate) fn everything(path: &Path) -> impl Iterator<Item = io::Result<DirEntry>> + use<> {
    let walk = WalkBuilder::new(path).standard_filters(false).build();
    walk.map(|entry| entry.map_err(|error| error.into_io_error().unwrap_or_else(|| io::Error::other("a loop"))))
}

/// Whether it is something else than a folder.
pub(crate) fn is_file(entry: &DirEntry) -> bool {
    entry.file_type().is_none_or(|kind| !kind.is_dir())
}
