//! Determines which attempt at a call is due.

use std::collections::BTreeMap;

use glee_model::domain::AgentName;
use glee_model::domain::event::{CallAnswer, CallId, Purpose};

/// Returns the key and the value of an agent's last call for a purpose.
pub fn last<'a, A>(
    calls: &'a BTreeMap<CallId, A>,
    agent: &AgentName,
    purpose: &Purpose,
) -> Option<(&'a CallId, &'a A)> {
    let first = CallId {
        agent: agent.clone(),
        purpose: purpose.clone(),
        attempt: 0,
    };
    let last = CallId {
        attempt: u32::MAX,
        ..first.clone()
    };
    calls.range(first..=last).next_back()
}

/// The next attempt, or `None` if the last answer is sufficient or `at_most` attempts have been made.
pub fn next<A>(
    calls: &BTreeMap<CallId, A>,
    agent: &AgentName,
    purpose: Purpose,
    at_most: u32,
    is_lacking: impl Fn(&A) -> bool,
) -> Option<CallId> {
    let attempt = match last(calls, agent, &purpose) {
        None => 1,
        Some((id, answer)) if id.attempt < at_most && is_lacking(answer) => id.attempt + 1,
        Some(_) => return None,
    };
    Some(CallId {
        agent: agent.clone(),
        purpose,
        attempt,
    })
}

/// The next attempt after an invalid answer. At most two are made.
pub(crate) fn next_valid(
    calls: &BTreeMap<CallId, CallAnswer>,
    agent: &AgentName,
    purpose: Purpose,
) -> Option<CallId> {
    next(calls, agent, purpose, 2, is_invalid)
}

/// The reason why the agent has to answer again: its last answer was invalid.
pub(crate) fn why_again(calls: &BTreeMap<CallId, CallAnswer>, call: &CallId) -> Option<String> {
    match before(calls, call)? {
        CallAnswer::Invalid { error } => Some(error.clone()),
        _ => None,
    }
}

pub fn before<'a, A>(calls: &'a BTreeMap<CallId, A>, call: &CallId) -> Option<&'a A> {
    calls.get(&CallId {
        attempt: call.attempt.checked_sub(1)?,
        ..call.clone()
    })
}

pub(crate) fn is_invalid(answer: &CallAnswer) -> bool {
    matches!(answer, CallAnswer::Invalid { .. })
}
