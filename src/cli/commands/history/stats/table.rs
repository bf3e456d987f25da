//! Formats statistics as a table that fits on a screen of 80 columns and 24 rows.

use super::text::{counts, nothing, since};
use crate::cli::style::{self, Style, count, thousands};
use glee_model::rules::interval::Share;
use glee_model::rules::measures::{CallSums, Measures, ReviewStatistics};
use glee_protocol::text::printable;

/// The maximum number of rows of the lists of reviewers, judges, categories and weaknesses.
const MOST: [usize; 4] = [4, 2, 2, 2];

/// The minimum width of a name, in columns.
const NAME: usize = 12;

/// The maximum width of the name of an agent in the table of calls, in columns.
const NAME_OF_CALLS: usize = 24;

pub(crate) fn statistics(style: Style, found: &ReviewStatistics) -> String {
    if let Some(nothing) = nothing(found) {
        return nothing;
    }
    let all = &found.all;
    let since = since(found);
    let mut lines = vec![
        style.strong(format!(
            "{}{since}: {} fixed",
            count(all.raised, "finding"),
            thousands(all.fixed.count)
        )),
        format!(
            "{}: {} upheld, {} dismissed, {} undecided",
            count(all.disputed.count, "dispute"),
            thousands(all.upheld.count),
            thousands(all.dismissed.count),
            thousands(all.held)
        ),
        format!(
            "{} in {}, {}{}",
            count(all.calls, "call"),
            style::duration(all.millis),
            cost(all.usd, all.unpriced_calls),
            comparisons(found)
        ),
    ];
    let lists = [
        ("Reviewers", &found.reviewers),
        ("Judges", &found.judges),
        ("Categories", &found.categories),
        ("Weaknesses", &found.weaknesses),
    ];
    for ((title, list), most) in lists.into_iter().zip(MOST) {
        let Some(list) = list.as_deref().filter(|list| !list.is_empty()) else {
            continue;
        };
        lines.push(String::new());
        let title = if list.len() > most {
            format!("{title} ({most} of {})", thousands(list.len() as u64))
        } else {
            title.to_owned()
        };
        let heads = if title.starts_with("Judges") {
            JUDGE
        } else {
            REVIEWER
        };
        let mut rows: Vec<[String; 5]> = vec![heads.map(str::to_owned)];
        rows[0][0] = title;
        rows.extend(
            list.iter()
                .take(most)
                .map(|measures| row(measures, heads == JUDGE)),
        );
        // The column with the names gets the width that the columns with numbers leave free.
        let numbers: usize = (1..5)
            .map(|column| 2 + style::widest(rows.iter().map(|row| &row[column])))
            .sum();
        let room = style.width.saturating_sub(numbers).max(NAME);
        rows.iter_mut()
            .for_each(|row| row[0] = style.cut(&row[0], room));
        let mut rows = style::table::table(&rows, &[1]).into_iter();
        lines.push(style.strong(rows.next().unwrap_or_default()));
        lines.extend(rows);
    }
    lines.push(String::new());
    lines.push(style.faint("UPHELD: of those ruled on. More: `glee stats -v`"));
    lines
        .iter()
        .map(|line| style.cut(line, style.width) + "\n")
        .collect()
}

const REVIEWER: [&str; 5] = ["", "RAISED", "UPHELD", "FIXED", "COST"];
const JUDGE: [&str; 5] = ["", "RULED", "UPHELD", "OVERTURNED", "COST"];

fn row(measures: &Measures, is_judge: bool) -> [String; 5] {
    [
        format!("  {}", printable::line(&measures.name)),
        thousands(measures.raised),
        share(measures.upheld),
        share(if is_judge {
            measures.overturned
        } else {
            measures.fixed
        }),
        if measures.calls == 0 {
            String::new()
        } else {
            cost(measures.usd, measures.unpriced_calls)
        },
    ]
}

