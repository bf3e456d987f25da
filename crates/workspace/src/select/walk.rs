//! Walks folders of the work tree and applies ignore rules. A walk opens folders, and the files with ignore rules,
//! but no other files.

use std::fs::FileType;
use std::io;
use std::path::Path;

use ignore::{DirEntry, WalkBuilder};

use crate::git::path_bytes;
use crate::select::ignores::Ignores;

/// Returns the ignored files and folders below `folder`. The path of an ignored folder ends with a slash.
pub fn ignored(root: &Path, folder: &[u8], ignores: &mut Ignores<'_>) -> io::Result<Vec<Vec<u8>>> {
    let mut found = Vec::new();
    visit(root, folder, &mut |path, kind| {
        let Some(kind) = kind else { return false };
        let is_ignored = ignores.is_ignored_here(path, kind.is_dir());
        if is_ignored {
            found.push(if kind.is_dir() {
                [path, b"/"].concat()
            } else {
                path.to_vec()
            });
        }
        !is_ignored
    })?;
    Ok(found)
}

/// Returns the files and links below `folder` that are not ignored.
pub fn files(root: &Path, folder: &[u8], ignores: &mut Ignores<'_>) -> io::Result<Vec<Vec<u8>>> {
    Ok(walk(root, folder, ignores, &mut |_, _| false)?
        .into_iter()
        .filter_map(file)
        .collect())
}

pub fn file((path, kind): (Vec<u8>, Option<FileType>)) -> Option<Vec<u8>> {
    kind.is_some_and(|kind| kind.is_file() || kind.is_symlink())
        .then_some(path)
}

/// Returns all entries below `folder` that are not folders. Leaves out ignored paths, and paths for which
/// `is_excluded` returns true. The second argument of `is_excluded` is true for a folder. The result also contains
/// each unreadable folder, with the type `None`. `folder` is relative to the root, and empty for the root itself.
pub fn walk(
    root: &Path,
    folder: &[u8],
    ignores: &mut Ignores<'_>,
    is_excluded: &mut dyn FnMut(&[u8], bool) -> bool,
) -> io::Result<Vec<(Vec<u8>, Option<FileType>)>> {
    let mut found = Vec::new();
    visit(root, folder, &mut |path, kind| {
        let is_dir = kind.is_some_and(|kind| kind.is_dir());
        if kind.is_some() && (ignores.is_ignored_here(path, is_dir) || is_excluded(path, is_dir)) {
            return false;
        }
        if !is_dir {
            found.push((path.to_vec(), kind));
        }
        is_dir
    })?;
    Ok(found)
}

/// Calls `visit` for every entry below `folder`, but not for `.git`. Enters a subfolder only if `visit` returns
/// true for the subfolder. If a subfolder is unreadable, calls `visit` a second time with the type `None`.
fn visit(
    root: &Path,
    folder: &[u8],
    visit: &mut dyn FnMut(&[u8], Option<FileType>) -> bool,
) -> io::Result<()> {
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
            let path = path_bytes::joined(&folder, &name);
            let kind = entry.file_type()?;
            if visit(&path, Some(kind)) && kind.is_dir() {
                waiting.push(path);
            }
        }
    }
    Ok(())
}

/// Returns the entry at `path` and all entries below `path`. If `path` is a link, the link is followed. Links
/// below `path` are not followed.
pub fn everything(path: &Path) -> impl Iterator<Item = io::Result<DirEntry>> + use<> {
    let walk = WalkBuilder::new(path).standard_filters(false).build();
    walk.map(|entry| {
        entry.map_err(|error| {
            error
                .into_io_error()
                .unwrap_or_else(|| io::Error::other("a loop"))
        })
    })
}

/// Whether an entry is not a folder.
pub fn is_file(entry: &DirEntry) -> bool {
    entry.file_type().is_none_or(|kind| !kind.is_dir())
}
