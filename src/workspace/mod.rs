//! The reviewed tree: target selection, git plumbing, before-images, enclosing blocks.
//!
//! A [`Workspace`] is one work tree. Reading it never writes to it and never runs a filter, a hook, a pager or an
//! external diff. What Glee keeps of it lies in the state folder: nothing is added to the user's repository, only
//! [`Workspace::prune`] takes away refs that an older Glee made there, and only [`Workspace::undo`] and
//! [`Workspace::redo`] write to files. Every method may fail because git or the state folder does, or because a recorded
//! tree is gone; what else may go wrong it says itself.

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

pub use crate::workspace::git::exchange::{Arrival, Arrived, Pushed};
pub use crate::workspace::git::identity::{HistoryPlace, Identity};
pub use crate::workspace::git::shared_rulings::RulingFile;
pub use crate::workspace::guard::bounds::Bound;
pub use crate::workspace::guard::config_changes::Steering;
pub use crate::workspace::guard::fingerprint::{ChangeKind, ChangedSubject, ObservedChange, TreeFingerprint};
pub use crate::workspace::guard::nested_repos::Unfollowed;
pub use crate::workspace::guard::run_lock::TreeLock;
pub use crate::workspace::select::base_files::BaseFiles;
pub use crate::workspace::select::changed_since::Since;
pub use crate::workspace::select::recorded_rules::SelectionRules;
pub use crate::workspace::select::selection::{SelectOptions, Target, TargetSpec};
pub use crate::workspace::snapshot::before_image::BeforeImage;
pub use crate::workspace::snapshot::manifest::TreeId;
pub use crate::workspace::snapshot::opened::Kept;
pub use crate::workspace::snapshot::prune::{Needed, Prunable, remove_folder};
pub use crate::workspace::snapshot::restage::Restaged;
pub use crate::workspace::undo::restore::{Decided, Forced, UndoConflict, Undone};
pub use crate::workspace::undo::three_way::Clash;
pub use error::{Result, WorkspaceError};
pub use root::Workspace;
