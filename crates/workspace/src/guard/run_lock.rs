//! Locks the folder of a work tree, so that only one run edits the tree. The kernel releases the lock when the
//! process ends. The lock is on the folder itself, so it also holds between users, containers and state folders.
//!
//! A file in the state folder describes the run that holds the lock, for the error message of a second run. This file
//! is locked too: a description that nobody holds is the one of an earlier run. The file is never removed.

use std::fs::{File, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use nix::fcntl::OFlag;

use crate::git::path_bytes;
use crate::{Result, Workspace, WorkspaceError};
use glee_model::domain::RunId;
use glee_system::{files, private};

/// Holds the lock of a work tree until this value is dropped or the process ends.
#[derive(Debug)]
pub struct TreeLock {
    _tree: File,
    _description: File,
}

impl Workspace {
    /// Locks this work tree for a run that edits the tree, and removes what a killed run left in the git folder.
    ///
    /// The description in `state_dir` is named after the root, so that each linked work tree has its own.
    /// Fails with [`WorkspaceError::Locked`] if another run holds the lock.
    pub fn lock(&self, state_dir: &Path, run: &RunId) -> Result<TreeLock> {
        let name = blake3::hash(&path_bytes::bytes(self.root())).to_hex();
        let path = state_dir.join(format!("tree-{}.lock", &name[..16]));
        let state = WorkspaceError::state(&path);
        private::folder(state_dir).map_err(state)?;
        let mut options = private::options();
        options
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .custom_flags(OFlag::O_NOFOLLOW.bits());
        let mut description = options.open(&path).map_err(state)?;
        match description.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                drop(description.take(512).read_to_string(&mut holder));
                let holder = holder.lines().next().filter(|line| !line.is_empty());
                return Err(WorkspaceError::Locked(
                    holder.unwrap_or("unknown").to_owned(),
                ));
            }
            Err(TryLockError::Error(source)) => return Err(state(source)),
        }
        let tree = File::open(self.root()).map_err(WorkspaceError::unreadable(self.root()))?;
        match tree.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(WorkspaceError::Locked(
                    "a run of another user, container or state folder".to_owned(),
                ));
            }
            // NFS locks only files that are open for writing. The lock of the state folder remains.
            Err(TryLockError::Error(source)) => {
                tracing::debug!("cannot lock `{}`: {source}", self.root().display());
            }
        }
        let holder = format!(
            "run {run}, process {}, since {}\n",
            std::process::id(),
            jiff::Timestamp::now()
        );
        description
            .set_len(0)
            .and_then(|()| description.rewind())
            .and_then(|()| description.write_all(holder.as_bytes()))
            .map_err(state)?;
        if let Some(git) = &self.repository {
            drop(files::remove(&git.aside()));
        }
        Ok(TreeLock {
            _tree: tree,
            _description: description,
        })
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use glee_model::domain::Advice as _;

    #[test]
    fn a_second_run_fails_with_the_holder_until_the_lock_is_released() {
        let tree = tempfile::tempdir().unwrap();
        let state = tempfile::tempdir().unwrap();
        let workspace = Workspace::discover(tree.path()).unwrap();
        let first = workspace
            .lock(state.path(), &RunId("one".to_owned()))
            .unwrap();
        let error = workspace
            .lock(state.path(), &RunId("two".to_owned()))
            .unwrap_err();
        assert_eq!(error.exit(), glee_model::domain::ExitReason::Locked);
        let text = error.to_string();
        assert!(
            text.contains(&format!("run one, process {}", std::process::id())),
            "{text}"
        );
        drop(first);
        workspace
            .lock(state.path(), &RunId("two".to_owned()))
            .unwrap();
    }

    #[test]
    fn the_lock_is_on_the_tree_by_whatever_path_and_state_folder() {
        let tree = tempfile::tempdir().unwrap();
        let state = tempfile::tempdir().unwrap();
        let run = RunId("one".to_owned());
        std::fs::create_dir(tree.path().join("one")).unwrap();
        std::fs::create_dir(tree.path().join("two")).unwrap();
        std::os::unix::fs::symlink(tree.path().join("one"), tree.path().join("link")).unwrap();
        let open = |name: &str| Workspace::discover(&tree.path().join(name)).unwrap();
        let _first = open("one").lock(&state.path().join("a"), &run).unwrap();
        for (root, state_dir, is_free) in [
            ("one", "b", false),
            ("link", "c", false),
            ("one", "a", false),
            ("two", "a", true),
        ] {
            let locked = open(root).lock(&state.path().join(state_dir), &run);
            assert_eq!(locked.is_ok(), is_free, "{root} {state_dir} {locked:?}");
        }
    }

    #[test]
    fn a_link_in_the_place_of_the_lock_is_refused() {
        let tree = tempfile::tempdir().unwrap();
        let state = tempfile::tempdir().unwrap();
        let workspace = Workspace::discover(tree.path()).unwrap();
        drop(
            workspace
                .lock(state.path(), &RunId("one".to_owned()))
                .unwrap(),
        );
        let lock = std::fs::read_dir(state.path())
            .unwrap()
            .next()
            .unwrap()
            .unwrap()
            .path();
        std::fs::remove_file(&lock).unwrap();
        let victim = state.path().join("victim");
        std::os::unix::fs::symlink(&victim, &lock).unwrap();
        let error = workspace
            .lock(state.path(), &RunId("two".to_owned()))
            .unwrap_err();
        assert_eq!(error.exit(), glee_model::domain::ExitReason::History);
        assert!(!victim.exists());
    }
}
