use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;

use crate::agents::calls::error_classifier;
use crate::domain::{CallMetadata, FailureKind, Usage};

#[derive(Debug, Default)]
pub struct ParsedOutput {
    pub(crate) done: bool,
    pub(crate) failure: Option<ReportedError>,
    /// A text that it declares to be the answer.
    pub(crate) answer: Option<String>,
    /// What it has written since it last used a tool.
    pub(crate) text: String,
    /// The message that is being written.
    pub(crate) open: String,
    /// Its id, where messages have one.
    pub(crate) open_id: Option<String>,
    /// When it works again, if it said that it is limited.
    pub(crate) reset: Option<Timestamp>,
    /// The names of the tools in use, by the id of the use.
    pub(crate) tools: BTreeMap<String, String>,
    pub(crate) usage: Usage,
    pub(crate) metadata: CallMetadata,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReportedError {
    /// The kind, where the program names it; otherwise its words decide.
    pub(crate) kind: Option<FailureKind>,
    pub(crate) status: Option<u16>,
    pub(crate) text: String,
}

impl ReportedError {
    pub(crate) fn text(text: &str) -> Self {
        Self { kind: None, status: error_classifier::status(text), text: text.to_owned() }
    }

    /// The status that the program gives beside its words goes before one in them.
    pub(crate) fn with_status(self, status: Option<u64>) -> Self {
        Self { status: status.and_then(|status| u16::try_from(status).ok()).or(self.status), ..self }
    }

    pub(crate) fn of(kind: FailureKind, text: &str) -> Self {
        Self { kind: Some(kind), status: None, text: text.to_owned() }
    }
}

impl ParsedOutput {
    pub(crate) fn piece(&mut self, text: &str) {
        self.open.push_str(text);
    }

    /// A whole message, which may have come in pieces before.
    pub(crate) fn message(&mut self, text: &str) {
        self.open.clear();
        self.text.push_str(text);
    }

    /// A tool was used: what was written before is not the answer.
    pub(crate) fn tool_used(&mut self) {
        self.open.clear();
        self.text.clear();
    }

    pub(crate) fn denied(&mut self, tool: &str) {
        if !self.metadata.denied.iter().any(|known| known == tool) {
            self.metadata.denied.push(tool.to_owned());
        }
    }

    pub(crate) fn so_far(&self) -> String {
        format!("{}{}", self.text, self.open)
    }
}

pub(crate) fn text<'a>(event: &'a Value, pointer: &str) -> Option<&'a str> {
    event.pointer(pointer)?.as_str()
}

pub(crate) fn number(event: &Value, pointer: &str) -> Option<u64> {
    event.pointer(pointer)?.as_u64()
}
