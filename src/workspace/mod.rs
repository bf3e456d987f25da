//! The reviewed tree: selection of targets, git plumbing, snapshots, undo, guards, enclosing blocks.
//!
//! A [`Workspace`] is one work tree. Reading it never writes to it and never runs a filter, a hook, a pager or an
//! external diff. Snapshots are in the state folder: nothing is added to the user's repository, only [`Workspace::prune`]
//! removes refs that earlier versions created there, and only [`Workspace::undo`] and [`Workspace::redo`] write to files.
//! Every method may fail because git or the state folder fails or a recorded tree is missing; each documents its other errors.

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
pub use git::{FetchedRecord, HistoryPlace, Identity, RulingFile};
pub use guard::{
    Bound, ChangeKind, ChangedSubject, ControlFiles, ObservedChange, TreeFingerprint, TreeLock, Unfollowed,
};
pub use root::Workspace;
pub use select::{BaseFiles, SelectOptions, SelectionRules, Since, Target, TargetSpec};
pub use snapshot::{BeforeImage, Kept, Needed, Prunable, Restaged, TreeId, remove_folder};
pub use undo::{Clash, Forced, UndoConflict, UndoOptions, Undone};
