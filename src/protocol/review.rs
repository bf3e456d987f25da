//! A reviewer's answer: tagged prose or JSON to findings, and findings back to prose.

use std::io::{self, BufRead};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::{AnswerStatus, RawFinding};

/// What was read in a reviewer's answer. Serialises to the form that `glee parse` prints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewAnswer {
    /// Whether the answer can be relied on.
    pub status: AnswerStatus,
    /// The findings, in the order of the answer; equal ones are all kept.
    pub findings: Vec<RawFinding>,
    /// Text that belongs to no finding.
    pub notes: String,
    /// Whether something that may hold findings was too large to keep. Such an answer is never complete or clean.
    #[serde(default)]
    pub truncated: bool,
    /// The verdict that a JSON answer gave, as written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    /// The summary that a JSON answer gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

/// Reads a reviewer's answer. Without a nonce any well-formed closing line counts.
///
/// # Errors
/// Only those of reading `input`.
pub fn parse<R: BufRead>(input: R, nonce: Option<&str>) -> io::Result<ReviewAnswer> {
    let _ = (input, nonce);
    Err(io::Error::other("reading a review is not built yet"))
}

/// Writes findings as a reviewer would, closing line included; `parse` reads the same findings back.
pub fn render(findings: &[RawFinding], nonce: &str) -> String {
    let _ = (findings, nonce);
    String::new()
}
