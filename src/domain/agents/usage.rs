//! What a call took, and what the program told of it beside its answer.
//!
//! Unknown is absent, never zero.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::AgentName;

/// Tokens, turns and money of a call or a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// Tokens read by the model, the cached ones included.
    pub input_tokens: Option<u64>,
    /// Tokens written by the model, those of its reasoning included.
    pub output_tokens: Option<u64>,
    /// Cost in US dollars.
    pub usd: Option<f64>,
    /// Tokens of the input that came from a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_tokens: Option<u64>,
    /// Tokens of the output that were reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
    /// Turns of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<u64>,
    /// Whether the cost, or a part of it, was computed from a list of prices.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
}

impl Usage {
    /// Adds another call's usage; what neither knows stays unknown.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        fn add<T: std::ops::Add<Output = T>>(a: Option<T>, b: Option<T>) -> Option<T> {
            match (a, b) {
                (Some(a), Some(b)) => Some(a + b),
                (a, b) => a.or(b),
            }
        }
        Self {
            input_tokens: add(self.input_tokens, other.input_tokens),
            output_tokens: add(self.output_tokens, other.output_tokens),
            usd: add(self.usd, other.usd),
            cached_tokens: add(self.cached_tokens, other.cached_tokens),
            reasoning_tokens: add(self.reasoning_tokens, other.reasoning_tokens),
            turns: add(self.turns, other.turns),
            estimated: self.estimated || other.estimated,
        }
    }

    /// What came on top of an earlier sum; where the earlier one is not known, neither is this.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        let less = |sum: Option<u64>, before: Option<u64>| Some(sum?.saturating_sub(before?));
        Self {
            input_tokens: less(self.input_tokens, earlier.input_tokens),
            output_tokens: less(self.output_tokens, earlier.output_tokens),
            cached_tokens: less(self.cached_tokens, earlier.cached_tokens),
            reasoning_tokens: less(self.reasoning_tokens, earlier.reasoning_tokens),
            ..self
        }
    }
}

/// Dollars for a million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Price {
    /// Of input that was not cached.
    pub input: f64,
    pub cached: f64,
    pub output: f64,
}

impl Price {
    /// Reads `1.25/0.125/10`: input, cached input and output.
    pub fn parse(text: &str) -> Option<Self> {
        let numbers: Vec<f64> = text.split('/').map(|part| part.trim().parse().ok()).collect::<Option<_>>()?;
        let sane = numbers.iter().all(|number| (0.0..1e6).contains(number));
        match (numbers.as_slice(), sane) {
            (&[input, cached, output], true) => Some(Self { input, cached, output }),
            _ => None,
        }
    }
}

/// The caps on a run; what has none is not bounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Caps {
    /// `budget.tokens`: tokens read and written, over all roles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// `budget.usd`: US dollars, over all roles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
    /// `budget.calls`: calls of agents, each repeated try counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<u64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Spent {
    /// Calls of agents, each repeated try counted; those at work included.
    pub calls: u64,
    pub usage: Usage,
}

impl Caps {
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

impl Spent {
    /// Tokens read and written; `None` if no agent told any.
    pub fn tokens(&self) -> Option<u64> {
        let Usage { input_tokens, output_tokens, .. } = self.usage;
        (input_tokens.is_some() || output_tokens.is_some())
            .then(|| input_tokens.unwrap_or(0).saturating_add(output_tokens.unwrap_or(0)))
    }
}

/// What a program told of a call beside its answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallMetadata {
    /// The session, which a later call may carry on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The tools that were refused to it, by name, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<String>,
    /// The backup that answered in the agent's place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<AgentName>,
    /// Why the agent itself did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead: Option<String>,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub retries: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde asks for")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl CallMetadata {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
