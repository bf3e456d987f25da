//! Identifies the tree of a run, even if the path of the tree changes.
//!
//! A folder is identified by its inode and creation time. A repository is therefore recognised after a move, and
//! distinguished from another repository at the same path. A copy of a repository is recognised if the copy
//! contains the commit that was recorded as `HEAD`.

use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use crate::git::{GitObject, Repository, path_bytes};
use crate::{Result, Workspace};

/// The properties of a folder that do not change when the folder is moved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Mark {
    inode: u64,
    /// The creation time in nanoseconds since 1970; `None` if the file system does not record creation times.
    born: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeIdentity {
    /// The path of the tree's root, quoted as in git's output if necessary.
    root: String,
    mark: Option<Mark>,
    /// The git folder that all work trees of the repository share; `None` outside git.
    common: Option<Mark>,
    /// The path of the work tree's git folder, relative to the shared git folder. The path is empty for the main
    /// work tree.
    worktree: String,
    head: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TreeRelation {
    /// The same tree, possibly at a new path.
    Same,
    /// Another work tree of the same repository, or a copy whose original still exists.
    Sibling,
    Foreign,
}

impl TreeIdentity {
    /// Reads the identity of a tree from disk, because a coder can have removed or replaced `.git` during the run.
    pub fn of(workspace: &Workspace) -> Self {
        let root = workspace.root();
        let git = workspace
            .repository
            .as_ref()
            .filter(|git| git.common.join("HEAD").exists());
        let worktree = git.map(|git| {
            git.git_dir
                .strip_prefix(&git.common)
                .unwrap_or(&git.git_dir)
        });
        let quoted = |path: &Path| path_bytes::shown(&path_bytes::quoted(&path_bytes::bytes(path)));
        Self {
            root: quoted(root),
            mark: mark(root),
            common: git.and_then(|git| mark(&git.common)),
            worktree: worktree.map(quoted).unwrap_or_default(),
            head: git.and_then(Repository::current),
        }
    }

    pub fn root(&self) -> PathBuf {
        path_bytes::path(&path_bytes::unquoted(self.root.as_bytes()).unwrap_or_default())
    }

    pub fn relation(&self, now: &Self, workspace: &Workspace) -> Result<TreeRelation> {
        let same_path = self.root == now.root;
        if self.common.is_none() || now.common.is_none() {
            let is_same = is_same(&self.mark, &now.mark, same_path);
            return Ok(if is_same {
                TreeRelation::Same
            } else {
                TreeRelation::Foreign
            });
        }
        let same_or_sibling = match self.worktree == now.worktree {
            true => TreeRelation::Same,
            false => TreeRelation::Sibling,
        };
        if is_same(&self.common, &now.common, same_path) {
            return Ok(same_or_sibling);
        }
        let (Some(git), Some(head)) = (&workspace.repository, &self.head) else {
            return Ok(TreeRelation::Foreign);
        };
        if git.objects(None)?.read(head, 1 << 20)? == GitObject::Missing {
            return Ok(TreeRelation::Foreign);
        }
        let is_moved = same_path || mark(&self.root()) != self.mark;
        Ok(if is_moved {
            same_or_sibling
        } else {
            TreeRelation::Sibling
        })
    }
}

fn is_same(one: &Option<Mark>, other: &Option<Mark>, same_path: bool) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => one == other && (one.born.is_some() || same_path),
        (None, None) => same_path,
        _ => false,
    }
}

fn mark(folder: &Path) -> Option<Mark> {
    let meta = std::fs::metadata(folder).ok()?;
    let born = meta
        .created()
        .ok()
        .and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    let born = born.and_then(|since| u64::try_from(since.as_nanos()).ok());
    Some(Mark {
        inode: std::os::unix::fs::MetadataExt::ino(&meta),
        born,
    })
}
