//! The roles of agents, and how hard their models think.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kind of work that an agent does.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Writes and modifies code.
    Coder,
    /// Reviews code and raises findings.
    Reviewer,
    /// Decides disputes between coder and reviewer.
    Judge,
    /// Synthesises the answers of several agents.
    Aggregator,
}

impl Role {
    /// All roles, in the order of the specification.
    pub const ALL: [Self; 4] = [Self::Coder, Self::Reviewer, Self::Judge, Self::Aggregator];
}

#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    /// Little reasoning.
    Low,
    /// The effort that most models use by default.
    Medium,
    /// High effort. An arbiter uses this effort by default.
    High,
    /// The maximum effort that the program supports.
    Max,
}
