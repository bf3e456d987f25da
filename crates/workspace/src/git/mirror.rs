//! Bare mirrors of remote repositories, and the work trees of workers, which are linked to a mirror.
//!
//! A mirror is shared by all workers that have the state folder. Who uses a mirror or a work tree holds a lock on it, which
//! the kernel releases at the end of the process, so what nobody uses can be told and removed.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::git::fetched_change::QUIET;
use crate::git::output::object_id;
use crate::git::path_bytes;
use crate::git::plumbing::{EMPTY_SHA1, Repository};
use crate::snapshot::remove_folder;
use crate::{Result, Workspace, WorkspaceError};
use glee_system::private;

/// The folder of the mirrors in the state folder.
const FOLDER: &str = "mirrors";
/// The folder of the work trees in the folder of a mirror.
const TREES: &str = "glee-trees";
/// The file that a user of a mirror locks together with others, and that who removes the mirror locks alone.
const USED: &str = "glee-used";
/// The file that who changes the mirror locks.
const CHANGING: &str = "glee-changing";

/// The maximum duration of one `git fetch`.
const NETWORK: Duration = Duration::from_secs(600);

/// A work tree of a mirror. It is removed when this value is dropped, or by a later process.
#[derive(Debug)]
pub struct MirrorTree {
    pub path: PathBuf,
    git: Repository,
    _locks: [File; 2],
}

impl MirrorTree {
    /// Creates a work tree of a remote repository at `commit`, or at the commit of its default branch. Fetches
    /// if the mirror lacks the commit. Then removes the mirrors that were not used for the longest time, until all take
    /// at most `limit` bytes.
    pub fn new(state_dir: &Path, remote: &str, commit: Option<&str>, limit: u64) -> Result<Self> {
        let mirrors = state_dir.join(FOLDER);
        let key = blake3::hash(remote.as_bytes()).to_hex();
        let folder = mirrors.join(&key.as_str()[..32]);
        private::folder(&folder.join(TREES)).map_err(WorkspaceError::state(&folder))?;
        let used = locked(&folder.join(USED), File::lock_shared)
            .map_err(WorkspaceError::state(&folder))?;
        let folder = folder
            .canonicalize()
            .map_err(WorkspaceError::state(&folder))?;
        let git = Repository::backup(&folder, &folder, EMPTY_SHA1)?;
        git.create_empty(&folder)
            .map_err(WorkspaceError::state(&folder))?;
        // Git fails at a work tree that another process has added or removed in part.
        let alone = alone(&folder)?;
        let commit = git.mirrored(remote, commit)?;
        remove_abandoned(&git, &folder);
        let trees = folder.join(TREES);
        let (path, lock) = free_tree(&trees).map_err(WorkspaceError::state(&folder))?;
        remove_tree(&git, &path);
        // Without a checkout git runs no hook and no filter.
        let add = ["worktree", "add", "--quiet", "--detach", "--no-checkout"];
        let added = git.call(add).arg(&path).arg(&commit).output();
        if added.is_err() {
            remove_tree(&git, &path);
        }
        drop(alone);
        added?;
        let tree = Self {
            path,
            git,
            _locks: [used, lock],
        };
        let workspace = Workspace::discover(&tree.path)?;
        workspace.write_commit(&commit, &tree.path, |_| true)?;
        let linked = workspace.repository.as_ref();
        let linked = linked.ok_or_else(|| WorkspaceError::Gone(commit.clone()))?;
        linked.call(["read-tree", &commit]).output()?;
        remove_least_used(&mirrors, limit);
        Ok(tree)
    }
}

impl Drop for MirrorTree {
    fn drop(&mut self) {
        // What is left is removed by the next process.
        if let Ok(_alone) = alone(&self.git.common) {
            remove_tree(&self.git, &self.path);
        }
    }
}

/// Waits until no other process changes the mirror.
fn alone(mirror: &Path) -> Result<File> {
    locked(&mirror.join(CHANGING), File::lock).map_err(WorkspaceError::state(mirror))
}

impl Repository {
    /// Returns the commit, after a fetch if the mirror lacks it.
    fn mirrored(&self, remote: &str, commit: Option<&str>) -> Result<String> {
        // The address is what the worker's configuration of git makes of it, as in a clone.
        self.call(["config", "remote.origin.url", remote])
            .output()?;
        if let Some(commit) = commit {
            let id = object_id(commit.as_bytes()).ok_or_else(|| WorkspaceError::BadRevision {
                revision: commit.to_owned(),
                branches: Vec::new(),
                fetch: None,
            })?;
            if self.commit(&id).is_ok() {
                return Ok(id);
            }
        }
        self.fetch_mirror(remote, "+refs/heads/*:refs/remotes/origin/*")?;
        match commit {
            Some(commit) => {
                if self.commit(commit).is_err() {
                    self.fetch_mirror(remote, commit)?;
                }
                self.commit(commit)
            }
            None => {
                self.fetch_mirror(remote, "+HEAD:refs/remotes/origin/HEAD")?;
                self.commit("refs/remotes/origin/HEAD")
            }
        }
    }

    fn fetch_mirror(&self, remote: &str, what: &str) -> Result<()> {
        let args = QUIET.into_iter().chain(["--end-of-options", remote, what]);
        self.call(args).over_network(NETWORK).output()?;
        self.cat_files.end();
        Ok(())
    }
}

