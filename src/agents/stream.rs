//! Programs that print their work as JSON, one event a line: what all of them have in common.
//!
//! A program has succeeded only if it ended with 0, said itself that it is done, flagged no error and left a text that
//! is not blank. Everything else is a failure of a kind, with what there was of the text kept beside it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader};
use std::path::Path;

use jiff::Timestamp;
use serde_json::Value;

use super::adapter::{Adapter, AgentError, AnswerText, Invocation, Output, Query, Reading};
use super::blame;
use super::environment::environment;
use super::failure::shorten;
use crate::domain::{FailureKind, Told, Usage};

/// The longest part of a program's error text in a message, in characters.
const SAID: usize = 300;
/// Pieces of text shorter than this are shown as `writing`, in characters.
const TELLING: usize = 24;

#[derive(Debug, Default)]
pub struct Heard {
    pub(super) done: bool,
    pub(super) failure: Option<Said>,
    /// A text that it declares to be the answer.
    pub(super) answer: Option<String>,
    /// What it has written since it last used a tool.
    pub(super) text: String,
    /// The message that is being written.
    pub(super) open: String,
    /// Its id, where messages have one.
    pub(super) open_id: Option<String>,
    /// When it works again, if it said that it is limited.
    pub(super) reset: Option<Timestamp>,
    /// The names of the tools in use, by the id of the use.
    pub(super) tools: BTreeMap<String, String>,
    pub(super) usage: Usage,
    pub(super) told: Told,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Said {
    /// The kind, where the program names it; otherwise its words decide.
    pub(super) kind: Option<FailureKind>,
    pub(super) status: Option<u16>,
    pub(super) text: String,
}

impl Said {
    pub(super) fn text(text: &str) -> Self {
        Self { kind: None, status: blame::status(text), text: text.to_owned() }
    }

    /// The status that the program gives beside its words goes before one in them.
    pub(super) fn with_status(self, status: Option<u64>) -> Self {
        Self { status: status.and_then(|status| u16::try_from(status).ok()).or(self.status), ..self }
    }

    pub(super) fn of(kind: FailureKind, text: &str) -> Self {
        Self { kind: Some(kind), status: None, text: text.to_owned() }
    }
}

impl Heard {
    pub(super) fn piece(&mut self, text: &str) {
        self.open.push_str(text);
    }

    /// A whole message, which may have come in pieces before.
    pub(super) fn message(&mut self, text: &str) {
        self.open.clear();
        self.text.push_str(text);
    }

    /// A tool was used: what was written before is not the answer.
    pub(super) fn tool_used(&mut self) {
        self.open.clear();
        self.text.clear();
    }

    pub(super) fn denied(&mut self, tool: &str) {
        if !self.told.denied.iter().any(|known| known == tool) {
            self.told.denied.push(tool.to_owned());
        }
    }

    fn so_far(&self) -> String {
        format!("{}{}", self.text, self.open)
    }
}

pub(super) fn reading<A: Adapter + ?Sized>(program: &A, output: &Output) -> Reading {
    let mut heard = Heard::default();
    let read = events(&output.stdout, &mut |event| program.hear(&mut heard, &event));
    let partial = heard.so_far();
    let answer = match read {
        Ok(()) => conclude(program, &mut heard, output),
        Err(error) => Err(AgentError::new(
            FailureKind::Protocol,
            format!("the kept output of `{}` cannot be read: {error}", program.profile().name),
        )),
    };
    let partial = Some(partial).filter(|text| answer.is_err() && !text.trim().is_empty());
    Reading { answer, partial, usage: heard.usage, told: heard.told }
}

/// Hands out the events: a JSON object a line, or, where a program prints only one value, that or what is in it.
fn events(stdout: &Path, hear: &mut dyn FnMut(Value)) -> io::Result<()> {
    let mut lines = BufReader::new(File::open(stdout)?);
    let mut line = Vec::new();
    let mut found = false;
    while lines.read_until(b'\n', &mut line)? > 0 {
        if line.trim_ascii_start().starts_with(b"{")
            && let Ok(event) = serde_json::from_slice(&line)
        {
            found = true;
            hear(event);
        }
        line.clear();
    }
    if !found {
        match serde_json::from_reader(BufReader::new(File::open(stdout)?)) {
            Ok(Value::Array(events)) => events.into_iter().for_each(hear),
            Ok(event) => hear(event),
            Err(_) => {}
        }
    }
    Ok(())
}

fn conclude<A: Adapter + ?Sized>(
    program: &A,
    heard: &mut Heard,
    output: &Output,
) -> Result<AnswerText, AgentError> {
    let name = program.profile().name;
    let code = output.transcript.exit_code;
    if let Some(said) = heard.failure.take() {
        let kind = said.kind.unwrap_or_else(|| blame::kind(said.status, &said.text, output.ended));
        let kind = match kind {
            FailureKind::Crashed => code.and_then(|code| blamed(program, code)).unwrap_or(kind),
            kind => kind,
        };
        return Err(error(program, blame::with_reset(kind, heard.reset), &said.text));
    }
    if let Some(code) = code.filter(|code| *code != 0 && !(heard.done && program.profile().ends_when_done)) {
        let said = output.stderr_tail.trim();
        let worded = blame::kind(None, said, output.ended);
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
    if !heard.done {
        return Err(AgentError::new(
            FailureKind::Protocol,
            format!("`{name}` ended without saying that it is done"),
        )
        .hint("its kept output shows how far it came; a newer version of it may speak another form"));
    }
    let text = heard.answer.take().unwrap_or_else(|| heard.so_far());
    if !text.trim().is_empty() {
        return Ok(AnswerText::Text(text));
    }
    Err(match heard.told.denied.as_slice() {
        [] => AgentError::new(FailureKind::Empty, format!("`{name}` ended well, but its answer is empty")),
        denied => AgentError::new(
            FailureKind::RefusedTool,
            format!("`{name}` gave no answer after it was refused {}", denied.join(", ")),
        ),
    })
}

/// The kind of failure that an exit code stands for by itself.
fn blamed<A: Adapter + ?Sized>(program: &A, code: i32) -> Option<FailureKind> {
    let known = program.profile().exit_codes.iter().find(|(codes, _)| codes.contains(&code));
    known.map(|(_, kind)| *kind)
}

/// The line of stderr that tells most about a failure.
fn telling_line<'a>(said: &'a str, output: &Output) -> &'a str {
    let lines = || said.lines().map(str::trim).filter(|line| !line.is_empty());
    let blamed = lines().find(|line| blame::kind(None, line, output.ended) != FailureKind::Crashed);
    let named = || lines().find(|line| line.to_lowercase().contains("error"));
    blamed.or_else(named).or_else(|| lines().next_back()).unwrap_or_default()
}