/// Formats a share, for example as `9 of 15`.
fn share(share: Share) -> String {
    match share.of {
        0 => "-".to_owned(),
        _ => counts(share),
    }
}

/// How many of all calls compared findings, and their tokens if the programs report tokens.
fn comparisons(found: &ReviewStatistics) -> String {
    let mut calls = 0;
    let mut tokens = 0;
    for agent in found.comparisons.iter().flatten() {
        calls += agent.calls;
        tokens += agent.input_tokens + agent.output_tokens;
    }
    match (calls, tokens) {
        (0, _) => String::new(),
        (_, 0) => format!("; {} to compare findings", count(calls, "call")),
        _ => format!(
            "; {} to compare findings, {}",
            count(calls, "call"),
            count(tokens, "token")
        ),
    }
}

/// Formats the cost, or states that it is unknown.
fn cost(usd: Option<f64>, unpriced_calls: u64) -> String {
    style::cost(usd, unpriced_calls).unwrap_or_else(|| "cost unknown".to_owned())
}

/// Formats what the calls of each day, week, month, agent or role used.
pub(crate) fn calls(style: Style, sums: &[CallSums]) -> String {
    if sums.is_empty() {
        return "No call is recorded. Start a review with `glee review`.\n".to_owned();
    }
    let tokens = |number: Option<u64>| number.map_or_else(|| "-".to_owned(), thousands);
    let mut rows = vec![["", "CALLS", "TIME", "READ", "WRITTEN", "COST"].map(str::to_owned)];
    rows.extend(sums.iter().map(|sums| {
        [
            style.cut(&printable::line(&sums.name), NAME_OF_CALLS),
            thousands(sums.calls),
            style::duration(sums.millis),
            tokens(sums.input_tokens),
            tokens(sums.output_tokens),
            style::cost(sums.usd, sums.unpriced_calls).unwrap_or_else(|| "-".to_owned()),
        ]
    }));
    let mut lines = style::table::table(&rows, &[1, 2, 3, 4, 5]).into_iter();
    let head = style.strong(lines.next().unwrap_or_default());
    let unpriced = sums.iter().map(|sums| sums.unpriced_calls).sum::<u64>();
    let note = (unpriced > 0).then(|| {
        style.faint(format!(
            "The cost of {} is unknown, and no part of the sums.",
            count(unpriced, "call")
        ))
    });
    std::iter::once(head)
        .chain(lines)
        .chain(note)
        .map(|line| style.cut(&line, style.width) + "\n")
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use glee_model::domain::FindingTally;

    #[test]
    fn the_table_fits_on_a_small_screen() {
        let tally = FindingTally {
            raised: 12_345,
            disputed: 4_567,
            upheld: 2_345,
            dismissed: 1_234,
            judged: 3_579,
            overturned: 45,
            fixed: 6_789,
            calls: 999,
            unpriced: 1,
            input_tokens: 67_890,
            micros: 1_234_567_890,
            ..FindingTally::default()
        };
        let list = |what: &str, number: usize| {
            Some(
                (0..number)
                    .map(|at| Measures::of(format!("{what} with a long name {at}"), &tally))
                    .collect(),
            )
        };
        let found = ReviewStatistics {
            all: Measures::of(String::new(), &tally),
            reviewers: list("a\u{1b}[2J", 30),
            judges: list("judge", 9),
            comparisons: list("aggregator", 1),
            categories: list("category", 50),
            weaknesses: list("CWE", 20),
            ..ReviewStatistics::default()
        };
        for width in [40, 80, 200] {
            let text = statistics(
                Style {
                    color: false,
                    unicode: true,
                    width,
                },
                &found,
            );
            // The last row of the screen is needed for the prompt of the shell.
            assert!(text.lines().count() < 24, "{text}");
            assert!(
                text.lines().all(|line| style::columns(line) <= width),
                "{text}"
            );
        }
        let text = statistics(
            Style {
                color: false,
                unicode: true,
                width: 80,
            },
            &found,
        );
        insta::assert_snapshot!(text);
    }
}
