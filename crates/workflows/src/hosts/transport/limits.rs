//! Reads the end time of a rate limit from the host's answer.
//!
//! GitHub reports its primary limit by the header `x-ratelimit-remaining: 0`, and the end of this limit by
//! `x-ratelimit-reset`. GitHub reports a secondary limit by the status 403 or 429. An answer that reports a
//! secondary limit contains the header `Retry-After`, or only a message about the limit. GitLab sends the status
//! 429 with `Retry-After` and `RateLimit-Reset`. GraphQL reports a rate limit by an error of the type
//! `RATE_LIMITED` in an answer with the status 200.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::refusal;
use super::reply::Reply;

/// The waiting time in seconds if an answer reports a rate limit, but does not state when the limit ends. The
/// waiting time doubles with each previous attempt that failed because of a rate limit.
const UNSTATED: i64 = 60;

/// If the host refused the request because of a rate limit, returns the time at which the limit ends. `earlier`
/// is the number of previous attempts at this request that failed because of a rate limit.
pub(super) fn end(reply: &Reply, now: Timestamp, earlier: u32) -> Option<Timestamp> {
    let states_limit = match reply.status.as_u16() {
        429 => true,
        403 => {
            let message = refusal::reason(reply).to_ascii_lowercase();
            reply.header("retry-after").is_some()
                || is_exhausted(reply)
                || message.contains("rate limit")
                || message.contains("abuse detection")
        }
        200 => is_limited_query(&reply.body),
        _ => false,
    };
    if !states_limit {
        return None;
    }
    if let Some(wait) = retry_after(reply, now) {
        return Some(later(
            now,
            i64::try_from(wait.as_secs()).unwrap_or(i64::MAX),
        ));
    }
    let reset = reply
        .header("x-ratelimit-reset")
        .or_else(|| reply.header("ratelimit-reset"));
    if let Some(reset) = reset
        .filter(|_| is_exhausted(reply))
        .and_then(|reset| reset.trim().parse().ok())
    {
        let reset = Timestamp::from_second(reset).unwrap_or(Timestamp::MAX);
        // The clocks of Glee and of the host can differ by a second.
        return Some(later(reset.max(now), 1));
    }
    Some(later(now, UNSTATED << earlier.min(10)))
}

/// Returns the waiting time from the header `Retry-After`, which contains a number of seconds or a date.
pub(crate) fn retry_after(reply: &Reply, now: Timestamp) -> Option<Duration> {
    let value = reply.header("retry-after")?.trim();
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = jiff::fmt::rfc2822::DateTimeParser::new()
        .parse_timestamp(value)
        .ok()?;
    Some(Duration::try_from(date.duration_since(now)).unwrap_or_default())
}

fn is_exhausted(reply: &Reply) -> bool {
    ["x-ratelimit-remaining", "ratelimit-remaining"]
        .iter()
        .any(|name| reply.header(name) == Some("0"))
}

fn is_limited_query(body: &[u8]) -> bool {
    memchr::memmem::find(body, b"RATE_LIMITED").is_some()
        && serde_json::from_slice::<Value>(body).is_ok_and(|answer| {
            let errors = answer["errors"].as_array();
            errors.is_some_and(|errors| errors.iter().any(|error| error["type"] == "RATE_LIMITED"))
        })
}

fn later(time: Timestamp, seconds: i64) -> Timestamp {
    time.checked_add(SignedDuration::from_secs(seconds))
        .unwrap_or(Timestamp::MAX)
}
