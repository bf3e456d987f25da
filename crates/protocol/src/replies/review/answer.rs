//! The parsed answer of a reviewer.

use serde::{Deserialize, Serialize};

use glee_model::domain::{AnswerStatus, CodeRead, RawFinding};

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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// How much of the code the reviewer says it read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<CodeRead>,
    /// Whether only the number of findings is in doubt: the closing line is missing or states another number than was
    /// read, or it states 0 and the words beside it can mean something else. Such an answer is incomplete until the
    /// reviewer says what it means.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_doubtful: bool,
    /// The reason why the answer is incomplete or contains no review. Glee can send the text of the reason to the
    /// agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl ReviewAnswer {
    /// What the reviewer says beside its findings.
    pub fn said(&self) -> String {
        let parts = [Some(self.notes.as_str()), self.summary.as_deref()];
        let parts: Vec<&str> = parts
            .into_iter()
            .flatten()
            .map(str::trim)
            .filter(|part| !part.is_empty())
            .collect();
        parts.join("\n\n")
    }
}
