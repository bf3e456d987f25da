//! Estimates the cost of a call if the program does not report a cost. The price of a model is
//! `agents.<name>.price`, or else the list price in the data of the crate `genai-prices`.

use genai_prices::{PriceRequest, Usage as Counted, UsageKey};

use glee_model::domain::{Agent, Price, Usage};
use glee_store::config::schema::address::ModelAddress;

/// The average number of bytes per token of English text and code.
const BYTES_A_TOKEN: u64 = 4;

/// The tokens of a text of this size.
pub fn tokens(bytes: u64) -> u64 {
    bytes.div_ceil(BYTES_A_TOKEN)
}

/// The price of an agent's tokens. `told` is the model that the program named in its output, if it named one.
pub fn of_agent(agent: &Agent, told: Option<&str>) -> Option<Price> {
    agent
        .price
        .or_else(|| listed(agent, told.or(agent.model.as_deref())?))
}

/// Adds the cost to the usage of a call, if the price is known and the program reported no cost. Where the program
/// reported no tokens, the bytes of the prompt (`read`) and of the answer (`written`) count.
pub(crate) fn estimate(usage: Usage, price: Option<Price>, read: u64, written: u64) -> Usage {
    let (None, Some(price)) = (usage.usd, price) else {
        return usage;
    };
    let input = usage.input_tokens.unwrap_or_else(|| tokens(read));
    let output = usage.output_tokens.unwrap_or_else(|| tokens(written));
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

/// The list price of a model today.
fn listed(agent: &Agent, model: &str) -> Option<Price> {
    // Some vendors charge more for a long request. The tokens of a session are the sum of many requests, so the price is
    // that of a short one.
    const SHORT: f64 = 1000.0;
    let address = ModelAddress::parse(&agent.command).ok();
    let input = (UsageKey::INPUT_TOKENS, SHORT);
    let cached = (UsageKey::CACHE_READ_TOKENS, SHORT);
    let output = (UsageKey::OUTPUT_TOKENS, SHORT);
    let usages = [vec![input.clone()], vec![input, cached], vec![output]];
    let [input, cached, output] = usages.map(|usage| {
        let usage = Counted::from_iter(usage);
        let request = PriceRequest::new(model, &usage);
        let request = match &address {
            // The same model is free on a server of one's own.
            Some(address) => request.with_provider_api_url(&address.url),
            // In a name such as `anthropic/claude-sonnet-5`, this reads the first part as the vendor.
            None => request.with_provider_id("litellm"),
        };
        let price = genai_prices::calculate(&request).ok()?.total_price;
        Some(price / SHORT * 1e6)
    });
    Some(Price {
        input: input?,
        cached: cached?,
        output: output?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent(command: &str, model: Option<&str>) -> Agent {
        Agent {
            command: vec![command.to_owned()],
            model: model.map(str::to_owned),
            ..Agent::caller()
        }
    }

    /// The prices of input, cached input and output, in the form of `agents.<name>.price`.
    fn price(command: &str, model: &str) -> Option<String> {
        let Price {
            input,
            cached,
            output,
        } = of_agent(&agent(command, Some(model)), None)?;
        Some(
            [input, cached, output]
                .map(|rate| format!("{rate:.3}"))
                .join("/"),
        )
    }

    #[test]
    fn the_name_of_a_model_gives_its_list_price() {
        for (command, model, expected) in [
            ("codex", "gpt-5", Some("1.250/0.125/10.000")),
            ("codex", "gpt-5-2025-08-07", Some("1.250/0.125/10.000")),
            ("opencode", "openai/gpt-5", Some("1.250/0.125/10.000")),
            // The price of a short request, although the sum of a session is large.
            ("gemini", "gemini-2.5-pro", Some("1.250/0.125/10.000")),
            ("openai:", "gpt-5", Some("1.250/0.125/10.000")),
            (
                "https://api.openai.com/v1",
                "gpt-5",
                Some("1.250/0.125/10.000"),
            ),
            ("http://127.0.0.1:8080/v1", "gpt-5", None),
            ("codex", "gpt-999", None),
            ("qwen", "my-model", None),
        ] {
            assert_eq!(
                price(command, model).as_deref(),
                expected,
                "{command} {model}"
            );
        }
    }

    #[test]
    fn the_own_price_precedes_the_list_and_the_program_names_the_model() {
        let own = Price {
            input: 1.0,
            cached: 0.5,
            output: 2.0,
        };
        let silent = agent("codex", None);
        assert_eq!(of_agent(&silent, None), None);
        let listed = of_agent(&silent, Some("gpt-5"));
        assert_eq!(listed, of_agent(&agent("codex", Some("gpt-5")), None));
        assert_eq!(
            listed,
            of_agent(&agent("codex", Some("gpt-5-nano")), Some("gpt-5"))
        );
        let priced = Agent {
            price: Some(own),
            ..silent
        };
        assert_eq!(of_agent(&priced, Some("gpt-5")), Some(own));
    }

    #[test]
    fn a_number_of_tokens_that_is_unknown_is_counted_by_bytes() {
        let price = Some(Price {
            input: 1.0,
            cached: 0.5,
            output: 2.0,
        });
        let usage = Usage {
            input_tokens: Some(1_000_000),
            cached_tokens: Some(600_000),
            output_tokens: Some(100_000),
            ..Usage::default()
        };
        let without_output = Usage {
            output_tokens: None,
            ..usage
        };
        let reported = Usage {
            usd: Some(0.25),
            ..usage
        };
        for (usage, price, expected) in [
            (usage, price, Some(0.9)),
            (without_output, price, Some(0.7 + 0.5)),
            (Usage::default(), price, Some(0.25 + 0.5)),
            (Usage::default(), None, None),
            (usage, None, None),
            (reported, price, Some(0.25)),
        ] {
            let estimated = estimate(usage, price, 1_000_000, 1_000_000);
            let expected = Usage {
                usd: expected,
                estimated: expected.is_some() && usage.usd.is_none(),
                ..usage
            };
            assert_eq!(estimated, expected);
        }
    }
}
