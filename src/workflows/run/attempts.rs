//! Which attempt at a call is due, and what the agent is told on a later one.

use std::collections::BTreeMap;

use crate::domain::AgentName;
use crate::domain::event::{CallAnswer, CallId, Purpose};

/// The last attempt of an agent at a purpose, with what is recorded of it.
pub(crate) fn last<'a, A>(
    calls: &'a BTreeMap<CallId, A>,
    agent: &AgentName,
    purpose: &Purpose,
) -> Option<(&'a CallId, &'a A)> {
    let attempt = |attempt| CallId { agent: agent.clone(), purpose: purpose.clone(), attempt };
    calls.range(attempt(0)..=attempt(u32::MAX)).next_back()
}

/// The next attempt: the first, or a later one up to `at_most` where the last answer is not enough.
pub(crate) fn next<A>(
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
    Some(CallId { agent: agent.clone(), purpose, attempt })
}

/// What was recorded of the attempt before this one.
pub(crate) fn before<'a, A>(calls: &'a BTreeMap<CallId, A>, call: &CallId) -> Option<&'a A> {
    calls.get(&CallId { attempt: call.attempt.checked_sub(1)?, ..call.clone() })
}

/// Whether an answer could not be read.
pub(crate) fn is_invalid(answer: &CallAnswer) -> bool {
    matches!(answer, CallAnswer::Invalid { .. })
}
