//! Locks a file, so that only one run edits a work tree. The kernel releases the lock when the process ends.
//!
//! The lock file is never removed. The file contains a description of the run that holds the lock. A run that
//! cannot get the lock shows this description in its error message.

use std::fs::{File, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use nix::fcntl::OFlag;

use crate::domain::RunId;
use crate::system::private;
use crate::workspace::git::path_bytes;
use crate::workspace::{Result, Workspace, WorkspaceError};

/// Holds the lock of a work tree until this value is dropped or the process ends.
#[derive(Debug)]
pub struct TreeLock {
    _file: File,
}

impl Workspace {
    /// Locks this work tree for a run that edits the tree.
    ///
    /// The lock file in `state_dir` is named after the root, so that each linked work tree has a separate lock.
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
        let mut file = options.open(&path).map_err(state)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                drop(file.take(512).read_to_string(&mut holder));
                let holder = holder.lines().next().filter(|line| !line.is_empty());
                return Err(WorkspaceError::Locked(
                    holder.unwrap_or("unknown").to_owned(),
                ));
            }
            Err(TryLockError::Error(source)) => return Err(state(source)),
        }
        let holder = format!(
            "run {run}, process {}, since {}\n",
            std::process::id(),
            jiff::Timestamp::now()
        );
        file.set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| file.write_all(holder.as_bytes()))
            .map_err(state)?;
        Ok(TreeLock { _file: file })
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::domain::Advice as _;

    #[test]
    fn a_second_run_fails_with_the_holder_until_the_lock_is_released() {
        let (tree, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let workspace = Workspace::discover(tree.path()).unwrap();
        let first = workspace
            .lock(state.path(), &RunId("one".to_owned()))
            .unwrap();
        let error = workspace
            .lock(state.path(), &RunId("two".to_owned()))
            .unwrap_err();
        assert_eq!(error.exit(), crate::domain::ExitReason::Locked);
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
    fn a_link_in_the_place_of_the_lock_is_refused() {
        let (tree, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
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
        assert_eq!(error.exit(), crate::domain::ExitReason::History);
        assert!(!victim.exists());
    }
}
