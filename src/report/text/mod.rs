//! The report for people: findings by file, what was changed, disputes, who reviewed, the counts, what to do next.
//!
//! What blocks is shown in full, what does not in one line each; what was not reviewed is never left out. Every text
//! of others goes through `protocol::printable`.

mod changes;
mod disputes;
mod findings;
mod reviewers;
mod summary;

use crate::domain::{AgentName, AnswerStatus, ExitReason, Outcome};
use crate::draw::{self, Look, Tone};
use crate::protocol::printable;

use super::{Detail, RenderOptions};

/// Wider lines are hard to read.
const WIDEST: usize = 110;

pub(super) fn render(outcome: &Outcome, options: &RenderOptions<'_>) -> String {
    let look = Look { width: options.look.width.min(WIDEST), ..options.look };
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

/// The heading of a section: a title and what belongs to it.
fn heading(look: Look, title: &str, facts: &str) -> String {
    let title = look.paint(Tone::Strong, title);
    if facts.is_empty() { format!("{title}\n") } else { format!("{title}  {facts}\n") }
}

/// Text of others as lines that fit beside an indent; in short reports at most `most` of them.
fn lines(
    look: Look,
    text: &(impl printable::Shown + ?Sized),
    indent: usize,
    most: usize,
    detail: Detail,
) -> Vec<String> {
    let mut lines = draw::wrap(&printable::block(text), look.width.saturating_sub(indent));
    if detail == Detail::Short && lines.len() > most {
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            *last = format!("{last} {}", look.glyph(draw::Glyph::Cut));
        }
    }
    lines
}

/// Names as a person lists them: `a`, `a and b`, `a, b and c`.
fn list(names: &[AgentName]) -> String {
    let names: Vec<String> = names.iter().map(|name| printable::line(&name.0)).collect();
    match names.as_slice() {
        [] => "nobody".to_owned(),
        [name] => name.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests;
