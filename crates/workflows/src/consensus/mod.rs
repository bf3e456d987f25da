//! Stages and checkpoints, in which agents agree on a solution before code is written.
//!
//! [`start`] records the plan and runs the workflow. [`resume`] restores the state from the recorded events and
//! continues the workflow. [`files`] writes the outcome to the project.

pub mod files;
mod outcome;
mod plan;
pub mod requests;
pub mod schedule;
pub(crate) mod settle_error;
mod state;
pub mod stats;
mod workflow;

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::consensus::settle_error::{SettleError, by_person};
use crate::run::error::RunError;
use crate::run::ports::Prompter;
use crate::run::redaction::Redaction;
use crate::run::resources::{RunResources, RunSetup};
use crate::run::workflow::Workflow as _;
use glee_model::domain::event::{ConsensusEvent, EventKind, RunEvent};
use glee_model::domain::{
    Agent, Certainty, Decision, ExitReason, RunId, Settler, StagePlan, Untrusted,
};
use glee_model::rules::stages::stage;
use glee_store::config::settings::Settings;
use glee_store::history::store::Journal;
use state::StageState;
use workflow::ConsensusWorkflow;

pub use crate::run::ports::OpenQuestion;
pub use crate::run::workflow::Rest;
pub use outcome::{NextStep, ResolvedQuestion, StageOutcome};
pub use plan::{Asking, StagePlanError, checkpoint, stage};

/// Starts a stage or a checkpoint. Fails if the history or the work tree cannot be accessed.
pub async fn start(
    setup: RunSetup,
    templates: PathBuf,
    person: Option<Box<dyn Prompter>>,
    run: RunId,
    mut plan: StagePlan,
) -> Result<(StageOutcome, Rest), RunError> {
    let agents = plan
        .agents
        .iter_mut()
        .chain(&mut plan.aggregator)
        .chain(&mut plan.arbiter)
        .chain(&mut plan.backups);
    for agent in agents {
        *agent = agent.clone().recorded();
    }
    let mut consensus = ConsensusWorkflow::new(
        RunResources::new(setup, run, templates)?,
        StageState::default(),
        person,
    );
    consensus.append(ConsensusEvent::StageStarted {
        plan: Box::new(plan),
    })?;
    consensus.run().await
}

/// Resumes a run that was interrupted or waits for a person. Fails if the run was never started.
pub async fn resume(
    mut setup: RunSetup,
    templates: PathBuf,
    person: Option<Box<dyn Prompter>>,
    run: RunId,
) -> Result<(StageOutcome, Rest), RunError> {
    setup.journal.send_unsent(&run)?;
    let state = StageState::of(&setup.journal.events(&run)?);
    if state.plan.is_none() {
        return Err(RunError::NotStarted(run));
    }
    let mut consensus =
        ConsensusWorkflow::new(RunResources::new(setup, run, templates)?, state, person);
    consensus.append(RunEvent::RunResumed)?;
    consensus.run().await
}

/// Reads the outcome of a run from the history. Fails if the run is neither a stage nor a checkpoint.
pub fn recorded(journal: &Journal, run: &RunId) -> Result<StageOutcome, RunError> {
    let state = StageState::of(&journal.events(run)?);
    outcome::outcome(&state, run, 0).ok_or_else(|| RunError::NotStarted(run.clone()))
}

#[derive(Clone, Debug)]
pub struct Last {
    pub outcome: StageOutcome,
    pub plan: StagePlan,
}

impl Last {
    /// Whether the run and `plan` have the same subject. Two stages have the same subject if their inputs are the
    /// same, and two checkpoints if their questions are the same. The recorded plan of the run is redacted, so the
    /// run is compared with a redacted copy of `plan`.
    pub fn asked_the_same(&self, plan: &StagePlan, settings: &Settings) -> bool {
        let plan = EventKind::Consensus(ConsensusEvent::StageStarted {
            plan: Box::new(plan.clone()),
        });
        match Redaction::from(settings.redaction).event(plan) {
            EventKind::Consensus(ConsensusEvent::StageStarted { plan }) => {
                plan.subject == self.plan.subject
            }
            _ => false,
        }
    }

