//! Letting go of what runs kept: their refs and folders, and the objects that no other run needs.
//!
//! The journal's events stay; what goes is the code of old runs. Of the user's repository only refs below
//! `refs/glee/run/` are touched, which an older Glee made there.

use std::collections::BTreeSet;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::domain::RunId;
use crate::workspace::git::plumbing::Repository;
use crate::workspace::root::Workspace;
use crate::workspace::select::walk;
use crate::workspace::snapshot::content_store;
use crate::workspace::snapshot::manifest::{FileKind, TreeId};
use crate::workspace::snapshot::note::SnapshotNote;
use crate::workspace::{Result, WorkspaceError};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prunable {
    pub run: RunId,
    /// The trees that its events name.
    pub trees: Vec<TreeId>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Needed {
    /// The trees that their events name.
    pub trees: Vec<TreeId>,
    /// When the oldest of them began; what was written since stays.
    pub since: SystemTime,
}

impl Workspace {
    /// Lets go of everything that is kept for these runs; returns the bytes that are free now in the state folder.
    /// What is gone already is no error, so that an interrupted prune is simply done again.
    pub fn prune(&self, runs: &[Prunable], needed: &Needed, state_dir: &Path) -> Result<u64> {
        let copies = match &self.repository {
            Some(_) => BTreeSet::new(),
            None => {
                let noted = runs
                    .iter()
                    .filter_map(|run| SnapshotNote::read(&run.run, state_dir))
                    .flat_map(SnapshotNote::trees);
                let trees: Vec<TreeId> = runs.iter().flat_map(|run| run.trees.clone()).chain(noted).collect();
                self.copies(trees.iter(), state_dir)
            }
        };
        let mut freed = 0;
        for Prunable { run, .. } in runs {
            if let Some(git) = &self.repository {
                git.forget(run)?;
            }
            let folder = state_dir.join("kept").join(&run.0);
            freed += remove_folder(&folder).map_err(|source| WorkspaceError::State { path: folder, source })?;
        }
        let state = |source| WorkspaceError::State { path: state_dir.to_owned(), source };
        match &self.repository {
            Some(git) => freed += remove_older(&git.objects_in(state_dir), needed.since).map_err(state)?,
            None => {
                let still = self.copies(needed.trees.iter(), state_dir);
                let noted = content_store::noted_trees(state_dir);
                let noted = self.copies(noted.iter(), state_dir);
                for id in copies.iter().filter(|id| !still.contains(*id) && !noted.contains(*id)) {
                    freed += remove_file(&content_store::place(state_dir, id)).map_err(state)?;
                }
            }
        }
        Ok(freed)
    }

    /// The copies that trees outside git are made of, their lists included.
    fn copies<'a>(&self, trees: impl Iterator<Item = &'a TreeId>, state_dir: &Path) -> BTreeSet<String> {
        let mut ids = BTreeSet::new();
        for tree in trees {
            let Ok(image) = self.image(&tree.0, state_dir) else { continue };
            ids.extend(tree.0.strip_prefix("blake3:").map(str::to_owned));
            let stored = image.into_values().filter(|entry| matches!(entry.kind, FileKind::File | FileKind::Link));
            ids.extend(stored.map(|entry| entry.id));
        }
        ids
    }
}

impl Repository {
    fn forget(&self, run: &RunId) -> Result<()> {
        // An archive may bring a link where refs of an older Glee belong; git would remove what is behind it.
        let places = ["refs/glee", "refs/glee/run"].map(|place| self.common.join(place));
        if let Some(linked) = places.into_iter().find(|path| path.is_symlink()) {
            return Err(WorkspaceError::LinkedRefs(linked));
        }
        let refs = format!("refs/glee/run/{run}/");
        let found = self.call(["for-each-ref", "--format=delete %(refname)", &refs]).output()?;
        if !found.is_empty() {
            self.call(["update-ref", "--no-deref", "--stdin"]).output_of(&found)?;
        }
        Ok(())
    }
}

/// Removes a folder with everything in it; returns the bytes that nobody else holds. Fails when it cannot be read or
/// removed; that it is not there is no error.
pub fn remove_folder(folder: &Path) -> io::Result<u64> {
    let freed = files_below(folder)?.iter().filter_map(|path| own_size(path)).sum();
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(freed),
    }
}

/// Removes the files below a folder that were last written before a time.
fn remove_older(folder: &Path, since: SystemTime) -> io::Result<u64> {
    let mut freed = 0;
    // Loose objects lie in folders of two digits.
    let is_object = |path: &PathBuf| path.parent().and_then(Path::file_name).is_some_and(|name| name.len() == 2);
    for path in files_below(folder)?.into_iter().filter(is_object) {
        let old = std::fs::symlink_metadata(&path).and_then(|meta| meta.modified()).is_ok_and(|at| at < since);
        if old {
            freed += remove_file(&path)?;
        }
    }
    Ok(freed)
}

fn remove_file(path: &Path) -> io::Result<u64> {
    let size = own_size(path).unwrap_or(0);
    match std::fs::remove_file(path) {
        Ok(()) => Ok(size),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        Err(error) => Err(error),
    }
}

/// All files below a folder; links are not followed.
fn files_below(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let below = walk::everything(folder).filter(|entry| entry.as_ref().map_or(true, walk::is_file));
    let is_gone =
        |entry: &io::Result<_>| entry.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
    below.filter(|entry| !is_gone(entry)).map(|entry| Ok(entry?.into_path())).collect()
}

/// The size of a file that has no other name.
fn own_size(path: &Path) -> Option<u64> {
    let meta = std::fs::symlink_metadata(path).ok()?;
    (meta.nlink() <= 1).then_some(meta.len())
}
