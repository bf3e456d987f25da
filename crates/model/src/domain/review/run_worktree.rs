//! The worktree of a run, in which the coder works instead of the user's tree.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunWorktree {
    /// The path of the worktree. The folder is removed when its changes are applied or dropped.
    pub path: String,
    pub changes: WorktreeState,
}

/// What became of the coder's changes in a worktree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WorktreeState {
    /// The coder changed nothing that is to be applied.
    None,
    /// Changes are not in the user's tree: `glee runs apply` brings them over.
    NotApplied,
    /// All changes were brought over.
    Applied,
    /// `glee runs drop` forgot the changes.
    Dropped,
}

/// What the events of a run say about its worktree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorktreeFacts {
    pub is_dropped: bool,
    pub has_changes: bool,
    /// Whether changes are not in the user's tree.
    pub is_undone: bool,
}

impl From<WorktreeFacts> for WorktreeState {
    fn from(facts: WorktreeFacts) -> Self {
        match facts {
            WorktreeFacts {
                is_dropped: true, ..
            } => Self::Dropped,
            WorktreeFacts {
                has_changes: false, ..
            } => Self::None,
            WorktreeFacts {
                is_undone: true, ..
            } => Self::NotApplied,
            WorktreeFacts {
                is_undone: false, ..
            } => Self::Applied,
        }
    }
}
