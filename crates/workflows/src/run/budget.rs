//! The limits of a run: the number of concurrent calls, and the caps in the settings `budget.*`.

use std::collections::BTreeMap;

use glee_agents::CallOutcome;
use glee_model::domain::event::{CallAnswer, CallId};
use glee_model::domain::{AgentName, Caps, Spent, SpentByRuns};
use glee_model::rules::budget;
use glee_store::config::settings::{Limits, Settings};

/// While at least this number of calls is running, no further call of a judge begins. If `review.jobs` is lower
/// than this number, `review.jobs` applies instead.
const JUDGES: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Free,
    Full,
    OverBudget,
}

/// For each agent that has reached a rate limit, the maximum number of concurrent calls. The number of calls is
/// not limited for an agent without an entry in the map.
#[derive(Debug, Default)]
pub(crate) struct Pace(BTreeMap<AgentName, usize>);

impl Pace {
    pub(crate) fn allows(&self, agent: &AgentName, running: usize) -> bool {
        self.0.get(agent).is_none_or(|most| running < *most)
    }

    /// Adjusts the agent's maximum number of concurrent calls after a call. `running` is the number of the agent's
    /// running calls just before this call ended. If the call was repeated, or failed because of a limit, the
    /// maximum is halved. After any other call, an existing maximum grows by one.
    pub(crate) fn ended(
        &mut self,
        agent: &AgentName,
        outcome: &CallOutcome<CallAnswer>,
        running: usize,
    ) {
        let is_limited = outcome.metadata.retries > 0
            || matches!(&outcome.answer, CallAnswer::Failed { cause: Some(cause), .. } if cause.is_exhausted());
        if is_limited {
            let most = self.0.get(agent).map_or(running, |most| running.min(*most));
            self.0.insert(agent.clone(), (most / 2).max(1));
        } else if let Some(most) = self.0.get_mut(agent) {
            *most = most.saturating_add(1);
        }
    }
}

pub(crate) fn place(
    settings: &Settings,
    spent: &Spent,
    by_runs: &SpentByRuns,
    call: &CallId,
    running: usize,
) -> Place {
    let is_judge = !call.purpose.judged().is_empty();
    let jobs = settings.review.jobs.map_or(usize::MAX, |jobs| {
        usize::try_from(jobs).unwrap_or(usize::MAX)
    });
    if running >= jobs || is_judge && running >= JUDGES {
        Place::Full
    } else if calls_left(settings, spent, running) == Some(0)
        || is_used_up(settings, spent, by_runs)
    {
        Place::OverBudget
    } else {
        Place::Free
    }
}

pub(crate) fn is_used_up(settings: &Settings, spent: &Spent, by_runs: &SpentByRuns) -> bool {
    !budget::reached(&settings.budget.caps(), spent, by_runs).is_empty()
}

/// What the user is told once the month's cost has reached a level of its cap, which it had not reached before.
pub(crate) fn level_notice(caps: &Caps, before: &SpentByRuns, now: &SpentByRuns) -> Option<String> {
    let cap = caps.month_usd?;
    let used = now.month_usd?;
    let level = budget::level_reached(cap, before.month_usd?, used)?;
    Some(format!(
        "{level}% of `budget.month_usd` is used up: ${used:.2} of ${cap:.2}"
    ))
}

fn calls_left(settings: &Settings, spent: &Spent, running: usize) -> Option<u64> {
    let used = spent.calls.saturating_add(running as u64);
    Some(settings.budget.caps().calls?.saturating_sub(used))
}

/// The limits of the next call. A retry counts as a call, so `budget.calls` also limits the retries.
pub fn limits(settings: &Settings, spent: &Spent) -> Limits {
    let left = calls_left(settings, spent, 1).and_then(|left| u32::try_from(left).ok());
    let limits = settings.limits;
    Limits {
        retries: limits.retries.min(left.unwrap_or(u32::MAX)),
        ..limits
    }
}

/// Returns a notice about each reached cap. The notice asks the user to raise the cap, and ends with the
/// instruction in the parameter `then`.
pub fn notices(
    settings: &Settings,
    spent: &Spent,
    by_runs: &SpentByRuns,
    then: &str,
) -> Vec<String> {
    let reached = budget::reached(&settings.budget.caps(), spent, by_runs);
    reached.into_iter().map(|(key, used)| {
        format!(
            "`{key}` is used up ({used}); raise the cap with `glee config set --user {key} <more>`, then {then}"
        )
    }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use glee_model::domain::FailureKind;

    #[test]
    fn a_rate_limit_slows_its_agent_down_and_answers_speed_it_up_again() {
        let claude = AgentName::from("claude");
        let codex = AgentName::from("codex");
        let answered = || {
            CallOutcome::from(CallAnswer::Defend {
                defences: Vec::new(),
            })
        };
        let limited = || {
            CallOutcome::from(CallAnswer::Failed {
                error: "rate limit".to_owned(),
                hint: None,
                cause: Some(FailureKind::RateLimited { reset: None }),
            })
        };
        let mut pace = Pace::default();
        assert!(pace.allows(&claude, 99), "no limit was reached yet");
        pace.ended(&claude, &limited(), 8);
        assert!(pace.allows(&claude, 3) && !pace.allows(&claude, 4));
        assert!(pace.allows(&codex, 99), "other agents are not concerned");
        pace.ended(&claude, &limited(), 7);
        assert!(
            pace.allows(&claude, 1) && !pace.allows(&claude, 2),
            "calls of before the first limit still end"
        );
        pace.ended(&claude, &limited(), 1);
        pace.ended(&claude, &limited(), 1);
        assert!(
            pace.allows(&claude, 0) && !pace.allows(&claude, 1),
            "one call is always allowed"
        );
        let mut repeated = answered();
        repeated.metadata.retries = 1;
        pace.ended(&claude, &repeated, 1);
        assert!(!pace.allows(&claude, 1));
        pace.ended(&claude, &answered(), 1);
        assert!(pace.allows(&claude, 1) && !pace.allows(&claude, 2));
    }
}
