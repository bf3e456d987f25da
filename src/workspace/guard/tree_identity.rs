//! Which tree a run worked on: by the identity of its folders and its history, not by its path.
//!
//! A folder is known by its inode and the time at which it was made, so that a moved repository is still its own and
//! another one at the same path is not. A repository that was copied is known by the commit the run began at.

use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use crate::workspace::Result;
use crate::workspace::git::path_bytes;
use crate::workspace::git::plumbing::{GitObject, Repository};
use crate::workspace::root::Workspace;

/// A folder, by what stays when it is moved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Mark {
    inode: u64,
    /// Nanoseconds since 1970, where the file system keeps them.
    born: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TreeIdentity {
    /// The path of the root, quoted.
    root: String,
    mark: Option<Mark>,
    /// The folder that all work trees of the repository share; `None` outside git.
    common: Option<Mark>,
    /// This work tree's folder in it, quoted; empty for the main one.
    worktree: String,
    head: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TreeRelation {
    /// It is that tree, here or moved.
    Same,
    /// Another work tree of the same repository, or a copy beside the original.
    Sibling,
    Foreign,
}

impl TreeIdentity {
    /// The place of a tree as it is on the disk right now: a coder may have removed or replaced `.git`.
    pub(crate) fn of(workspace: &Workspace) -> Self {
        let root = workspace.root();
        let git = workspace.repository.as_ref().filter(|git| git.common.join("HEAD").exists());
        let worktree =
            git.map(|git| path_bytes::bytes(git.git_dir.strip_prefix(&git.common).unwrap_or(&git.git_dir)));
        Self {
            root: path_bytes::shown(&path_bytes::quoted(&path_bytes::bytes(root))),
            mark: mark(root),
            common: git.and_then(|git| mark(&git.common)),
            worktree: path_bytes::shown(&path_bytes::quoted(&worktree.unwrap_or_default())),
            head: git.and_then(Repository::current),
        }
    }

    pub(crate) fn root(&self) -> PathBuf {
        path_bytes::path(&path_bytes::unquoted(self.root.as_bytes()).unwrap_or_default())
    }

    pub(crate) fn relation(&self, now: &Self, workspace: &Workspace) -> Result<TreeRelation> {
        let same_path = self.root == now.root;
        let same = |one: &Option<Mark>, other: &Option<Mark>| match (one, other) {
            (Some(one), Some(other)) => one == other && (one.born.is_some() || same_path),
            (None, None) => same_path,
            _ => false,
        };
        let same_root = same(&self.mark, &now.mark);
        if self.common.is_none() || now.common.is_none() {
            return Ok(if same_root { TreeRelation::Same } else { TreeRelation::Foreign });
        }
        if same(&self.common, &now.common) {
            let is_own = self.worktree == now.worktree;
            return Ok(if is_own { TreeRelation::Same } else { TreeRelation::Sibling });
        }
        let Some(git) = &workspace.repository else {
            return Ok(TreeRelation::Foreign);
        };
        let has_head = match &self.head {
            Some(head) => git.objects(None)?.read(head, 1 << 20)? != GitObject::Missing,
            None => false,
        };
        let original = self.root();
        let is_moved = same_path || mark(&original) != self.mark;
        Ok(match has_head {
            false => TreeRelation::Foreign,
            true if is_moved && self.worktree == now.worktree => TreeRelation::Same,
            true => TreeRelation::Sibling,
        })
    }
}

fn mark(folder: &Path) -> Option<Mark> {
    let meta = std::fs::metadata(folder).ok()?;
    let born = meta.created().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    let born = born.and_then(|since| u64::try_from(since.as_nanos()).ok());
    Some(Mark { inode: std::os::unix::fs::MetadataExt::ino(&meta), born })
}
