use serde::{Deserialize, Serialize};

use crate::domain::{AnswerStatus, RawFinding};

/// What was read in a reviewer's answer. Serialises to the form that `glee parse` prints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReviewAnswer {
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
    /// Why it is neither complete nor clean; fit to be sent back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}
