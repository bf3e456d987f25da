//! Walks folders of the work tree: every file that is not ignored, in the order of the paths.
//!
//! Links are met, never followed; nothing is opened but folders and ignore files.

use std::io;
use std::path::Path;

use super::ignores::Ignores;
use super::names;

/// Whether names that begin with a dot are met (`.git` never is).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hidden {
    /// They are, for copies.
    Met,
    /// They are not, as with ripgrep: a hidden file or folder is reviewed when it is named.
    PassedOver,
}

#[derive(Debug)]
pub(super) enum Met {
    File(Vec<u8>),
    Link(Vec<u8>),
    /// A FIFO, a socket or a device.
    Other(Vec<u8>),
    Unreadable(Vec<u8>),
}

/// The files and folders below one that are ignored; a folder ends with a slash, and what is in it is not looked at.
pub(super) fn ignored(root: &Path, folder: &[u8], ignores: &mut Ignores<'_>) -> io::Result<Vec<Vec<u8>>> {
    let mut found = Vec::new();
    let mut waiting = vec![folder.to_vec()];
    while let Some(folder) = waiting.pop() {
        let Ok(entries) = std::fs::read_dir(root.join(names::path(&folder))) else { continue };
        for entry in entries {
            let entry = entry?;
            let name = names::bytes(Path::new(&entry.file_name()));
            if name.eq_ignore_ascii_case(b".git") {
                continue;
            }
            let is_dir = entry.file_type()?.is_dir();
            let mut path = if folder.is_empty() { name } else { [folder.as_slice(), b"/", &name].concat() };
            if ignores.is_ignored_here(&path, is_dir) {
                if is_dir {
                    path.push(b'/');
                }
                found.push(path);
            } else if is_dir {
                waiting.push(path);
            }
        }
    }
    Ok(found)
}

/// Walks one folder, given relative to the root (empty for the root itself).
pub(super) fn walk(root: &Path, folder: &[u8], ignores: &mut Ignores<'_>, hidden: Hidden) -> io::Result<Vec<Met>> {
    walk_until(root, folder, ignores, hidden, &mut |_| false)
}

/// As [`walk`], without the folders below it for which `is_left_out` holds.
pub(super) fn walk_until(
    root: &Path,
    folder: &[u8],
    ignores: &mut Ignores<'_>,
    hidden: Hidden,
    is_left_out: &mut dyn FnMut(&[u8]) -> bool,
) -> io::Result<Vec<Met>> {
    let mut met = Vec::new();
    let mut waiting = vec![folder.to_vec()];
    while let Some(folder) = waiting.pop() {
        let entries = match std::fs::read_dir(root.join(names::path(&folder))) {
            Ok(entries) => entries,
            Err(error) if met.is_empty() && waiting.is_empty() => return Err(error),
            Err(_) => {
                met.push(Met::Unreadable(folder));
                continue;
            }
        };
        for entry in entries {
            let entry = entry?;
            let name = names::bytes(Path::new(&entry.file_name()));
            if name.eq_ignore_ascii_case(b".git") || (hidden == Hidden::PassedOver && name.starts_with(b".")) {
                continue;
            }
            let path = if folder.is_empty() { name } else { [folder.as_slice(), b"/", &name].concat() };
            let kind = entry.file_type()?;
            if ignores.is_ignored_here(&path, kind.is_dir()) {
                continue;
            }
            if kind.is_dir() {
                if !is_left_out(&path) {
                    waiting.push(path);
                }
            } else if kind.is_file() {
                met.push(Met::File(path));
            } else if kind.is_symlink() {
                met.push(Met::Link(path));
            } else {
                met.push(Met::Other(path));
            }
        }
    }
    Ok(met)
}
