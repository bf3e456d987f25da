//! Computes the next steps of a review from its state, without side effects.
//!
//! The returned steps can run concurrently. A step is due until the events of the step are recorded, so a killed
//! run can be resumed.

pub(crate) mod disputes;
mod steps;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use crate::review::demonstrations;
use crate::review::findings::convergence;
use crate::review::state::ReviewState;
use crate::run::attempts;
use crate::run::workflow::Step;
use glee_model::domain::event::{CallAnswer, CallId, EventKind, Mode, Purpose, ReviewEvent};
use glee_model::domain::{
    AgentName, AnswerStatus, DisputeNumber, FindingState, RaisedIn, Role, TestedTree,
};
use glee_store::config::choices::DebateRounds;

pub(crate) use steps::ReviewStep;
pub use steps::{DisputeQuestion, ReviewEffect, SchedulePolicy};
use steps::{ask, is_invalid};

pub(crate) const REPAIRS: u32 = 2;

/// Returns all steps that are due. No steps are due for the disputes in `parked`, because a person will decide
/// these disputes later.
pub fn next_steps(
    state: &ReviewState,
    policy: &SchedulePolicy,
    parked: &BTreeSet<DisputeNumber>,
) -> Vec<ReviewStep> {
    if state.plan.is_none() || state.ended.is_some() {
        return Vec::new();
    }
    let round = state.round();
    let stages: [&dyn Fn() -> Vec<ReviewStep>; 16] = [
        &|| reviews(state, round),
        &|| same(state, policy, round, RaisedIn::Review),
        &|| merge(state, round),
        &|| compare(state, policy, round),
        &|| debate(state, policy, round),
        &|| demonstrate(state, TestedTree::Before),
        &|| undemonstrated(state),
        &|| coder(state, policy, round),
        &|| demonstrate(state, TestedTree::Before),
        &|| disputes::due(state, policy, parked),
        &|| enforce(state, policy, round),
        &|| verify(state, policy, round),
        &|| repair(state, policy, round),
        &|| demonstrate(state, TestedTree::After),
        &|| rechecks(state, policy, round),
        &|| next_round(state, policy, round),
    ];
    // The result is the first list that contains a step, because the steps of a list begin only after all earlier
    // lists are done. The steps of one list run concurrently.
    stages
        .into_iter()
        .map(|stage| stage())
        .find(|steps| !steps.is_empty())
        .unwrap_or_else(|| vec![Step::Finish])
}

fn due_if(is_due: bool, effect: ReviewEffect) -> Vec<ReviewStep> {
    is_due.then_some(Step::Effect(effect)).into_iter().collect()
}

fn reviews(state: &ReviewState, round: u32) -> Vec<ReviewStep> {
    let shards = state.rounds.last().into_iter().flatten();
    let mut steps = Vec::new();
    for (shard, _) in (0..).zip(shards) {
        for reviewer in state.agents(Role::Reviewer) {
            let purpose = Purpose::Review { round, shard };
            if let Some(close) = doubtful(state, &reviewer.name, &purpose) {
                steps.push(Step::Ask(close));
                continue;
            }
            steps.extend(ask(state, &reviewer.name, purpose, |call| {
                match &call.answer {
                    // The embedded reviewer gives the same answer again.
                    CallAnswer::Review { .. } if reviewer.is_embedded() => false,
                    CallAnswer::Review { status, .. } => {
                        matches!(status, AnswerStatus::Incomplete | AnswerStatus::NotReviewed)
                    }
                    CallAnswer::Invalid { .. } => true,
                    _ => false,
                }
            }));
        }
    }
    steps
}

/// Returns the call that asks a reviewer what its last answer means. Each answer is asked about once.
fn doubtful(state: &ReviewState, reviewer: &AgentName, purpose: &Purpose) -> Option<CallId> {
    let (id, call) = state.last_call(reviewer, purpose)?;
    let CallAnswer::Review {
        is_doubtful: true, ..
    } = &call.answer
    else {
        return None;
    };
    id.close().filter(|close| !state.calls.contains_key(close))
}

/// Asks the aggregator, in a single call, which pairs of the round name the same defect. The first merge of a round
/// records the pairs instead of merging, so the question is due before the second merge. The same applies to the
/// conclusion of a debate.
fn same(
    state: &ReviewState,
    policy: &SchedulePolicy,
    round: u32,
    raised_in: RaisedIn,
) -> Vec<ReviewStep> {
    let aggregator = state
        .aggregator()
        .filter(|_| policy.compare && state.asked_pairs(round, raised_in).next().is_some());
    let purpose = Purpose::Same { round, raised_in };
    aggregator
        .and_then(|agent| ask(state, &agent.name, purpose, is_invalid))
        .into_iter()
        .collect()
}

