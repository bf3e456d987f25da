//! Event-driven peer review: agents report events, and some events start a review of the agents' work.
//!
//! A watch receives events from a local socket ([`socket`]) and from the agents that it started (`workers`).
//! `rules::watch::triggers` determines when a review cycle begins. In each cycle, all reviewers review the
//! agents' work. `rules::watch::verdicts` derives an action from the reviewers' verdicts. A new watch in the
//! same work tree continues the earlier watch.

mod compare;
mod cycle;
pub mod issues;
pub mod plan;
pub mod setup;
pub mod socket;
mod state;
pub mod status;
#[cfg(test)]
mod tests;
pub mod workers;
mod workflow;

use crate::run::error::RunError;
use crate::run::resources::new_run;
use crate::watch::issues::Issue;
use crate::watch::plan::plan;
use crate::watch::setup::WatchSetup;
use crate::watch::status::WatchReport;
use glee_model::domain::{RunId, WatchPlan};
use glee_store::history::store::Journal;
use state::WatchState;
use workflow::WatchWorkflow;

pub use workflow::EndedWatch;

/// Runs a watch until the watch is stopped. Starts a new watch if `fresh` is true or the work tree never had a
/// watch. Otherwise, resumes the last watch of the work tree.
pub async fn run(setup: WatchSetup, plan: WatchPlan, fresh: bool) -> Result<EndedWatch, RunError> {
    let last = if fresh {
        None
    } else {
        folded(&setup.run.journal, &plan.root)?
    };
    let (run, state) = last.unwrap_or_else(|| (new_run(), WatchState::default()));
    WatchWorkflow::new(run, state, setup)?.run(plan).await
}

/// The recorded status of the last watch in a work tree. Returns `None` if the tree never had a watch.
pub fn recorded(journal: &Journal, root: &str) -> Result<Option<WatchReport>, RunError> {
    Ok(folded(journal, root)?.map(|(run, state)| status::standing(&run, &state)))
}

/// All issues of the last watch in a work tree, open and closed. Returns `None` if the tree never had a watch.
pub fn recorded_issues(journal: &Journal, root: &str) -> Result<Option<Vec<Issue>>, RunError> {
    Ok(folded(journal, root)?.map(|(_, state)| state.issues))
}

fn folded(journal: &Journal, root: &str) -> Result<Option<(RunId, WatchState)>, RunError> {
    let Some(run) = journal.last_watch(root)? else {
        return Ok(None);
    };
    let mut state = WatchState::default();
    journal.each(&run, |event| state.apply(event))?;
    Ok(Some((run, state)))
}
