//! How the reviewers of a run stand to a finding.
//!
//! Splits stay visible: every reviewer's own severity and confidence are kept beside what was made of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::{AgentName, Confidence, Severity};

/// What became of findings that mean the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// Two or more reviewers say so, or the evidence of one suffices.
    Accepted,
    /// One reviewer says so.
    Uncorroborated,
    /// Reviewers contradict each other.
    Disputed,
    /// It does not stand.
    Rejected,
}

/// What one reviewer says of a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Position {
    /// The reviewer.
    pub reviewer: AgentName,
    /// Where it was read: the call and the place in its answer.
    #[serde(default)]
    pub said: String,
    /// Its severity.
    #[serde(flatten)]
    pub severity: Severity,
    /// How sure it says it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Confidence>,
    /// Whether it says that this is no issue.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub denies: bool,
}

/// How the reviewers of a run stand to a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Corroboration {
    /// What became of it.
    pub class: Class,
    /// How many reviewers took part in the run.
    pub reviewers: u32,
    /// What each of them that raised it says.
    pub positions: Vec<Position>,
    /// Reviewers that did not raise it and support it in a debate.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub confirmed_by: Vec<AgentName>,
    /// The confidence of all together; absent where no reviewer stated one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Confidence>,
    /// How it came about.
    pub formula: String,
    /// The validation score, where one reviewer alone raised it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<i32>,
    /// Why it was decided so.
    pub why: String,
    /// What would change the decision.
    pub would_decide: String,
    /// Flags, dissent, concessions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Whether only a person can settle it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub escalate: bool,
    /// Whether reviewers contradict each other about it, or its evidence was challenged.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub doubted: bool,
    /// Whether who raised it took it back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub withdrawn: bool,
}
