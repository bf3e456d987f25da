//! The engine of a run: plan, state, what is due, and one file a stage.
//!
//! A run is a journal: [`start`] records the plan and hands over to the engine, [`resume`] folds the recorded events
//! and hands over to the same engine. Whoever calls supplies the two edges of [`ports`].

mod asks;
pub(crate) mod call;
mod debate;
mod due;
mod edits;
mod engine;
mod evidence;
mod merge;
mod objection;
mod outcome;
mod past;
mod plan;
pub mod ports;
mod preview;
mod prune;
mod recognition;
pub(crate) mod redaction;
mod relations;
mod replay;
pub(crate) mod resolve;
mod reuse;
pub mod rulings;
pub(crate) mod runner;
mod scripts;
mod sources;
pub mod stages;
mod state;
mod trees;
mod watch;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::domain::event::{Event, EventKind, Mode, Plan};
use crate::domain::{Advice, Agent, AgentName, Dispute, DisputeNumber, ExitReason, Outcome, Route, RunId, Usage};
use crate::history::JournalError;
use crate::history::store::Journal;
use crate::pipeline::engine::Engine;
use crate::pipeline::past::Past;
use crate::pipeline::ports::Decider;
use crate::pipeline::redaction::Redaction;
use crate::pipeline::reuse::Askers;
use crate::pipeline::rulings::SharedRulings;
use crate::pipeline::runner::Runner;
use crate::pipeline::scripts::Scripts;
use crate::pipeline::sources::Sources;
use crate::pipeline::state::State;
use crate::pipeline::trees::Trees;
use crate::pipeline::watch::Watch;
use crate::protocol::prompts::PromptError;
use crate::rules::consensus::claim::Policy;
use crate::system::{files, private};
use crate::workspace::guard::control_files::{Steers, steers};
use crate::workspace::root::Workspace;
use crate::workspace::{Target, TreeId, Unfollowed, WorkspaceError};

pub use plan::{PlanError, judges, plan};
pub use preview::{Preview, preview};
pub use prune::{Pruned, prune};
pub use replay::{Replayed, replay};

pub use crate::pipeline::engine::Rest;
pub use crate::pipeline::runner::Setup;

#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    #[error(transparent)]
    Prompt(#[from] PromptError),
    #[error("failed to keep the code under review beside the history")]
    Sources(#[source] io::Error),
    #[error("run {0} was never started")]
    NotStarted(RunId),
}

impl Advice for RunError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Journal(error) => error.hint(),
            Self::Workspace(error) => error.hint(),
            Self::Prompt(error) => error.hint(),
            Self::Sources(_) => Some("is the state folder writable, and the disk not full?".to_owned()),
            Self::NotStarted(_) => Some("`glee runs` lists the runs".to_owned()),
        }
    }

    fn exit(&self) -> ExitReason {
        match self {
            Self::Journal(error) => error.exit(),
            Self::Workspace(error) => error.exit(),
            Self::Sources(_) => ExitReason::History,
            Self::Prompt(_) | Self::NotStarted(_) => ExitReason::Usage,
        }
    }
}

#[derive(Debug)]
pub struct Reviewed(Sources);

impl Reviewed {
    /// The text of a file as it was reviewed in a round, counted from 1, by its path inside the tree.
    pub fn text(&self, path: &str, round: u32) -> Option<String> {
        self.0.shown(round, path)
    }
}

#[derive(Debug)]
pub struct Recorded {
    pub outcome: Outcome,
    pub reviewed: Reviewed,
}

#[derive(Debug)]
pub struct Ended {
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
    setup: Setup,
    decider: Box<dyn Decider>,
    run: RunId,
    mut plan: Plan,
    target: Target,
) -> Result<Ended, RunError> {
    let watch = Watch::begun(&setup.workspace);
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
    let unread = engine.unread.take().map(|text| EventKind::Notice { text });
    let notices = watch.unfollowed().iter().map(|Unfollowed { folder, bound }| {
        let text = format!("`{folder}` is a repository of its own and is not watched: {bound}");
        EventKind::Notice { text }
    });
    engine
        .append_all(std::iter::once(EventKind::RunStarted { plan: Box::new(plan) }).chain(notices).chain(unread))?;
    engine.runner.watch = watch;
    engine.reuse().await?;
    rest(engine).await
}

