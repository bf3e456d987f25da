//! Computes the next steps of a stage or a checkpoint from its state.

use crate::consensus::requests::why_again;
use crate::consensus::state::StageState;
use crate::run::attempts;
use crate::run::workflow::Step;
use glee_model::domain::event::{CallAnswer, ConsensusEvent, Part, Purpose};
use glee_model::domain::{Agent, Settler, StagePlan, StageStatus, StageVerdict, Subject};
use glee_model::rules::stages::checkpoint::{self, Tally};
use glee_model::rules::stages::stage::{self, ARBITER_ATTEMPTS, ATTEMPTS, Arbitration};

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Asked {
    Decision,
    Question(String),
}

pub(crate) type StageStep = Step<(), Asked>;

pub fn next_steps(state: &StageState) -> Vec<StageStep> {
    let Some(plan) = state.plan.as_ref().filter(|_| state.ended.is_none()) else {
        return Vec::new();
    };
    match &plan.subject {
        Subject::Stage { .. } => stage(state, plan),
        Subject::Checkpoint { .. } => questions(state, plan),
    }
}

pub fn is_complete(state: &StageState) -> bool {
    !next_steps(state)
        .iter()
        .any(|step| matches!(step, Step::Ask(_)))
}

fn record(event: ConsensusEvent) -> StageStep {
    Step::Record(Box::new(event.into()))
}

/// The steps that ask the agents of the plan for their part.
fn asked_of_all(state: &StageState, plan: &StagePlan, part: &Part) -> Vec<StageStep> {
    let agents = plan.agents.iter();
    agents
        .filter_map(|agent| ask(state, agent, part.clone(), ATTEMPTS))
        .collect()
}

fn stage(state: &StageState, plan: &StagePlan) -> Vec<StageStep> {
    let asked = asked_of_all(state, plan, &Part::Position);
    if !asked.is_empty() {
        return asked;
    }
    let Some(verdict) = &state.verdict else {
        let aggregator = plan.aggregator.as_ref();
        let aggregator = aggregator.filter(|_| !state.positions().is_empty());
        let asked =
            aggregator.and_then(|aggregator| ask(state, aggregator, Part::Aggregate, ATTEMPTS));
        return vec![asked.unwrap_or_else(|| {
            record(ConsensusEvent::StageJudged {
                verdict: verdict(state, &plan.agents),
            })
        })];
    };
    if verdict.status != StageStatus::Conflict || state.decision.is_some() {
        return vec![Step::Finish];
    }
    if state.deadlock.is_some() {
        return vec![Step::Prompt(Asked::Decision)];
    }
    let arbiter = plan.arbiter.as_ref();
    let asked = arbiter.and_then(|arbiter| ask(state, arbiter, Part::Arbitrate, ARBITER_ATTEMPTS));
    vec![asked.unwrap_or_else(|| record(arbitrated(state, arbiter)))]
}

fn arbitrated(state: &StageState, arbiter: Option<&Agent>) -> ConsensusEvent {
    let decision = state.arbitration();
    let arbitration = match (arbiter, decision) {
        (None, _) => Arbitration::NoArbiter,
        (Some(_), Some(decision)) => Arbitration::Decided(decision),
        (Some(arbiter), None) => {
            let last = state
                .attempts(&arbiter.name, &Part::Arbitrate)
                .pop()
                .map(|(_, answer)| answer);
            Arbitration::Unanswered(match last {
                Some(CallAnswer::Invalid { error } | CallAnswer::Failed { error, .. }) => error,
                _ => "it was not asked",
            })
        }
    };
    match (stage::deadlock(&arbitration), arbiter, decision) {
        (None, Some(arbiter), Some(decision)) => ConsensusEvent::StageDecided {
            decision: decision.clone(),
            by: Settler::Arbiter {
                name: arbiter.name.clone(),
            },
        },
        (reason, ..) => ConsensusEvent::StageDeadlocked {
            reason: reason.unwrap_or_default(),
        },
    }
}

fn verdict(state: &StageState, agents: &[Agent]) -> StageVerdict {
    let positions = state.positions();
    let missing = agents
        .iter()
        .filter(|agent| positions.iter().all(|(name, _)| **name != agent.name));
    let missing = missing.map(|agent| agent.name.clone()).collect();
    let answers: Vec<_> = positions.iter().map(|(_, answer)| *answer).collect();
    stage::verdict(state.synthesis(), &answers, missing)
}

fn questions(state: &StageState, plan: &StagePlan) -> Vec<StageStep> {
    let asked = asked_of_all(state, plan, &Part::Questions);
    if !asked.is_empty() {
        return asked;
    }
    let open: Vec<_> = state
        .questions()
        .iter()
        .filter(|question| !state.resolutions.contains_key(&question.id))
        .collect();
    let mut validations = Vec::new();
    for question in &open {
        let tally = checkpoint::tally(question, &state.answers(question), plan.agents.len());
        if let Some(resolution) = checkpoint::resolved(question, &tally, state.validation(question))
        {
            return vec![record(ConsensusEvent::QuestionResolved { resolution })];
        }
        let part = Part::Validate {
            question: question.id.clone(),
        };
        let validator = plan
            .arbiter
            .as_ref()
            .filter(|_| matches!(tally, Tally::Majority(..)));
        validations
            .extend(validator.and_then(|validator| ask(state, validator, part, ARBITER_ATTEMPTS)));
    }
    if !validations.is_empty() {
        return validations;
    }
    let persons: Vec<StageStep> = open
        .into_iter()
        .map(|question| Step::Prompt(Asked::Question(question.id.clone())))
        .collect();
    if persons.is_empty() {
        vec![Step::Finish]
    } else {
        persons
    }
}

fn ask(state: &StageState, agent: &Agent, part: Part, at_most: u32) -> Option<StageStep> {
    attempts::next(
        &state.calls,
        &agent.name,
        Purpose::Stage { part },
        at_most,
        |answer| why_again(answer).is_some(),
    )
    .map(Step::Ask)
}