fn merge(state: &ReviewState, round: u32) -> Vec<ReviewStep> {
    let is_due = state.unmerged().next().is_some();
    due_if(is_due, ReviewEffect::Merge { round })
}

/// Asks one agent, in a single call, which findings of the round repeat an earlier dispute. After two unreadable
/// answers, no finding counts as a repetition.
fn compare(state: &ReviewState, policy: &SchedulePolicy, round: u32) -> Vec<ReviewStep> {
    if state.recognised(round).next().is_some() {
        return vec![Step::Effect(ReviewEffect::Recognise { round })];
    }
    if !policy.compare || state.uncompared(round).next().is_none() {
        return Vec::new();
    }
    state
        .comparing_agent()
        .and_then(|agent| ask(state, &agent.name, Purpose::Compare { round }, is_invalid))
        .into_iter()
        .collect()
}

pub fn recognised(state: &ReviewState, round: u32) -> Vec<EventKind> {
    let bound = state.recognised(round).filter_map(|(finding, earlier)| {
        let finding = finding.id;
        let dispute = earlier.dispute.clone();
        Some(match (earlier.disposition.clone(), dispute.number()) {
            (None, dispute) => EventKind::Review(ReviewEvent::StillDisputed {
                finding,
                dispute: dispute?,
            }),
            (Some(disposition), _) => EventKind::Review(ReviewEvent::AlreadyRuled {
                finding,
                dispute,
                disposition,
                new_tag: None,
                insisted: false,
            }),
        })
    });
    bound.collect()
}

fn debate(state: &ReviewState, policy: &SchedulePolicy, round: u32) -> Vec<ReviewStep> {
    let rounds = match state.debating() {
        DebateRounds::Off => return Vec::new(),
        DebateRounds::Two => 2,
        DebateRounds::Auto | DebateRounds::Three => 3,
    };
    let debaters: Vec<&AgentName> = state.debaters().collect();
    if state.concluded.contains(&round) || debaters.len() < 2 {
        return Vec::new();
    }
    // Where nobody has anything to examine, the debate only reports that all agree.
    if debaters
        .iter()
        .all(|name| state.examined_by(name, round).is_empty())
    {
        let is_reviewed = state.rounds.last().is_some_and(|shards| !shards.is_empty());
        return due_if(is_reviewed, ReviewEffect::Conclude { round });
    }
    for debate_round in 2..=rounds {
        let mut asked = Vec::new();
        for name in &debaters {
            let (purpose, has_items) = if debate_round == 2 {
                let items = state.unexamined(name, round);
                (Purpose::Examine { round }, !items.is_empty())
            } else {
                let items = state.undefended(name, round);
                (Purpose::Defend { round }, !items.is_empty())
            };
            if has_items {
                asked.extend(ask(state, name, purpose, |call| {
                    !matches!(call.answer, CallAnswer::Failed { .. })
                }));
            }
        }
        if !asked.is_empty() {
            return asked;
        }
        if !state.debate_rounds.contains(&(round, debate_round)) {
            return vec![Step::Effect(ReviewEffect::DebateRound {
                round,
                debate_round,
            })];
        }
    }
    let compared = same(state, policy, round, RaisedIn::Debate);
    if !compared.is_empty() {
        return compared;
    }
    vec![Step::Effect(ReviewEffect::Conclude { round })]
}

fn coder(state: &ReviewState, policy: &SchedulePolicy, round: u32) -> Vec<ReviewStep> {
    if policy.mode == Mode::Review {
        return Vec::new();
    }
    if let Some(call) = &state.unrecorded_change {
        return vec![Step::Effect(ReviewEffect::RecordTree(call.clone()))];
    }
    // The coders work in one tree, so they are asked one after the other.
    match state
        .coders()
        .find_map(|coder| respond(state, coder, round))
    {
        Some(_) if state.before.is_none() => vec![Step::Effect(ReviewEffect::Keep)],
        step => step.into_iter().collect(),
    }
}

