//! Asking an agent: program found, command built, process run, answer handed back.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::adapter::{AgentError, Body, Output};
use super::failure::RunError;
use super::kind::AdapterKind;
use super::locate::LocateError;
use super::process::{Activity, Job, Runner};
use super::stop::Stop;
use crate::config::settings::Limits;
use crate::domain::{Agent, Usage};
use crate::event::Transcript;
use crate::protocol::request::Request;

/// The way to every agent.
#[derive(Clone)]
pub struct Agents {
    runner: Arc<dyn Runner>,
}

/// One question to one agent.
#[derive(Clone)]
pub struct Ask<'a> {
    /// Who is asked.
    pub agent: &'a Agent,
    /// What, for adapters that send it as it stands.
    pub request: &'a Request,
    /// The same as a prompt, for those that send prose.
    pub prompt: &'a str,
    /// The caps; the agent's own timeout takes the place of `total`.
    pub limits: &'a Limits,
    /// Where the raw output is kept.
    pub files: &'a TranscriptFiles,
    /// Gets signs of life.
    pub activity: Activity<'a>,
    /// Ends the agent.
    pub stop: Stop,
}

/// The files that keep what an agent prints; their folder exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TranscriptFiles {
    /// For stdout.
    pub stdout: PathBuf,
    /// For stderr.
    pub stderr: PathBuf,
}

/// What came of a question.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The answer, or why there is none.
    pub result: Result<Answered, AgentError>,
    /// What the process left behind, also if it failed; absent if it could not be started.
    pub transcript: Option<Transcript>,
    /// Wall time in milliseconds.
    pub millis: u64,
}

/// An answer before it is parsed.
#[derive(Clone, Debug, PartialEq)]
pub struct Answered {
    /// Its text.
    pub text: AnswerText,
    /// Tokens and money, where known.
    pub usage: Usage,
}

/// The text of an answer. It may be larger than memory should be, and need not be valid UTF-8.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnswerText {
    /// It is this file.
    File(PathBuf),
    /// It was taken out of a vendor's form.
    Text(String),
}

impl AnswerText {
    /// Reads it from its beginning.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn reader(&self) -> io::Result<Box<dyn BufRead + Send + '_>> {
        Ok(match self {
            Self::File(path) => Box::new(BufReader::with_capacity(64 << 10, File::open(path)?)),
            Self::Text(text) => Box::new(Cursor::new(text.as_bytes())),
        })
    }
}

impl Agents {
    /// Agents that are run by `runner`.
    pub fn new(runner: Arc<dyn Runner>) -> Self {
        Self { runner }
    }

    /// Makes sure, before anything costs money, that every agent's adapter and program exist.
    ///
    /// # Errors
    /// For the first agent that could not be run; the message names it.
    pub fn check(&self, agents: &[Agent], root: &Path) -> Result<(), AgentError> {
        for agent in agents {
            AdapterKind::of(agent)?;
            self.find(agent, root).map_err(|error| AgentError {
                message: format!("agent `{}` cannot be run: {error}", agent.name),
                hint: error.hint(&agent.name.0),
            })?;
        }
        Ok(())
    }

    /// The absolute path of an agent's program.
    ///
    /// # Errors
    /// When there is none, or none that may be run.
    pub fn find(&self, agent: &Agent, root: &Path) -> Result<PathBuf, LocateError> {
        self.runner.find(&agent.command, root)
    }

    /// Asks an agent. Dropping the future ends the agent.
    pub async fn ask(&self, ask: Ask<'_>) -> Asked {
        let started = Instant::now();
        let (result, transcript) = match self.answer(ask).await {
            Ok((answered, transcript)) => (Ok(answered), Some(transcript)),
            Err((error, transcript)) => (Err(error), transcript),
        };
        Asked { result, transcript, millis: millis(started.elapsed()) }
    }

    async fn answer(&self, ask: Ask<'_>) -> Result<(Answered, Transcript), (AgentError, Option<Transcript>)> {
        let agent = ask.agent;
        let not_started = |error| (error, None);
        let adapter = AdapterKind::of(agent).map_err(not_started)?.adapter();
        let program = self.find(agent, Path::new(&ask.request.root)).map_err(|error| {
            not_started(AgentError { message: error.to_string(), hint: error.hint(&agent.name.0) })
        })?;
        let invocation = adapter.command(agent, &program, ask.request, ask.prompt).map_err(not_started)?;
        let job = Job {
            invocation: &invocation,
            request: Some(ask.request),
            limits: Limits { total: agent.timeout.unwrap_or(ask.limits.total), ..*ask.limits },
            stdout: &ask.files.stdout,
            stderr: &ask.files.stderr,
            activity: ask.activity,
            stop: ask.stop,
        };
        let output = match self.runner.run(job).await {
            Ok(output) => output,
            Err(failed) => {
                // An agent that ends by itself may say why better than its exit code does.
                let said = match (&failed.error, &failed.output) {
                    (RunError::ExitCode { .. }, Some(output)) => adapter.reply(output).err(),
                    _ => None,
                };
                let error = said.unwrap_or_else(|| failed.error.for_agent(agent));
                return Err((error, failed.output.map(|output| output.transcript)));
            }
        };
        let reply = match adapter.reply(&output) {
            Ok(reply) => reply,
            Err(error) => return Err((error, Some(output.transcript))),
        };
        let Output { stdout, transcript, .. } = output;
        let text = match reply.body {
            Body::Stdout => AnswerText::File(stdout),
            Body::Text(text) => AnswerText::Text(text),
        };
        Ok((Answered { text, usage: reply.usage }, transcript))
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
