//! Agents. An agent acts only in the role that the user assigned to the agent (design rule 1).

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::profile::Profile;
use super::role::{Effort, Role};
use crate::domain::{AgentName, Price};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Agent {
    pub name: AgentName,
    pub role: Role,
    /// The program and its fixed arguments, for example `["builtin:rules"]` for an embedded agent.
    pub command: Vec<String>,
    /// The name of the adapter, such as `text`, `json` or `builtin`.
    pub adapter: String,
    /// The code that a coder is responsible for: path globs, language names or path components.
    #[serde(default)]
    pub domain: Vec<String>,
    #[serde(default)]
    pub focus: Vec<String>,
    #[serde(default)]
    pub model: Option<String>,
    /// Who trained the model. The reviewers of one vendor are one voice. Without `vendor`, the name of the model or the
    /// profile of the program says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vendor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
    /// Environment variables that are added to the variables of the adapter. The history records the names of
    /// the added variables, but not their values.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// The maximum wall time of a call. Without `timeout`, the maximum is `limits.call_timeout`.
    #[serde(default)]
    pub timeout: Option<Duration>,
    /// The agent that answers if this agent exceeds its limits or is not installed. A backup agent has the same
    /// role as this agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backup: Option<AgentName>,
    /// The price of tokens, which Glee uses if the program reports no cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// How Glee calls the program, if no adapter is written for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<Box<Profile>>,
    /// Whether the program can read files of the tree. `None` stands for the default of the adapter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reads: Option<bool>,
}

impl Agent {
    /// The name, and also the adapter, of [`Agent::caller`].
    const CALLER: &str = "caller";

    /// The coder of an answer that was given outside of a run (`glee answer`). Glee did not start this coder, so Glee
    /// never calls it.
    pub fn caller() -> Self {
        Self {
            name: AgentName::from(Self::CALLER),
            role: Role::Coder,
            command: Vec::new(),
            adapter: Self::CALLER.to_owned(),
            domain: Vec::new(),
            focus: Vec::new(),
            model: None,
            vendor: None,
            effort: None,
            env: BTreeMap::new(),
            timeout: None,
            backup: None,
            price: None,
            profile: None,
            reads: None,
        }
    }

    pub fn is_caller(&self) -> bool {
        self.adapter == Self::CALLER
    }

    /// Returns the agent without the values of its environment variables, for the history. The values are often
    /// API keys.
    #[must_use]
    pub fn recorded(mut self) -> Self {
        self.env.values_mut().for_each(String::clear);
        self
    }

    /// Whether the agent is part of Glee. An embedded agent sends no code to another machine.
    pub fn is_embedded(&self) -> bool {
        self.adapter == "builtin"
    }
}
