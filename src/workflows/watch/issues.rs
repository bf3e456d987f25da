//! Issues on the list of a watch, and the last event of an agent.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::domain::{AgentName, EventType, PeerIssue, Untrusted};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LastEvent {
    pub at: Timestamp,
    #[serde(rename = "type")]
    pub kind: EventType,
    pub summary: Untrusted,
}

/// An issue on the list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Issue {
    pub number: u32,
    /// The cycle it comes from.
    pub cycle: u32,
    pub reviewer: AgentName,
    #[serde(flatten)]
    pub issue: PeerIssue,
    /// Who closed it, and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed: Option<(Untrusted, Untrusted)>,
}

impl Issue {
    /// The severity of a reviewer's absence.
    pub(crate) const ABSENT: &str = "absent";

    /// Whether it says only that a reviewer gave no usable verdict.
    pub(crate) fn is_absence(&self) -> bool {
        self.issue.severity == *Self::ABSENT
    }
}
