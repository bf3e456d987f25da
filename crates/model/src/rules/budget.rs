//! Compares the usage of a run with its caps on calls, tokens and cost (`budget.*`).
//!
//! A cap on tokens or cost has an effect only for agent programs that report their usage.

use crate::domain::{Caps, Spent};

/// For each cap that the run has reached, returns the configuration key and a text such as `900 of 800 tokens`.
pub fn reached(caps: &Caps, spent: &Spent) -> Vec<(&'static str, String)> {
    let mut reached = Vec::new();
    if let (Some(cap), Some(used)) = (caps.tokens, spent.tokens())
        && used >= cap
    {
        reached.push(("budget.tokens", format!("{used} of {cap} tokens")));
    }
    if let (Some(cap), Some(used)) = (caps.usd, spent.usage.usd)
        && used >= cap
    {
        reached.push(("budget.usd", format!("${used:.2} of ${cap:.2}")));
    }
    if let Some(cap) = caps.calls
        && spent.calls >= cap
    {
        reached.push((
            "budget.calls",
            format!(
                "{} of {cap} {}",
                spent.calls,
                if cap == 1 { "call" } else { "calls" }
            ),
        ));
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Usage;

    fn spent(calls: u64, input: Option<u64>, output: Option<u64>, usd: Option<f64>) -> Spent {
        Spent {
            calls,
            usage: Usage {
                input_tokens: input,
                output_tokens: output,
                usd,
                ..Usage::default()
            },
        }
    }

    #[test]
    fn the_table_of_caps() {
        let caps = Caps {
            tokens: Some(1000),
            usd: Some(0.5),
            calls: Some(3),
        };
        let none = Caps::default();
        for (caps, spent, expected) in [
            (none, spent(9999, Some(9), Some(9), Some(9.0)), vec![]),
            (caps, spent(0, None, None, None), vec![]),
            (caps, spent(2, Some(900), Some(99), Some(0.49)), vec![]),
            (
                caps,
                spent(2, Some(900), Some(100), None),
                vec!["budget.tokens 1000 of 1000 tokens"],
            ),
            (
                caps,
                spent(2, None, Some(1200), None),
                vec!["budget.tokens 1200 of 1000 tokens"],
            ),
            (
                caps,
                spent(2, None, None, Some(0.5)),
                vec!["budget.usd $0.50 of $0.50"],
            ),
            (
                caps,
                spent(3, None, None, None),
                vec!["budget.calls 3 of 3 calls"],
            ),
            (
                caps,
                spent(4, Some(1), Some(999), Some(2.0)),
                vec![
                    "budget.tokens 1000 of 1000 tokens",
                    "budget.usd $2.00 of $0.50",
                    "budget.calls 4 of 3 calls",
                ],
            ),
        ] {
            let found: Vec<String> = reached(&caps, &spent)
                .into_iter()
                .map(|(key, used)| format!("{key} {used}"))
                .collect();
            assert_eq!(found, expected, "{spent:?}");
        }
    }
}