/// Carries on a run that was interrupted, or whose disputes were settled meanwhile. Disputes that stayed open because
/// nobody was there to settle them are brought before whoever decides now; `judges` are called for them where the run
/// was planned without any. `named` is the route that was named for all of them. Fails as [`start`], and when the run
/// was never started.
pub async fn resume(
    setup: Setup,
    decider: Box<dyn Decider>,
    run: RunId,
    named: Option<Route>,
    judges: Vec<Agent>,
) -> Result<Ended, RunError> {
    let mut engine = reloaded(setup, decider, run)?;
    engine.append(EventKind::RunResumed)?;
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
    setup: Setup,
    decider: Box<dyn Decider>,
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

fn reloaded(setup: Setup, decider: Box<dyn Decider>, run: RunId) -> Result<Engine, RunError> {
    let state = State::of(&setup.journal.events(&run)?);
    let Some(plan) = &state.plan else { return Err(RunError::NotStarted(run)) };
    let mut engine = engine(setup, decider, run, plan)?;
    engine.state = state;
    let root = engine.runner.workspace.root().to_owned();
    engine.sources.load(engine.state.round(), Some(&root)).map_err(RunError::Sources)?;
    Ok(engine)
}

/// A recorded run, read from its events alone. Fails when the history or the recorded trees cannot be read.
pub fn recorded(
    workspace: &Workspace,
    state_dir: &Path,
    journal: &Journal,
    run: &RunId,
) -> Result<Recorded, RunError> {
    let mut state = State::of(&journal.events(run)?);
    let mut sources = Sources::new(&journal.transcripts(run)?, Redaction::ON);
    // Without the kept code the report has no snippets; everything else is in the events.
    drop(sources.load(state.round(), None));
    if state.ended.is_none() && state.unmerged().next().is_some() {
        let lists = merge::Lists { policy: Policy::Panel, ..merge::Lists::of(&state.settings) };
        let past = Some(Past { journal, trees: Trees { workspace, state_dir } });
        let round = state.round();
        let bench = merge::Bench { state: &state, round, lists: &lists, sources: &sources, workspace, past };
        let commit = state.plan.as_ref().and_then(|plan| plan.rulings_at.as_deref());
        // The commit may be gone by now.
        let shared = SharedRulings::at(workspace, commit).unwrap_or_default().bindings();
        let max_age = &state.settings.rulings.max_age;
        let merged = bench.merge(&rulings::known(Some(journal), &shared, max_age, Timestamp::now())?);
        merged.iter().for_each(|event| state.apply(event));
    }
    let trees = Trees { workspace, state_dir };
    let (exit, millis) = state.ended.unwrap_or((ExitReason::AgentFailed, 0));
    let changes = Redaction::ON.changes(trees.all_changes_or_recorded(&state));
    let outcome = outcome::outcome(&state, run, exit, millis, changes);
    let mut outcome = outcome.ok_or_else(|| RunError::NotStarted(run.clone()))?;
    add_repeated(&mut outcome, &state, journal)?;
    Ok(Recorded { outcome, reviewed: Reviewed(sources) })
}

/// Decides a recorded run again by another policy, from its events and the code kept beside them: one answer a round,
/// in the form of the specification. No agent is asked and nothing is recorded. Fails when the history or the kept
/// code cannot be read, or the run was never started.
pub fn decided_again(
    workspace: &Workspace,
    journal: &Journal,
    run: &RunId,
    policy: Policy,
) -> Result<Vec<serde_json::Value>, RunError> {
    let state = State::of(&journal.events(run)?);
    if state.plan.is_none() {
        return Err(RunError::NotStarted(run.clone()));
    }
    let mut sources = Sources::new(&journal.transcripts(run)?, Redaction::ON);
    sources.load(state.round(), None).map_err(RunError::Sources)?;
    let lists = merge::Lists { policy, ..merge::Lists::of(&state.settings) };
    let decided = (1..=state.round()).map(|round| {
        let bench = merge::Bench { state: &state, round, lists: &lists, sources: &sources, workspace, past: None };
        debate::Merged::of(&bench).json(policy, Some(&run.0))
    });
    Ok(decided.collect())
}

/// The id of the tree as the last recorded call of the coder left it, or as it was kept before the first.
pub fn tree_left(events: &[Event]) -> Option<String> {
    trees::last_tree(&State::of(events)).cloned()
}

/// The tree that was kept before a coder that edited what steers Glee; `None` if none did.
pub fn tree_before_steering(events: &[Event]) -> Option<TreeId> {
    let state = State::of(events);
    let mut changes = state.tree_changes.iter().flat_map(|change| &change.changes);
    let is_steered = changes.any(|change| steers(&change.file) == Some(Steers::Glee));
    state.before.filter(|_| is_steered).map(|(_, tree)| TreeId(tree))
}

/// Adds the earlier disputes that wait for a person and that findings of this run repeat.
fn add_repeated(outcome: &mut Outcome, state: &State, journal: &Journal) -> Result<(), RunError> {
    for number in state.still_disputed.values() {
        let known = outcome.disputes.iter().any(|dispute| dispute.number == *number);
        if let (false, Some(record)) = (known, journal.dispute(*number)?) {
            outcome.disputes.push(record.dispute);
        }
    }
    outcome.disputes.sort_by_key(|dispute| dispute.number);
    Ok(())
}

/// The folder of the project's templates: that of the tree, or a copy of what stood at the base of the change, or when a
/// run with a coder began.
fn templates(workspace: &Workspace, plan: &Plan, folder: &Path) -> Result<PathBuf, RunError> {
    let place = |root: &Path| root.join(".glee").join("prompts");
    let (own, copy) = (place(workspace.root()), folder.join("steering"));
    match &plan.steered_by {
        Some(commit) => workspace.steering_at(commit)?.write(&copy).map_err(RunError::Sources)?,
        None if plan.mode == Mode::Review => return Ok(own),
        None if copy.exists() => {}
        None => keep_templates(&own, &place(&copy)).map_err(RunError::Sources)?,
    }
    Ok(place(&copy))
}

fn keep_templates(from: &Path, to: &Path) -> std::io::Result<()> {
    private::folder(to)?;
    let entries = match std::fs::read_dir(from) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let file = entry?.path();
        if let (Some(name), Some("md")) = (file.file_name(), file.extension().and_then(|ending| ending.to_str())) {
            private::write(&to.join(name), &files::read(&file)?)?;
        }
    }
    Ok(())
}

