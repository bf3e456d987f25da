//! Compares what runs used with the caps on calls, tokens and cost (`budget.*`).
//!
//! A cap on tokens has an effect only for agent programs that report them, and a cap on cost only for programs that
//! report their cost, or whose price is known.

use crate::domain::{Caps, Spent, SpentByRuns, number_of};

/// The percentages of a month's budget at which the user is told.
const LEVELS: [u32; 3] = [90, 75, 50];

/// For each cap that the run has reached, returns the configuration key and a text such as `900 of 800 tokens`.
pub fn reached(caps: &Caps, spent: &Spent, by_runs: &SpentByRuns) -> Vec<(&'static str, String)> {
    let mut reached = Vec::new();
    if let (Some(cap), Some(used)) = (caps.tokens, spent.tokens())
        && used >= cap
    {
        reached.push(("budget.tokens", format!("{used} of {cap} tokens")));
    }
    for (key, cap, used) in [
        ("budget.usd", caps.usd, spent.usage.usd),
        ("budget.ci_usd", caps.ci_usd, spent.usage.usd),
        ("budget.month_usd", caps.month_usd, by_runs.month_usd),
        ("budget.request_usd", caps.request_usd, by_runs.request_usd),
    ] {
        if let (Some(cap), Some(used)) = (cap, used)
            && used >= cap
        {
            reached.push((key, format!("${used:.2} of ${cap:.2}")));
        }
    }
    if let Some(cap) = caps.calls
        && spent.calls >= cap
    {
        reached.push((
            "budget.calls",
            format!("{} of {}", spent.calls, number_of(cap, "call")),
        ));
    }
    reached
}

/// Returns the highest level, in percent, that the month's cost reached between two moments.
pub fn level_reached(cap: f64, before: f64, now: f64) -> Option<u32> {
    LEVELS.into_iter().find(|level| {
        let most = cap * f64::from(*level) / 100.0;
        before < most && most <= now
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Usage;

    #[test]
    fn each_level_of_a_month_is_reached_once() {
        let costs = [0.0, 9.99, 10.0, 14.0, 17.0, 18.5, 19.9, 20.0, 25.0];
        let levels: Vec<_> = costs
            .windows(2)
            .filter_map(|pair| level_reached(20.0, pair[0], pair[1]))
            .collect();
        assert_eq!(levels, [50, 75, 90]);
        assert_eq!(level_reached(20.0, 0.0, 30.0), Some(90));
    }

    #[test]
    fn a_cap_on_several_runs_counts_what_all_of_them_cost() {
        let caps = Caps {
            month_usd: Some(10.0),
            request_usd: Some(2.0),
            ..Caps::default()
        };
        let by_runs = |month, request| SpentByRuns {
            month_usd: Some(month),
            request_usd: Some(request),
        };
        let keys = |by_runs| {
            let reached = reached(&caps, &spent(0, None, None, None), &by_runs);
            reached.into_iter().map(|(key, _)| key).collect::<Vec<_>>()
        };
        assert_eq!(keys(SpentByRuns::default()), Vec::<&str>::new());
        assert_eq!(keys(by_runs(9.99, 1.99)), Vec::<&str>::new());
        assert_eq!(keys(by_runs(10.0, 1.0)), ["budget.month_usd"]);
        assert_eq!(keys(by_runs(1.0, 2.0)), ["budget.request_usd"]);
    }

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
            ..Caps::default()
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
            let found: Vec<String> = reached(&caps, &spent, &SpentByRuns::default())
                .into_iter()
                .map(|(key, used)| format!("{key} {used}"))
                .collect();
            assert_eq!(found, expected, "{spent:?}");
        }
    }
}
