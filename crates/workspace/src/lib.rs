//! Selects, reads, records, guards and restores the files under review.
//!
//! A [`Workspace`] is one work tree. Operations that read the tree change no file of the tree, and run no filter,
//! hook, pager or external diff. Glee stores snapshots in the state folder, not in the user's repository. Of the
//! refs in the user's repository, Glee creates and deletes only refs below `refs/glee/`; git itself lists the worktrees of
//! runs there ([`worktree`]). Only [`Workspace::undo`], [`Workspace::redo`] and [`Workspace::apply`] write to the user's
//! files. Many methods can fail because of git, the state folder or a missing recorded tree. The documentation of a method
//! does not mention these causes, and lists only errors with other causes.

pub mod advisories;
pub mod code;
pub mod diff;
mod error;
pub mod git;
pub mod guard;
pub mod root;
pub mod select;
pub mod snapshot;
#[cfg(all(test, unix))]
mod tests;
pub mod undo;
pub mod worktree;

pub use error::{Result, WorkspaceError};
pub use git::{
    BlockPlace, ChangeSource, FetchedChange, HistoryPlace, HooksFolder, Identity, MirrorTree,
    PushedCommits, PushedRef, RulingFile,
};
pub use guard::{
    Bound, ChangeKind, ChangedSubject, ControlFiles, ObservedChange, QueueSubject, QueuedRun,
    TreeFingerprint, TreeLock, Turn, Unfollowed,
};
pub use root::Workspace;
pub use select::{FilePart, SelectOptions, SelectionRules, Since, Target, TargetSpec};
pub use snapshot::{BeforeImage, Needed, Prunable, Restaged, TreeId, remove_folder};
pub use undo::{Applied, Clash, Forced, UndoConflict, UndoEffect, UndoOptions, UndoPlan, Undone};
