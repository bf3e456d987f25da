//! Event-driven peer review: agents report events, and triggers begin reviews of their work.
//!
//! A watch that is started again in the same tree resumes. It receives lines from a local socket ([`socket`]) and
//! from its agents (`workers`), and records them in groups. It begins the cycles that are due
//! (`rules::watch::triggers`), asks the reviewers, and performs the action that follows from their verdicts
//! (`rules::watch::verdicts`).

mod cycle;
pub(crate) mod issues;
pub(crate) mod plan;
pub(crate) mod setup;
pub mod socket;
mod state;
pub mod status;
#[cfg(test)]
mod tests;
pub(crate) mod workers;
mod workflow;

use crate::domain::{RunId, WatchPlan};
use crate::history::store::Journal;
use crate::workflows::run::error::RunError;
use crate::workflows::run::runner::new_run;
use crate::workflows::watch::issues::Issue;
use crate::workflows::watch::plan::plan;
use crate::workflows::watch::setup::WatchSetup;
use crate::workflows::watch::status::WatchReport;
use state::WatchState;
use workflow::WatchWorkflow;

pub use workflow::EndedWatch;

/// Runs a watch until it is stopped: resumes the last watch of the tree, or begins a new one.
pub async fn run(setup: WatchSetup, plan: WatchPlan, fresh: bool) -> Result<EndedWatch, RunError> {
    let last = if fresh { None } else { folded(&setup.run.journal, &plan.root)? };
    let (run, state) = last.unwrap_or_else(|| (new_run(), WatchState::default()));
    WatchWorkflow::new(run, state, setup)?.run(plan).await
}

/// The last recorded status of the last watch of a work tree; `None` if there was no watch.
pub fn recorded(journal: &Journal, root: &str) -> Result<Option<WatchReport>, RunError> {
    Ok(folded(journal, root)?.map(|(run, state)| status::standing(&run, &state)))
}

/// All issues of the last watch of a work tree, including closed ones; `None` if there was no watch.
pub fn recorded_issues(journal: &Journal, root: &str) -> Result<Option<Vec<Issue>>, RunError> {
    Ok(folded(journal, root)?.map(|(_, state)| state.issues))
}

fn folded(journal: &Journal, root: &str) -> Result<Option<(RunId, WatchState)>, RunError> {
    let Some(run) = journal.last_watch(root)? else { return Ok(None) };
    let mut state = WatchState::default();
    journal.each(&run, |event| state.apply(event))?;
    Ok(Some((run, state)))
}
