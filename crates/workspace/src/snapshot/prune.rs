//! Deletes the snapshots of old runs: the folders, and the objects that no remaining run needs.
//!
//! The events of the runs remain in the history. A prune changes nothing in the user's repository.

use std::collections::BTreeSet;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::select::walk;
use crate::snapshot::content_store;
use crate::snapshot::manifest::{FileKind, SnapshotNote, TreeId, run_folder};
use crate::{Result, Workspace, WorkspaceError};
use glee_model::domain::RunId;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prunable {
    pub run: RunId,
    /// The trees that the run's events mention.
    pub trees: Vec<TreeId>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Needed {
    /// The trees that the events of the remaining runs mention.
    pub trees: Vec<TreeId>,
    /// The start time of the oldest remaining run. A prune keeps the git objects that Glee wrote after `since`.
    pub since: SystemTime,
}

impl Workspace {
    /// Deletes the snapshots of `runs`. Returns the number of bytes that become free in the state folder. A
    /// missing file is not an error, because an interrupted prune may have removed the file. The user can
    /// therefore repeat the prune.
    pub fn prune(&self, runs: &[Prunable], needed: &Needed, state_dir: &Path) -> Result<u64> {
        let copies = match &self.repository {
            Some(_) => BTreeSet::new(),
            None => {
                let notes = runs
                    .iter()
                    .filter_map(|run| SnapshotNote::read(&run.run, state_dir));
                let named = runs.iter().flat_map(|run| run.trees.clone());
                self.copies(named.chain(notes.flat_map(SnapshotNote::trees)), state_dir)
            }
        };
        let mut freed = 0;
        for Prunable { run, .. } in runs {
            let folder = run_folder(run, state_dir);
            freed += remove_folder(&folder).map_err(WorkspaceError::state(&folder))?;
        }
        let state = WorkspaceError::state(state_dir);
        match &self.repository {
            Some(git) => {
                freed += remove_older(&git.objects_in(state_dir), needed.since).map_err(state)?
            }
            None => {
                let noted = content_store::noted_trees(state_dir);
                let needed = self.copies(needed.trees.iter().cloned().chain(noted), state_dir);
                for id in copies.difference(&needed) {
                    freed += remove_file(&content_store::place(state_dir, id)).map_err(state)?;
                }
            }
        }
        Ok(freed)
    }

    /// Returns the hashes of the copies in the state folder that are necessary for the snapshots in `trees`. A
    /// copy contains a file, the target of a link, or a list of files.
    fn copies(&self, trees: impl Iterator<Item = TreeId>, state_dir: &Path) -> BTreeSet<String> {
        let mut ids = BTreeSet::new();
        for tree in trees {
            let Ok(image) = self.image(&tree.0, state_dir) else {
                continue;
            };
            ids.extend(tree.0.strip_prefix("blake3:").map(str::to_owned));
            let stored = image
                .into_values()
                .filter(|entry| matches!(entry.kind, FileKind::File | FileKind::Link));
            ids.extend(stored.map(|entry| entry.id));
        }
        ids
    }
}

/// Removes a folder and its contents. Returns the number of bytes that become free. The removal of a file with
/// other hard links frees no bytes. A missing folder is not an error.
pub fn remove_folder(folder: &Path) -> io::Result<u64> {
    let freed = files_below(folder)?
        .iter()
        .filter_map(|path| own_size(path))
        .sum();
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(freed),
    }
}

/// Removes the loose git objects below `folder` that were last written before `since`.
fn remove_older(folder: &Path, since: SystemTime) -> io::Result<u64> {
    let mut freed = 0;
    // Git stores loose objects in folders whose names have two hexadecimal digits.
    for path in files_below(folder)?.into_iter().filter(|path| {
        path.parent()
            .and_then(Path::file_name)
            .is_some_and(|name| name.len() == 2)
    }) {
        if std::fs::symlink_metadata(&path)
            .and_then(|meta| meta.modified())
            .is_ok_and(|at| at < since)
        {
            freed += remove_file(&path)?;
        }
    }
    Ok(freed)
}

fn remove_file(path: &Path) -> io::Result<u64> {
    let size = own_size(path).unwrap_or(0);
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        removed => Ok(removed.map_or(0, |()| size)),
    }
}

/// All files below a folder. Symbolic links are not followed.
fn files_below(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let below = walk::everything(folder).filter(|entry| entry.as_ref().map_or(true, walk::is_file));
    below
        .filter(|entry| !is_gone(entry))
        .map(|entry| Ok(entry?.into_path()))
        .collect()
}

fn is_gone<T>(entry: &io::Result<T>) -> bool {
    entry
        .as_ref()
        .is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

fn own_size(path: &Path) -> Option<u64> {
    let meta = std::fs::symlink_metadata(path).ok()?;
    (meta.nlink() <= 1).then_some(meta.len())
}
