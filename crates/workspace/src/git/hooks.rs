//! Finds the folder of git's hooks, an unfinished operation of git, and the commits of a push.

use std::path::{Component, Path, PathBuf};

use super::output::object_id;
use super::plumbing::Repository;
use crate::error::{Result, WorkspaceError};
use crate::git::path_bytes;
use crate::root::Workspace;

/// The folder in which git looks for hooks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HooksFolder {
    pub path: PathBuf,
    /// The value of `core.hooksPath`, if the setting is present.
    pub setting: Option<String>,
    /// Whether only this repository uses the folder. A folder outside this repository can contain the hooks of
    /// several repositories.
    pub is_own: bool,
    /// Whether the folder is in the work tree. The files of such a folder can be committed.
    pub is_in_tree: bool,
}

/// A ref of a push, parsed from the input of git's hook `pre-push`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushedRef {
    pub(crate) local_id: String,
    pub remote_ref: String,
    pub(crate) remote_id: String,
}

/// The commits that a push of one ref adds to a branch of the remote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PushedCommits {
    /// The commits `A..B`.
    Range(String),
    /// The push deletes the ref, adds no commit, or changes a tag.
    Nothing,
    /// The ref is not a branch, a tag or a change for a branch.
    Other,
    /// The clone contains no common ancestor of the pushed commits and the branches of the remote.
    NoBase,
}

/// Files and folders that git creates in the git folder during an operation, each with the name of the operation.
const OPERATIONS: [(&str, &str); 5] = [
    ("MERGE_HEAD", "merge"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("rebase-merge", "rebase"),
    ("rebase-apply", "rebase"),
];

/// A host that reviews changes receives them on this ref, followed by the name of the branch: `refs/for/main`. A topic
/// (`refs/for/main/topic`) and options (`refs/for/main%wip`) can follow.
const FOR_BRANCH: &str = "refs/for/";

/// The branches that are tried if the default branch of a remote is not recorded in the clone.
const DEFAULT_BRANCHES: [&str; 3] = ["HEAD", "main", "master"];

impl PushedRef {
    /// Parses the line `<local ref> <local id> <remote ref> <remote id>`.
    pub fn parse(line: &str) -> Option<Self> {
        let [_, local, remote_ref, remote] = line.split(' ').collect::<Vec<_>>().try_into().ok()?;
        let id = |word: &str| object_id(word.as_bytes());
        Some(Self {
            local_id: id(local)?,
            remote_ref: remote_ref.to_owned(),
            remote_id: id(remote)?,
        })
    }
}

impl Workspace {
    fn git_of_hooks(&self) -> Result<&Repository> {
        self.repository.as_ref().ok_or(WorkspaceError::NoHooks)
    }

    /// Returns the folder in `core.hooksPath`, or else the folder `hooks` in the common git folder. Fails
    /// outside git.
    pub fn hooks_folder(&self) -> Result<HooksFolder> {
        let git = self.git_of_hooks()?;
        let setting = git.hooks_path()?;
        let path = match &setting {
            Some(path) => plain(&git.top.join(path)),
            None => git.common.join("hooks"),
        };
        let is_in_tree = path.starts_with(&git.top) && !path.starts_with(&git.common);
        // In a linked work tree, an absolute `core.hooksPath` can name a folder of the main work tree.
        let main = git
            .common
            .file_name()
            .filter(|name| *name == ".git")
            .and(git.common.parent());
        let own = [Some(git.top.as_path()), Some(git.common.as_path()), main];
        let is_own = own
            .into_iter()
            .flatten()
            .any(|folder| path.starts_with(folder));
        let setting = setting.map(|path| path.display().to_string());
        Ok(HooksFolder {
            path,
            setting,
            is_own,
            is_in_tree,
        })
    }

    /// The operation of git that was started in this work tree and has not ended.
    pub fn git_operation(&self) -> Option<&'static str> {
        let git = self.repository.as_ref()?;
        OPERATIONS
            .iter()
            .find(|(file, _)| git.git_dir.join(file).exists())
            .map(|(_, name)| *name)
    }

    /// The commits that a push adds to a branch of the remote. The remote already has all commits up to a merge
    /// base: the merge base of the pushed commit with the remote's branch, or with the remote's default branch.
    pub fn pushed_commits(&self, remote: &str, pushed: &PushedRef) -> Result<PushedCommits> {
        let git = self.git_of_hooks()?;
        let is_none = |id: &str| id.bytes().all(|byte| byte == b'0');
        let reference = pushed.remote_ref.as_str();
        if is_none(&pushed.local_id) || reference.starts_with("refs/tags/") {
            return Ok(PushedCommits::Nothing);
        }
        let of_change = reference.strip_prefix(FOR_BRANCH);
        if of_change.is_none() && !reference.starts_with("refs/heads/") {
            return Ok(PushedCommits::Other);
        }
        let named = of_change.and_then(|name| name.split('%').next());
        let mut branches: Vec<&str> = named.into_iter().flat_map(with_parents).collect();
        branches.extend(DEFAULT_BRANCHES);
        // A ref below `refs/heads` can point to an object that is not a commit.
        let Some(tip) = git.find(&format!("{}^{{commit}}", pushed.local_id))? else {
            return Ok(PushedCommits::Nothing);
        };
        let known = |revision: &str| git.find(&format!("{revision}^{{commit}}"));
        let before = if is_none(&pushed.remote_id) {
            None
        } else {
            known(&pushed.remote_id)?
        };
        let mut default = None;
        // If the user pushes to an address, the clone has no remote-tracking branches of that address, so the
        // branches of `origin` are used.
        for remote in [remote, "origin"] {
            for branch in &branches {
                if default.is_none() {
                    default = known(&format!("refs/remotes/{remote}/{branch}"))?;
                }
            }
        }
        let bases = [before, default].map(|of| match of {
            Some(of) => git.call(["merge-base", &of, &tip]).id(),
            None => Ok(None),
        });
        let [before, default] = bases;
        let base = match (before?, default?) {
            (Some(before), Some(default)) => {
                // After a rebase, the merge base with the default branch can be later than the merge base with
                // the remote's earlier commit.
                let is_ahead =
                    git.call(["merge-base", &before, &default]).id()?.as_ref() == Some(&before);
                if is_ahead { default } else { before }
            }
            (Some(base), None) | (None, Some(base)) => base,
            (None, None) => return Ok(PushedCommits::NoBase),
        };
        Ok(if base == tip {
            PushedCommits::Nothing
        } else {
            PushedCommits::Range(format!("{base}..{tip}"))
        })
    }
}

impl Repository {
    /// Returns the last value of `core.hooksPath` in git's configuration files. Values of the scope `command`
    /// are ignored, because Glee's own git commands set these values.
    fn hooks_path(&self) -> Result<Option<PathBuf>> {
        let call = self.call([
            "config",
            "--type=path",
            "--show-scope",
            "-z",
            "--get-all",
            "core.hooksPath",
        ]);
        let output = call.answer()?.unwrap_or_default();
        let fields: Vec<&[u8]> = output.split(|byte| *byte == 0).collect();
        let mut values = fields.chunks_exact(2).filter(|pair| pair[0] != b"command");
        Ok(values.next_back().map(|pair| path_bytes::path(pair[1])))
    }
}

/// A name, and the names before each of its slashes, the longest first.
fn with_parents(name: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(name), |name| Some(name.rsplit_once('/')?.0))
}

/// Resolves `..` in a path, and symbolic links in the existing part of the path.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            other => plain.push(other),
        }
        if let Ok(real) = plain.canonicalize() {
            plain = real;
        }
    }
    plain
}