fn engine(setup: Setup, decider: Box<dyn Decider>, run: RunId, plan: &Plan) -> Result<Engine, RunError> {
    let folder = setup.journal.transcripts(&run)?;
    let templates = templates(&setup.workspace, plan, &folder)?;
    let shared = SharedRulings::at(&setup.workspace, plan.rulings_at.as_deref())?;
    let bindings = shared.bindings();
    let max_age = &setup.settings.rulings.max_age;
    Ok(Engine {
        bindings: rulings::known(Some(&setup.journal), &bindings, max_age, Timestamp::now())?,
        unread: shared.notice(),
        shared: bindings,
        askers: Askers::new(),
        sources: Sources::new(&folder, setup.settings.redaction.into()),
        scripts: Scripts::of(plan, &setup.settings, setup.workspace.root()),
        runner: Runner::new(setup, run, templates)?,
        state: State::default(),
        decider: Some(decider),
        only: None,
        docket: None,
        round: None,
    })
}

async fn rest(mut engine: Engine) -> Result<Ended, RunError> {
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
    Ok(Ended { outcome, reviewed: Reviewed(engine.sources), rest })
}

/// What a person has to know of the budget: that it is used up, or that it does not hold somebody.
fn budget_notices(engine: &Engine, rest: Rest) -> Vec<String> {
    let (caps, state) = (engine.runner.settings.budget.caps(), &engine.state);
    let mut notices = Vec::new();
    if rest == Rest::OverBudget {
        let then = format!("carry on with `glee runs resume {}`", engine.runner.run.short());
        notices.extend(call::over_budget(&engine.runner.settings, &state.spent, &then));
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

#[cfg(test)]
pub(crate) mod tests;
