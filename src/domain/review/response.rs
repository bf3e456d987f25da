//! A coder's answers to findings, and a reviewer's answers about the coder's changes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::{FindingId, Untrusted};

/// The word of a coder's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Answer {
    /// The coder changed the code as asked.
    Implemented,
    /// The coder discards an optional finding. For a mandatory one it counts as a disagreement.
    Discarded,
    /// The coder objects.
    Disagree,
}

/// A coder's answer to one finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Response {
    /// The finding it answers.
    pub finding: FindingId,
    /// The word.
    pub answer: Answer,
    /// What was done, why it was discarded, or the justification of the objection.
    pub text: Untrusted,
    /// Concrete evidence: code references, requirements, tests.
    #[serde(default)]
    pub evidence: Vec<Untrusted>,
}

/// The raiser's word on the change made for a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Recheck {
    /// The finding.
    pub finding: FindingId,
    /// Whether the change resolves it.
    pub resolved: bool,
    /// Why.
    #[serde(default)]
    pub reason: Untrusted,
}

/// A judge's word on a finding that may repeat an earlier dispute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// The finding.
    pub finding: FindingId,
    /// Whether it names the same problem.
    pub same: bool,
    /// Why.
    #[serde(default)]
    pub reason: Untrusted,
}
