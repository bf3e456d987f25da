//! What can go wrong with a tree, in the words of a user.

use std::io;
use std::path::PathBuf;

use crate::domain::{Advice, ExitReason, Skip};

use super::nested::Bound;

/// What may fail with a tree.
pub type Result<T, E = WorkspaceError> = std::result::Result<T, E>;

/// A failure to read, keep or restore a tree.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// A repository is there, and the program is not.
    #[error("`git` is not installed")]
    NoGit,
    /// The first `git` on the path belongs to the reviewed tree.
    #[error("refusing to run `{program}`: it lies inside the tree `{root}`")]
    GitInside { program: PathBuf, root: PathBuf },
    /// `git` could not be started.
    #[error("failed to run `git`")]
    Start(#[source] io::Error),
    /// A git command failed.
    #[error("`git {command}` failed: {message}")]
    Git {
        command: String,
        /// What it wrote to stderr.
        message: String,
    },
    /// A repository without a work tree.
    #[error("`{}` is a bare repository, without files to review", .0.display())]
    Bare(PathBuf),
    /// A place inside a repository's own folder.
    #[error("`{0}` belongs to the repository itself, not to its files")]
    InsideGit(String),
    /// A target, in words, that only a repository has.
    #[error("{0} can only be reviewed in a git repository")]
    NotGit(String),
    /// A path that does not exist or cannot be read.
    #[error("cannot read `{path}`")]
    Unreadable {
        /// The path as given.
        path: String,
        #[source]
        source: io::Error,
    },
    /// A path that is not below the root.
    #[error("`{path}` is outside the tree `{}`", root.display())]
    Outside {
        /// The path as given.
        path: String,
        root: PathBuf,
    },
    /// A revision that does not name a commit.
    #[error("`{0}` names no commit")]
    BadRevision(String),
    /// The branch has no commit.
    #[error("the repository has no commit yet")]
    NoCommit,
    /// Two commits without a common ancestor.
    #[error("`{one}` and `{other}` have no common ancestor")]
    NoMergeBase { one: String, other: String },
    /// The history ends before the parent that is needed.
    #[error("the parent of `{0}` is missing: the clone is shallow")]
    Shallow(String),
    /// A file that should be a unified diff and is not.
    #[error("`{0}` holds no unified diff")]
    NotADiff(String),
    /// A diff of a merge against several parents.
    #[error("`{0}` is a combined diff of a merge, which shows no side whole")]
    CombinedDiff(String),
    /// A diff that is cut off or edited.
    #[error("`{name}` is broken: the hunk at line {line} does not hold the lines it announces")]
    BrokenDiff {
        name: String,
        /// The line of the hunk, from 1.
        line: usize,
    },
    /// Nothing is left to review.
    #[error("{}", empty(target, skipped))]
    EmptyTarget {
        /// The target, in words.
        target: String,
        /// The files of it that were skipped.
        skipped: Vec<Skip>,
        /// Whether the target is a change, and not files that were named.
        is_change: bool,
    },
    /// Another run holds the tree: which, its process and since when.
    #[error("another run holds this tree: {0}")]
    Locked(String),
    /// The state folder cannot be used.
    #[error("cannot use the state folder at `{}`", path.display())]
    State {
        /// The file or folder in it.
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// The tree is too large to be copied outside git.
    #[error("`{}` is too large to be kept: over {files} files or {bytes} bytes", root.display())]
    TooLarge {
        root: PathBuf,
        /// The bound on files.
        files: usize,
        /// The bound on bytes.
        bytes: u64,
    },
    /// A repository inside the tree is too large to be kept, so no coder may start.
    #[error("`{folder}` cannot be kept: {bound}")]
    Unfollowed {
        folder: String,
        /// The bound that it exceeds.
        bound: Bound,
    },
    /// A file of the tree cannot be kept, so no coder may start.
    #[error("cannot keep `{path}`")]
    NotKept {
        path: String,
        #[source]
        source: io::Error,
    },
    /// A link stands where Glee's refs are kept: what is written there would land elsewhere.
    #[error("`{}` is a symbolic link", .0.display())]
    LinkedRefs(PathBuf),
    /// A recorded tree is gone, by its id or ref.
    #[error("the recorded tree `{0}` is gone")]
    Gone(String),
    /// The run worked on another work tree of the same repository.
    #[error("the run worked on `{}`, not on `{}`", theirs.display(), root.display())]
    OtherTree {
        theirs: PathBuf,
        /// The tree Glee runs in.
        root: PathBuf,
    },
    /// The run worked on another repository, which was at this place then.
    #[error("run {run} did not work on the repository that is at `{}` now", root.display())]
    OtherRepository {
        /// The tree Glee runs in.
        root: PathBuf,
        run: String,
    },
    /// A folder that should be empty is not.
    #[error("`{}` is not empty", .0.display())]
    Occupied(PathBuf),
    /// Some files could not be brought back, each with the reason.
    #[error("{} could not be brought back: {}", count(.0.len()), .0.join(", "))]
    NotRestored(Vec<String>),
}

impl Advice for WorkspaceError {
    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NoGit => "install git, and see that it is on the `PATH`",
            Self::GitInside { .. } => "take folders of the tree out of the `PATH`",
            Self::Git { message, .. } if message.contains("dubious ownership") => {
                "if you trust this repository: `git config --global --add safe.directory <its path>`"
            }
            Self::Bare(..) => "run Glee in a work tree: `git worktree add <path>`",
            Self::InsideGit(..) => "name files of the work tree",
            Self::NotGit(..) => "name files or folders: `glee review src/`",
            Self::Unreadable { .. } => "check the path and its permissions",
            Self::Outside { .. } => "run Glee in the tree that the path belongs to",
            Self::BadRevision(..) => "list what there is with `git log --oneline` or `git branch -a`",
            Self::NoCommit => "review what is there: `glee review`, or name paths",
            Self::NoMergeBase { .. } => {
                "fetch the missing history (`git fetch --unshallow`), or name a range `A..B`"
            }
            Self::Shallow(..) => "fetch it: `git fetch --deepen=1`",
            Self::NotADiff(..) => "make one with `git diff > changes.diff`",
            Self::CombinedDiff(..) => {
                "show one parent: `git diff HEAD^ HEAD`, `git show --first-parent` or `git show -m`"
            }
            Self::BrokenDiff { .. } => "make it again with `git diff > changes.diff`; word diffs cannot be read",
            Self::EmptyTarget { skipped, .. } if skipped.is_empty() => {
                "name what to review: `glee review src/`, `--base main` or `--commit HEAD`"
            }
            Self::EmptyTarget { .. } => "only text files are reviewed; see `review.max_file_size` for the size",
            Self::Locked(..) => "wait for it to end; runs that only review need no lock",
            Self::State { .. } => "check the folder's permissions, or name another one with `GLEE_STATE_DIR`",
            Self::TooLarge { .. } => "put it under git, or name what does not matter in `.gleeignore`",
            Self::LinkedRefs(..) => {
                "remove it: git makes no such link, and refs written there would land elsewhere"
            }
            Self::Unfollowed { .. } => {
                "a coder could change it beyond recall: review without `--fix`, move it out of the tree, or name it in \
                 `.git/info/exclude` (a submodule: `git submodule deinit <path>`)"
            }
            Self::NotKept { .. } => "make it readable, or ignore it",
            Self::OtherTree { .. } => "run it in the work tree that the run was started in",
            Self::OtherRepository { run, .. } => {
                return Some(format!("to see what the run kept: `glee runs undo {run} --to <new folder>`"));
            }
            Self::Occupied(..) => "name a folder that does not exist yet, or an empty one",
            Self::NotRestored(..) => "see to the reasons given, then undo again",
            Self::Start(..) | Self::Git { .. } | Self::Gone(..) => return None,
        };
        Some(hint.to_owned())
    }

    fn exit(&self) -> ExitReason {
        match self {
            Self::Locked(..) => ExitReason::Locked,
            Self::State { .. } | Self::NotKept { .. } | Self::TooLarge { .. } => ExitReason::History,
            // There is a change, and nobody could read any of it.
            Self::EmptyTarget { skipped, is_change: true, .. } if !skipped.is_empty() => ExitReason::AgentFailed,
            _ => ExitReason::Usage,
        }
    }
}

/// Skipped files that are named in an error.
const NAMED: usize = 8;

fn empty(target: &str, skipped: &[Skip]) -> String {
    if skipped.is_empty() {
        return format!("nothing to review: {target}: no files");
    }
    let named = skipped.iter().take(NAMED).map(|skip| format!("{} ({})", skip.file, skip.reason.as_str()));
    let more = skipped.len().checked_sub(NAMED + 1).map(|rest| format!("and {} more", rest + 1));
    let named: Vec<String> = named.chain(more).collect();
    format!("nothing to review: {target}: {} skipped: {}", count(skipped.len()), named.join(", "))
}

fn count(files: usize) -> String {
    match files {
        1 => "1 file".to_owned(),
        n => format!("{n} files"),
    }
}