fn error<A: Adapter + ?Sized>(program: &A, kind: FailureKind, said: &str) -> AgentError {
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

/// The command line of a program that takes its prompt on stdin, in the tree's root. `sees` are the variables it may
/// see beyond every agent's, `set` those that are set for it where the configuration does not.
pub(super) fn invocation(
    query: &Query<'_>,
    args: Vec<String>,
    sees: &[&str],
    set: &[(&str, String)],
) -> Invocation {
    let sees: Vec<&str> = sees.iter().chain(&NETWORK).copied().collect();
    let mut env = environment(query.agent, query.request, &sees, std::env::vars_os());
    for (name, value) in set {
        if !query.agent.env.contains_key(*name) {
            env.insert(name.into(), value.into());
        }
    }
    let plain = Invocation::plain(&query.program.path, args, env, &query.request.root);
    Invocation { stdin: query.prompt.into(), streams: true, ..plain }
}

const NETWORK: [&str; 7] =
    ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy", "NODE_EXTRA_CA_CERTS"];

/// Refuses a prompt that is longer than a program takes. Some cut it silently.
pub(super) fn fits(
    query: &Query<'_>,
    name: &str,
    length: usize,
    longest: usize,
    unit: &str,
) -> Result<(), AgentError> {
    if length <= longest {
        return Ok(());
    }
    let about = format!("the prompt for `{}` has {length} {unit}, `{name}` takes {longest}", query.agent.name);
    Err(AgentError::new(FailureKind::TooLong, about)
        .hint("review less at a time: `glee config set review.max_shard_size 64KiB`"))
}

/// The arguments of a configuration, which come after the adapter's own.
pub(super) fn own_args<'a>(query: &'a Query<'_>) -> impl Iterator<Item = String> + 'a {
    query.agent.command.iter().skip(1).cloned()
}

pub(super) fn option(flag: &str, value: Option<impl Into<String>>) -> impl Iterator<Item = String> {
    value.into_iter().flat_map(move |value| [flag.to_owned(), value.into()])
}

pub(super) fn list(args: &[&str]) -> Vec<String> {
    args.iter().map(ToString::to_string).collect()
}

pub(super) fn text<'a>(event: &'a Value, pointer: &str) -> Option<&'a str> {
    event.pointer(pointer)?.as_str()
}

pub(super) fn number(event: &Value, pointer: &str) -> Option<u64> {
    event.pointer(pointer)?.as_u64()
}

/// What a piece of written text tells: its last words, or only that something is written.
pub(super) fn writing(text: &str) -> Option<String> {
    let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
    Some(if line.chars().count() < TELLING { "writing".to_owned() } else { line.to_owned() })
}

/// What the use of a tool tells: its name and what it is used on.
pub(super) fn using(name: &str, input: &Value) -> String {
    const ABOUT: [&str; 9] =
        ["file_path", "path", "filePath", "absolute_path", "pattern", "command", "query", "url", "description"];
    let about = ABOUT.iter().find_map(|key| input.get(key)?.as_str()).unwrap_or_default();
    let about = about.lines().next().unwrap_or_default();
    format!("{name} {about}").trim().to_owned()
}
