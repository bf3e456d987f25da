//! A call of an agent: what goes in, and what comes out.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::watch;

use crate::process::sandbox::confinement::Guarded;
use crate::{AgentError, Program, Stop, TranscriptFiles};
use glee_model::domain::event::Transcript;
use glee_model::domain::{Agent, AgentName, CallMetadata, FailureKind, Usage};
use glee_protocol::request::Request;
use glee_store::config::choices::Sandbox;
use glee_store::config::settings::Limits;

#[derive(Clone)]
pub struct Call {
    pub agent: Agent,
    /// The agents that can answer instead. Each is named by `backup` of the agent before it.
    pub backups: Vec<Agent>,
    /// The agent's program; empty until a try of the call has found it.
    pub program: Program,
    pub request: Arc<Request>,
    pub prompt: Arc<str>,
    pub session: Option<Session>,
    /// If the agent has a `timeout`, this `timeout` replaces `call_timeout`.
    pub limits: Limits,
    pub sandbox: Sandbox,
    /// A confined agent must not write to these paths: the tree, the tree's git folders and Glee's state.
    pub protected: Arc<Guarded>,
    pub files: TranscriptFiles,
    /// Receives a line about what the agent does.
    pub activity: Arc<dyn Fn(&str) + Send + Sync>,
    /// Glee suspends the agent while the value in this channel is true. If the field is `None`, Glee never
    /// suspends the agent.
    pub suspended: Option<watch::Receiver<bool>>,
    pub stop: Stop,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Session {
    pub agent: AgentName,
    pub id: String,
    pub used: Usage,
}

/// An agent's answer, as text or as the path of a file. The file can be large and can contain invalid UTF-8.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnswerText {
    File(PathBuf),
    Text(String),
}

/// What came of a call. The answer is the agent's text at first, and later what the text says.
#[derive(Clone, Debug, PartialEq)]
pub struct CallOutcome<A = Result<AnswerText, AgentError>> {
    pub answer: A,
    /// The text that the program printed before a failure.
    pub partial: Option<String>,
    /// The transcript of the agent's process. The field is `None` only if no process was started.
    pub transcript: Option<Transcript>,
    pub millis: u64,
    pub usage: Usage,
    pub metadata: CallMetadata,
}

impl CallOutcome {
    pub(crate) fn failure(&self) -> Option<FailureKind> {
        self.answer.as_ref().err().map(|error| error.kind)
    }
}

impl Call {
    /// A folder outside the tree, with additional files for the program.
    pub fn folder(&self) -> &Path {
        self.files.stdout.parent().unwrap_or(Path::new("/"))
    }

    pub fn session_id(&self) -> Option<&str> {
        self.session.as_ref().map(|session| session.id.as_str())
    }

    pub fn root(&self) -> &Path {
        Path::new(&self.request.root)
    }
}

impl AnswerText {
    pub fn reader(&self) -> io::Result<Box<dyn BufRead + Send + '_>> {
        Ok(match self {
            Self::File(path) => Box::new(BufReader::with_capacity(64 << 10, File::open(path)?)),
            Self::Text(text) => Box::new(Cursor::new(text.as_bytes())),
        })
    }
}

impl<A> CallOutcome<A> {
    #[must_use]
    pub fn with<B>(self, answer: B) -> CallOutcome<B> {
        CallOutcome {
            answer,
            partial: self.partial,
            transcript: self.transcript,
            millis: self.millis,
            usage: self.usage,
            metadata: self.metadata,
        }
    }
}

/// The outcome of a call for which no process was started.
impl<A> From<A> for CallOutcome<A> {
    fn from(answer: A) -> Self {
        Self {
            answer,
            partial: None,
            transcript: None,
            millis: 0,
            usage: Usage::default(),
            metadata: CallMetadata::default(),
        }
    }
}
