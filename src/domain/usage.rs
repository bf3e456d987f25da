//! What a call took, and what the program told of it beside its answer.
//!
//! Unknown is absent, never zero.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::AgentName;

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
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Price {
    /// Of input that was not cached.
    pub input: f64,
    /// Of input from a cache.
    pub cached: f64,
    /// Of output.
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
    /// The backup that answered in the agent's place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<AgentName>,
    /// Why the agent itself did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead: Option<String>,
}

impl Told {
    /// Whether nothing was told.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
