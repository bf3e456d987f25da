//! Letting go of old runs: what they kept to be undone, carried on and decided again. Their events stay for ever.

use std::path::Path;

use crate::domain::RunId;
use crate::domain::event::RunEvent;
use crate::history::queries::rows::RunRow;
use crate::history::store::Journal;
use crate::workflows::review::state::ReviewState;
use crate::workflows::run::error::RunError;
use crate::workspace::root::Workspace;
use crate::workspace::{self, Needed, Prunable, TreeId, WorkspaceError};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pruned {
    /// How many runs had something to let go of.
    pub runs: usize,
    /// The bytes that are free now.
    pub bytes: u64,
}

/// Lets go of what these runs kept. `others` are all the other runs of the history: what they need stays. Fails when
/// the history cannot be read or written, or git or the state folder fails; pruning again goes on where it broke off.
pub fn prune(
    workspace: &Workspace,
    state_dir: &Path,
    journal: &mut Journal,
    runs: &[RunId],
    others: &[RunRow],
) -> Result<Pruned, RunError> {
    let mut pruned = Pruned { runs: 0, bytes: 0 };
    let mut due = Vec::new();
    for run in runs {
        let state = ReviewState::of(&journal.events(run)?);
        if !state.pruned {
            due.push(Prunable { run: run.clone(), trees: trees(&state) });
        }
    }
    let Some(last) = due.len().checked_sub(1) else { return Ok(pruned) };
    let since = others.iter().map(|row| row.started).min().unwrap_or_else(jiff::Timestamp::now);
    let mut needed = Needed { trees: Vec::new(), since: since.into() };
    if !workspace.is_git() {
        for row in others {
            needed.trees.extend(trees(&ReviewState::of(&journal.events(&row.run)?)));
        }
    }
    let shared = workspace.prune(&due, &needed, state_dir)?;
    for (index, Prunable { run, .. }) in due.iter().enumerate() {
        let folder = journal.transcripts(run)?;
        let own = workspace::remove_folder(&folder);
        let mut bytes = own.map_err(|source| WorkspaceError::State { path: folder, source })?;
        // What the runs had in common is counted once.
        bytes += if index == last { shared } else { 0 };
        journal.append(run, RunEvent::RunPruned { bytes })?;
        pruned = Pruned { runs: pruned.runs + 1, bytes: pruned.bytes + bytes };
    }
    Ok(pruned)
}

fn trees(state: &ReviewState) -> Vec<TreeId> {
    let before = state.before.iter().map(|(_, tree)| tree);
    let after = state.tree_changes.iter().map(|change| &change.tree);
    before.chain(after).cloned().map(TreeId).collect()
}
