//! A review: plan, state, schedule, requests and outcome, and the engine that runs them.
//!
//! A run is a journal: [`start`] records the plan and hands over to the engine, [`resume`] folds the recorded events
//! and hands over to the same engine. The caller supplies the listeners and persons of [`crate::workflows::run::ports`].
//!
//! `plan`, `state`, `schedule`, `requests` and `outcome` are pure; `code` is what is under review, `findings` and
//! `disputes` are the phases of a round, `recorded` reads runs that are over.

pub(crate) mod code;
pub mod disputes;
pub(crate) mod engine;
pub(crate) mod findings;
pub(crate) mod outcome;
pub(crate) mod plan;
pub(crate) mod recorded;
pub(crate) mod requests;
pub(crate) mod schedule;
pub(crate) mod state;
#[cfg(test)]
pub(crate) mod tests;

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::domain::event::{EventKind, Mode, Plan, ReviewEvent, RunEvent};
use crate::domain::{Agent, AgentName, Dispute, DisputeNumber, ExitReason, Outcome, Route, RunId, Usage};
use crate::workflows::review::code::scripts::Scripts;
use crate::workflows::review::code::sources::{Reviewed, Sources};
use crate::workflows::review::code::templates::templates;
use crate::workflows::review::code::trees::Trees;
use crate::workflows::review::disputes::rulings::SharedRulings;
use crate::workflows::review::engine::work::ReviewEngine;
use crate::workflows::review::recorded::reuse::ReviewerKeys;
use crate::workflows::review::recorded::view::add_repeated;
use crate::workflows::review::state::ReviewState;
use crate::workflows::run::error::RunError;
use crate::workflows::run::ports::DisputeResolver;
use crate::workflows::run::redaction::Redaction;
use crate::workflows::run::runner::Runner;
use crate::workflows::run::write_guard::WriteGuard;
use crate::workspace::{Target, Unfollowed, WorkspaceError};

pub use crate::workflows::review::recorded::preview::{Preview, preview};
pub use crate::workflows::review::recorded::prune::{Pruned, prune};
pub use crate::workflows::review::recorded::replay::{Replayed, replay};
pub use plan::{ReviewPlanError, judges, plan};

pub use crate::workflows::review::engine::work::Rest;
pub use crate::workflows::run::runner::RunSetup;

#[derive(Debug)]
pub struct EndedReview {
    pub outcome: Outcome,
    pub reviewed: Reviewed,
    /// Whether it came to its end; else it can be carried on.
    pub rest: Rest,
}

pub fn new_run() -> RunId {
    RunId(uuid::Uuid::now_v7().to_string())
}

/// Starts a run over a target. Fails when the history or the tree fails; what was recorded until then can be carried
/// on.
pub async fn start(
    setup: RunSetup,
    decider: Box<dyn DisputeResolver>,
    run: RunId,
    mut plan: Plan,
    target: Target,
) -> Result<EndedReview, RunError> {
    let watch = WriteGuard::begun(&setup.workspace);
    if let (Mode::Fix | Mode::Arbitrate, Some(Unfollowed { folder, bound })) =
        (plan.mode, watch.unfollowed().first().cloned())
    {
        return Err(WorkspaceError::Unfollowed { folder, bound }.into());
    }
    let mut engine = engine(setup, decider, run, &plan)?;
    engine.sources.keep(1, target.files).map_err(RunError::Sources)?;
    if plan.mode >= Mode::Fix {
        let rules = engine.runner.workspace.selection_rules()?;
        engine.sources.keep_rules(&rules).map_err(RunError::Sources)?;
    }
    plan.shards = engine.joined(&plan).await?;
    for agents in [&mut plan.agents, &mut plan.backups] {
        *agents = std::mem::take(agents).into_iter().map(Agent::recorded).collect();
    }
    let unread = engine.unread.take().map(EventKind::notice);
    let notices = watch.unfollowed().iter().map(|Unfollowed { folder, bound }| {
        let text = format!("`{folder}` is a repository of its own and is not watched: {bound}");
        EventKind::notice(text)
    });
    engine.append_all(
        std::iter::once(EventKind::Review(ReviewEvent::RunStarted { plan: Box::new(plan) }))
            .chain(notices)
            .chain(unread),
    )?;
    engine.runner.watch = watch;
    engine.reuse().await?;
    rest(engine).await
}

/// Carries on a run that was interrupted, or whose disputes were settled meanwhile. Disputes that stayed open because
/// nobody was there to settle them are brought before whoever decides now; `judges` are called for them where the run
/// was planned without any. `named` is the route that was named for all of them. Fails as [`start`], and when the run
/// was never started.
pub async fn resume(
    setup: RunSetup,
    decider: Box<dyn DisputeResolver>,
    run: RunId,
    named: Option<Route>,
    judges: Vec<Agent>,
) -> Result<EndedReview, RunError> {
    let mut engine = reloaded(setup, decider, run)?;
    engine.append(RunEvent::RunResumed)?;
    let disputes = engine.state.stayed_open(named);
    if !disputes.is_empty() {
        engine.reopen(disputes, judges)?;
    }
    engine.reuse().await?;
    rest(engine).await
}

