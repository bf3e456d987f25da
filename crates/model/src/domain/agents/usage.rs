//! Usage, prices and caps, and the metadata of calls. An unknown number of tokens or dollars is `None`, never 0.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::{AgentName, TracedRead};

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// Tokens read by the model, including cached tokens.
    pub input_tokens: Option<u64>,
    /// Tokens written by the model, including its reasoning.
    pub output_tokens: Option<u64>,
    pub usd: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns: Option<u64>,
    /// Whether the cost is computed, at least in part, from configured prices.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
}

impl Usage {
    /// Adds the usage of another call. If only one of the two numbers is known, the sum is the known number. If
    /// both numbers are unknown, the sum is unknown.
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

    /// The cost, unless it is unknown or nothing. Embedded agents cost nothing.
    pub fn paid_usd(&self) -> Option<f64> {
        self.usd.filter(|usd| *usd > 0.0)
    }

    /// Whether the cost of this call is computed from the bytes of the prompt and the answer.
    pub fn is_by_bytes(&self) -> bool {
        self.estimated && (self.input_tokens.is_none() || self.output_tokens.is_none())
    }

    /// Subtracts `earlier` from this usage. A token count of the result is unknown if `self` or `earlier` lacks
    /// the count. All fields except the token counts are copied from `self`.
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

/// US dollars for a million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Price {
    /// The price of input that is not cached.
    pub input: f64,
    pub cached: f64,
    pub output: f64,
}

impl Price {
    /// Parses the prices of input, cached input and output from a text such as `1.25/0.125/10`.
    pub fn parse(text: &str) -> Option<Self> {
        let numbers = text
            .split('/')
            .map(|part| {
                part.trim()
                    .parse()
                    .ok()
                    .filter(|number| (0.0..1e6).contains(number))
            })
            .collect::<Option<Vec<f64>>>()?;
        let [input, cached, output] = numbers.try_into().ok()?;
        Some(Self {
            input,
            cached,
            output,
        })
    }
}

/// The caps on a run. An absent cap means that there is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Caps {
    /// The cap `budget.tokens` on the tokens that agents of all roles read and write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// The cap `budget.usd` on the cost of the agents of all roles, in US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
    /// The cap `budget.ci_usd`, which stands in for other caps in dollars where nobody can confirm the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ci_usd: Option<f64>,
    /// The cap `budget.month_usd` on the cost of all runs of the user in a calendar month (UTC).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub month_usd: Option<f64>,
    /// The cap `budget.request_usd` on the cost of all runs that review the same pull request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_usd: Option<f64>,
    /// The cap `budget.calls` on the calls of agents, including retries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<u64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Spent {
    /// The number of agent calls, including retries and calls in progress.
    pub calls: u64,
    pub usage: Usage,
}

impl Spent {
    /// Counts a call that ended, with its retries.
    pub fn add(&mut self, usage: Usage, retries: u32) {
        self.calls += u64::from(retries) + 1;
        self.usage = self.usage.plus(usage);
    }
}

/// The known cost of several runs, in US dollars. A cost is `None` if no cap depends on it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SpentByRuns {
    /// The cost of all runs of the user in this month.
    pub month_usd: Option<f64>,
    /// The cost of all runs that review the same pull request.
    pub request_usd: Option<f64>,
}

impl Spent {
    /// The number of tokens that agents read and wrote, or `None` if no agent reported tokens.
    pub fn tokens(&self) -> Option<u64> {
        let Usage {
            input_tokens,
            output_tokens,
            ..
        } = self.usage;
        [input_tokens, output_tokens]
            .into_iter()
            .flatten()
            .reduce(u64::saturating_add)
    }
}

/// The data that a program reported about a call, apart from the answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallMetadata {
    /// The id of the session, which a later call can resume.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The names of refused tools, without duplicates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<String>,
    /// What the agent read, as the program's trace names it; absent if the program gives no trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reads: Option<Vec<TracedRead>>,
    /// The backup agent that answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<AgentName>,
    /// The reason why the backup agent was called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instead: Option<String>,
    #[serde(default, skip_serializing_if = "crate::domain::is_default")]
    pub retries: u32,
}
