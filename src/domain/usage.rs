//! What a call took, and what the program told of it beside its answer.
//!
//! Unknown is absent, never zero.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
}

/// What a program told of a call beside its answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Told {
    /// The session, which a later call may carry on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The model that answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The tools that were refused to it, by name, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<String>,
}

impl Told {
    /// Whether nothing was told.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
