//! Makes one call of an agent: sends the prompt, stores and redacts the output, and parses the answer.

use std::sync::PoisonError;

use tokio::sync::watch;
use tokio::task::spawn_blocking;
use tracing::{Instrument as _, Span, info, info_span};

use crate::run::answers;
use crate::run::ports::Sink;
use crate::run::redaction::Redaction;
use crate::run::write_guard::{Observation, WriteCheck};
use glee_agents::error::AgentError;
use glee_agents::process::sandbox::confinement::Guarded;
use glee_agents::{Agents, AnswerText, Ask, CallResult, Session, Stop, TranscriptFiles};
use glee_model::domain::event::{CallAnswer, CallId, Transcript};
use glee_model::domain::{Agent, AnswerStatus, CallMetadata, FailureKind, Usage};
use glee_protocol::request::{Request, Task};
use glee_store::config::settings::{Limits, Settings};

pub struct CallRequest {
    pub agent: Agent,
    pub backups: Vec<Agent>,
    pub task: Task,
    pub again: Option<String>,
    pub session: Option<Session>,
    /// Whether the agent is suspended now. `suspended` is `None` if the agent cannot be suspended.
    pub suspended: Option<watch::Receiver<bool>>,
    pub is_guarded: bool,
    /// The log span of the round, stage or cycle that makes the call.
    pub scope: Span,
}

pub struct AgentCall {
    pub id: CallId,
    pub agents: Agents,
    pub agent: Agent,
    pub backups: Vec<Agent>,
    pub request: Request,
    pub prompt: String,
    pub session: Option<Session>,
    pub limits: Limits,
    pub settings: Settings,
    /// The folders that a read-only agent must not write to.
    pub protected: Guarded,
    pub files: TranscriptFiles,
    pub sink: Sink,
    pub suspended: Option<watch::Receiver<bool>>,
    pub stop: Stop,
    pub check: Option<WriteCheck>,
    pub scope: Span,
}

#[derive(Debug)]
pub struct CallOutcome {
    pub answer: CallAnswer,
    pub observation: Option<Observation>,
    pub transcript: Option<Transcript>,
    pub millis: u64,
    pub usage: Box<Usage>,
    pub metadata: Box<CallMetadata>,
}

impl CallOutcome {
    pub(crate) fn without_call(answer: CallAnswer) -> Self {
        Self {
            answer,
            observation: None,
            transcript: None,
            millis: 0,
            usage: Box::default(),
            metadata: Box::default(),
        }
    }
}

impl AgentCall {
    /// Asks the agent or a backup, redacts the stored output, and parses the answer.
    pub(crate) async fn make(self) -> CallOutcome {
        let id = self.id.file_stem();
        let agent = &self.agent.name.0;
        let span = info_span!(parent: &self.scope, "call", id, agent);
        self.run().instrument(span).await
    }

    async fn run(self) -> CallOutcome {
        let Self {
            id,
            agents,
            agent,
            backups,
            request,
            prompt,
            session,
            limits,
            settings,
            files,
            sink,
            ..
        } = self;
        let ask = Ask {
            agent: &agent,
            request: &request,
            prompt: &prompt,
            limits: &limits,
            sandbox: settings.sandbox,
            protected: &self.protected,
            files: &files,
            session: session.as_ref(),
            activity: &|line| {
                sink.lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .activity(&id, line)
            },
            suspended: self.suspended,
            stop: self.stop.clone(),
        };
        let asked = agents.ask_or_backup(ask, &backups).await;
        let CallResult {
            mut result,
            transcript,
            millis,
            usage,
            metadata,
        } = asked;
        if let Err(error) = &mut result
            && error.kind == FailureKind::Stopped
            && self.stop.is_skipped()
        {
            let name = metadata.by.as_ref().unwrap_or(&agent.name);
            *error = AgentError::new(
                FailureKind::Stopped,
                format!("`{name}` was skipped by the user"),
            );
        }
        let redaction = Redaction::from(settings.redaction);
        let answer = spawn_blocking(move || read(result, &request, &files, redaction));
        let observation = self
            .check
            .map(|check| spawn_blocking(move || check.observe()));
        let asked = metadata.by.as_ref().unwrap_or(&agent.name);
        let old = agents.read_old_code(asked);
        let answer = unless_blind(joined(answer.await), &metadata, old);
        let observation = match observation {
            Some(observation) => Some(joined(observation.await)),
            None => None,
        };
        let Usage {
            input_tokens,
            output_tokens,
            usd,
            ..
        } = usage;
        info!(
            ms = millis,
            retries = metadata.retries,
            input_tokens,
            output_tokens,
            usd,
            "ended"
        );
        CallOutcome {
            answer,
            observation,
            transcript,
            millis,
            usage: Box::new(usage),
            metadata: Box::new(metadata),
        }
    }
}

