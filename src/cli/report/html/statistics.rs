//! The statistics of `glee stats` as tables.

use serde::Serialize;

use crate::cli::style::{dollars, duration, thousands};
use glee_model::rules::interval::Share;
use glee_model::rules::measures::{Measures, PairAgreement, ReviewStatistics};
use glee_protocol::{secrets, text::printable};

#[derive(Debug, Serialize)]
pub(crate) struct StatisticsView {
    /// The first day of the period. The text is empty if the statistics cover the whole history.
    since: String,
    tables: Vec<MeasuresTable>,
    agreements: Vec<AgreementTable>,
}

#[derive(Debug, Serialize)]
struct MeasuresTable {
    title: &'static str,
    rows: Vec<MeasuresRow>,
}

#[derive(Debug, Serialize)]
struct MeasuresRow {
    name: String,
    raised: String,
    /// One share for each column of the table, in the order of the columns.
    shares: Vec<ShareView>,
    held: String,
    calls: String,
    time: String,
    cost: String,
}

#[derive(Debug, Serialize)]
struct AgreementTable {
    title: &'static str,
    rows: Vec<AgreementRow>,
}

#[derive(Debug, Serialize)]
struct AgreementRow {
    between: String,
    agreed: ShareView,
}

/// A share with its denominator and its interval. The rate is empty if the denominator is 0.
#[derive(Debug, Serialize)]
struct ShareView {
    rate: String,
    detail: String,
}

impl StatisticsView {
    pub(crate) fn of(found: &ReviewStatistics) -> Self {
        let lists = [
            ("Reviewers", found.reviewers.as_deref()),
            ("Judges", found.judges.as_deref()),
            ("Models of reviewers", found.models.as_deref()),
            ("Models of judges", found.judge_models.as_deref()),
            ("Comparisons", found.comparisons.as_deref()),
            ("Categories", found.categories.as_deref()),
            ("Weaknesses", found.weaknesses.as_deref()),
        ];
        let all = MeasuresTable {
            title: "All findings",
            rows: vec![MeasuresRow::of(&found.all)],
        };
        let tables = lists.into_iter().filter_map(|(title, rows)| {
            let rows: Vec<MeasuresRow> = rows?.iter().map(MeasuresRow::of).collect();
            (!rows.is_empty()).then_some(MeasuresTable { title, rows })
        });
        let pairs = [
            (
                "Agreement of reviewers",
                found.reviewer_agreement.as_deref(),
            ),
            ("Agreement of judges", found.judge_agreement.as_deref()),
        ];
        let agreements = pairs.into_iter().filter_map(|(title, pairs)| {
            let rows: Vec<AgreementRow> = pairs?.iter().map(AgreementRow::of).collect();
            (!rows.is_empty()).then_some(AgreementTable { title, rows })
        });
        let since = found.since.clone().unwrap_or_default();
        Self {
            since,
            tables: std::iter::once(all).chain(tables).collect(),
            agreements: agreements.collect(),
        }
    }
}

impl MeasuresRow {
    fn of(measures: &Measures) -> Self {
        let shares = [
            &measures.disputed,
            &measures.upheld,
            &measures.dismissed,
            &measures.overturned,
            &measures.fixed,
            &measures.reverted,
            &measures.alone,
        ];
        let unpriced = if measures.unpriced_calls > 0 {
            " or more"
        } else {
            ""
        };
        Self {
            name: line(&measures.name),
            raised: thousands(measures.raised),
            shares: shares.into_iter().map(ShareView::of).collect(),
            held: thousands(measures.held),
            calls: thousands(measures.calls),
            time: duration(measures.millis),
            cost: measures
                .usd
                .map(|usd| format!("{}{unpriced}", dollars(usd)))
                .unwrap_or_default(),
        }
    }
}

impl AgreementRow {
    fn of(pair: &PairAgreement) -> Self {
        let [one, other] = &pair.between;
        Self {
            between: line(&format!("{one} and {other}")),
            agreed: ShareView::of(&pair.agreed),
        }
    }
}

impl ShareView {
    fn of(share: &Share) -> Self {
        let percent = |rate: f64| format!("{:.0}", rate * 100.0);
        let interval = share.low.zip(share.high);
        Self {
            rate: share
                .rate
                .map(|rate| format!("{}%", percent(rate)))
                .unwrap_or_default(),
            detail: interval.map_or_else(String::new, |(low, high)| {
                format!(
                    "{} of {}, {} to {}%",
                    thousands(share.count),
                    thousands(share.of),
                    percent(low),
                    percent(high)
                )
            }),
        }
    }
}

fn line(text: &str) -> String {
    secrets::redact(&printable::line(text)).into_owned()
}
