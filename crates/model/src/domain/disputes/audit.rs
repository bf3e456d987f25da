//! In an audit, another judge rules again on a sample of dismissed findings. An audit changes no ruling.

use serde::{Deserialize, Serialize};

use crate::domain::{Agent, AgentName, DisputeNumber, Ruling};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AuditPlan {
    /// The sample depends only on the seed and on the dismissals in the history.
    pub seed: u64,
    pub judge: Agent,
    /// The sample, in the order of the random selection.
    pub disputes: Vec<DisputeNumber>,
    /// The number of dismissals from which the sample was drawn.
    pub population: u64,
}

/// A ruling that a second judge gave in an audit of a dismissed finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RulingAudit {
    pub dispute: DisputeNumber,
    pub judge: AgentName,
    /// `ruling` is absent if the judge gave no valid ruling.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ruling: Option<Ruling>,
    /// The reason why the judge gave no valid ruling.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}
