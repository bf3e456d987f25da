//! Derives the kind of a failure from what a program prints and from an HTTP status. The one table serves every
//! program. The HTTP status takes precedence over the words, because the wording of messages can change. An unknown
//! error has the kind `crashed`, and Glee does not retry the call.

use std::sync::LazyLock;

use jiff::Timestamp;
use regex::{RegexSet, RegexSetBuilder};

use crate::calls::rate_limit_reset::reset;
use glee_model::domain::FailureKind;

const RATE: FailureKind = FailureKind::RateLimited { reset: None };
/// Quotas of a plan and credits: a retry within the run is of no use before their reset.
const QUOTA: FailureKind = FailureKind::OverQuota { reset: None };

/// What each kind of failure looks like in a message, without regard to case. If a message has the words of several
/// kinds, the first row counts.
const WORDS: &[(FailureKind, &[&str])] = &[
    // The words of these limits are those of other kinds, too.
    (
        RATE,
        &[
            r"throttl",
            r"temporarily limiting requests",
            r"not your usage limit",
        ],
    ),
    (
        FailureKind::TooLong,
        &[
            r"prompt is too long",
            r"context (length|window)",
            r"maximum context",
            r"too many tokens",
            r"input (is )?too long",
            r"exceeds the maximum (length|number of tokens)",
        ],
    ),
    (
        FailureKind::Truncated,
        &[r"max_output_tokens", r"output token (limit|maximum)"],
    ),
    (
        QUOTA,
        &[
            // "You've hit your weekly limit", "You have reached your specified API usage limits"
            r"\b(hit|reached|exceeded|exhausted|used up|used all|out of|over)( of)? (your|all|its|available|extra|free|premium) .{0,60}?\b(usage|spend(ing)?|session|daily|weekly|monthly|hourly|plan|request|quota|credit|token|message|capacity|opus|sonnet|limits?|cap|allowance|credits)\b",
            // "5-hour limit reached", "Claude AI usage limit reached", "usage limit has been reached"
            r"\b(usage|session|hour(ly)?|daily|weekly|monthly|opus|sonnet|spend(ing)?|plan|token|credit|message|requests?)s? (limit|allowance|cap)s? (has been |have been |was |is )?(reached|hit|exceeded|exhausted|used up)",
            r"\bquota\b",
            r"budget has been exceeded",
            r"insufficient[_ ](quota|credits?|balance|funds)",
            r"\b(credit )?balance (is )?(too low|insufficient)",
            r"\b(out of|no|not enough|used up|add|purchase|buy|requires more|ran out of|run out of|exhausted) (\w+ )?(credits?|usage|tokens|messages|requests)\b",
            r"credits? (are |is |were )?(exhausted|used up|depleted)",
            r"payment required",
            r"premium requests?",
            r"check .{0,20}billing",
            r"(free|trial|usage) (usage|allowance|tier) (exceeded|exhausted)",
            r"(usage|spend(ing)?|request|message) (limit|cap)s?\b",
            r"\blimit reached\|",
            r"rate limit.{0,60}(per[- ]|of the )(day|week|month)",
        ],
    ),
    (FailureKind::Truncated, &[r"max_tokens"]),
    (
        RATE,
        &[
            // Not the name of a file: "rate_limit.py".
            r"rate[ _-]?limit(s|ed|ing|er)?\b([^.\w]|\.(\W|$)|$)",
            r"rate[ _]?limit(ed)?[ _]?(error|exceeded|reached)",
            r"\b(call|token|request) rate limit",
            r"\brate exceeded",
            r"too many requests",
            r"\b(status|http|error|code|\()[: ]*429\b",
            r"^429\b",
            r"resource[ _]?exhausted",
            r"slow[_ ]down",
        ],
    ),
    (
        FailureKind::NotLoggedIn,
        &[
            r"not logged in",
            r"not signed in",
            r"please run /login",
            r"(invalid|incorrect|missing|no) api key",
            r"api key not",
            r"authenticat(ion|e)",
            r"unauthori[sz]ed",
            r"unauthenticated",
            r"auth method",
            r"(login|log ?in|sign ?in) (is )?required",
            r"\b(log|sign) in\b",
            r"permission_denied",
            r"(status|http) (401|403)\b",
            r"environment variable: `",
        ],
    ),
    (
        FailureKind::Unavailable,
        &[
            r"overloaded",
            r"high (demand|traffic|volume of traffic)",
            r"(at|over) capacity",
            r"capacity (exceeded|available)",
            r"server (is )?busy",
            r"(server|internal)[ _]error",
            r"service ?unavailable",
            r"bad gateway",
            r"gateway timeout",
            r"temporarily",
            r"econnrefused|econnreset|enotfound|etimedout|eai_again",
            r"connection|network|socket|\bdns\b|fetch failed|unable to connect",
            r"stream (disconnected|error)",
            r"transport error",
            r"terminated|timed out|timeout",
            r"malformed response|incomplete json|unexpected end of json|empty or malformed|error decoding",
            r"failed to parse|json parse|unexpected token|invalid json",
            r"non-sse response|without sending any chunks|get response from the ai model",
        ],
    ),
    (
        FailureKind::Empty,
        &[
            r"empty response",
            r"no visible output",
            r"no response",
            r"invalid_stream",
        ],
    ),
    (
        FailureKind::BadFlags,
        &[
            r"(unknown|unexpected|unrecogni[sz]ed) (option|argument|flag|feature|model)",
            r"invalid (value|option|model)",
            r"argument missing",
            r"error loading config",
            r"model not found",
        ],
    ),
];