fn locked(path: &Path, lock: impl FnOnce(&File) -> io::Result<()>) -> io::Result<File> {
    let file = private::options().create(true).append(true).open(path)?;
    lock(&file)?;
    // The time at which the mirror was used last.
    file.set_modified(SystemTime::now())?;
    Ok(file)
}

/// Whether nobody holds the lock. The lock is held until the returned file is closed.
fn unused(path: &Path) -> Option<File> {
    let file = private::options().append(true).open(path).ok()?;
    match file.try_lock() {
        Ok(()) => Some(file),
        Err(TryLockError::WouldBlock | TryLockError::Error(_)) => None,
    }
}

/// The first work tree that nobody uses. Their paths are numbered, so that the same ones come again: Glee keeps the path of
/// each work tree of a history.
fn free_tree(trees: &Path) -> io::Result<(PathBuf, File)> {
    let mut number = 1;
    loop {
        let path = trees.join(number.to_string());
        let lock = path.with_extension("lock");
        drop(private::options().create(true).append(true).open(&lock)?);
        if let Some(held) = unused(&lock) {
            return Ok((path, held));
        }
        number += 1;
    }
}

/// Removes the work trees of processes that were killed.
fn remove_abandoned(git: &Repository, folder: &Path) {
    let found = fs::read_dir(folder.join("worktrees"));
    for entry in found.into_iter().flatten().flatten() {
        let path = folder.join(TREES).join(entry.file_name());
        if let Some(_held) = unused(&path.with_extension("lock")) {
            remove_tree(git, &path);
        }
    }
}

fn remove_tree(git: &Repository, path: &Path) {
    drop(remove_folder(path));
    if let Some(name) = path.file_name() {
        drop(remove_folder(&git.common.join("worktrees").join(name)));
    }
}

fn remove_least_used(mirrors: &Path, limit: u64) {
    let mut found: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
    for entry in fs::read_dir(mirrors).into_iter().flatten().flatten() {
        let used = fs::metadata(entry.path().join(USED)).and_then(|meta| meta.modified());
        found.push((
            used.unwrap_or(SystemTime::UNIX_EPOCH),
            bytes(&entry.path()),
            entry.path(),
        ));
    }
    found.sort();
    let mut all: u64 = found.iter().map(|(_, bytes, _)| bytes).sum();
    for (_, bytes, mirror) in found {
        if all <= limit {
            return;
        }
        if let Some(_held) = unused(&mirror.join(USED))
            && remove_folder(&mirror).is_ok()
        {
            all -= bytes;
        }
    }
}

fn bytes(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| Some((entry.path(), entry.metadata().ok()?)))
        .map(|(path, meta)| match meta.is_dir() {
            true => bytes(&path),
            false => meta.len(),
        })
        .sum()
}

impl Workspace {
    /// Finds the remote that a worker can fetch `commit` from. Returns its address without a user's name and password.
    /// `None` without a remote-tracking branch that contains the commit.
    pub fn remote_of(&self, commit: &str) -> Result<Option<String>> {
        let Some(git) = &self.repository else {
            return Ok(None);
        };
        let contains = format!("--contains={commit}");
        let refs = git
            .call([
                "for-each-ref",
                "--format=%(refname)",
                &contains,
                "refs/remotes",
            ])
            .output()?;
        let refs = path_bytes::shown(&refs);
        let remotes = git.remotes()?;
        let preferred = remotes.get_key_value("origin").into_iter();
        let mut all = preferred.chain(&remotes);
        let found = all.find(|(name, _)| {
            let prefix = format!("refs/remotes/{name}/");
            refs.lines().any(|line| line.starts_with(&prefix))
        });
        Ok(found.map(|(_, url)| self.for_others(url)))
    }

    /// An address of a remote as other machines can use it, without a user's name and password.
    pub fn for_others(&self, url: &str) -> String {
        let Some((scheme, rest)) = url.split_once("://") else {
            let is_path = url.starts_with(['.', '/']);
            let path = is_path.then(|| self.root.join(url));
            return path.map_or_else(
                || url.to_owned(),
                |path| path.canonicalize().unwrap_or(path).display().to_string(),
            );
        };
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
        let user = user.split(':').next().unwrap_or_default();
        match (scheme, user) {
            // The user of ssh is a part of the address, and no secret.
            ("ssh", user) if !user.is_empty() => format!("ssh://{user}@{host}/{path}"),
            _ => format!("{scheme}://{host}/{path}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_for_others_has_no_password() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let workspace = Workspace::discover(folder.path()).expect("a tree");
        for (address, expected) in [
            (
                "https://me:secret@host.example/team/shop.git",
                "https://host.example/team/shop.git",
            ),
            (
                "https://secret@host.example:8443/shop",
                "https://host.example:8443/shop",
            ),
            (
                "ssh://git:secret@host.example:22/shop.git",
                "ssh://git@host.example:22/shop.git",
            ),
            ("ssh://host.example/shop.git", "ssh://host.example/shop.git"),
            (
                "git@host.example:team/shop.git",
                "git@host.example:team/shop.git",
            ),
            ("file:///srv/shop.git", "file:///srv/shop.git"),
            ("/srv/shop.git", "/srv/shop.git"),
        ] {
            assert_eq!(workspace.for_others(address), expected);
        }
        // A folder beside the tree, as tests and small teams have it.
        std::fs::create_dir(workspace.root().join("sub")).expect("a folder");
        assert_eq!(
            workspace.for_others("./sub/.."),
            workspace.root().display().to_string()
        );
    }
}
