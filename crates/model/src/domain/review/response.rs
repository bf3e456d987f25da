//! A coder's answers to findings, and a reviewer's answers about the coder's changes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::{Demonstration, FindingId, Untrusted};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Answer {
    /// The coder implemented the finding.
    Implemented,
    /// The coder discards an optional finding; discarding a mandatory finding counts as an objection.
    Discarded,
    /// The coder objects.
    Disagree,
}

/// A coder's answer to one finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Response {
    pub finding: FindingId,
    pub answer: Answer,
    /// A description of the coder's change, or the coder's reason for not making a change.
    pub text: Untrusted,
    /// Concrete evidence: code references, requirements, tests.
    #[serde(default)]
    pub evidence: Vec<Untrusted>,
    /// A test: with an objection, one that passes; with a change, one that failed before it.
    // The schema is sent to coders, whether or not a runner is configured, so an agent that has to follow it writes the
    // test into `text`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub demonstration: Option<Demonstration>,
}

/// A reviewer states whether the coder's change resolves the finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Recheck {
    pub finding: FindingId,
    pub resolved: bool,
    #[serde(default)]
    pub reason: Untrusted,
}

/// A judge's comparison of a finding with an earlier dispute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    pub finding: FindingId,
    /// Whether the finding and the earlier dispute are about the same problem.
    pub same: bool,
    #[serde(default)]
    pub reason: Untrusted,
}
