//! What an adapter is: two pure functions, request to command and output to answer.
//!
//! An adapter starts nothing and reads nothing but what it is given; all process work is in `process`.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use serde_json::Value;

use crate::agents::adapters::invocation::{AnswerText, Invocation, Output, Query, Reading};
use crate::agents::adapters::parsed_output::ParsedOutput;
use crate::agents::calls::error_classifier;
use crate::agents::error::AgentError;
use crate::agents::failure::shorten;
use crate::agents::streams::dialogue::Dialogue;
use crate::agents::streams::output_monitor::Marks;
use crate::domain::{Effort, FailureKind};

/// What is known of an adapter and its program beforehand.
#[derive(Clone, Copy, Default)]
pub struct Profile {
    /// As in `agents.<name>.adapter`.
    pub name: &'static str,
    /// How one logs in or sets the key.
    pub login: &'static str,
    /// Arguments that print help and do nothing, by which it is found out which flags the program has.
    pub helps: &'static [&'static [&'static str]],
    /// Which lines of its output count as its first output, and which show that its service does not answer.
    pub marks: Marks,
    /// The program's word for a reasoning effort, where it has an option for it.
    pub effort: Option<fn(Effort) -> &'static str>,
    /// The kinds of failure that exit codes stand for by themselves.
    pub exit_codes: &'static [(&'static [i32], FailureKind)],
    /// Folders of the tree whose modules its program always loads; where one exists it is not started.
    pub loads: &'static [&'static str],
    /// Whether it reports the tokens of the whole session instead of those of the last call.
    pub counts_sessions: bool,
    /// Whether Glee ends it once it has answered, so that its exit status means nothing.
    pub ends_when_done: bool,
}

/// The two pure functions, and how a line of output is shown while the program runs.
pub trait Adapter: Send + Sync {
    fn profile(&self) -> Profile;

