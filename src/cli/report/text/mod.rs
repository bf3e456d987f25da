//! The report for people: findings by file, what was changed, disputes, who reviewed, the counts, what to do next.
//!
//! What blocks is shown in full, what does not in one line each; what was not reviewed is never left out. Every text
//! of others goes through `protocol::printable`.

mod changes;
mod disputes;
mod findings;
pub(crate) mod layout;
mod reviewers;
mod summary;

use crate::cli::report::options::RenderOptions;
use crate::cli::style::Style;
use crate::domain::{AnswerStatus, ExitReason, Outcome};

#[cfg(test)]
use crate::cli::report::options::Detail;
#[cfg(test)]
use crate::domain::AgentName;
#[cfg(test)]
use crate::protocol::text::printable;

/// Wider lines are hard to read.
const WIDEST: usize = 110;

pub(crate) fn render(outcome: &Outcome, options: &RenderOptions<'_>) -> String {
    let look = Style { width: options.look.width.min(WIDEST), ..options.look };
    let options = RenderOptions { look, ..*options };
    if is_plainly_clean(outcome) {
        return summary::clean(look, outcome);
    }
    let sections = [
        findings::section(outcome, &options),
        changes::section(outcome, &options),
        disputes::section(outcome, &options),
        reviewers::section(outcome, &options),
        summary::section(look, outcome),
        summary::next(outcome, &options),
    ];
    sections.into_iter().filter(|section| !section.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Whether two lines say everything.
fn is_plainly_clean(outcome: &Outcome) -> bool {
    outcome.exit == ExitReason::Clean
        && outcome.findings.is_empty()
        && outcome.disputes.is_empty()
        && outcome.changes.is_empty()
        && outcome.no_longer_raised.is_empty()
        && outcome.failures.is_empty()
        && outcome.notices.is_empty()
        && outcome.proof.skipped.is_empty()
        && outcome.proof.reviewers.iter().all(|reviewer| reviewer.status == AnswerStatus::Clean)
}

#[cfg(test)]
mod tests;