    /// Whether the run was interrupted or waits for a person.
    pub fn is_open(&self) -> bool {
        !self.outcome.ended || self.outcome.exit == ExitReason::DisputeOpen
    }
}

pub fn last(journal: &Journal, id: &str, stage: &str) -> Result<Option<Last>, RunError> {
    let Some(run) = journal.last_stage(id, stage)? else {
        return Ok(None);
    };
    let state = StageState::of(&journal.events(&run)?);
    let outcome = outcome::outcome(&state, &run, 0);
    Ok(outcome
        .zip(state.plan)
        .map(|(outcome, plan)| Last { outcome, plan }))
}

/// Takes the last run of each stage and checkpoint with the id `id`, and returns the runs that wait for a person.
pub fn waiting(journal: &Journal, id: &str) -> Result<Vec<Last>, RunError> {
    let rows = journal.stages()?;
    let names: BTreeSet<String> = rows
        .into_iter()
        .filter(|row| row.id == id)
        .map(|row| row.stage)
        .collect();
    let all = names
        .iter()
        .map(|stage| last(journal, id, stage))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(all
        .into_iter()
        .flatten()
        .filter(|last| last.outcome.exit == ExitReason::DisputeOpen)
        .collect())
}

/// Records a person's decision on a deadlock. Fails if the stage does not wait for a decision, or if `word` is
/// neither `hybrid` nor the name of an agent that answered.
pub fn decide(
    journal: &mut Journal,
    run: &RunId,
    word: &str,
    reason: String,
    modifications: Vec<String>,
) -> Result<StageOutcome, SettleError> {
    let state = StageState::of(&journal.events(run).map_err(RunError::from)?);
    let waits = state.deadlock.is_some() && state.decision.is_none();
    if !waits {
        let stage = state
            .plan
            .as_ref()
            .map_or_else(|| run.0.clone(), |plan| format!("stage `{}`", plan.stage));
        return Err(SettleError::NotWaiting(stage));
    }
    let answered = state.answered();
    let decision = stage::approach(word, &answered).ok_or_else(|| SettleError::Word {
        word: word.to_owned(),
        known: answered.iter().map(|name| name.0.clone()).collect(),
    })?;
    let decision = Decision {
        decision,
        rationale: reason.into(),
        modifications: modifications.into_iter().map(Untrusted::from).collect(),
        confidence: Certainty::High,
    };
    settle(
        journal,
        run,
        state,
        ConsensusEvent::StageDecided {
            decision,
            by: Settler::Human,
        },
    )
}

/// Records a person's answer to a question. Fails if the question does not wait for an answer, or if `value` is not
/// an allowed answer.
pub fn answer(
    journal: &mut Journal,
    run: &RunId,
    question: &str,
    value: &str,
    reason: String,
) -> Result<StageOutcome, SettleError> {
    let state = StageState::of(&journal.events(run).map_err(RunError::from)?);
    let asked = state.questions().iter().find(|asked| asked.id == question);
    let waits = asked.filter(|asked| {
        crate::consensus::schedule::is_complete(&state)
            && !state.resolutions.contains_key(&asked.id)
    });
    let Some(asked) = waits.cloned() else {
        return Err(SettleError::NotWaiting(format!("question `{question}`")));
    };
    let resolution = by_person(&asked, value, reason)?;
    settle(
        journal,
        run,
        state,
        ConsensusEvent::QuestionResolved { resolution },
    )
}

fn settle(
    journal: &mut Journal,
    run: &RunId,
    mut state: StageState,
    event: ConsensusEvent,
) -> Result<StageOutcome, SettleError> {
    let recorded = journal.append(run, event).map_err(RunError::from)?;
    state.apply(&recorded);
    let millis = state.ended.map_or(0, |(_, millis)| millis);
    let exit = outcome::exit(&state);
    let ended = journal
        .append(run, RunEvent::RunEnded { exit, millis })
        .map_err(RunError::from)?;
    state.apply(&ended);
    outcome::outcome(&state, run, millis).ok_or_else(|| RunError::NotStarted(run.clone()).into())
}

pub fn agents_of(plan: &StagePlan) -> Vec<Agent> {
    plan.all().cloned().collect()
}
