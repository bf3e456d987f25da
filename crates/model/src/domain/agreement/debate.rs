//! Examinations and defences in a debate of reviewers. In round 2, each reviewer examines the findings of the other
//! reviewers. In round 3, each reviewer defends its own findings. A missing answer never counts as agreement.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::{AgentName, FindingId, Severity, Untrusted};

/// The verdict of a reviewer on another reviewer's finding, given in an examination (round 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ExaminationWord {
    /// The finding is right.
    Agree,
    /// The finding is wrong.
    Disagree,
    /// The finding is partly right.
    Partial,
}

impl ExaminationWord {
    pub const ALL: [Self; 3] = [Self::Agree, Self::Disagree, Self::Partial];
}

/// The verdict of a reviewer on its own finding, given in a defence (round 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DefenceWord {
    /// The finding is maintained.
    Defend,
    /// The finding is withdrawn.
    Concede,
    /// The finding is maintained in a revised form.
    Modify,
}

impl DefenceWord {
    pub const ALL: [Self; 3] = [Self::Defend, Self::Concede, Self::Modify];
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Examined {
    pub finding: FindingId,
    pub action: ExaminationWord,
    /// The change of the finding's confidence, -30 to 30.
    pub confidence_adjustment: i32,
    pub reasoning: Untrusted,
    /// The reviewer's own finding that names the same defect. The action is `agree`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_as: Option<FindingId>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Defended {
    pub finding: FindingId,
    pub action: DefenceWord,
    /// The change of the finding's confidence, -30 to 30; applies only if `action` is `modify`.
    pub confidence_adjustment: i32,
    pub reasoning: Untrusted,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revised_severity: Option<Severity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revised_description: Option<Untrusted>,
}

/// An examination that challenges a finding, as sent to the reviewer that raised the finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Challenge {
    pub by: AgentName,
    #[serde(flatten)]
    pub said: Examined,
}

/// A message of the debate, in the format of the specification.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum DebateMessage {
    /// A report. `content` is either text or the consensus as JSON.
    Message {
        recipient: String,
        content: String,
        summary: String,
    },
    ShutdownRequest {
        request_id: String,
    },
    /// The answer to a `ShutdownRequest`. If `approve` is false, `content` states why the debate must not end.
    ShutdownResponse {
        request_id: String,
        approve: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        content: Option<String>,
    },
}
