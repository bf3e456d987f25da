//! The worktrees of runs: which of them are still needed.

use std::path::Path;

use crate::review::state::ReviewState;
use crate::run::error::RunError;
use glee_model::domain::event::Event;
use glee_model::domain::{ExitReason, RunId, WorktreeState};
use glee_store::history::Journal;
use glee_workspace::root::Workspace;

/// Whether the worktree of a run has changes that are not in the user's tree, or the run can go on in it.
pub fn is_needed(events: &[Event]) -> bool {
    let state = ReviewState::of(events);
    let is_over = matches!(
        state.ended,
        Some((ExitReason::Clean | ExitReason::FindingsOpen, _))
    );
    match state.worktree().map(|worktree| worktree.changes) {
        None | Some(WorktreeState::Dropped) => false,
        Some(_) if state.pruned => false,
        Some(WorktreeState::NotApplied) => true,
        Some(WorktreeState::None | WorktreeState::Applied) => state.before.is_some() && !is_over,
    }
}

/// Whether the coder of a run changed nothing yet, so that the run can go on in a new worktree.
pub fn is_renewable(events: &[Event]) -> bool {
    let worktree = ReviewState::of(events).worktree();
    worktree.is_some_and(|worktree| worktree.changes == WorktreeState::None)
}

/// Removes the worktrees that are not needed, as those that a killed process left. A run of another history stays.
pub fn sweep(workspace: &Workspace, journal: &Journal, state_dir: &Path) -> Result<(), RunError> {
    for run in workspace.worktrees(state_dir) {
        if journal.folder_of(&run).is_dir() && !journal.is_held(&run)? {
            remove_unneeded(workspace, journal, &run, state_dir)?;
        }
    }
    Ok(())
}

/// Removes the worktree of a run if it is not needed.
pub fn remove_unneeded(
    workspace: &Workspace,
    journal: &Journal,
    run: &RunId,
    state_dir: &Path,
) -> Result<(), RunError> {
    if !is_needed(&journal.events(run)?) {
        workspace.remove_worktree(run, state_dir)?;
    }
    Ok(())
}
