//! The errors of the workspace layer, with hints and exit codes.

use std::io;
use std::path::{Path, PathBuf};

use crate::guard::Bound;
use glee_model::domain::{Advice, ExitReason, number_of};
use glee_store::config::ConfigError;
use glee_store::history::JournalError;

pub type Result<T, E = WorkspaceError> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    #[error("`git` is not installed")]
    NoGit,
    #[error("refusing to run `{program}`: it is inside the tree `{root}`")]
    GitInside { program: PathBuf, root: PathBuf },
    #[error("failed to run `git`")]
    Start(#[source] io::Error),
    #[error("`git {command}` failed: {message}")]
    Git { command: String, message: String },
    #[error("`{}` is a bare repository and has no files to review", .0.display())]
    Bare(PathBuf),
    #[error("`{0}` is inside a `.git` folder")]
    InsideGit(String),
    #[error("{0} can only be reviewed in a git repository")]
    NotGit(String),
    #[error("there is no file or folder `{path}`")]
    Missing {
        path: String,
        /// Of all existing paths in the same folder, the path whose name is most similar to the missing name.
        similar: Option<String>,
    },
    #[error("cannot read `{path}`")]
    Unreadable { path: String, source: io::Error },
    #[error("`{path}` is outside the tree `{}`", root.display())]
    Outside { path: String, root: PathBuf },
    #[error("there is no commit `{revision}`")]
    BadRevision {
        revision: String,
        /// Branches that exist, the most recently changed first.
        branches: Vec<String>,
        /// The command that fetches the branch of a remote that the revision names.
        fetch: Option<String>,
    },
    #[error("the repository has no commit yet")]
    NoCommit,
    #[error("`{one}` and `{other}` have no common ancestor")]
    NoMergeBase { one: String, other: String },
    #[error("the commits of the pull request changed while they were fetched")]
    ChangeMoved,
    #[error("the parent of `{0}` is missing: the clone is shallow")]
    Shallow(String),
    #[error("`{0}` contains no unified diff")]
    NotADiff(String),
    #[error("`{0}` is a combined diff of a merge, which cannot be reviewed")]
    CombinedDiff(String),
    #[error(
        "`{name}` is malformed: the hunk at line {line} does not match the line counts in its header"
    )]
    BrokenDiff { name: String, line: usize },
    #[error("another run has locked this tree: {0}")]
    Locked(String),
    #[error("cannot use the state folder at `{}`", path.display())]
    State { path: PathBuf, source: io::Error },
    #[error("`{}` is too large for a snapshot: more than {files} files or {bytes} bytes", root.display())]
    TooLarge {
        root: PathBuf,
        files: usize,
        bytes: u64,
    },
    /// Glee does not start a coder if a nested repository exceeds the limits of a snapshot.
    #[error("cannot include `{folder}` in the snapshot: {bound}")]
    Unfollowed { folder: String, bound: Bound },
    /// Glee does not start a coder if a file of the tree cannot be read.
    #[error("cannot include `{path}` in the snapshot")]
    NotKept { path: String, source: io::Error },
    #[error("`{}` is a symbolic link", .0.display())]
    LinkedRefs(PathBuf),
    #[error("the recorded tree `{0}` is missing")]
    Gone(String),
    #[error("the run worked on the tree `{}`, not on `{}`", theirs.display(), root.display())]
    OtherTree { theirs: PathBuf, root: PathBuf },
    #[error("run {run} is not a run of the repository `{}`", root.display())]
    OtherRepository { root: PathBuf, run: String },
    #[error("`{}` is not empty", .0.display())]
    Occupied(PathBuf),
    #[error("git hooks require a git repository, but this folder is not in a git repository")]
    NoHooks,
    #[error("a worktree requires a git repository, but this folder is not in a git repository")]
    NoWorktree,
    #[error("the worktree of run {0} is gone")]
    WorktreeGone(String),
    #[error("the coder of run {0} was interrupted, so its changes are not complete")]
    CoderInterrupted(String),
    #[error("cannot read `project.id` in the project's configuration")]
    ProjectId(#[source] Box<ConfigError>),
    #[error(transparent)]
    History(Box<JournalError>),
    /// The files that could not be restored, each with the reason.
    #[error("failed to restore {}: {}", count(.0.len()), .0.join(", "))]
    NotRestored(Vec<String>),
}

impl From<JournalError> for WorkspaceError {
    fn from(error: JournalError) -> Self {
        Self::History(Box::new(error))
    }
}

impl WorkspaceError {
    pub fn state(path: &Path) -> impl Fn(io::Error) -> Self + Copy {
        |source| Self::State {
            path: path.to_owned(),
            source,
        }
    }

