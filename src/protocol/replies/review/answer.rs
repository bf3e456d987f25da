//! The parsed answer of a reviewer.

use serde::{Deserialize, Serialize};

use crate::domain::{AnswerStatus, RawFinding};

/// The command `glee parse` prints this type as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReviewAnswer {
    pub status: AnswerStatus,
    pub findings: Vec<RawFinding>,
    pub notes: String,
    /// Whether the parser dropped a large part of the answer. The dropped part possibly contained findings. A
    /// truncated answer is neither complete nor clean.
    #[serde(default)]
    pub truncated: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// The reason why the answer is incomplete or contains no review. Glee can send the text of the reason to the
    /// agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}