static PATTERNS: LazyLock<RegexSet> = LazyLock::new(|| {
    let patterns = WORDS.iter().flat_map(|(_, patterns)| patterns.iter());
    RegexSetBuilder::new(patterns)
        .case_insensitive(true)
        .multi_line(true)
        .build()
        .expect("valid patterns")
});

/// Returns the kind that the words of a text name, and the place of the kind in the table.
fn named(text: &str) -> Option<(usize, FailureKind)> {
    let first = PATTERNS.matches(text).iter().next()?;
    let mut before = 0;
    WORDS
        .iter()
        .enumerate()
        .find_map(|(row, (kind, patterns))| {
            before += patterns.len();
            (first < before).then_some((row, *kind))
        })
}

/// Returns the line that says best why a program failed: the line with the words of the first kind in the table, or a
/// line with `error`, or the last line. Of two lines of one kind, the line with a reset counts.
pub(crate) fn significant_line(text: &str, now: Timestamp) -> &str {
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let explained = lines()
        .filter_map(|line| {
            let (row, kind) = named(line)?;
            let row = if kind.is_exhausted() { 0 } else { row };
            Some((row, kind == RATE, reset(line, now).is_none(), line))
        })
        .min_by_key(|(row, is_rate, is_open, _)| (*row, *is_rate, *is_open));
    explained
        .map(|(.., line)| line)
        .or_else(|| lines().find(|line| line.to_lowercase().contains("error")))
        .or_else(|| lines().next_back())
        .unwrap_or_default()
}

pub(crate) fn kind(status: Option<u16>, text: &str, now: Timestamp) -> FailureKind {
    let named = named(text).map(|(_, kind)| kind);
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
    with_reset(kind, reset(text, now))
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
        "statuscode\":",
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

    /// Each line has a kind, whether the message says when the limit ends, and the message.
    #[test]
    fn every_message_of_a_limit_is_one() {
        let now = Timestamp::UNIX_EPOCH;
        let mut wrong = Vec::new();
        for line in include_str!("limits.txt").lines().skip(1) {
            let mut fields = line.splitn(3, '\t');
            let (Some(expected), Some(ends), Some(message)) =
                (fields.next(), fields.next(), fields.next())
            else {
                panic!("{line}");
            };
            let kind = kind(status(message), message, now);
            let word = match kind {
                FailureKind::RateLimited { .. } => "rate",
                FailureKind::OverQuota { .. } => "quota",
                FailureKind::Unavailable => "overload",
                _ => "none",
            };
            if word != expected || kind.reset().is_some() != (ends == "yes") {
                wrong.push(format!("{kind:?} instead of {line}"));
            }
        }
        assert_eq!(wrong, [""; 0]);
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
