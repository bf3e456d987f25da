use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor};
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::agents::{AgentError, Program};
use crate::domain::{Agent, CallMetadata, Usage};
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
    pub(crate) fn plain(
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
    pub transcript: crate::domain::event::Transcript,
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
    pub metadata: CallMetadata,
}

impl Reading {
    /// All of stdout is the answer, and nothing else is known.
    pub fn stdout(output: &Output) -> Self {
        Self::from(Ok(AnswerText::File(output.stdout.clone())))
    }
}

impl From<Result<AnswerText, AgentError>> for Reading {
    fn from(answer: Result<AnswerText, AgentError>) -> Self {
        Self { answer, partial: None, usage: Usage::default(), metadata: CallMetadata::default() }
    }
}
