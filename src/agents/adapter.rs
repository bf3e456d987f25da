//! What an adapter is: two pure functions, request to command and output to answer.
//!
//! An adapter starts nothing and reads nothing but what it is given; all process work is in `process`.

use std::collections::BTreeMap;
use std::ffi::OsString;
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
    /// Files that have to lie there before it starts, with what is in them.
    pub files: Vec<(PathBuf, String)>,
}

impl Invocation {
    /// A command as it stands, found as `program`, with nothing on stdin. Whether it prints piece by piece is unknown.
    pub(super) fn plain(
        program: PathBuf,
        command: &[String],
        env: BTreeMap<OsString, OsString>,
        cwd: impl Into<PathBuf>,
    ) -> Self {
        let args = command.iter().skip(1).map(Into::into).collect();
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

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    Stdout,
    Text(String),
}

/// What was read in an output, which may be that of a process that failed.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    pub answer: Result<Body, AgentError>,
    /// What there was of an answer before it broke off.
    pub partial: Option<String>,
    pub usage: Usage,
    pub told: Told,
}

impl Reading {
    /// All of stdout is the answer, and nothing else is known.
    pub fn stdout() -> Self {
        Self { answer: Ok(Body::Stdout), partial: None, usage: Usage::default(), told: Told::default() }
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

/// The two pure functions, and what a line of output tells while the program is at work.
pub trait Adapter: Send + Sync {
    /// The command that asks; fails where this program cannot be asked this (too long, a missing safety flag).
    fn command(&self, query: &Query<'_>) -> Result<Invocation, AgentError>;

    /// What the program answered: unless it is said otherwise, in the events that [`Adapter::hear`] takes.
    fn reading(&self, output: &Output) -> Reading {
        stream::reading(self, output)
    }

    /// Its name, as in `agents.<name>.adapter`.
    fn name(&self) -> &'static str;

    /// Takes one event of a program that prints its work as JSON.
    fn hear(&self, heard: &mut Heard, event: &Value) {
        let _ = (heard, event);
    }

    /// The kind of failure that an exit code stands for by itself.
    fn blame(&self, code: i32) -> Option<FailureKind> {
        let _ = code;
        None
    }

    /// Whether Glee ends it once it is done, so that the way in which it ended says nothing.
    fn ends_when_done(&self) -> bool {
        false
    }

    /// How one logs in or sets the key.
    fn login(&self) -> &'static str {
        ""
    }

    /// The conversation with a program that is not asked by its stdin alone.
    fn talk(&self, query: &Query<'_>) -> Option<Box<dyn Talk>> {
        let _ = query;
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

    /// What its lines are: none of those that it prints before its model has said a word is its first output.
    fn marks(&self) -> Marks {
        Marks::default()
    }

    /// Folders of the tree whose modules its program loads whatever it is told; it is not asked where one is there.
    fn loads(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether it tells the tokens of a whole session, not those of the last call.
    fn counts_sessions(&self) -> bool {
        false
    }

    /// The program's word for how hard its model is to think; `None` where it cannot be told.
    fn effort(&self, effort: Effort) -> Option<&'static str> {
        let _ = effort;
        None
    }

    /// What the program is asked to find out which flags it has: arguments that print help and do nothing.
    fn helps(&self) -> &'static [&'static [&'static str]] {
        &[]
    }
}
