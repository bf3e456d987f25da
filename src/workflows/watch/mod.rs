//! Event-driven peer review: long-running agents report events, and triggers, not a clock, begin reviews of their work.
//!
//! A watch is a run without a final end: killed or stopped, it continues when it is started again in the same tree. It receives
//! lines from a local socket ([`socket`]) and from the agents that it started (`workers`), records them in groups, begins the
//! cycles that are due (`rules::watch::triggers`), asks the reviewers side by side and performs the action that their verdicts
//! decide (`rules::watch::verdicts`).

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

/// Watches until stopped: continues the last watch of the tree, or begins one. Fails if the history or the tree fails; the
/// recorded events are there when it is started again.
pub async fn run(setup: WatchSetup, plan: WatchPlan, fresh: bool) -> Result<EndedWatch, RunError> {
    let last = if fresh { None } else { folded(&setup.run.journal, &plan.root)? };
    let (run, state) = last.unwrap_or_else(|| (new_run(), WatchState::default()));
    WatchWorkflow::new(run, state, setup)?.run(plan).await
}

/// How the last watch of a work tree stood when it ended; `None` if there was none.
pub fn recorded(journal: &Journal, root: &str) -> Result<Option<WatchReport>, RunError> {
    Ok(folded(journal, root)?.map(|(run, state)| status::standing(&run, &state)))
}

/// All issues of the last watch of a work tree, the closed ones too; `None` if there was none.
pub fn recorded_issues(journal: &Journal, root: &str) -> Result<Option<Vec<Issue>>, RunError> {
    Ok(folded(journal, root)?.map(|(_, state)| state.issues))
}

fn folded(journal: &Journal, root: &str) -> Result<Option<(RunId, WatchState)>, RunError> {
    let Some(run) = journal.last_watch(root)? else { return Ok(None) };
    let mut state = WatchState::default();
    journal.each(&run, |event| state.apply(event))?;
    Ok(Some((run, state)))
}
