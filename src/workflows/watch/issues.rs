//! The types for the issues of a watch and for the last event of an agent.

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

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Issue {
    pub number: u32,
    pub cycle: u32,
    pub reviewer: AgentName,
    #[serde(flatten)]
    pub issue: PeerIssue,
    /// The person or agent that closed the issue, and the reason. `closed` is `None` while the issue is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed: Option<(Untrusted, Untrusted)>,
}

impl Issue {
    pub(crate) const ABSENT: &str = "absent";

    /// Whether the issue only records that a reviewer gave no verdict.
    pub(crate) fn is_absence(&self) -> bool {
        self.issue.severity == *Self::ABSENT
    }

    /// Whether a person or the judge closed the issue. An issue is not rejected if its own reviewer closed the
    /// issue with the verdict `approved`. In this case, the defect was repaired, but the defect can occur again.
    pub(crate) fn is_rejected(&self) -> bool {
        self.closed
            .as_ref()
            .is_some_and(|(by, _)| *by != *self.reviewer.0)
    }
}
