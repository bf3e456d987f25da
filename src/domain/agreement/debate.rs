//! What reviewers say to each other in a debate.
//!
//! Round 2 examines the findings of others, round 3 defends one's own; a missing answer is never agreement.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::{AgentName, FindingId, Severity, Untrusted};

/// A word of round 2 on another reviewer's finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ExaminationWord {
    /// It is right.
    Agree,
    /// It is wrong.
    Disagree,
    /// It is right in part.
    Partial,
}

impl ExaminationWord {
    pub const ALL: [Self; 3] = [Self::Agree, Self::Disagree, Self::Partial];
}

/// A word of round 3 on one's own finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DefenceWord {
    /// It stands.
    Defend,
    /// It is withdrawn.
    Concede,
    /// It stands as revised.
    Modify,
}

impl DefenceWord {
    pub const ALL: [Self; 3] = [Self::Defend, Self::Concede, Self::Modify];
}

/// A reviewer's answer to another one's finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Examined {
    /// The finding.
    pub finding: FindingId,
    /// The word.
    pub action: ExaminationWord,
    /// How much its confidence is to change, -30 to 30.
    pub confidence_adjustment: i32,
    /// Why.
    pub reasoning: Untrusted,
}

/// A reviewer's answer to what others say of its finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Defended {
    pub finding: FindingId,
    pub action: DefenceWord,
    /// How much its confidence is to change, -30 to 30; counts with `modify`.
    pub confidence_adjustment: i32,
    pub reasoning: Untrusted,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revised_severity: Option<Severity>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revised_description: Option<Untrusted>,
}

/// What one reviewer says against a finding, as its raiser is told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Challenge {
    /// Who says it.
    pub by: AgentName,
    /// What.
    #[serde(flatten)]
    pub said: Examined,
}

/// A message of the debate, in the specification's form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum DebateMessage {
    /// A report: a text, or the consensus as JSON.
    Message {
        recipient: String,
        content: String,
        summary: String,
    },
    ShutdownRequest {
        request_id: String,
    },
    /// Whether the debate may end, and what is missing otherwise.
    ShutdownResponse {
        request_id: String,
        approve: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content: Option<String>,
    },
}
