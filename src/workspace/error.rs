//! What can go wrong with a tree, in the words of a user.

use std::io;
use std::path::PathBuf;

use crate::config::ConfigError;
use crate::domain::{Advice, ExitReason, Skip};
use crate::history::JournalError;
use crate::workspace::guard::bounds::Bound;

pub type Result<T, E = WorkspaceError> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    #[error("`git` is not installed")]
    NoGit,
    #[error("refusing to run `{program}`: it lies inside the tree `{root}`")]
    GitInside { program: PathBuf, root: PathBuf },
    #[error("failed to run `git`")]
    Start(#[source] io::Error),
    #[error("`git {command}` failed: {message}")]
    Git { command: String, message: String },
    #[error("`{}` is a bare repository, without files to review", .0.display())]
    Bare(PathBuf),
    #[error("`{0}` belongs to the repository itself, not to its files")]
    InsideGit(String),
    #[error("{0} can only be reviewed in a git repository")]
    NotGit(String),
    #[error("cannot read `{path}`")]
    Unreadable { path: String, source: io::Error },
    #[error("`{path}` is outside the tree `{}`", root.display())]
    Outside { path: String, root: PathBuf },
    #[error("`{0}` names no commit")]
    BadRevision(String),
    #[error("the repository has no commit yet")]
    NoCommit,
    #[error("`{one}` and `{other}` have no common ancestor")]
    NoMergeBase { one: String, other: String },
    #[error("the parent of `{0}` is missing: the clone is shallow")]
    Shallow(String),
    #[error("`{0}` holds no unified diff")]
    NotADiff(String),
    #[error("`{0}` is a combined diff of a merge, which shows no side whole")]
    CombinedDiff(String),
    #[error("`{name}` is broken: the hunk at line {line} does not hold the lines it announces")]
    BrokenDiff { name: String, line: usize },
    #[error("{}", empty(target, skipped))]
    EmptyTarget {
        target: String,
        skipped: Vec<Skip>,
        /// Whether the target is a change, and not files that were named.
        is_change: bool,
    },
    /// Another run holds the tree: which, its process and since when.
    #[error("another run holds this tree: {0}")]
    Locked(String),
    #[error("cannot use the state folder at `{}`", path.display())]
    State { path: PathBuf, source: io::Error },
    #[error("`{}` is too large to be kept: over {files} files or {bytes} bytes", root.display())]
    TooLarge { root: PathBuf, files: usize, bytes: u64 },
    /// A repository inside the tree is too large to be kept, so no coder may start.
    #[error("`{folder}` cannot be kept: {bound}")]
    Unfollowed { folder: String, bound: Bound },
    /// A file of the tree cannot be kept, so no coder may start.
    #[error("cannot keep `{path}`")]
    NotKept { path: String, source: io::Error },
    /// A link stands where Glee's refs are kept: what is written there would land elsewhere.
    #[error("`{}` is a symbolic link", .0.display())]
    LinkedRefs(PathBuf),
    /// A recorded tree is gone, by its id or ref.
    #[error("the recorded tree `{0}` is gone")]
    Gone(String),
    #[error("the run worked on `{}`, not on `{}`", theirs.display(), root.display())]
    OtherTree { theirs: PathBuf, root: PathBuf },
    #[error("run {run} did not work on the repository that is at `{}` now", root.display())]
    OtherRepository { root: PathBuf, run: String },
    #[error("`{}` is not empty", .0.display())]
    Occupied(PathBuf),
    #[error("a history is exchanged by a git repository, and this folder is in none")]
    NoExchange,
    #[error("there is no remote `{remote}`")]
    NoRemote { remote: String, known: Vec<String> },
    #[error("git does not know who you are: {0}")]
    NoAuthor(String),
    #[error("`{remote}` did not take the records: {message}")]
    NotPushed { remote: String, message: String },
    #[error("the project's own file does not say which history is its")]
    ProjectId(#[source] Box<ConfigError>),
    #[error(transparent)]
    History(Box<JournalError>),
    /// Some files could not be brought back, each with the reason.
    #[error("{} could not be brought back: {}", count(.0.len()), .0.join(", "))]
    NotRestored(Vec<String>),
}

impl WorkspaceError {
    pub(crate) fn history(error: JournalError) -> Self {
        Self::History(Box::new(error))
    }
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
            Self::NoExchange => "put the folder under git, or copy the database, which `glee doctor` names",
            Self::NoRemote { known, .. } if known.is_empty() => "add one: `git remote add origin <address>`",
            Self::NoRemote { known, .. } => return Some(format!("remotes: {}", known.join(", "))),
            Self::NoAuthor(..) => "say it: `git config user.name <name>` and `git config user.email <address>`",
            Self::NotPushed { .. } => "nothing is lost: push again; a remote may also refuse such refs",
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
            Self::NotPushed { .. } | Self::State { .. } | Self::NotKept { .. } | Self::TooLarge { .. } => {
                ExitReason::History
            }
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
