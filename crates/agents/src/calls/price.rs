//! Estimates the cost of a call if the program does not report a cost. The price of a model comes from
//! `agents.<name>.price` or from a list of known models.

use glee_model::domain::{Agent, Price, Usage};

/// Maps model names without a date suffix to the vendors' list prices of December 2025, in dollars per million
/// tokens.
const PRICES: [(&str, Price); 10] = [
    (
        "gpt-5",
        Price {
            input: 1.25,
            cached: 0.125,
            output: 10.0,
        },
    ),
    (
        "gpt-5-codex",
        Price {
            input: 1.25,
            cached: 0.125,
            output: 10.0,
        },
    ),
    (
        "gpt-5-mini",
        Price {
            input: 0.25,
            cached: 0.025,
            output: 2.0,
        },
    ),
    (
        "gpt-5-nano",
        Price {
            input: 0.05,
            cached: 0.005,
            output: 0.4,
        },
    ),
    (
        "gpt-5.1",
        Price {
            input: 1.25,
            cached: 0.125,
            output: 10.0,
        },
    ),
    (
        "gpt-5.1-codex",
        Price {
            input: 1.25,
            cached: 0.125,
            output: 10.0,
        },
    ),
    (
        "gpt-5.2",
        Price {
            input: 1.75,
            cached: 0.175,
            output: 14.0,
        },
    ),
    (
        "gemini-2.5-pro",
        Price {
            input: 1.25,
            cached: 0.125,
            output: 10.0,
        },
    ),
    (
        "gemini-2.5-flash",
        Price {
            input: 0.3,
            cached: 0.03,
            output: 2.5,
        },
    ),
    (
        "gemini-2.5-flash-lite",
        Price {
            input: 0.1,
            cached: 0.01,
            output: 0.4,
        },
    ),
];

pub fn of_agent(agent: &Agent) -> Option<Price> {
    agent.price.or_else(|| listed(agent.model.as_deref()?))
}

pub fn estimate(usage: Usage, model: Option<&str>, own: Option<Price>) -> Usage {
    let price = own.or_else(|| listed(model?));
    let (None, Some(price), Some(input), Some(output)) =
        (usage.usd, price, usage.input_tokens, usage.output_tokens)
    else {
        return usage;
    };
    let cached = usage.cached_tokens.unwrap_or(0).min(input);
    let usd = (input - cached) as f64 * price.input
        + cached as f64 * price.cached
        + output as f64 * price.output;
    Usage {
        usd: Some(usd / 1e6),
        estimated: true,
        ..usage
    }
}

fn listed(model: &str) -> Option<Price> {
    PRICES
        .iter()
        .find(|(name, _)| {
            model.strip_prefix(name).is_some_and(|rest| {
                rest.is_empty()
                    || rest
                        .strip_prefix('-')
                        .is_some_and(|rest| rest.starts_with("20"))
            })
        })
        .map(|(_, price)| *price)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_listed_model_or_an_own_price_gives_an_estimate() {
        let usage = Usage {
            input_tokens: Some(1_000_000),
            cached_tokens: Some(600_000),
            output_tokens: Some(100_000),
            ..Usage::default()
        };
        let estimated = |usd| Usage {
            usd: Some(usd),
            estimated: true,
            ..usage
        };
        let own = Price {
            input: 1.0,
            cached: 0.5,
            output: 2.0,
        };
        assert_eq!(estimate(usage, Some("gpt-5"), None), estimated(1.575));
        assert_eq!(
            estimate(usage, Some("gpt-5-2025-08-07"), None),
            estimated(1.575)
        );
        assert_eq!(estimate(usage, Some("gpt-5.9"), None), usage);
        assert_eq!(estimate(usage, None, None), usage);
        assert_eq!(estimate(usage, None, Some(own)), estimated(0.9));
        let known = Usage {
            usd: Some(0.25),
            ..usage
        };
        assert_eq!(estimate(known, Some("gpt-5"), Some(own)), known);
        assert_eq!(
            estimate(Usage::default(), Some("gpt-5"), None),
            Usage::default()
        );
    }
}
