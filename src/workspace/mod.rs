//! Selects, reads, records, guards and restores the files under review.
//!
//! A [`Workspace`] is one work tree. Operations that read the tree never write to it, and never run a filter, a
//! hook, a pager or an external diff. Glee stores snapshots in the state folder, not in the user's repository. Only
//! [`Workspace::prune`] removes refs from the repository; earlier versions of Glee created these refs. Only
//! [`Workspace::undo`] and [`Workspace::redo`] write to the user's files. A method can fail because of git or the
//! state folder, or because a recorded tree is missing. A method's documentation lists only additional errors.

pub mod advisories;
pub mod code;
pub mod diff;
mod error;
pub(crate) mod git;
pub mod guard;
pub(crate) mod root;
pub(crate) mod select;
pub(crate) mod snapshot;
#[cfg(all(test, unix))]
mod tests;
pub(crate) mod undo;

pub use error::{Result, WorkspaceError};
pub use git::{
    BlockPlace, ExchangeRemote, FetchedRecord, HistoryPlace, HooksFolder, Identity, PushedCommits, PushedRef,
    RulingFile,
};
pub use guard::{
    Bound, ChangeKind, ChangedSubject, ControlFiles, ObservedChange, TreeFingerprint, TreeLock, Unfollowed,
};
pub use root::Workspace;
pub use select::{BaseFiles, SelectOptions, SelectionRules, Since, Target, TargetSpec};
pub use snapshot::{BeforeImage, Kept, Needed, Prunable, Restaged, TreeId, remove_folder};
pub use undo::{Clash, Forced, UndoConflict, UndoEffect, UndoOptions, UndoPlan, Undone};
