//! The agreement of reviewers on a finding.
//!
//! Disagreement remains visible: each reviewer's severity and confidence are recorded next to the result.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::{AgentName, Confidence, Severity};

/// The classification of findings that name the same problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// Two or more reviewers raise it, or the evidence of one suffices.
    Accepted,
    /// One reviewer raises it.
    Uncorroborated,
    /// Reviewers contradict each other.
    Disputed,
    /// It is invalid.
    Rejected,
}

/// A reviewer's view of a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Position {
    /// The reviewer.
    pub reviewer: AgentName,
    /// The source: the call and the position in its answer.
    #[serde(default)]
    pub said: String,
    #[serde(flatten)]
    pub severity: Severity,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Confidence>,
    /// Whether the reviewer denies the finding.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub denies: bool,
}

/// The agreement of a run's reviewers on a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Corroboration {
    pub class: Class,
    /// The number of reviewers in the run.
    pub reviewers: u32,
    /// The views of the reviewers that raised it.
    pub positions: Vec<Position>,
    /// Reviewers that did not raise it but confirmed it in a debate.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub confirmed_by: Vec<AgentName>,
    /// The combined confidence; absent if no reviewer stated one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Confidence>,
    /// How the confidence was computed.
    pub formula: String,
    /// The validation score, if a single reviewer raised it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<i32>,
    /// The reason for the classification.
    pub why: String,
    /// What would change the classification.
    pub would_decide: String,
    /// Flags, dissent, concessions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Whether it requires a person's decision.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub escalate: bool,
    /// Whether reviewers contradict each other, or the evidence was challenged.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub doubted: bool,
    /// Whether the reviewer that raised it withdrew it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub withdrawn: bool,
}
