//! Deletes stored data of old runs, but keeps the events of the runs. Without the deleted data, a run cannot be
//! undone, resumed or replayed.

use std::path::Path;

use crate::review::state::ReviewState;
use crate::run::error::RunError;
use glee_model::domain::{RunId, event::RunEvent};
use glee_store::history::{queries::rows::RunRow, store::Journal};
use glee_workspace::{
    self as workspace, Needed, Prunable, TreeId, WorkspaceError, root::Workspace,
};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    pub runs: usize,
    pub bytes: u64,
}

impl Pruned {
    fn add(&mut self, bytes: u64) {
        self.runs += 1;
        self.bytes += bytes;
    }
}

/// Prunes the runs in `runs`, and keeps the data of the runs in `others`. The list `others` contains all other
/// runs of the history. If the function fails, the caller can call the function again to continue the deletion.
pub fn prune(
    workspace: &Workspace,
    state_dir: &Path,
    journal: &mut Journal,
    runs: &[RunId],
    others: &[RunRow],
) -> Result<Pruned, RunError> {
    let mut pruned = Pruned::default();
    let mut due = Vec::new();
    for run in runs {
        let state = ReviewState::of(&journal.events(run)?);
        if !state.pruned {
            due.push(Prunable {
                run: run.clone(),
                trees: trees(&state),
            });
        }
    }
    let Some(last) = due.len().checked_sub(1) else {
        return Ok(pruned);
    };
    let since = others
        .iter()
        .map(|row| row.started)
        .min()
        .unwrap_or_else(jiff::Timestamp::now);
    let mut needed = Needed {
        trees: Vec::new(),
        since: since.into(),
    };
    if !workspace.is_git() {
        for row in others {
            needed
                .trees
                .extend(trees(&ReviewState::of(&journal.events(&row.run)?)));
        }
    }
    let shared = workspace.prune(&due, &needed, state_dir)?;
    for (index, Prunable { run, .. }) in due.iter().enumerate() {
        workspace.remove_worktree(run, state_dir)?;
        let folder = journal.transcripts(run)?;
        let own = workspace::remove_folder(&folder);
        let mut bytes = own.map_err(WorkspaceError::state(&folder))?;
        // If the pruned runs share data, the size of this data is added only once, for the last run.
        bytes += if index == last { shared } else { 0 };
        journal.append(run, RunEvent::RunPruned { bytes })?;
        pruned.add(bytes);
    }
    Ok(pruned)
}

/// Deletes the transcripts of stages and audits. Stages and audits store no trees, so only transcripts are
/// deleted. If the function fails, the caller can call the function again to continue the deletion.
pub fn prune_transcripts(journal: &mut Journal, runs: &[RunId]) -> Result<Pruned, RunError> {
    let mut pruned = Pruned::default();
    for run in runs {
        let folder = journal.folder_of(run);
        let removed = workspace::remove_folder(&folder);
        let bytes = removed.map_err(WorkspaceError::state(&folder))?;
        journal.append(run, RunEvent::RunPruned { bytes })?;
        pruned.add(bytes);
    }
    Ok(pruned)
}

fn trees(state: &ReviewState) -> Vec<TreeId> {
    let before = state.before.iter().map(|(_, tree)| tree);
    let after = state.tree_changes.iter().map(|change| &change.tree);
    before.chain(after).cloned().map(TreeId).collect()
}