fn respond(state: &ReviewState, coder: &AgentName, round: u32) -> Option<ReviewStep> {
    let purpose = Purpose::Respond { round };
    let items = state.items(coder, &purpose);
    if items.is_empty() {
        return None;
    }
    let at_most = state.asked_before(coder) + 2;
    let call = attempts::next(&state.calls, coder, purpose, at_most, |call| {
        match &call.answer {
            CallAnswer::Respond { .. } => items
                .iter()
                .any(|id| state.progress(*id).response.is_none()),
            CallAnswer::Invalid { .. } => true,
            _ => false,
        }
    });
    call.map(Step::Ask)
}

fn demonstrate(state: &ReviewState, tested: TestedTree) -> Vec<ReviewStep> {
    let is_due = demonstrations::next(state, tested).is_some();
    due_if(is_due, ReviewEffect::Demonstrate(tested))
}

fn undemonstrated(state: &ReviewState) -> Vec<ReviewStep> {
    let is_due = !demonstrations::undemonstrated(state).is_empty();
    due_if(is_due, ReviewEffect::Undemonstrated)
}

fn enforce(state: &ReviewState, policy: &SchedulePolicy, round: u32) -> Vec<ReviewStep> {
    if policy.mode == Mode::Review {
        return Vec::new();
    }
    let purpose = Purpose::Enforce { round };
    let Some(coder) = state.coders().find(|coder| {
        state
            .items(coder, &purpose)
            .iter()
            .any(|id| state.progress(*id).is_unenforced())
    }) else {
        return Vec::new();
    };
    if state.before.is_none() {
        return vec![Step::Effect(ReviewEffect::Keep)];
    }
    vec![Step::Ask(state.next_call(coder, purpose))]
}

fn verify(state: &ReviewState, policy: &SchedulePolicy, round: u32) -> Vec<ReviewStep> {
    let changed = state.file_changes().next().is_some();
    let is_due = policy.mode != Mode::Review && changed && state.verified.len() < policy.verify;
    due_if(is_due, ReviewEffect::Verify { round })
}

/// Sends the output of failed commands to the coders that edited files, in turn. Stops when the commands pass. A coder
/// is left out after a call that changes no file, and after `policy.repairs` calls.
fn repair(state: &ReviewState, policy: &SchedulePolicy, round: u32) -> Vec<ReviewStep> {
    if policy.mode == Mode::Review || state.failing().next().is_none() {
        return Vec::new();
    }
    let calls = state
        .coders()
        .filter_map(|coder| repair_by(state, policy, coder, round));
    // Of the calls with the lowest attempt, this is the call of the first coder.
    let next = calls.min_by_key(|call| call.attempt);
    next.map(Step::Ask).into_iter().collect()
}

fn repair_by(
    state: &ReviewState,
    policy: &SchedulePolicy,
    coder: &AgentName,
    round: u32,
) -> Option<CallId> {
    let purpose = Purpose::Repair { round };
    let edits: Vec<&CallId> = state
        .tree_changes
        .iter()
        .filter(|change| change.call.agent == *coder && !change.changes.is_empty())
        .map(|change| &change.call)
        .collect();
    let brought_nothing = state.last_call(coder, &purpose).is_some_and(|(id, call)| {
        matches!(call.answer, CallAnswer::Failed { .. }) || !edits.contains(&id)
    });
    let next = state.next_call(coder, purpose);
    let is_due = next.attempt <= policy.repairs
        && !edits.is_empty()
        && !brought_nothing
        // A fix request goes only to the coders of its findings.
        && state.items(coder, &next.purpose).iter().any(|id| state.is_for_coder(*id));
    is_due.then_some(next)
}

fn rechecks(state: &ReviewState, policy: &SchedulePolicy, round: u32) -> Vec<ReviewStep> {
    if !policy.recheck || policy.mode == Mode::Review {
        return Vec::new();
    }
    let purpose = Purpose::Recheck { round };
    // A single answer "not resolved" keeps the finding open, so no other reviewer is asked.
    state
        .agents(Role::Reviewer)
        .filter(|reviewer| {
            state.recheck_items(&reviewer.name).iter().any(|id| {
                let finding = state.finding(*id);
                finding.is_some_and(|finding| {
                    state.finding_state(finding) != FindingState::NotResolved
                })
            })
        })
        .map(|reviewer| Step::Ask(state.next_call(&reviewer.name, purpose.clone())))
        .collect()
}

fn next_round(state: &ReviewState, policy: &SchedulePolicy, round: u32) -> Vec<ReviewStep> {
    let is_due = policy.mode != Mode::Review
        && round < policy.rounds
        && state.changed_in(round)
        && !convergence::diverges(state);
    due_if(is_due, ReviewEffect::NextRound { round: round + 1 })
}
