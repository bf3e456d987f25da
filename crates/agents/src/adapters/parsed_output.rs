//! Derives a program's answer or failure from the program's events. An output is an answer if the program
//! reported completion, reported no error, and printed a text that is not blank. If the program ended by itself,
//! its exit code must also be 0.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;

use crate::adapters::profile;
use crate::adapters::tools::{self, ToolCall};
use crate::calls::error_classifier;
use crate::{AgentError, AnswerText, CallOutcome, Output, Profile};
use glee_model::domain::{CallMetadata, FailureKind, Usage};

#[derive(Debug, Default)]
pub struct ParsedOutput {
    pub done: bool,
    /// Whether Glee ends the program after the answer and ignores the exit code.
    pub ends_when_done: bool,
    pub failure: Option<ReportedError>,
    pub answer: Option<String>,
    /// The text that the agent wrote after its last tool call.
    pub text: String,
    pub open: String,
    pub(crate) open_id: Option<String>,
    pub reset: Option<Timestamp>,
    /// The tool calls by id.
    pub tools: BTreeMap<String, ToolCall>,
    pub usage: Usage,
    pub metadata: CallMetadata,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportedError {
    /// The kind of the failure that the program reports. If the field is `None`, Glee derives the kind from
    /// `status` and `text`.
    pub kind: Option<FailureKind>,
    pub status: Option<u16>,
    pub text: String,
}

impl ReportedError {
    pub fn text(text: &str) -> Self {
        let text = if text.is_empty() {
            "no reason was reported"
        } else {
            text
        };
        Self {
            kind: None,
            status: error_classifier::status(text),
            text: text.to_owned(),
        }
    }

    /// If the parameter `status` is `None`, the failure keeps its current HTTP status.
    pub(crate) fn with_status(self, status: Option<u64>) -> Self {
        Self {
            status: status
                .and_then(|status| u16::try_from(status).ok())
                .or(self.status),
            ..self
        }
    }

    pub fn of(kind: FailureKind, text: &str) -> Self {
        Self {
            kind: Some(kind),
            status: None,
            text: text.to_owned(),
        }
    }
}

impl ParsedOutput {
    pub fn session(&mut self, event: &Value, pointer: &str) {
        self.metadata.session = owned(event, pointer).or(self.metadata.session.take());
    }

    pub fn piece(&mut self, text: &str) {
        self.open.push_str(text);
    }

    pub fn message(&mut self, text: &str) {
        self.open.clear();
        self.text.push_str(text);
    }

    /// Discards the text that the agent wrote before the tool call, because this text is not part of the answer.
    pub(crate) fn tool_used(&mut self) {
        self.open.clear();
        self.text.clear();
    }

    pub(crate) fn tool_started(&mut self, id: &str, name: &str, input: &Value) {
        let call = ToolCall {
            name: name.to_owned(),
            input: input.clone(),
            ..ToolCall::default()
        };
        self.tools.insert(id.to_owned(), call);
    }

    pub(crate) fn tool_ended(&mut self, id: &str, is_refused: bool) {
        self.tool_used();
        if is_refused {
            self.tool_refused(id);
        }
    }

    pub(crate) fn tool_refused(&mut self, id: &str) {
        if let Some(call) = self.tools.get_mut(id) {
            call.denied = true;
            let name = call.name.clone();
            self.denied(&name);
        }
    }

    pub fn denied(&mut self, tool: &str) {
        if !self.metadata.denied.iter().any(|known| known == tool) {
            self.metadata.denied.push(tool.to_owned());
        }
    }

    fn written(&self) -> String {
        format!("{}{}", self.text, self.open)
    }

    pub fn conclude(mut self, profile: &Profile, output: &Output) -> CallOutcome {
        let partial = self.written();
        let answer = self.answer(profile, output);
        let partial = Some(partial).filter(|text| answer.is_err() && !text.trim().is_empty());
        self.metadata.reads = Some(tools::reads(&self.tools));
        CallOutcome {
            partial,
            usage: self.usage,
            metadata: self.metadata,
            ..CallOutcome::from(answer)
        }
    }

    fn answer(&mut self, profile: &Profile, output: &Output) -> Result<AnswerText, AgentError> {
        let name = &profile.name;
        let code = output.transcript.exit_code;
        if let Some(error) = self.failure.take() {
            let classified = || profile::kind(profile, error.status, &error.text, output.ended);
            let mut kind = error.kind.unwrap_or_else(classified);
            if kind == FailureKind::Crashed {
                kind = code
                    .and_then(|code| profile.failure_of(code))
                    .unwrap_or(kind);
            }
            let kind = error_classifier::with_reset(kind, self.reset);
            return Err(profile::error(profile, kind, &error.text));
        }
        if let Some(code) = code.filter(|code| *code != 0 && !(self.done && self.ends_when_done)) {
            let failed = profile::failed(profile, code, &output.said(), output.ended);
            // Some programs print their help instead of an error if an argument is invalid.
            let is_help = output.transcript.stdout_bytes == 0
                && output.stderr_tail.matches("[boolean]").count() > 1;
            if is_help && failed.kind != FailureKind::BadFlags {
                let about = format!("exit code {code}: it printed its help instead");
                return Err(profile::error(profile, FailureKind::BadFlags, &about));
            }
            return Err(failed);
        }
        if output.transcript.stdout_bytes == 0 {
            return Err(AgentError::new(
                FailureKind::Empty,
                format!("`{name}` ended without output"),
            ));
        }
        if !self.done {
            let message = format!("`{name}` ended without reporting completion");
            return Err(AgentError::new(FailureKind::Protocol, message).hint(
                "read the recorded output: a newer version of the program possibly uses another output format",
            ));
        }
        let text = self.answer.take().unwrap_or_else(|| self.written());
        if !text.trim().is_empty() {
            return Ok(AnswerText::Text(text));
        }
        Err(match self.metadata.denied.as_slice() {
            [] => AgentError::new(
                FailureKind::Empty,
                format!("`{name}` succeeded with an empty answer"),
            ),
            denied => AgentError::new(
                FailureKind::RefusedTool,
                format!(
                    "`{name}` gave no answer after it was denied {}",
                    denied.join(", ")
                ),
            ),
        })
    }
}

pub fn text<'a>(event: &'a Value, pointer: &str) -> Option<&'a str> {
    event.pointer(pointer)?.as_str()
}

pub fn string<'a>(event: &'a Value, pointer: &str) -> &'a str {
    text(event, pointer).unwrap_or_default()
}

pub fn owned(event: &Value, pointer: &str) -> Option<String> {
    text(event, pointer).map(ToOwned::to_owned)
}

pub fn number(event: &Value, pointer: &str) -> Option<u64> {
    event.pointer(pointer)?.as_u64()
}

/// A cost in USD. A program that does not know the price of a model says 0.
pub fn usd(event: &Value, pointer: &str) -> Option<f64> {
    let cost = event.pointer(pointer)?.as_f64();
    cost.filter(|usd| *usd > 0.0)
}

pub fn tokens(counts: &Value, [input, cached, output, reasoning]: [&str; 4]) -> Usage {
    Usage {
        input_tokens: number(counts, input),
        cached_tokens: number(counts, cached),
        output_tokens: number(counts, output),
        reasoning_tokens: number(counts, reasoning),
        ..Usage::default()
    }
}
