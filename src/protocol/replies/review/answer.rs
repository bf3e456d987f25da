use serde::{Deserialize, Serialize};

use crate::domain::{AnswerStatus, RawFinding};

/// A parsed reviewer's answer. Serialises to the form that `glee parse` prints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReviewAnswer {
    pub status: AnswerStatus,
    pub findings: Vec<RawFinding>,
    pub notes: String,
    /// Whether a part that may contain findings was too large to keep. Such an answer is never complete or clean.
    #[serde(default)]
    pub truncated: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Why it is neither complete nor clean, as it may be sent back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}
