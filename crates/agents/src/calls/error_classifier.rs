//! Derives the kind of a failure from an error message and an HTTP status. The HTTP status takes precedence over
//! the message, because the wording of messages can change. An unknown error has the kind `crashed`, and Glee does
//! not retry the call.

use jiff::Timestamp;

use crate::calls::rate_limit_reset::reset;
use glee_model::domain::FailureKind;

/// Maps each kind of failure to lowercase texts (separated by `, `) that identify the kind in a message. If a
/// message contains texts of several kinds, the message has the kind that comes first in this table.
const WORDS: [(FailureKind, &str); 8] = [
    (
        FailureKind::TooLong,
        "prompt is too long, context length, context window, maximum context, too many tokens, \
         input too long, exceeds the maximum length",
    ),
    (
        FailureKind::Truncated,
        "max_output_tokens, max_tokens, output token limit, output token maximum",
    ),
    (
        FailureKind::OverQuota { reset: None },
        "quota, billing, credit balance, insufficient credit, usage limit, spending limit, spend limit, \
         limit reached|, hit your limit, out of credits, premium requests, payment required",
    ),
    (
        FailureKind::RateLimited { reset: None },
        "rate limit, rate_limit, ratelimit, too many requests, status: 429, (429), status 429, http 429, \
         resource_exhausted, resource exhausted",
    ),
    (
        FailureKind::NotLoggedIn,
        "not logged in, please run /login, invalid api key, incorrect api key, authentication, authenticate, \
         unauthorized, unauthenticated, auth method, login required, log in, api key not, missing api key, \
         no api key, permission_denied, status 401, http 401, status 403, environment variable: `",
    ),
    (
        FailureKind::Unavailable,
        "overloaded, high demand, server error, internal error, internal_error, service unavailable, \
         bad gateway, gateway timeout, temporarily, econnrefused, econnreset, enotfound, etimedout, \
         eai_again, connection, network, fetch failed, socket, stream disconnected, transport error, dns, \
         terminated, malformed response, incomplete json, unexpected end of json, timed out, timeout, \
         stream error, error decoding, empty or malformed, unable to connect, failed to parse, json parse, \
         unexpected token, invalid json, non-sse response, without sending any chunks, \
         get response from the ai model",
    ),
    (
        FailureKind::Empty,
        "empty response, no visible output, no response, invalid_stream",
    ),
    (
        FailureKind::BadFlags,
        "unknown option, unknown argument, unexpected argument, unrecognized option, unrecognised option, \
         invalid value, unknown flag, invalid option, unknown feature, argument missing, \
         error loading config, model not found, unknown model, invalid model",
    ),
];

pub(crate) fn kind(status: Option<u16>, text: &str, now: Timestamp) -> FailureKind {
    let text = text.to_lowercase();
    let named = WORDS
        .iter()
        .find(|(_, words)| words.split(", ").any(|word| text.contains(word)))
        .map(|(kind, _)| *kind);
    let kind = match (status, named) {
        (Some(402), _) | (Some(403 | 429), Some(FailureKind::OverQuota { .. })) => {
            FailureKind::OverQuota { reset: None }
        }
        (Some(401 | 403), _) => FailureKind::NotLoggedIn,
        (Some(413), _) => FailureKind::TooLong,
        (Some(429), _) => FailureKind::RateLimited { reset: None },
        (Some(408 | 409 | 425 | 500..=599), _) => FailureKind::Unavailable,
        (_, named) => named.unwrap_or(FailureKind::Crashed),
    };
    with_reset(kind, reset(&text, now))
}

pub(crate) fn with_reset(kind: FailureKind, known: Option<Timestamp>) -> FailureKind {
    match kind {
        FailureKind::RateLimited { reset } => FailureKind::RateLimited {
            reset: reset.or(known),
        },
        FailureKind::OverQuota { reset } => FailureKind::OverQuota {
            reset: reset.or(known),
        },
        kind => kind,
    }
}

/// Finds an HTTP status in a text, for example in `status: 429`, `HTTP 503` or `(500)`.
pub(crate) fn status(text: &str) -> Option<u16> {
    let text = text.to_lowercase();
    [
        "\"code\":",
        "status code",
        "status:",
        "status",
        "api error:",
        "http",
        "(",
        "error",
    ]
    .iter()
    .find_map(|mark| {
        text.match_indices(mark).find_map(|(at, _)| {
            let rest = text[at + mark.len()..].trim_start_matches([' ', ':', '"']);
            let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
            digits
                .parse()
                .ok()
                .filter(|code| digits.len() == 3 && (400..600).contains(code))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::SignedDuration;

    #[test]
    fn words_and_numbers_decide_the_kind() {
        let now = Timestamp::UNIX_EPOCH;
        let in_20s = Some(now + SignedDuration::from_secs(20));
        let cases = [
            (
                Some(401),
                "Failed to authenticate. API Error: 401 Invalid API key provided",
                FailureKind::NotLoggedIn,
            ),
            (
                None,
                "Not logged in · Please run /login",
                FailureKind::NotLoggedIn,
            ),
            (
                Some(429),
                "API Error: Request rejected (429) · Rate limit reached. Please try again in 20s.",
                FailureKind::RateLimited { reset: in_20s },
            ),
            (
                Some(429),
                "API Error: Request rejected (429) · You exceeded your current quota",
                FailureKind::OverQuota { reset: None },
            ),
            (
                None,
                "exceeded retry limit, last status: 429 Too Many Requests",
                FailureKind::RateLimited { reset: None },
            ),
            (
                None,
                "Quota exceeded. Check your plan and billing details.",
                FailureKind::OverQuota { reset: None },
            ),
            (
                Some(500),
                "API Error: 500 internal error",
                FailureKind::Unavailable,
            ),
            (Some(529), "Overloaded", FailureKind::Unavailable),
            (
                None,
                "We’re currently experiencing high demand",
                FailureKind::Unavailable,
            ),
            (
                None,
                "API Error: Connection dropped (ECONNRESET).",
                FailureKind::Unavailable,
            ),
            (None, "Prompt is too long", FailureKind::TooLong),
            (
                None,
                "Incomplete response returned, reason: max_output_tokens",
                FailureKind::Truncated,
            ),
            (
                None,
                "The model returned an empty response with no text",
                FailureKind::Empty,
            ),
            (
                None,
                "error: unexpected argument '--jsn' found",
                FailureKind::BadFlags,
            ),
            (None, "segmentation fault", FailureKind::Crashed),
        ];
        for (status, text, expected) in cases {
            assert_eq!(kind(status, text, now), expected, "{text}");
        }
    }

    #[test]
    fn a_status_is_found_in_text() {
        let cases = [
            (
                r#"[API Error: {"error":{"code":401,"message":"Invalid"}}]"#,
                Some(401),
            ),
            (
                "unexpected status 401 Unauthorized: x, url: http://127.0.0.1:33191/v1",
                Some(401),
            ),
            (
                "exceeded retry limit, last status: 429 Too Many Requests",
                Some(429),
            ),
            ("API Error: 500 internal error", Some(500)),
            (
                "Authentication failed with provider at http://127.0.0.1:500/v1 (HTTP 401)",
                Some(401),
            ),
            ("API Error: Connection dropped (ECONNRESET)", None),
        ];
        for (text, expected) in cases {
            assert_eq!(status(text), expected, "{text}");
        }
    }
}
