//! The text report: a screen with a line for each finding, then the open findings in full, and with `Detail::Full`
//! everything. Text from files and agents is escaped by `protocol::text::printable`.

mod changes;
pub(crate) mod disputes;
pub(crate) mod findings;
pub(crate) mod layout;
pub(crate) mod page;
mod reviewers;
mod screen;
pub(crate) mod summary;

use std::collections::BTreeSet;

use self::screen::joined;
use crate::cli::report::options::{Detail, RenderOptions};
use crate::cli::style::{Style, count};
use glee_model::domain::{
    AnswerStatus, DisputeNumber, ExitReason, FindingId, Outcome, SettledFinding,
};
use glee_protocol::text::printable;

/// The maximum width of a line, in columns. Longer lines would be hard to read.
const WIDEST: usize = 110;

pub(crate) fn render(outcome: &Outcome, options: &RenderOptions<'_>) -> String {
    let style = narrowed(options.style);
    let options = RenderOptions { style, ..*options };
    if options.detail == Detail::Verdict {
        let (shown, hidden) = filtered(outcome, &options);
        return summary::caveats(style, outcome)
            + &findings::open(&shown, &options)
            + &hidden
            + &summary::verdict(style, outcome);
    }
    if outcome.nothing_to_review().is_some() {
        let sections = [
            summary::caveats(style, outcome) + &summary::verdict(style, outcome),
            summary::next(outcome, &options),
        ];
        return sections.join("\n").trim_end().to_owned() + "\n";
    }
    if is_plainly_clean(outcome) {
        return summary::caveats(style, outcome) + &summary::clean(style, outcome);
    }
    let (shown, hidden) = filtered(outcome, &options);
    let in_full = if options.detail == Detail::Full {
        joined(&[
            &findings::section(&shown, &options),
            &changes::section(outcome, style),
            &disputes::section(&shown, &options),
        ])
    } else {
        let open = only_open(&shown);
        joined(&[
            &findings::section(&open, &options),
            &disputes::section(&open, &options),
        ])
    };
    screen::render(outcome, &shown, &hidden, &in_full, &options)
}

/// A copy of the outcome with the open findings, their disputes, and the open disputes only.
fn only_open(outcome: &Outcome) -> Outcome {
    let groups = outcome.groups();
    let open = groups.filter(|group| SettledFinding::leading(group).is_open());
    let findings: Vec<SettledFinding> = open.flatten().cloned().collect();
    let disputes = outcome.disputes.iter().filter(|dispute| {
        let mut findings = findings.iter();
        dispute.is_open() || findings.any(|finding| dispute.is_about(finding.finding.id))
    });
    Outcome {
        disputes: disputes.cloned().collect(),
        findings,
        ..outcome.clone()
    }
}

fn narrowed(style: Style) -> Style {
    Style {
        width: style.width.min(WIDEST),
        ..style
    }
}

/// Returns a copy of the outcome without hidden findings and disputes. The second returned value is a line about
/// the number of findings and disputes that the filter hides. The line is empty if the filter hides nothing.
fn filtered(outcome: &Outcome, options: &RenderOptions<'_>) -> (Outcome, String) {
    let mut shown = outcome.clone();
    shown
        .findings
        .retain(|finding| options.shows(finding.finding.id));
    let Some(filter) = options
        .text
        .filter
        .filter(|filter| !filter.flags().is_empty())
    else {
        return (shown, String::new());
    };
    let before = (shown.findings.len(), shown.disputes.len());
    shown.findings.retain(|finding| filter.shows(finding));
    shown
        .disputes
        .retain(|dispute| filter.shows_dispute(dispute));
    let hidden = [
        (before.0 - shown.findings.len(), "finding"),
        (before.1 - shown.disputes.len(), "dispute"),
    ];
    let hidden: Vec<String> = hidden
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, noun)| count(number, noun))
        .collect();
    let line = match hidden.as_slice() {
        [] => String::new(),
        hidden => {
            let line = format!(
                "Hidden by {}: {}",
                filter.flags().join(" and "),
                hidden.join(", ")
            );
            options.style.faint(line) + "\n"
        }
    };
    (shown, line)
}

/// Returns the conclusion in one line, without colours.
pub(crate) fn conclusion(outcome: &Outcome) -> String {
    printable::line(&summary::conclusion(outcome).1)
}

/// Formats the findings that an id addresses with their whole texts and their disputes. Returns `None` if the outcome
/// does not contain such a finding.
pub(crate) fn finding(
    outcome: &Outcome,
    id: FindingId,
    options: &RenderOptions<'_>,
) -> Option<String> {
    let style = narrowed(options.style);
    let options = RenderOptions {
        style,
        detail: Detail::Full,
        ..*options
    };
    let findings: Vec<SettledFinding> = outcome.addressed(id).cloned().collect();
    findings.first()?;
    let disputed: BTreeSet<DisputeNumber> = findings
        .iter()
        .filter_map(|finding| Some(outcome.dispute_of(finding)?.number))
        .collect();
    let disputes = outcome.disputes.iter();
    let outcome = Outcome {
        findings,
        disputes: disputes
            .filter(|dispute| disputed.contains(&dispute.number))
            .cloned()
            .collect(),
        ..outcome.clone()
    };
    let sections = [
        findings::section(&outcome, &options),
        disputes::section(&outcome, &options),
    ];
    Some(joined(&sections.each_ref().map(String::as_str)))
}

fn is_plainly_clean(outcome: &Outcome) -> bool {
    outcome.exit == ExitReason::Clean
        && outcome.findings.is_empty()
        && outcome.hidden_older == 0
        && outcome.disputes.is_empty()
        && outcome.changes.is_empty()
        && outcome.no_longer_raised.is_empty()
        && outcome.failures.is_empty()
        && outcome.notices.is_empty()
        && outcome.proof.skipped.is_empty()
        && outcome.proof.unread.is_empty()
        && outcome
            .proof
            .reviewers
            .iter()
            .all(|reviewer| reviewer.status == AnswerStatus::Clean)
}

#[cfg(test)]
mod tests;
