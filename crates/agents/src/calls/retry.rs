//! Decides whether and when Glee retries a failed call. If a program has its own retries, Glee disables them
//! where possible, and counts those of which the program tells. The delay before a retry takes at most half of the call's remaining time, so that enough time
//! remains for the answer.

use std::time::Duration;

use jiff::Timestamp;

use glee_model::domain::FailureKind;
use glee_store::config::settings::Limits;

const LONGEST: Duration = Duration::from_secs(60);

/// Returns the delay before the next try, or `None` if no try follows. The parameter `tried` is the number of
/// previous tries and of requests that the program repeated, and the parameter `left` is the remaining time of the call.
pub fn pause(
    kind: FailureKind,
    tried: u32,
    now: Timestamp,
    left: Duration,
    limits: &Limits,
) -> Option<Duration> {
    // An empty answer costs as much as any other answer, so Glee retries a call with an empty answer at most once.
    let most = if kind == FailureKind::Empty {
        limits.retries.min(1)
    } else {
        limits.retries
    };
    if tried > most || !(kind.is_transient() || kind.reset().is_some()) {
        return None;
    }
    let wait = match kind.reset() {
        Some(reset) => until(reset, now),
        None => limits
            .backoff
            .saturating_mul(1 << (tried - 1).min(16))
            .min(LONGEST),
    };
    (wait <= left / 2).then_some(wait)
}

pub fn until(moment: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(moment.duration_since(now)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::LIMITS;

    #[test]
    fn only_what_passes_is_tried_again_and_never_for_too_long() {
        let now = Timestamp::UNIX_EPOCH;
        let at = |seconds: i64| Some(now + jiff::SignedDuration::from_secs(seconds));
        let limits = Limits {
            retries: 2,
            backoff: Duration::from_secs(2),
            ..LIMITS
        };
        let seconds = Duration::from_secs;
        let limited = |reset| FailureKind::RateLimited { reset };
        let cases = [
            (FailureKind::Unavailable, 1, 60, Some(seconds(2))),
            (FailureKind::Unavailable, 2, 60, Some(seconds(4))),
            (FailureKind::Unavailable, 3, 60, None),
            (FailureKind::Unavailable, 1, 3, None),
            (limited(None), 1, 60, Some(seconds(2))),
            (limited(at(20)), 1, 60, Some(seconds(20))),
            (limited(at(-5)), 1, 60, Some(seconds(0))),
            (limited(at(31)), 1, 60, None),
            (
                FailureKind::OverQuota { reset: at(9) },
                1,
                60,
                Some(seconds(9)),
            ),
            (FailureKind::OverQuota { reset: None }, 1, 60, None),
            (FailureKind::Empty, 1, 60, Some(seconds(2))),
            (FailureKind::Empty, 2, 60, None),
            (FailureKind::NotLoggedIn, 1, 60, None),
            (FailureKind::TimedOut, 1, 60, None),
            (FailureKind::Crashed, 1, 60, None),
        ];
        for (kind, tried, left, expected) in cases {
            assert_eq!(
                pause(kind, tried, now, seconds(left), &limits),
                expected,
                "{kind:?} {tried} {left}"
            );
        }
    }
}
