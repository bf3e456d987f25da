//! Writes the files of a commit or of a recorded tree to a folder, as the objects of git contain them: no filter, hook or line-end
//! conversion takes part.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Component, Path, PathBuf};

use crate::git::{GitObject, path_bytes};
use crate::snapshot::TreeId;
use crate::snapshot::manifest::{FileKind, differing};
use crate::{Result, Workspace, WorkspaceError};

/// The maximum size of a file, in bytes.
const CAP: u64 = 1 << 30;

const PLAIN: u32 = 0o100_644;
const EXECUTABLE: u32 = 0o100_755;
const LINK: u32 = 0o120_000;

/// A file to be written.
struct Entry {
    mode: u32,
    id: String,
    path: Vec<u8>,
}

impl Workspace {
    /// Writes the files of a commit below `folder`, if the function `wanted` accepts the path of a
    /// file. The folder of a submodule is not written, because the repository does not contain its files.
    pub fn write_commit(
        &self,
        commit: &str,
        folder: &Path,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<()> {
        let Some(git) = &self.repository else {
            return Ok(());
        };
        let mut objects = git.objects(None)?;
        let entries = git.entries_of(commit)?.into_iter();
        let entries = entries.map(|(mode, id, path)| Entry { mode, id, path });
        let wanted = entries.filter(|entry| wanted(&path_bytes::shown(&entry.path)));
        write(folder, wanted, |id| objects.read(id, CAP))
    }

    /// Writes the files of a recorded tree below `folder`, without nested repositories' own folders and without files
    /// that could not be recorded. The folder is empty, or contains the recorded tree `from`, of which nothing is left.
    /// Fails if a tree is no longer recorded.
    pub fn write_tree(
        &self,
        tree: &TreeId,
        from: Option<&TreeId>,
        folder: &Path,
        state_dir: &Path,
    ) -> Result<()> {
        let mut image = self.image(&tree.0, state_dir)?;
        let old = from.map(|from| self.image(&from.0, state_dir));
        let old = old.transpose()?.unwrap_or_default();
        for (path, _, _) in differing(&old, &image).filter(|(_, old, _)| old.is_some()) {
            let place = folder.join(path_bytes::path(path));
            drop(fs::remove_file(&place));
            let mut around = place.ancestors().skip(1);
            while around
                .next()
                .is_some_and(|around| around != folder && fs::remove_dir(around).is_ok())
            {
            }
        }
        image.retain(|path, entry| old.get(path) != Some(entry));
        let mut bytes = self.bytes(state_dir)?;
        let entries = image.into_iter().filter_map(|(path, entry)| {
            let mode = match entry.kind {
                FileKind::File if entry.permissions & 0o100 != 0 => EXECUTABLE,
                FileKind::File => PLAIN,
                FileKind::Link => LINK,
                FileKind::Submodule | FileKind::Unreadable => return None,
            };
            Some(Entry {
                mode,
                id: entry.id,
                path,
            })
        });
        write(folder, entries, |id| bytes.read(id, CAP))
    }
}

fn write(
    folder: &Path,
    entries: impl Iterator<Item = Entry>,
    mut read: impl FnMut(&str) -> Result<GitObject>,
) -> Result<()> {
    let mut links: Vec<(PathBuf, Vec<u8>)> = Vec::new();
    for Entry { mode, id, path } in entries {
        let relative = path_bytes::path(&path);
        // A tree that was not made by git could name a path outside the folder.
        if !relative.components().all(
            |part| matches!(part, Component::Normal(name) if !name.eq_ignore_ascii_case(".git")),
        ) {
            continue;
        }
        let place = folder.join(&relative);
        let failed = |error| WorkspaceError::unreadable(&place)(error);
        let GitObject::Bytes(bytes) = read(&id)? else {
            return Err(failed(std::io::ErrorKind::FileTooLarge.into()));
        };
        if mode == LINK {
            links.push((place, bytes));
            continue;
        }
        fs::create_dir_all(place.parent().unwrap_or(folder)).map_err(failed)?;
        fs::write(&place, bytes).map_err(failed)?;
        let rights = if mode == EXECUTABLE { 0o755 } else { 0o644 };
        fs::set_permissions(&place, fs::Permissions::from_mode(rights)).map_err(failed)?;
    }
    // Links come last, so that no file is written through a link.
    for (place, target) in links {
        let failed = |error| WorkspaceError::unreadable(&place)(error);
        fs::create_dir_all(place.parent().unwrap_or(folder)).map_err(failed)?;
        // The folder can contain an earlier copy of the same commit.
        drop(fs::remove_file(&place));
        symlink(path_bytes::path(&target), &place).map_err(failed)?;
    }
    Ok(())
}
