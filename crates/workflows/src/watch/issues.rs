//! The types for the issues of a watch and for the last event of an agent.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use glee_model::domain::{AgentName, EventType, PeerIssue, Untrusted};

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
    /// The issues of other reviewers that are the same, according to the aggregator.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub same_as: Vec<u32>,
    /// The issues in similar words that may be the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub may_be: Vec<u32>,
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

    /// Whether the issue is open, or closed by a person or the judge. Its reviewer does not raise it a second time.
    pub fn stands(&self) -> bool {
        self.closed.is_none() || self.is_rejected()
    }

    /// Whether a reviewer raises the standing issue again in the same words.
    pub(crate) fn is_repeated_by(&self, reviewer: &AgentName, issue: &PeerIssue) -> bool {
        self.stands()
            && self.reviewer == *reviewer
            && self.issue.description == issue.description
            && self.issue.file == issue.file
    }

    /// Whether a person or the judge closed the issue. An issue is not rejected if its own reviewer closed the
    /// issue with the verdict `approved`. In this case, the defect was repaired, but the defect can occur again.
    pub fn is_rejected(&self) -> bool {
        self.closed
            .as_ref()
            .is_some_and(|(by, _)| *by != *self.reviewer.0)
    }
}