/// Brings disputes of a run that stayed open before whoever decides, and does nothing else: what is enforced is
/// implemented when the run is carried on. Returns the disputes as they stand then. Fails as [`resume`].
pub async fn settle(
    setup: RunSetup,
    decider: Box<dyn DisputeResolver>,
    run: RunId,
    disputes: Vec<DisputeNumber>,
    judges: Vec<Agent>,
) -> Result<(Vec<Dispute>, Rest), RunError> {
    let mut engine = reloaded(setup, decider, run)?;
    engine.only = Some(disputes.iter().copied().collect());
    engine.reopen(disputes.clone(), judges)?;
    let rest = engine.run().await?;
    let settled = disputes.iter().filter_map(|number| engine.state.disputes.get(number)).cloned();
    Ok((settled.collect(), rest))
}

fn reloaded(setup: RunSetup, decider: Box<dyn DisputeResolver>, run: RunId) -> Result<ReviewEngine, RunError> {
    let state = ReviewState::of(&setup.journal.events(&run)?);
    let Some(plan) = &state.plan else { return Err(RunError::NotStarted(run)) };
    let mut engine = engine(setup, decider, run, plan)?;
    engine.state = state;
    let root = engine.runner.workspace.root().to_owned();
    engine.sources.load(engine.state.round(), Some(&root)).map_err(RunError::Sources)?;
    Ok(engine)
}

fn engine(
    setup: RunSetup,
    decider: Box<dyn DisputeResolver>,
    run: RunId,
    plan: &Plan,
) -> Result<ReviewEngine, RunError> {
    let folder = setup.journal.transcripts(&run)?;
    let templates = templates(&setup.workspace, plan, &folder)?;
    let shared = SharedRulings::at(&setup.workspace, plan.rulings_at.as_deref())?;
    let bindings = shared.bindings();
    let max_age = &setup.settings.rulings.max_age;
    Ok(ReviewEngine {
        bindings: crate::workflows::review::disputes::rulings::known(
            Some(&setup.journal),
            &bindings,
            max_age,
            Timestamp::now(),
        )?,
        unread: shared.notice(),
        shared: bindings,
        askers: ReviewerKeys::new(),
        sources: Sources::new(&folder, setup.settings.redaction.into()),
        scripts: Scripts::of(plan, &setup.settings, setup.workspace.root()),
        runner: Runner::new(setup, run, templates)?,
        state: ReviewState::default(),
        decider: Some(decider),
        only: None,
        docket: None,
        round: None,
    })
}

async fn rest(mut engine: ReviewEngine) -> Result<EndedReview, RunError> {
    let rest = engine.run().await?;
    let trees = Trees { workspace: &engine.runner.workspace, state_dir: &engine.runner.state_dir };
    let changes = Redaction::from(engine.runner.settings.redaction).changes(trees.all_changes(&engine.state)?);
    // What was found before the run was stopped is shown, though nothing is merged before everybody has answered.
    let shown = if rest == Rest::Stopped { engine.merged_so_far() } else { None };
    let state = shown.as_ref().unwrap_or(&engine.state);
    let outcome = outcome::outcome(state, &engine.runner.run, engine.exit(), engine.millis(), changes);
    let mut outcome = outcome.ok_or_else(|| RunError::NotStarted(engine.runner.run.clone()))?;
    add_repeated(&mut outcome, state, &engine.runner.journal)?;
    outcome.proof.caps = engine.runner.settings.budget.caps();
    outcome.notices.extend(budget_notices(&engine, rest));
    if rest == Rest::OverBudget {
        outcome.exit = ExitReason::Budget;
    }
    Ok(EndedReview { outcome, reviewed: Reviewed(engine.sources), rest })
}

/// What a person has to know of the budget: that it is used up, or that it does not hold somebody.
fn budget_notices(engine: &ReviewEngine, rest: Rest) -> Vec<String> {
    let (caps, state) = (engine.runner.settings.budget.caps(), &engine.state);
    let mut notices = Vec::new();
    if rest == Rest::OverBudget {
        let then = format!("carry on with `glee runs resume {}`", engine.runner.run.short());
        notices.extend(crate::workflows::run::call::over_budget(&engine.runner.settings, &state.spent, &then));
    }
    let untold = |key: &str, is_unknown: &dyn Fn(&Usage) -> bool| {
        let embedded = |name: &AgentName| {
            state.plan.iter().flat_map(|plan| &plan.agents).any(|agent| agent.name == *name && agent.is_embedded())
        };
        let silent = state.calls.iter().filter(|(id, call)| is_unknown(&call.usage) && !embedded(&id.agent));
        let names: BTreeSet<&str> = silent.map(|(id, _)| id.agent.0.as_str()).collect();
        let names = names.into_iter().collect::<Vec<_>>().join(", ");
        (!names.is_empty()).then(|| format!("`{key}` does not hold {names}: what it uses is not known"))
    };
    if caps.tokens.is_some() {
        notices.extend(untold("budget.tokens", &|usage| {
            usage.input_tokens.is_none() && usage.output_tokens.is_none()
        }));
    }
    if caps.usd.is_some() {
        notices.extend(untold("budget.usd", &|usage| usage.usd.is_none()));
    }
    notices
}
