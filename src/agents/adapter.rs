//! What an adapter is: two pure functions, request to command and output to answer.
//!
//! An adapter starts nothing and reads nothing but what it is given; all process work is in `process`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::Value;

use super::heads::Marks;
use super::program::Program;
use super::stream::{self, Heard};
use super::talk::Talk;
use crate::domain::{Advice, Agent, Effort, FailureKind, Told, Usage};
use crate::protocol::request::Request;

/// One question, with everything that a command line is made from.
#[derive(Clone, Copy, Debug)]
pub struct Query<'a> {
    pub agent: &'a Agent,
    pub program: &'a Program,
    pub request: &'a Request,
    pub prompt: &'a str,
    pub session: Option<&'a str>,
    /// The folder for files that the program reads beside its stdin; outside the tree.
    pub folder: &'a Path,
    /// The name of the call among the kept files.
    pub call: &'a str,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invocation {
    /// The program, as an absolute path.
    pub program: PathBuf,
    pub args: Vec<OsString>,
    pub env: BTreeMap<OsString, OsString>,
    pub cwd: PathBuf,
    /// What it reads on stdin, which is then closed.
    pub stdin: Vec<u8>,
    /// Whether its output comes piece by piece, so that `first_output` and `idle` mean something.
    pub streams: bool,
    /// Files to write before it starts, with their contents.
    pub files: Vec<(PathBuf, String)>,
}

impl Invocation {
    /// A program with nothing on stdin. Whether it prints piece by piece is unknown.
    pub(super) fn plain(
        program: impl Into<PathBuf>,
        args: impl IntoIterator<Item: Into<OsString>>,
        env: BTreeMap<OsString, OsString>,
        cwd: impl Into<PathBuf>,
    ) -> Self {
        let (program, args) = (program.into(), args.into_iter().map(Into::into).collect());
        Self { program, args, env, cwd: cwd.into(), stdin: Vec::new(), streams: false, files: Vec::new() }
    }
}

/// What a process left behind. Its bytes lie in files, so that no size of output takes memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The kept bytes of stdout (up to `limits.max_output_size`).
    pub stdout: PathBuf,
    /// The end of stderr, at most 4 KiB, as text.
    pub stderr_tail: String,
    pub ended: Timestamp,
    pub transcript: crate::event::Transcript,
}

/// The text of an answer. It may be larger than memory should be, and need not be valid UTF-8.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnswerText {
    File(PathBuf),
    Text(String),
}

impl AnswerText {
    pub fn reader(&self) -> io::Result<Box<dyn BufRead + Send + '_>> {
        Ok(match self {
            Self::File(path) => Box::new(BufReader::with_capacity(64 << 10, File::open(path)?)),
            Self::Text(text) => Box::new(Cursor::new(text.as_bytes())),
        })
    }
}

/// What was read in an output, which may be that of a process that failed.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    pub answer: Result<AnswerText, AgentError>,
    /// The part of the answer that was written before a failure.
    pub partial: Option<String>,
    pub usage: Usage,
    pub told: Told,
}

impl Reading {
    /// All of stdout is the answer, and nothing else is known.
    pub fn stdout(output: &Output) -> Self {
        Self::from(Ok(AnswerText::File(output.stdout.clone())))
    }
}

impl From<Result<AnswerText, AgentError>> for Reading {
    fn from(answer: Result<AnswerText, AgentError>) -> Self {
        Self { answer, partial: None, usage: Usage::default(), told: Told::default() }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct AgentError {
    pub kind: FailureKind,
    /// What happened: a lowercase fragment without a period, names in backticks.
    pub message: String,
    pub hint: Option<String>,
}

impl AgentError {
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None }
    }

    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

impl Advice for AgentError {
    fn hint(&self) -> Option<String> {
        self.hint.clone()
    }
}

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

    /// What the program answered: unless it is said otherwise, in the events that [`Adapter::hear`] takes.
    fn reading(&self, output: &Output) -> Reading {
        stream::reading(self, output)
    }

    /// Takes one event of a program that prints its work as JSON.
    fn hear(&self, _heard: &mut Heard, _event: &Value) {}

    /// The conversation with a program that is not asked by its stdin alone.
    fn talk(&self, _query: &Query<'_>) -> Option<Box<dyn Talk>> {
        None
    }

    /// What a line of stdout or stderr tells of the work, for people; `None` if it tells nothing.
    fn telling(&self, line: &str) -> Option<String> {
        Some(line.to_owned())
    }

    /// What the agent itself says in a line of stdout, and not what its tools bring: text whose lines end as the agent
    /// ends them, a whole message with the end of a line. `None` where it says nothing.
    fn said(&self, line: &str) -> Option<String> {
        Some(format!("{line}\n"))
    }
}