    pub fn unreadable(path: &Path) -> impl Fn(io::Error) -> Self + Copy {
        |source| Self::Unreadable {
            path: path.display().to_string(),
            source,
        }
    }
}

impl Advice for WorkspaceError {
    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Missing {
                similar: Some(similar),
                ..
            } => return Some(format!("did you mean `{similar}`?")),
            Self::Missing { similar: None, .. } => {
                "specify a path relative to the folder in which you run Glee"
            }
            Self::NoGit => "install git in a folder on the `PATH`",
            Self::GitInside { .. } => "remove the folders of the reviewed tree from the `PATH`",
            Self::Git { message, .. } if message.contains("dubious ownership") => {
                "mark the repository as safe, if you trust it: `git config --global --add safe.directory <its path>`"
            }
            Self::Bare(..) => {
                "create a work tree with `git worktree add <path>`, and run Glee there"
            }
            Self::InsideGit(..) => "specify files outside the `.git` folder",
            Self::NotGit(..) => "specify files or folders: `glee review src/`",
            Self::Unreadable { .. } => "check the path and its permissions",
            Self::Outside { .. } => "run Glee in the tree that contains the path",
            Self::BadRevision {
                branches, fetch, ..
            } if !branches.is_empty() => {
                let fetch = fetch
                    .iter()
                    .map(|fetch| format!("fetch it (`{fetch}`), or "));
                return Some(format!(
                    "{}use an existing branch ({}) or a commit",
                    fetch.collect::<String>(),
                    branches.join(", ")
                ));
            }
            Self::BadRevision { .. } => {
                "list commits and branches with `git log --oneline` or `git branch -a`"
            }
            Self::NoCommit => {
                "review the files of the work tree with `glee review` or `glee review <path>`"
            }
            Self::NoMergeBase { .. } => {
                "fetch the missing history (`git fetch --unshallow`), or specify a range `A..B`"
            }
            Self::ChangeMoved => "run the command again",
            Self::Shallow(..) => "fetch the parent: `git fetch --deepen=1`",
            Self::NotADiff(..) => "create a diff with `git diff > changes.diff`",
            Self::CombinedDiff(..) => {
                "compare with one parent: `git diff HEAD^ HEAD` or `git show --first-parent`"
            }
            Self::BrokenDiff { .. } => {
                "create the diff again with `git diff > changes.diff`, not as a word diff"
            }
            Self::Locked(..) => {
                "wait until the other run ends, or review without `--fix`, which needs no lock"
            }
            Self::State { .. } => {
                "check the folder's permissions, or choose another folder with `GLEE_STATE_DIR`"
            }
            Self::TooLarge { .. } => {
                "create a git repository in the folder, or exclude files in `.gleeignore`"
            }
            Self::LinkedRefs(..) => {
                "remove the link, because Glee would write git refs to the target of the link"
            }
            Self::Unfollowed { .. } => {
                "Glee can undo changes only in folders of the snapshot: review without `--fix`, move the folder \
                out of the tree, or list the folder in `.git/info/exclude` (a submodule: `git submodule deinit \
                <path>`)"
            }
            Self::NotKept { .. } => "make the file readable, or exclude the file in an ignore file",
            Self::OtherTree { .. } => "run the command in the work tree of the run",
            Self::OtherRepository { run, .. } => {
                return Some(format!(
                    "extract the snapshot of the run: `glee runs undo {run} --to <new folder>`"
                ));
            }
            Self::Occupied(..) => "specify a folder that is empty or does not exist",
            Self::NotRestored(..) => "fix the listed causes, then run the command again",
            Self::NoHooks => "run the command in a git repository: `git init` creates one",
            Self::NoWorktree => {
                "leave out `--worktree`: without it the coder edits the files of this folder, and `glee runs undo` \
                undoes its changes"
            }
            Self::WorktreeGone(..) => {
                "its changes were applied or dropped; start a new run with `glee review --fix --worktree`"
            }
            Self::CoderInterrupted(run) => {
                return Some(format!(
                    "go on with `glee runs resume {run}`, or forget the run with `glee runs drop {run}`"
                ));
            }
            Self::ProjectId(error) => return error.hint(),
            Self::History(error) => return error.hint(),
            Self::Start(..) | Self::Git { .. } | Self::Gone(..) => return None,
        };
        Some(hint.to_owned())
    }

    fn exit(&self) -> ExitReason {
        match self {
            Self::Locked(..) => ExitReason::Locked,
            Self::ProjectId(error) => error.exit(),
            Self::History(error) => error.exit(),
            Self::State { .. } | Self::NotKept { .. } | Self::TooLarge { .. } => {
                ExitReason::History
            }
            _ => ExitReason::Usage,
        }
    }
}

fn count(files: usize) -> String {
    number_of(files, "file")
}
