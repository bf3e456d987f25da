//! What an adapter is: two pure functions, request to command and output to answer.
//!
//! An adapter starts nothing and reads nothing but what it is given; all process work is in `process`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use crate::domain::{Agent, Usage};
use crate::protocol::request::Request;

/// A program about to be run: everything its process gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invocation {
    /// The program, as an absolute path.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Its whole environment.
    pub env: BTreeMap<OsString, OsString>,
    /// Its working directory.
    pub cwd: PathBuf,
    /// What it reads on stdin, which is then closed.
    pub stdin: Vec<u8>,
    /// Whether its output comes piece by piece, so that `first_output` and `idle` mean something.
    pub streams: bool,
}

/// What a process left behind. Its bytes lie in files, so that no size of output takes memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The kept bytes of stdout (up to `limits.output`).
    pub stdout: PathBuf,
    /// The end of stderr, at most 4 KiB, as text.
    pub stderr_tail: String,
    /// Sizes, hash and exit.
    pub transcript: crate::event::Transcript,
}

/// Where the text of an answer is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// The kept stdout is the answer as it stands.
    Stdout,
    /// The answer was taken out of a vendor's form.
    Text(String),
}

/// An answer before it is parsed.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// The text.
    pub body: Body,
    /// Tokens and money, where the program says.
    pub usage: Usage,
}

/// Why an agent gave no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct AgentError {
    /// What happened: a lowercase fragment without a period, names in backticks.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// The two pure functions.
pub trait Adapter: Send + Sync {
    /// The command that asks `agent` the request. `program` is the resolved absolute path of its program.
    ///
    /// # Errors
    /// When the request cannot be put to this program at all (too long, a missing safety flag).
    fn command(
        &self,
        agent: &Agent,
        program: &std::path::Path,
        request: &Request,
        prompt: &str,
    ) -> Result<Invocation, AgentError>;

    /// What the program answered.
    ///
    /// # Errors
    /// When the output shows that the program failed.
    fn reply(&self, output: &Output) -> Result<Reply, AgentError>;
}
