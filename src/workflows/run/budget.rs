//! The limits of a run: the number of concurrent calls, and the caps in the settings `budget.*`.

use crate::config::settings::{Limits, Settings};
use crate::domain::Spent;
use crate::domain::event::{CallId, Purpose};
use crate::rules::budget;

/// A judge's call waits while this number of calls is running. `review.jobs` may set a lower limit.
const JUDGES: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Free,
    Full,
    OverBudget,
}

pub(crate) fn place(settings: &Settings, spent: &Spent, call: &CallId, running: usize) -> Place {
    let is_judge = matches!(call.purpose, Purpose::Judge { .. });
    let jobs = settings.review.jobs.map_or(usize::MAX, |jobs| usize::try_from(jobs).unwrap_or(usize::MAX));
    if running >= jobs || is_judge && running >= JUDGES {
        Place::Full
    } else if calls_left(settings, spent, running) == Some(0)
        || !budget::reached(&settings.budget.caps(), spent).is_empty()
    {
        Place::OverBudget
    } else {
        Place::Free
    }
}

fn calls_left(settings: &Settings, spent: &Spent, running: usize) -> Option<u64> {
    let used = spent.calls.saturating_add(running as u64);
    Some(settings.budget.caps().calls?.saturating_sub(used))
}

/// The limits of the next call. A retry counts as a call, so `budget.calls` also limits the retries.
pub(crate) fn limits(settings: &Settings, spent: &Spent) -> Limits {
    let left = calls_left(settings, spent, 1).map(|left| u32::try_from(left).unwrap_or(u32::MAX));
    let limits = settings.limits;
    Limits { retries: limits.retries.min(left.unwrap_or(u32::MAX)), ..limits }
}

/// The notices about reached caps. `then` tells the user what to do after raising a cap.
pub(crate) fn notices(settings: &Settings, spent: &Spent, then: &str) -> Vec<String> {
    let reached = budget::reached(&settings.budget.caps(), spent).into_iter();
    let notice = |(key, used)| {
        format!("`{key}` is used up ({used}); raise it with `glee config set --user {key} <more>`, then {then}")
    };
    reached.map(notice).collect()
}
