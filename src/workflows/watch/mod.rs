//! Event-driven peer review: long-running agents tell what they do, and triggers, not a clock, begin reviews of it.
//!
//! A watch is a run in the journal whose end is never final: killed or stopped, it stands where it stood when it is
//! started again in the same tree. [`run`] hands over to a loop that takes in what everybody says ([`socket::protocol`]), records it in
//! groups, begins the cycles that are due (`rules::triggers`), asks the reviewers side by side and does what their
//! verdicts come to (`rules::peers`). It is reached through a local socket ([`socket`]), by the agents it started, and by
//! the screen, all in the same lines.

mod cycle;
pub(crate) mod engine;
pub(crate) mod issues;
pub(crate) mod plan;
pub(crate) mod setup;
pub mod socket;
mod state;
pub mod status;
#[cfg(test)]
mod tests;
pub(crate) mod workers;

use tokio::sync::mpsc;
use tracing::Instrument as _;

use crate::domain::{RunId, WatchPlan};
use crate::history::store::Journal;
use crate::workflows::review::new_run;
use crate::workflows::run::call;
use crate::workflows::run::error::RunError;
use crate::workflows::watch::issues::Issue;
use crate::workflows::watch::plan::plan;
use crate::workflows::watch::setup::WatchSetup;
use crate::workflows::watch::socket::protocol::Batch;
use crate::workflows::watch::status::WatchReport;
use engine::WatchEngine;
use state::WatchState;

pub use engine::EndedWatch;

/// Watches until it is stopped: carries on the last watch of the tree, or begins one. `said` is what comes by the
/// intake. Fails when the history or the tree fails; what was recorded until then is there when it is started again.
pub async fn run(
    setup: WatchSetup,
    said: mpsc::Receiver<Batch>,
    plan: WatchPlan,
    fresh: bool,
) -> Result<EndedWatch, RunError> {
    let last = if fresh { None } else { folded(&setup.journal, &plan.root)? };
    let (run, state) = last.unwrap_or_else(|| (new_run(), WatchState::default()));
    let span = call::log(&setup.journal, &run)?;
    WatchEngine::new(run, state, setup).watch(plan, said).instrument(span).await
}

/// How the last watch of a work tree stood when it ended; `None` if there was none.
pub fn recorded(journal: &Journal, root: &str) -> Result<Option<WatchReport>, RunError> {
    Ok(folded(journal, root)?.map(|(run, state)| crate::workflows::watch::status::standing(&run, &state)))
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
