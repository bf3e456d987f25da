//! Agents and the roles they may take.
//!
//! An agent without a role never takes it: there is no fallback agent (design rule 1).

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::Price;
use crate::domain::ids::AgentName;

/// What an agent is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Writes and modifies code.
    Coder,
    /// Reviews code and raises findings.
    Reviewer,
    /// Rules on disputes between coder and reviewer.
    Judge,
    /// Synthesises the answers of several agents.
    Aggregator,
}

impl Role {
    /// All roles, in the order of the specification.
    pub const ALL: [Self; 4] = [Self::Coder, Self::Reviewer, Self::Judge, Self::Aggregator];
}

/// How hard a model is to think before it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    /// Little.
    Low,
    /// As much as most models do by themselves.
    Medium,
    /// Much; what an arbiter is asked for where nothing is configured.
    High,
    /// The most that the program knows a word for.
    Max,
}

/// An agent as it is connected: who it is, what it may do, and what runs when it is asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Agent {
    pub name: AgentName,
    pub role: Role,
    /// The program and its fixed arguments; `["builtin:rules"]` for an embedded agent.
    pub command: Vec<String>,
    /// The adapter that talks to it (`text`, `json`, `builtin`, ...).
    pub adapter: String,
    /// What code a coder is for: path globs, language names or path components.
    #[serde(default)]
    pub domain: Vec<String>,
    /// What a reviewer looks for.
    #[serde(default)]
    pub focus: Vec<String>,
    #[serde(default)]
    pub model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
    /// Environment variables set for it, on top of its adapter's allow-list; in the history only their names.
    #[serde(default)]
    pub env: std::collections::BTreeMap<String, String>,
    /// Its own bound on one call's wall time; `limits.call_timeout` where absent.
    #[serde(default)]
    pub timeout: Option<Duration>,
    /// The agent of the same role that answers in its place when it is over its limits or its program is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backup: Option<AgentName>,
    /// What its tokens cost, where its program does not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
}

impl Agent {
    /// As it goes into the history: of its variables only the names, because their values are often keys.
    #[must_use]
    pub fn recorded(mut self) -> Self {
        self.env.values_mut().for_each(String::clear);
        self
    }

    /// Whether it is part of this program, so that what it reads stays where it is.
    pub fn is_embedded(&self) -> bool {
        self.adapter == "builtin"
    }
}
