//! The report for people.

use crate::domain::Outcome;

use super::RenderOptions;

/// The whole report.
pub(super) fn render(outcome: &Outcome, options: &RenderOptions<'_>) -> String {
    let _ = options;
    format!("Findings ({})\n", outcome.findings.len())
}
