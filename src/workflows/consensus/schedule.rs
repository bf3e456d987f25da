//! What may be done next: a pure function of the state.

use super::state::StageState;
use crate::domain::event::{CallAnswer, CallId, ConsensusEvent, EventKind, Part, Purpose};
use crate::domain::{Agent, Decision, Resolution, Said, Settler, StageStatus, StageVerdict, Subject};
use crate::rules::stages::checkpoint::{self, Tally};
use crate::rules::stages::stage::{self, ARBITER_ATTEMPTS, ATTEMPTS, Arbitration};

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum StageStep {
    Ask(CallId),
    Record(Box<EventKind>),
    Decide,
    Answer(String),
    Finish,
}

/// What is due. Calls stand side by side; everything else is one step.
pub(crate) fn due(state: &StageState) -> Vec<StageStep> {
    let Some(plan) = state.plan.as_ref().filter(|_| state.ended.is_none()) else { return Vec::new() };
    match &plan.subject {
        Subject::Stage { .. } => stage(state, &plan.agents, plan.aggregator.as_ref(), plan.arbiter.as_ref()),
        Subject::Checkpoint { .. } => questions(state, &plan.agents, plan.arbiter.as_ref()),
    }
}

/// Whether no agent is to be asked any more.
pub(crate) fn is_complete(state: &StageState) -> bool {
    !due(state).iter().any(|step| matches!(step, StageStep::Ask(_)))
}

fn stage(
    state: &StageState,
    agents: &[Agent],
    aggregator: Option<&Agent>,
    arbiter: Option<&Agent>,
) -> Vec<StageStep> {
    let asked: Vec<StageStep> =
        agents.iter().filter_map(|agent| ask(state, agent, &Part::Position, ATTEMPTS)).collect();
    if !asked.is_empty() {
        return asked;
    }
    let Some(verdict) = &state.verdict else {
        let aggregator = aggregator.filter(|_| !state.positions().is_empty());
        let asked = aggregator.and_then(|aggregator| ask(state, aggregator, &Part::Aggregate, ATTEMPTS));
        let judged = || {
            StageStep::Record(Box::new(EventKind::Consensus(ConsensusEvent::StageJudged {
                verdict: verdict(state, agents),
            })))
        };
        return vec![asked.unwrap_or_else(judged)];
    };
    if verdict.status != StageStatus::Conflict || state.decision.is_some() {
        return vec![StageStep::Finish];
    }
    if state.deadlock.is_some() {
        return vec![StageStep::Decide];
    }
    if let Some(asked) = arbiter.and_then(|arbiter| ask(state, arbiter, &Part::Arbitrate, ARBITER_ATTEMPTS)) {
        return vec![asked];
    }
    vec![StageStep::Record(Box::new(arbitrated(state, arbiter)))]
}

/// What follows from what the arbiter said, or did not.
fn arbitrated(state: &StageState, arbiter: Option<&Agent>) -> EventKind {
    let decision: Option<&Decision> = state.arbitration();
    let arbitration = match (arbiter, decision) {
        (None, _) => Arbitration::NoArbiter,
        (Some(_), Some(decision)) => Arbitration::Decided(decision),
        (Some(arbiter), None) => {
            let last = state.attempts(&arbiter.name, &Part::Arbitrate).pop().map(|(_, answer)| answer);
            Arbitration::Unanswered(match last {
                Some(CallAnswer::Invalid { error } | CallAnswer::Failed { error, .. }) => error,
                _ => "it was not asked",
            })
        }
    };
    match (stage::deadlock(&arbitration), arbiter, decision) {
        (None, Some(arbiter), Some(decision)) => EventKind::Consensus(ConsensusEvent::StageDecided {
            decision: decision.clone(),
            by: Settler::Arbiter { name: arbiter.name.clone() },
        }),
        (reason, ..) => {
            EventKind::Consensus(ConsensusEvent::StageDeadlocked { reason: reason.unwrap_or_default() })
        }
    }
}

fn verdict(state: &StageState, agents: &[Agent]) -> StageVerdict {
    let positions = state.positions();
    let missing = agents.iter().filter(|agent| positions.iter().all(|(name, _)| **name != agent.name));
    let missing = missing.map(|agent| agent.name.clone()).collect();
    let answers: Vec<_> = positions.iter().map(|(_, answer)| *answer).collect();
    stage::verdict(state.synthesis(), &answers, missing)
}

fn questions(state: &StageState, agents: &[Agent], validator: Option<&Agent>) -> Vec<StageStep> {
    let asked: Vec<StageStep> =
        agents.iter().filter_map(|agent| ask(state, agent, &Part::Questions, ATTEMPTS)).collect();
    if !asked.is_empty() {
        return asked;
    }
    let open = || state.questions().iter().filter(|question| !state.resolutions.contains_key(&question.id));
    let mut validations = Vec::new();
    for question in open() {
        let tally = checkpoint::tally(question, &state.answers(question), agents.len());
        let resolution: Option<Resolution> = checkpoint::resolved(question, &tally, state.validation(question));
        if let Some(resolution) = resolution {
            return vec![StageStep::Record(Box::new(EventKind::Consensus(ConsensusEvent::QuestionResolved {
                resolution,
            })))];
        }
        let part = Part::Validate { question: question.id.clone() };
        let validator = validator.filter(|_| matches!(tally, Tally::Majority(..)));
        validations.extend(validator.and_then(|validator| ask(state, validator, &part, ARBITER_ATTEMPTS)));
    }
    if !validations.is_empty() {
        return validations;
    }
    let persons: Vec<StageStep> = open().map(|question| StageStep::Answer(question.id.clone())).collect();
    if persons.is_empty() { vec![StageStep::Finish] } else { persons }
}

/// The next attempt of an agent at a part, if it has not answered and may try again.
fn ask(state: &StageState, agent: &Agent, part: &Part, at_most: u32) -> Option<StageStep> {
    let attempt = match state.attempts(&agent.name, part).pop() {
        None => 1,
        Some((id, answer)) if is_lacking(answer) => id.attempt + 1,
        Some(_) => return None,
    };
    let purpose = Purpose::Stage { part: part.clone() };
    (attempt <= at_most).then(|| StageStep::Ask(CallId { agent: agent.name.clone(), purpose, attempt }))
}

/// Whether the agent is told what is wrong with its answer, and asked again. What failed was tried again already where
/// that helps.
fn is_lacking(answer: &CallAnswer) -> bool {
    why_again(answer).is_some()
}

/// What is wrong with an answer, in words for the agent.
pub(crate) fn why_again(answer: &CallAnswer) -> Option<String> {
    let without = |fields: &[String]| {
        (!fields.is_empty()).then(|| format!("your last answer lacks these fields: {}", fields.join(", ")))
    };
    match answer {
        CallAnswer::Invalid { error } => Some(error.clone()),
        CallAnswer::Stage { said } => match &**said {
            Said::Position(position) => without(&position.missing_fields),
            Said::Synthesis(synthesis) if synthesis.summary.is_blank() => {
                Some("your last answer has no `summary`".to_owned())
            }
            Said::Synthesis(synthesis) => without(&synthesis.missing_fields),
            Said::Decision(_) | Said::Answers { .. } | Said::Validation(_) => None,
        },
        _ => None,
    }
}
