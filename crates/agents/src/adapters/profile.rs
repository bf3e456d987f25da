//! Applies a [`Profile`] to this machine: the folders of the program, and the errors in its output.

use std::path::PathBuf;

use jiff::Timestamp;
use regex::Regex;

use crate::AgentError;
use crate::calls::{error_classifier, rate_limit_reset};
use crate::failure::shorten;
use glee_model::domain::{FailureKind, Profile};

const SHOWN: usize = 300;

/// The folders of the program on this machine.
pub fn settings_folders(profile: &Profile) -> Vec<PathBuf> {
    let folders = profile.folders.iter();
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    folders.filter_map(|text| place(text, &variable)).collect()
}

/// Returns the path that a text such as `~/.mine` or `${MINE_HOME:-~/.mine}/data` stands for, with the variables of a
/// program. `None` if the path is not absolute.
pub fn place(text: &str, variable: &dyn Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    let named = |name: &str| variable(name).filter(|path| !path.as_os_str().is_empty());
    let path = match text
        .strip_prefix("${")
        .and_then(|rest| rest.split_once('}'))
    {
        Some((inside, below)) => {
            let (name, default) = inside.split_once(":-").unwrap_or((inside, ""));
            let above = named(name).or_else(|| in_home(default, named("HOME")))?;
            above.join(below.trim_start_matches('/'))
        }
        None => in_home(text, named("HOME"))?,
    };
    Some(path).filter(|path| path.is_absolute())
}

fn in_home(text: &str, home: Option<PathBuf>) -> Option<PathBuf> {
    match text.strip_prefix('~') {
        Some(rest) => Some(home?.join(rest.trim_start_matches('/'))),
        None => Some(PathBuf::from(text)),
    }
}

/// The first line that the profile names as a limit or as a refused login, and the kind of the failure.
pub(crate) fn known_line<'a>(
    profile: &Profile,
    said: &'a str,
    now: Timestamp,
) -> Option<(FailureKind, &'a str)> {
    for line in said.lines().map(str::trim) {
        if says(&profile.limits, line) {
            let reset = rate_limit_reset::reset(&line.to_lowercase(), now);
            return Some((FailureKind::RateLimited { reset }, line));
        }
        if says(&profile.refusals, line) {
            return Some((FailureKind::NotLoggedIn, line));
        }
    }
    None
}

/// The output without the blank lines at its end and the lines that the profile calls the program's own.
pub(crate) fn without_trailer<'a>(profile: &Profile, output: &'a str) -> &'a str {
    let mut text = output.trim_end();
    loop {
        let last = text.lines().next_back().unwrap_or_default();
        if last.is_empty() || !says(&profile.trailer, last) {
            return text;
        }
        text = text[..text.len() - last.len()].trim_end();
    }
}

fn says(expressions: &[String], text: &str) -> bool {
    let mut expressions = expressions.iter();
    expressions.any(|expression| Regex::new(expression).is_ok_and(|found| found.is_match(text)))
}

/// The kind of an error that the program reports. The words that the profile names come first.
pub(crate) fn kind(
    profile: &Profile,
    status: Option<u16>,
    text: &str,
    now: Timestamp,
) -> FailureKind {
    match known_line(profile, text, now) {
        Some((kind, _)) => kind,
        None => error_classifier::kind(status, text, now),
    }
}

/// The failure of a program that ended with an exit code other than 0, by what it said.
pub(crate) fn failed(profile: &Profile, code: i32, said: &str, ended: Timestamp) -> AgentError {
    let (classified, line) = known_line(profile, said, ended).unwrap_or_else(|| {
        let line = error_classifier::significant_line(said, ended);
        (error_classifier::kind(None, line, ended), line)
    });
    // The words of a limit say which limit it is, and when it ends.
    let kind = profile
        .failure_of(code)
        .filter(|_| !classified.is_exhausted())
        .unwrap_or(classified);
    let about = format!("exit code {code}: {line}");
    error(profile, kind, about.trim_end_matches(": "))
}

pub fn error(profile: &Profile, kind: FailureKind, text: &str) -> AgentError {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let message = format!(
        "`{}` failed ({}): {}",
        profile.name,
        kind.as_str(),
        shorten(&line, SHOWN)
    );
    AgentError {
        kind,
        message,
        hint: hint(profile, kind),
    }
}

pub fn hint(profile: &Profile, kind: FailureKind) -> Option<String> {
    let hint = match kind {
        FailureKind::NotLoggedIn if profile.login.is_empty() => return None,
        FailureKind::NotLoggedIn => &profile.login,
        FailureKind::BadFlags => {
            "check the agent's `command` and `model`; `glee agents --check` tries every connected agent"
        }
        FailureKind::OverQuota { reset: None } => {
            "check the plan or credit of the account, or set the agent's key `backup` to another agent"
        }
        FailureKind::RateLimited { reset: Some(reset) }
        | FailureKind::OverQuota { reset: Some(reset) } => &format!(
            "the limit ends at {reset:.0}; resume the run then: `glee runs resume --when-reset`"
        ),
        FailureKind::RateLimited { reset: None } => "resume the run later with `glee runs resume`",
        FailureKind::TooLong => {
            "send less code in one call: `glee config set review.max_shard_size 64KiB`"
        }
        FailureKind::Unavailable => {
            "check whether the agent's service is available, and resume the run later"
        }
        _ => return None,
    };
    Some(hint.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_programs_own_lines_at_the_end_are_no_part_of_the_answer() {
        let profile = Profile {
            trailer: vec!["^Tokens: ".to_owned(), "^Cost: ".to_owned()],
            ..Profile::default()
        };
        for (output, answer) in [
            ("a\nTokens: 1\nb\n\nTokens: 2\nCost: 3\n", "a\nTokens: 1\nb"),
            ("a Tokens: 1\n", "a Tokens: 1"),
            ("Tokens: 1\n", ""),
            ("", ""),
        ] {
            assert_eq!(without_trailer(&profile, output), answer);
        }
    }
}
