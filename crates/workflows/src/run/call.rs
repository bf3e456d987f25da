//! Makes one call of an agent: sends the prompt, stores and redacts the output, and parses the answer.

use tracing::info;

use crate::run::blocking::blocking;
use crate::run::redaction::Redaction;
use crate::run::resources::RunResources;
use crate::run::write_guard::{Observation, WriteCheck};
use glee_agents::error::AgentError;
use glee_agents::{AnswerText, Call, CallOutcome, TranscriptFiles};
use glee_model::domain::event::CallAnswer;
use glee_model::domain::{AnswerStatus, CallMetadata, FailureKind, Usage};
use glee_protocol::request::Request;

/// The outcome of a call, and what the write guard saw of the tree when the call ended.
pub(crate) type Made = (CallOutcome<CallAnswer>, Option<Observation>);

impl RunResources {
    /// Asks the agent or a backup, redacts the stored output, and parses the answer.
    pub(crate) fn make(
        &self,
        call: Call,
        check: Option<WriteCheck>,
    ) -> impl Future<Output = Made> + use<> {
        let agents = self.agents.clone();
        let redaction = self.redaction();
        async move {
            let mut outcome = agents.ask_or_backup(call.clone()).await;
            let asked = outcome.metadata.by.as_ref().unwrap_or(&call.agent.name);
            if let Err(error) = &mut outcome.answer
                && error.kind == FailureKind::Stopped
                && call.stop.is_skipped()
            {
                *error = AgentError::new(
                    FailureKind::Stopped,
                    format!("`{asked}` was skipped by the user"),
                );
            }
            let old = agents.read_old_code(asked);
            let text = outcome.answer.clone();
            let answer = blocking(move || read(text, &call.request, &call.files, redaction));
            let answer = unless_blind(answer.await, &outcome.metadata, old);
            let observation = match check {
                Some(check) => Some(check.observe().await),
                None => None,
            };
            let Usage {
                input_tokens,
                output_tokens,
                usd,
                ..
            } = outcome.usage;
            info!(
                ms = outcome.millis,
                retries = outcome.metadata.retries,
                input_tokens,
                output_tokens,
                usd,
                "ended"
            );
            (outcome.with(answer), observation)
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
            .and_then(|reader| request.task.read(reader, &request.nonce))
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