    /// The command that asks; fails where this program cannot be asked this (too long, a missing safety flag).
    fn command(&self, query: &Query<'_>) -> Result<Invocation, AgentError>;

    /// What the program answered: unless it is said otherwise, in the events that [`Adapter::parse`] takes.
    fn reading(&self, output: &Output) -> Reading {
        reading(self, output)
    }

    /// Takes one event of a program that prints its work as JSON.
    fn parse(&self, _parsed: &mut ParsedOutput, _event: &Value) {}

    /// The conversation with a program that is not asked by its stdin alone.
    fn dialogue(&self, _query: &Query<'_>) -> Option<Box<dyn Dialogue>> {
        None
    }

    /// What a line of stdout or stderr tells of the work, for people; `None` if it tells nothing.
    fn activity(&self, line: &str) -> Option<String> {
        Some(line.to_owned())
    }

    /// What the agent itself says in a line of stdout, and not what its tools bring: text whose lines end as the agent
    /// ends them, a whole message with the end of a line. `None` where it says nothing.
    fn speech(&self, line: &str) -> Option<String> {
        Some(format!("{line}\n"))
    }
}

/// The longest part of a program's error text in a message, in characters.
pub(crate) const SAID: usize = 300;

/// Pieces of text shorter than this are shown as `writing`, in characters.
pub(crate) const TELLING: usize = 24;

pub(crate) fn reading<A: Adapter + ?Sized>(program: &A, output: &Output) -> Reading {
    let mut parsed = ParsedOutput::default();
    let read = events(&output.stdout, &mut |event| program.parse(&mut parsed, &event));
    let partial = parsed.so_far();
    let answer = match read {
        Ok(()) => conclude(program, &mut parsed, output),
        Err(error) => Err(AgentError::new(
            FailureKind::Protocol,
            format!("the kept output of `{}` cannot be read: {error}", program.profile().name),
        )),
    };
    let partial = Some(partial).filter(|text| answer.is_err() && !text.trim().is_empty());
    Reading { answer, partial, usage: parsed.usage, metadata: parsed.metadata }
}

/// Hands out the events: a JSON object a line, or, where a program prints only one value, that or what is in it.
pub(crate) fn events(stdout: &Path, take: &mut dyn FnMut(Value)) -> io::Result<()> {
    let mut lines = BufReader::new(File::open(stdout)?);
    let mut line = Vec::new();
    let mut found = false;
    while lines.read_until(b'\n', &mut line)? > 0 {
        if line.trim_ascii_start().starts_with(b"{")
            && let Ok(event) = serde_json::from_slice(&line)
        {
            found = true;
            take(event);
        }
        line.clear();
    }
    if !found {
        match serde_json::from_reader(BufReader::new(File::open(stdout)?)) {
            Ok(Value::Array(events)) => events.into_iter().for_each(take),
            Ok(event) => take(event),
            Err(_) => {}
        }
    }
    Ok(())
}

pub(crate) fn conclude<A: Adapter + ?Sized>(
    program: &A,
    parsed: &mut ParsedOutput,
    output: &Output,
) -> Result<AnswerText, AgentError> {
    let name = program.profile().name;
    let code = output.transcript.exit_code;
    if let Some(said) = parsed.failure.take() {
        let kind = said.kind.unwrap_or_else(|| error_classifier::kind(said.status, &said.text, output.ended));
        let kind = match kind {
            FailureKind::Crashed => code.and_then(|code| blamed(program, code)).unwrap_or(kind),
            kind => kind,
        };
        return Err(error(program, error_classifier::with_reset(kind, parsed.reset), &said.text));
    }
    if let Some(code) = code.filter(|code| *code != 0 && !(parsed.done && program.profile().ends_when_done)) {
        let said = output.stderr_tail.trim();
        let worded = error_classifier::kind(None, said, output.ended);
        // The end of a help text, which comes instead of a word on the arguments that were not understood.
        let helps = output.transcript.stdout_bytes == 0 && said.matches("[boolean]").count() > 1;
        if helps && worded != FailureKind::BadFlags {
            let about = format!("exit code {code}: it printed its help instead");
            return Err(error(program, FailureKind::BadFlags, &about));
        }
        return Err(error(
            program,
            blamed(program, code).unwrap_or(worded),
            format!("exit code {code}: {}", telling_line(said, output)).trim_end_matches(": "),
        ));
    }
    if output.transcript.stdout_bytes == 0 {
        return Err(AgentError::new(FailureKind::Empty, format!("`{name}` ended without a word")));
    }
    if !parsed.done {
        return Err(AgentError::new(
            FailureKind::Protocol,
            format!("`{name}` ended without saying that it is done"),
        )
        .hint("its kept output shows how far it came; a newer version of it may speak another form"));
    }
    let text = parsed.answer.take().unwrap_or_else(|| parsed.so_far());
    if !text.trim().is_empty() {
        return Ok(AnswerText::Text(text));
    }
    Err(match parsed.metadata.denied.as_slice() {
        [] => AgentError::new(FailureKind::Empty, format!("`{name}` ended well, but its answer is empty")),
        denied => AgentError::new(
            FailureKind::RefusedTool,
            format!("`{name}` gave no answer after it was refused {}", denied.join(", ")),
        ),
    })
}

/// The kind of failure that an exit code stands for by itself.
pub(crate) fn blamed<A: Adapter + ?Sized>(program: &A, code: i32) -> Option<FailureKind> {
    let known = program.profile().exit_codes.iter().find(|(codes, _)| codes.contains(&code));
    known.map(|(_, kind)| *kind)
}

/// The line of stderr that tells most about a failure.
pub(crate) fn telling_line<'a>(said: &'a str, output: &Output) -> &'a str {
    let lines = || said.lines().map(str::trim).filter(|line| !line.is_empty());
    let blamed = lines().find(|line| error_classifier::kind(None, line, output.ended) != FailureKind::Crashed);
    let named = || lines().find(|line| line.to_lowercase().contains("error"));
    blamed.or_else(named).or_else(|| lines().next_back()).unwrap_or_default()
}

pub(crate) fn error<A: Adapter + ?Sized>(program: &A, kind: FailureKind, said: &str) -> AgentError {
    let name = program.profile().name;
    let line = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = shorten(&line, SAID);
    let error = AgentError::new(kind, format!("`{name}` failed ({}): {line}", kind.as_str()));
    match kind {
        FailureKind::NotLoggedIn => error.hint(program.profile().login),
        FailureKind::BadFlags => {
            error.hint("see the agent's `command` and `model`; `glee agents --check` tries every connected agent")
        }
        FailureKind::OverQuota { reset: None } => {
            error.hint("see the plan or the credit; `backup: <agent>` names who answers in its place")
        }
        FailureKind::RateLimited { reset: Some(reset) } | FailureKind::OverQuota { reset: Some(reset) } => {
            error.hint(format!("it works again at {reset:.0}; carry the run on then with `glee runs resume`"))
        }
        FailureKind::RateLimited { reset: None } => {
            error.hint("carry the run on in a while with `glee runs resume`")
        }
        FailureKind::TooLong => error.hint("review less at a time: `glee config set review.max_shard_size 64KiB`"),
        FailureKind::Unavailable => error.hint("see whether the service answers; carry the run on later"),
        _ => error,
    }
}
