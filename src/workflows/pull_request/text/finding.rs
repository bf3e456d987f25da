//! The comment that starts the thread of a finding.

use crate::domain::SettledFinding;
use crate::protocol::text::{markup, printable};
use crate::workflows::pull_request::placement::CommentPlace;
use crate::workflows::pull_request::standing::RequestStanding;
use crate::workflows::pull_request::text::escape::{TEXT, TITLE, clean, code, line, names, prose};
use crate::workflows::pull_request::text::statement;

/// The maximum number of items of evidence.
const EVIDENCE: usize = 10;

/// The text of a comment without markers.
pub(crate) fn comment(
    settled: &SettledFinding,
    standing: &RequestStanding<'_>,
    place: &CommentPlace,
) -> String {
    let raw = &settled.finding.raw;
    let mut parts = vec![format!("**{}** {}", severity(settled), title(settled))];
    if place.line.is_none() {
        parts.push(format!("In {}", code(&location(settled))));
    }
    parts.extend(details(settled, place.suggestion.as_deref()));
    let kind = if settled.finding.mandatory {
        "mandatory"
    } else {
        "optional"
    };
    let raised_by = names(settled.finding.raised_by.iter().map(|name| name.0.as_str()));
    let category = raw.category.as_deref().or(raw.rule.as_deref());
    let mut facts: Vec<String> = category.map(code).into_iter().collect();
    facts.extend(raw.cwe.map(|cwe| cwe.to_string()));
    let facts = if facts.is_empty() {
        String::new()
    } else {
        format!(" ({})", facts.join(", "))
    };
    let id = settled.finding.problem.as_ref();
    let id = id.map_or_else(String::new, |key| format!("; id {}", code(key.short())));
    parts.push(format!("Raised by {raised_by}{facts}; {kind}{id}."));
    match standing {
        RequestStanding::Enforced(decision) | RequestStanding::Escalated(decision) => {
            parts.push(statement::ruling(decision))
        }
        _ if settled.finding.mandatory => {
            parts.push(format!("Reply to object; {}.", statement::WHO_RULES))
        }
        _ => {}
    }
    parts.join("\n\n")
}

/// The explanation, the evidence and the suggestion. `block` is the suggestion block that replaces the lines of
/// the comment.
pub(crate) fn details(settled: &SettledFinding, block: Option<&str>) -> Vec<String> {
    let raw = &settled.finding.raw;
    let mut parts = vec![prose(&raw.body)];
    let evidence = raw.evidence.iter().take(EVIDENCE);
    let evidence: Vec<String> = evidence
        .map(|item| format!("- {}", markup::indented(&prose(item))))
        .collect();
    if !evidence.is_empty() {
        parts.push(format!("Evidence:\n\n{}", evidence.join("\n")));
    }
    match (block, &raw.suggestion) {
        (Some(block), _) => parts.push(block.to_owned()),
        (None, Some(suggestion)) => {
            let suggestion = markup::cut(&clean(suggestion), TEXT);
            parts.push(format!("Suggestion:\n\n{}", markup::fenced(&suggestion)));
        }
        (None, None) => {}
    }
    parts.retain(|part| !part.trim().is_empty());
    parts
}

pub(crate) fn severity(settled: &SettledFinding) -> String {
    match line(&settled.finding.raw.severity.to_string()) {
        word if word.trim().is_empty() => "UNRATED".to_owned(),
        word => word,
    }
}

pub(crate) fn title(settled: &SettledFinding) -> String {
    match line(&settled.finding.raw.title) {
        title if title.trim().is_empty() => "(no title)".to_owned(),
        title => title,
    }
}

/// The file and the lines, as in `src/a.rs:3-5`. The text is not escaped for Markdown.
pub(crate) fn location(settled: &SettledFinding) -> String {
    let place = settled.finding.raw.location();
    let place = place
        .map(|place| printable::line(&place.to_string()))
        .unwrap_or_default();
    markup::cut(&place, TITLE)
}
