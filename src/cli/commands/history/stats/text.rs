//! Formats statistics as text: one block for each reviewer, judge, model or category, with plots if the lines
//! have enough columns.

use std::fmt::Write as _;

use crate::cli::style::{self, Style, count, thousands};
use glee_model::rules::interval::Share;
use glee_model::rules::measures::{Measures, PairAgreement, ReviewStatistics};
use glee_protocol::text::printable;

/// The maximum number of entries that a list shows, for example in the list of reviewers. The option `--json`
/// prints all entries.
const MOST: usize = 20;

/// The maximum width of a name, in columns.
const NAME: usize = 40;
/// The width of the label of a measure, in columns.
const LABEL: usize = 13;

/// The minimum and the maximum width of a plot, in columns.
const PLOT: (usize, usize) = (10, 30);

pub(crate) fn statistics(style: Style, found: &ReviewStatistics) -> String {
    let mut out = String::new();
    if let Some(nothing) = nothing(found) {
        return nothing;
    }
    let title = format!("All findings{}", since(found));
    block(&mut out, style, &title, &found.all);
    let lists = [
        ("Reviewer", &found.reviewers),
        ("Judge", &found.judges),
        ("Model of reviewers", &found.models),
        ("Model of judges", &found.judge_models),
        ("Comparisons by", &found.comparisons),
        ("Category", &found.categories),
        ("Weakness", &found.weaknesses),
    ];
    for (what, list) in lists {
        let Some(list) = list else { continue };
        for measures in list.iter().take(MOST) {
            let name = style.cut(&printable::line(&measures.name), NAME);
            out.push('\n');
            block(&mut out, style, &format!("{what} {name}"), measures);
        }
        if list.len() > MOST {
            out.push('\n');
            more(&mut out, style, "", list.len());
        }
    }
    agreements(
        &mut out,
        style,
        "Agreement of reviewers",
        found.reviewer_agreement.as_deref(),
    );
    agreements(
        &mut out,
        style,
        "Agreement of judges",
        found.judge_agreement.as_deref(),
    );
    out
}

/// The first day of the statistics, as in ` since 2026-11-01`, or nothing.
pub(crate) fn since(found: &ReviewStatistics) -> String {
    let since = found.since.as_ref();
    since.map_or_else(String::new, |day| format!(" since {day}"))
}

/// Returns a message if the history contains neither findings nor calls, and otherwise `None`.
pub(crate) fn nothing(found: &ReviewStatistics) -> Option<String> {
    let since = since(found);
    (found.all.raised == 0 && found.all.calls == 0)
        .then(|| format!("No finding is recorded{since}. Start a review with `glee review`.\n"))
}

fn block(out: &mut String, style: Style, title: &str, measures: &Measures) {
    let _ = writeln!(out, "{}", style.strong(title));
    let Measures {
        raised,
        held,
        calls,
        unpriced_calls,
        millis,
        input_tokens,
        output_tokens,
        ..
    } = *measures;
    if raised > 0 {
        row(out, style, "raised", &thousands(raised));
    }
    let before = [
        ("seen by one", measures.alone),
        ("disputed", measures.disputed),
    ];
    let decisions = [
        ("upheld", measures.upheld),
        ("dismissed", measures.dismissed),
        ("overturned", measures.overturned),
        ("person agreed", measures.agreed_with_person),
        ("audit agreed", measures.confirmed_by_audit),
        ("fixed", measures.fixed),
        ("reverted", measures.reverted),
        ("shown by test", measures.demonstrated),
        ("fixed by test", measures.fixed_by_test),
        ("yet dismissed", measures.dismissed_despite_test),
    ];
    let widths = widths(before.iter().chain(&decisions).map(|(_, share)| *share));
    before
        .iter()
        .for_each(|(label, share)| plotted(out, style, widths, label, *share));
    if held > 0 {
        row(out, style, "undecided", &thousands(held));
    }
    decisions
        .iter()
        .for_each(|(label, share)| plotted(out, style, widths, label, *share));
    if calls == 0 {
        return;
    }
    row(
        out,
        style,
        "time",
        &format!("{} in {}", style::duration(millis), count(calls, "call")),
    );
    if input_tokens + output_tokens > 0 {
        let tokens = format!(
            "{} read, {} written",
            thousands(input_tokens),
            thousands(output_tokens)
        );
        row(out, style, "tokens", &tokens);
    }
    let cost = match measures.usd {
        None => "unknown".to_owned(),
        Some(usd) if unpriced_calls == 0 => dollars(usd),
        Some(usd) => format!(
            "{}, and {} of unknown cost",
            dollars(usd),
            count(unpriced_calls, "call")
        ),
    };
    row(out, style, "cost", &cost);
    if let Some(usd) = measures.usd_per_upheld {
        row(out, style, "cost/upheld", &dollars(usd));
    }
}

fn row(out: &mut String, style: Style, label: &str, text: &str) {
    let head = format!("  {}  ", style::pad(label, LABEL));
    style::wrapped(out, style, &head, text);
}

pub(super) fn counts(share: Share) -> String {
    format!("{} of {}", thousands(share.count), thousands(share.of))
}

pub(crate) fn interval(share: Share) -> Option<String> {
    let (rate, low, high) = values(share)?;
    Some(format!(
        "{:.1}% ({:.1} to {:.1})",
        rate * 100.0,
        low * 100.0,
        high * 100.0
    ))
}

/// The widths of the columns with the counts and the intervals.
fn widths(shares: impl Iterator<Item = Share> + Clone) -> (usize, usize) {
    let shares = shares.filter(|share| share.of > 0);
    (
        style::widest(shares.clone().map(counts)),
        style::widest(shares.filter_map(interval)),
    )
}

