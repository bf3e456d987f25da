//! The gaps of a review: the failures of agents, the files that were not reviewed, and what a project loosens. All texts are escaped for
//! display.

use crate::cli::report::formats::entry::{AlertLevel, line};
use glee_model::domain::{ExitReason, Outcome, ReviewerReport};

pub(crate) struct Gap<'a> {
    pub(crate) level: AlertLevel,
    pub(crate) text: String,
    /// The file that was not reviewed.
    pub(crate) file: Option<&'a str>,
}

/// Whether the review is complete. If a review failed or was interrupted, its findings are possibly incomplete.
pub(crate) fn is_conclusive(outcome: &Outcome) -> bool {
    matches!(
        outcome.exit,
        ExitReason::Clean | ExitReason::FindingsOpen | ExitReason::DisputeOpen
    )
}

/// All gaps. What the project loosens about its own review comes first.
pub(crate) fn all(outcome: &Outcome) -> Vec<Gap<'_>> {
    let loosening = outcome.loosening().map(|text| Gap {
        level: AlertLevel::Warning,
        text: line(&text),
        file: None,
    });
    loosening.into_iter().chain(unreviewed(outcome)).collect()
}

pub(crate) fn unreviewed(outcome: &Outcome) -> Vec<Gap<'_>> {
    let mut gaps = Vec::new();
    let mut add = |level, text, file| gaps.push(Gap { level, text, file });
    for failure in &outcome.failures {
        let hint = failure
            .hint
            .as_deref()
            .map(|hint| format!(" ({})", line(hint)))
            .unwrap_or_default();
        let agent = line(&failure.agent.0);
        let error = line(&failure.error);
        add(
            AlertLevel::Error,
            format!("the {} {agent} failed: {error}{hint}", failure.role),
            None,
        );
    }
    for reviewer in outcome
        .proof
        .reviewers
        .iter()
        .filter(|reviewer| !is_complete(reviewer))
    {
        let problems = reviewer
            .problems
            .iter()
            .map(|problem| line(&problem.problem));
        let problems: Vec<String> = reviewer.failure.iter().map(line).chain(problems).collect();
        let why = if problems.is_empty() {
            String::new()
        } else {
            format!(": {}", problems.join("; "))
        };
        add(
            AlertLevel::Error,
            format!(
                "the reviewer {} did not answer completely{why}",
                line(&reviewer.name.0)
            ),
            None,
        );
    }
    for unread in &outcome.proof.unread {
        let text = format!(
            "{} was not reviewed: no rules for {}",
            line(&unread.file),
            line(&unread.language)
        );
        add(AlertLevel::Warning, text, Some(unread.file.as_str()));
    }
    for skip in outcome
        .proof
        .skipped
        .iter()
        .filter(|skip| skip.reason.is_unread() || skip.reason.is_by_rule())
    {
        let text = format!(
            "{} was not reviewed{}: {}",
            line(&skip.file),
            if skip.reason.is_by_rule() {
                " by rule"
            } else {
                ""
            },
            skip.reason.as_str()
        );
        add(AlertLevel::Warning, text, Some(skip.file.as_str()));
    }
    gaps
}

/// What the reviewers say beside their findings, each after its name.
pub(crate) fn said(outcome: &Outcome) -> impl Iterator<Item = (String, String)> {
    let reviewers = outcome.proof.reviewers.iter();
    reviewers
        .filter(|reviewer| !reviewer.said.is_blank())
        .map(|reviewer| (line(&reviewer.name.0), line(&reviewer.said.trimmed())))
}

pub(crate) fn is_complete(reviewer: &ReviewerReport) -> bool {
    reviewer.status.is_complete() && reviewer.failure.is_none()
}