/// A reviewer whose every read was refused did not see the code around its answer, so it is not clean. Nor is one that read
/// `old`, a file as it was before the change.
fn unless_blind(
    mut answer: CallAnswer,
    metadata: &CallMetadata,
    old: Option<String>,
) -> CallAnswer {
    // A refused command that stands for a read of the whole tree was possibly a write.
    let reads = metadata.reads.iter().flatten();
    let mut reads = reads
        .filter(|read| !(read.denied && read.is_whole_tree()))
        .peekable();
    let is_blind = reads.peek().is_some() && reads.all(|read| read.denied);
    let why = match old {
        _ if is_blind => {
            Some("the program refused everything that the reviewer tried to read".to_owned())
        }
        Some(file) => Some(format!(
            "`{file}` was read as it was before the change, and not in the folder `$GLEE_CHANGE`"
        )),
        None => None,
    };
    if let CallAnswer::Review {
        status: status @ AnswerStatus::Clean,
        problem,
        ..
    } = &mut answer
        && why.is_some()
    {
        *status = AnswerStatus::Incomplete;
        *problem = why;
    }
    answer
}

fn joined<T>(result: Result<T, tokio::task::JoinError>) -> T {
    result.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))
}

fn read(
    result: Result<AnswerText, AgentError>,
    request: &Request,
    files: &TranscriptFiles,
    redaction: Redaction,
) -> CallAnswer {
    if let Err(error) = redaction.transcripts(files) {
        let hint = "check that the state folder is writable and the disk has free space".to_owned();
        return failed(
            format!("failed to redact secrets in the stored output: {error}"),
            Some(hint),
        );
    }
    match result {
        Ok(text) => redaction
            .answer(text)
            .reader()
            .and_then(|reader| answers::read(reader, request))
            .unwrap_or_else(|error| {
                failed(format!("failed to read the stored answer: {error}"), None)
            }),
        Err(AgentError {
            kind,
            message,
            hint,
        }) => CallAnswer::Failed {
            error: message,
            hint,
            cause: Some(kind),
        },
    }
}

pub fn failed(error: String, hint: Option<String>) -> CallAnswer {
    CallAnswer::Failed {
        error,
        hint,
        cause: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glee_model::domain::{ReadExtent, TracedRead};

    #[test]
    fn a_reviewer_whose_every_read_was_refused_is_not_clean() {
        let read = |denied| TracedRead {
            denied,
            ..TracedRead::new("a.py", ReadExtent::Content)
        };
        let refused_command = TracedRead {
            denied: true,
            ..TracedRead::whole_tree()
        };
        for (reads, status, expected) in [
            (None, AnswerStatus::Clean, AnswerStatus::Clean),
            (Some(vec![]), AnswerStatus::Clean, AnswerStatus::Clean),
            (
                Some(vec![read(false)]),
                AnswerStatus::Clean,
                AnswerStatus::Clean,
            ),
            (
                Some(vec![read(true)]),
                AnswerStatus::Clean,
                AnswerStatus::Incomplete,
            ),
            (
                Some(vec![read(true), read(true)]),
                AnswerStatus::Clean,
                AnswerStatus::Incomplete,
            ),
            (
                Some(vec![refused_command.clone()]),
                AnswerStatus::Clean,
                AnswerStatus::Clean,
            ),
            (
                Some(vec![refused_command, read(true)]),
                AnswerStatus::Clean,
                AnswerStatus::Incomplete,
            ),
            (
                Some(vec![read(true), read(false)]),
                AnswerStatus::Clean,
                AnswerStatus::Clean,
            ),
            (
                Some(vec![read(true)]),
                AnswerStatus::Complete,
                AnswerStatus::Complete,
            ),
        ] {
            let answer = CallAnswer::Review {
                status,
                findings: Vec::new(),
                notes: String::new(),
                problem: None,
                read: None,
                is_doubtful: false,
            };
            let metadata = CallMetadata {
                reads: reads.clone(),
                ..CallMetadata::default()
            };
            let CallAnswer::Review { status, .. } = unless_blind(answer, &metadata, None) else {
                unreachable!("a review stays a review");
            };
            assert_eq!(status, expected, "{reads:?}");
        }
    }
}