/// Appends one line about a share: the label, the counts, the confidence interval and the bar. Appends nothing if
/// the denominator is zero.
fn plotted(out: &mut String, style: Style, widths: (usize, usize), label: &str, share: Share) {
    let Some(interval) = interval(share) else {
        return;
    };
    let counts = counts(share);
    let line = format!(
        "  {}  {}  {}",
        style::pad(label, LABEL),
        style::pad(&counts, widths.0),
        style::pad(&interval, widths.1)
    );
    let free = style.width.saturating_sub(style::columns(&line) + 3);
    let line = match plot(style, share, free.min(PLOT.1)) {
        Some(plot) => format!("{line}  {plot}"),
        None if style::columns(line.trim_end()) < style.width => line,
        None => format!("  {label}\n    {counts}\n    {interval}"),
    };
    let _ = writeln!(out, "{}", line.trim_end());
}

fn agreements(out: &mut String, style: Style, title: &str, pairs: Option<&[PairAgreement]>) {
    let Some(pairs) = pairs.filter(|pairs| !pairs.is_empty()) else {
        return;
    };
    let _ = writeln!(out, "\n{}", style.strong(title));
    let widths = widths(pairs.iter().take(MOST).map(|pair| pair.agreed));
    for PairAgreement {
        between: [one, other],
        agreed,
    } in pairs.iter().take(MOST)
    {
        let names = format!("  {}, {}", printable::line(one), printable::line(other));
        let _ = writeln!(out, "{}", style.cut(&names, style.width.saturating_sub(1)));
        plotted(out, style, widths, "  agreed", *agreed);
    }
    if pairs.len() > MOST {
        more(out, style, "  ", pairs.len());
    }
}

/// Appends how many of `all` entries are not shown.
fn more(out: &mut String, style: Style, indent: &str, all: usize) {
    let more = thousands((all - MOST) as u64);
    let line = style.faint(format!("{indent}and {more} more: `glee stats --json`"));
    let _ = writeln!(out, "{line}");
}

fn values(share: Share) -> Option<(f64, f64, f64)> {
    Some((share.rate?, share.low?, share.high?))
}

/// Draws a share as a bar with three shades. The dark part ends at the lower bound of the confidence interval,
/// the medium part ends at the rate, and the light part ends at the upper bound. Returns `None` if `width` is
/// too small.
fn plot(style: Style, share: Share, width: usize) -> Option<String> {
    if width < PLOT.0 {
        return None;
    }
    let (rate, low, high) = values(share)?;
    let [sure, likely, possible, none] = if style.unicode {
        ['█', '▓', '░', '·']
    } else {
        ['#', '=', '-', '.']
    };
    #[expect(clippy::cast_precision_loss, reason = "a bar has few columns")]
    let middle = |column: usize| (column as f64 + 0.5) / width as f64;
    Some(
        (0..width)
            .map(|column| match middle(column) {
                at if at <= low => sure,
                at if at <= rate => likely,
                at if at <= high => possible,
                _ => none,
            })
            .collect(),
    )
}

fn dollars(usd: f64) -> String {
    if usd > 0.0 && usd < 0.01 {
        format!("${usd:.4}")
    } else {
        format!("${usd:.2}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glee_model::domain::FindingTally;

    fn sample() -> ReviewStatistics {
        let tally = FindingTally {
            raised: 40,
            shared: 30,
            alone: 12,
            disputed: 20,
            upheld: 9,
            dismissed: 6,
            judged: 15,
            checked: 4,
            overturned: 1,
            fixed: 25,
            reverted: 2,
            audited: 5,
            confirmed: 4,
            demonstrated: 8,
            proven: 6,
            outruled: 1,
            calls: 12,
            unpriced: 2,
            millis: 185_000,
            input_tokens: 1_234_567,
            output_tokens: 8_900,
            micros: 4_500_000,
        };
        let pair = PairAgreement {
            between: ["ada".to_owned(), "b\u{1b}[2Job".to_owned()],
            agreed: Share::new(18, 30),
        };
        ReviewStatistics {
            schema: 1,
            since: Some("2026-11-01".to_owned()),
            all: Measures::of(String::new(), &tally),
            reviewers: Some(vec![Measures::of("a\u{1b}[2Jda".to_owned(), &tally)]),
            reviewer_agreement: Some(vec![pair]),
            ..ReviewStatistics::default()
        }
    }

    #[test]
    fn shares_have_denominators_intervals_and_plots_where_they_fit() {
        let at = |width, unicode| {
            statistics(
                Style {
                    color: false,
                    unicode,
                    width,
                },
                &sample(),
            )
        };
        for width in [30, 50, 80, 120] {
            for line in at(width, true).lines() {
                assert!(style::columns(line) <= width, "{width}: {line}");
            }
        }
        assert!(at(120, false).is_ascii());
        insta::assert_snapshot!(
            [50, 80, 120].map(|width| at(width, true)).join("\n====\n")
                + "\n====\n"
                + &at(80, false)
        );
    }

    #[test]
    fn a_plot_shows_the_interval() {
        let style = Style {
            color: false,
            unicode: true,
            width: 80,
        };
        assert_eq!(
            plot(style, Share::new(5, 10), 20).as_deref(),
            Some("█████▓▓▓▓▓░░░░░·····")
        );
        assert_eq!(
            plot(style, Share::new(0, 1_000_000), 10).as_deref(),
            Some("··········")
        );
        assert_eq!(
            plot(style, Share::new(1_000_000, 1_000_000), 10).as_deref(),
            Some("██████████")
        );
        assert_eq!(plot(style, Share::new(5, 10), 9), None);
        assert_eq!(plot(style, Share::new(0, 0), 20), None);
    }
}
