//! A reviewer's answer after parsing.

use serde::{Deserialize, Serialize};

use crate::domain::{AnswerStatus, RawFinding};

/// Serialises to the output of `glee parse`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReviewAnswer {
    pub status: AnswerStatus,
    pub findings: Vec<RawFinding>,
    pub notes: String,
    /// Whether a part that may contain findings was too large to keep; the answer is then neither complete nor
    /// clean.
    #[serde(default)]
    pub truncated: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Why the answer is neither complete nor clean, in a form that can be sent back to the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}
