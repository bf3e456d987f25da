//! What a program says instead of an answer: that a limit is reached, or that somebody has to log in.

use std::sync::LazyLock;

use jiff::Timestamp;
use regex::Regex;

use crate::adapters::profile;
use crate::calls::error_classifier::{self, significant_line};
use crate::{AgentError, AnswerText, Call, Output, ProcessError, Profile};
use glee_model::domain::{FailureKind, Tag};
use glee_protocol::request::Request;

/// A longer text is an answer.
const LONGEST: usize = 800;

/// What a program tells its user to do at a limit. A reviewer that writes about limits tells what to change in the code.
static REMEDY: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?ix) https?:// | request[_\ ]id | will\ reset\ (?:when|at|on)\b.*\b(?:ends|window) | can\ only\ afford | automatically\ switched
        | \b(?: try\ again | please\ (?:wait|retry|run|log|sign|enable|upgrade|reduce|check) | retry\ (?:after|later|in|shortly) | retrying | run\ /\w+
        | upgrade\ (?:your|to|for|at) | (?:check|update)\ your\ (?:plan|quota) | (?:purchase|add|buy|enable)\ (?:\w+\ )?(?:credits?|funds|usage|key)
        | contact\ (?:your|an?|customer) | switch\ (?:models|to) | (?:ask|manage)\ your | get\ (?:\w+\ ){1,2}(?:access|for\ more) )\b",
    )
    .expect("a valid pattern")
});

/// A text of an error, or one that states a limit and nothing else.
static STATEMENT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?ix) \{\s*"(?:error|type|code)"\s*: | ^[\w.]*\w(?:error|exception)(?::|\ code\b) | \bstatus:?\ (?:429|402): | ^\W*api\ error:\ (?:request|server|\d|\{)
        | ^\W*quota\ exceeded\ for | ^\W*(?:429|402)\ [^,]*\d/\d
        | ^\W* (?:(?:error|sorry|warning)\b\W*)*
          (?: (?:429|402)\b.{0,40} | you(?:['’](?:ve|re))?\b.{0,60} | (?:out\ of|insufficient|too\ many|rate[-\ ]limited|throttl\S*|\[resource_ex).{0,40}
            | (?:[\w'’-]+\ ){0,5}?\S*(?:limit|quota|credits?|allowance|usage|balance|rate)\ (?:\w+\ ){0,3}?(?:reached|exceeded|exhausted|low|hit)\b.{0,20} ) $"#,
    )
    .expect("a valid pattern")
});

/// An answer, unless its text is what the program says about a limit or a login. Such a text is short, and has neither
/// the nonce of the request nor a tag.
pub(super) fn checked(
    answer: AnswerText,
    request: &Request,
    profile: &Profile,
    output: &Output,
) -> Result<AnswerText, AgentError> {
    let said = match &answer {
        AnswerText::Text(text) => text.clone(),
        AnswerText::File(_) if output.transcript.stdout_bytes <= LONGEST as u64 => output.said(),
        AnswerText::File(_) => return Ok(answer),
    };
    let known = profile::known_line(profile, &said, output.ended);
    let known = known.filter(|_| said.len() <= LONGEST && !is_answer(&said, request));
    match known.or_else(|| limit(&said, request, output.ended)) {
        Some((kind, line)) => Err(profile::error(profile, kind, line)),
        None => Ok(answer),
    }
}

/// What a short text says about a limit or a login, if it is no answer.
fn limit<'a>(said: &'a str, request: &Request, now: Timestamp) -> Option<(FailureKind, &'a str)> {
    if said.len() > LONGEST || is_answer(said, request) {
        return None;
    }
    let line = significant_line(said, now);
    let kind = error_classifier::kind(error_classifier::status(line), line, now);
    let is_said =
        kind.reset().is_some() || REMEDY.is_match(line) || STATEMENT.is_match(said.trim());
    let is_said = is_said && stops(kind);
    is_said.then_some((kind, line))
}

/// Whether the program gives no answer before a limit ends or somebody logs in.
fn stops(kind: FailureKind) -> bool {
    kind.is_exhausted() || kind == FailureKind::NotLoggedIn
}

/// The failure of a program that prints prose, as far as its words explain the exit code.
pub(super) fn explained(
    mut failed: ProcessError,
    output: &Output,
    call: &Call,
    profile: &Profile,
) -> AgentError {
    let ProcessError::ExitCode { last_line, .. } = &mut failed else {
        return failed.for_agent(&call.agent);
    };
    let said = output.said();
    let said = if is_answer(&said, &call.request) {
        &output.stderr_tail
    } else {
        &said
    };
    let line = significant_line(said, output.ended);
    let kind = error_classifier::kind(None, line, output.ended);
    if !stops(kind) {
        return failed.for_agent(&call.agent);
    }
    *last_line = Some(line.to_owned());
    let error = failed.for_agent(&call.agent);
    AgentError {
        kind,
        hint: profile::hint(profile, kind),
        ..error
    }
}

/// Whether a text is an answer, or the beginning of one.
fn is_answer(text: &str, request: &Request) -> bool {
    text.contains(&request.nonce)
        || Tag::ALL
            .iter()
            .any(|tag| text.contains(&format!("[{}]", tag.as_str())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    fn limit_in(text: &str) -> Option<FailureKind> {
        let request = samples::review(&samples::agent("rev", "text", &["rev"]));
        limit(text, &request, Timestamp::UNIX_EPOCH).map(|(kind, _)| kind)
    }

    #[test]
    fn a_limit_in_place_of_an_answer_is_a_failure() {
        let limits = include_str!("limits.txt").lines().skip(1);
        let mut missed = Vec::new();
        for line in limits {
            let (kind, message) = line.split_once('\t').unwrap_or_default();
            let message = message.split_once('\t').unwrap_or_default().1;
            // A JSON object is not prose: it is read as an answer first.
            let is_limit = matches!(kind, "rate" | "quota") && !message.starts_with('{');
            if is_limit && limit_in(message).is_none() {
                missed.push(message);
            }
        }
        assert!(missed.len() <= 2, "{missed:#?}");
    }

    #[test]
    fn an_answer_that_speaks_of_limits_is_an_answer() {
        let ordinary = include_str!("ordinary.txt").lines().skip(1);
        let refused: Vec<&str> = ordinary.filter(|text| limit_in(text).is_some()).collect();
        assert_eq!(refused, [""; 0]);
    }
}
