//! The comments that tell findings.

use crate::pull_request::input::RequestReview;
use crate::pull_request::placement::CommentPlace;
use crate::pull_request::standing::RequestStanding;
use crate::pull_request::text::escape::{TEXT, TITLE, clean, code, line, names, prose_of as prose};
use crate::pull_request::text::statement;
use glee_model::domain::{Claim, ExactFix, SettledFinding, number_of};
use glee_protocol::text::{markup, printable};

/// The maximum number of items of evidence.
const EVIDENCE: usize = 10;

/// The maximum number of places of a finding.
const PLACES: usize = 20;

/// The text of the comment that starts a thread, without markers. The first member is at the place of the comment.
/// The text has at most `most` characters.
pub(crate) fn comment(
    review: &RequestReview<'_>,
    members: &[&SettledFinding],
    place: &CommentPlace,
    most: usize,
) -> String {
    fitting(most, |text| lead(review, members, place, text))
}

fn lead(
    review: &RequestReview<'_>,
    members: &[&SettledFinding],
    place: &CommentPlace,
    most: usize,
) -> String {
    let [settled, more @ ..] = members else {
        return String::new();
    };
    let raw = &settled.finding.raw;
    let id = if more.is_empty() {
        String::new()
    } else {
        format!(" `{}`", settled.finding.id)
    };
    let mut parts = vec![format!("**{}**{id} {}", severity(settled), title(settled))];
    if !settled.finding.raw.places.is_empty() {
        parts.push(format!("At {}", places(settled)));
    } else if place.line.is_none() {
        parts.push(format!("In {}", code(&location(settled))));
    }
    parts.extend(details(settled, place.suggestion.as_deref(), most));
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
    parts.push(format!(
        "Raised by {}{facts}; {}{}{id}.",
        raisers(settled),
        kind(settled),
        others(settled)
    ));
    parts.extend(decision(review, settled));
    parts.extend(also(review, more, &parts, most));
    parts.extend(denials(members, most));
    parts.extend(how_to_reply(review, members));
    parts.join("\n\n")
}

/// The text of a reply that tells further members of the group, without markers.
pub(crate) fn told(review: &RequestReview<'_>, members: &[&SettledFinding], most: usize) -> String {
    fitting(most, |text| {
        let mut parts = also(review, members, &[], text);
        parts.extend(how_to_reply(review, members));
        parts.join("\n\n")
    })
}

/// Writes a text with shorter and shorter parts, until the text has at most `most` characters.
fn fitting(most: usize, write: impl Fn(usize) -> String) -> String {
    let mut part = TEXT;
    loop {
        let text = write(part);
        if text.chars().count() <= most || part < 100 {
            return markup::cut(&text, most);
        }
        part /= 2;
    }
}

/// The members of a group beside its lead, an item each.
fn also(
    review: &RequestReview<'_>,
    members: &[&SettledFinding],
    said: &[String],
    most: usize,
) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    for settled in members {
        let mut parts = vec![format!(
            "- also **{}** `{}` {} {} (by {}; {}{})",
            severity(settled),
            settled.finding.id,
            places(settled),
            title(settled),
            raisers(settled),
            kind(settled),
            others(settled),
        )];
        parts.extend(details(settled, None, most));
        // Members of one dispute have the same decision.
        parts.extend(decision(review, settled).filter(|decision| {
            let indented = markup::indented(decision);
            !said.contains(decision) && !items.iter().any(|item| item.ends_with(&indented))
        }));
        items.push(markup::indented(&parts.join("\n\n")));
    }
    items
}

/// The names of the reviewers, and the guideline that they cite.
fn raisers(settled: &SettledFinding) -> String {
    let names = names(settled.finding.raised_by.iter().map(|name| name.0.as_str()));
    match &settled.finding.raw.guideline {
        Some(id) => format!("{names}; rule {}", code(id)),
        None => names,
    }
}

fn kind(settled: &SettledFinding) -> &'static str {
    if settled.finding.mandatory {
        "mandatory"
    } else {
        "optional"
    }
}

fn others(settled: &SettledFinding) -> String {
    let others = settled.finding.other_ids();
    others.map(|text| format!("; {text}")).unwrap_or_default()
}

fn decision(review: &RequestReview<'_>, settled: &SettledFinding) -> Option<String> {
    match RequestStanding::of(review, settled) {
        RequestStanding::Enforced(decision) | RequestStanding::Escalated(decision) => {
            Some(statement::ruling(&decision))
        }
        _ => None,
    }
}

/// The reasons of the reviewers that deny the problem of a group.
pub(super) fn denials(members: &[&SettledFinding], most: usize) -> Vec<String> {
    let mut denials = Vec::new();
    for (by, why) in members.iter().flat_map(|settled| settled.finding.denials()) {
        let denial = format!("{} sees no problem: {}", code(&by.0), prose(why, most));
        if !denials.contains(&denial) {
            denials.push(denial);
        }
    }
    denials
}

fn how_to_reply(review: &RequestReview<'_>, members: &[&SettledFinding]) -> Option<String> {
    members
        .iter()
        .find(|settled| settled.finding.mandatory && decision(review, settled).is_none())?;
    let one = members
        .iter()
        .find(|settled| settled.finding.id.member > 0)
        .map(|settled| {
            let id = settled.finding.id;
            format!(" A reply that begins with `[{id}]` is about this finding only.")
        });
    Some(format!(
        "Reply to object; {}.{}",
        statement::WHO_RULES,
        one.unwrap_or_default()
    ))
}

/// All places of a finding. A place that does not exist in the reviewed tree is marked.
fn places(settled: &SettledFinding) -> String {
    let main = settled
        .finding
        .raw
        .location()
        .map(|place| place.to_string());
    let further = settled.finding.further_places();
    let all: Vec<String> = main.into_iter().chain(further).collect();
    let shown = names(all.iter().take(PLACES).map(String::as_str));
    match all.len().saturating_sub(PLACES) {
        0 => shown,
        more => format!("{shown} and {}", number_of(more, "more place")),
    }
}

/// The explanation, the evidence, the suggestion, and what the reviewers said in other words. `block` is the
/// suggestion block that replaces the lines of the comment. Each text has at most `most` characters.
pub(super) fn details(settled: &SettledFinding, block: Option<&str>, most: usize) -> Vec<String> {
    let raw = &settled.finding.raw;
    let mut parts = vec![prose(&raw.body, most)];
    let evidence = raw.evidence.iter().take(EVIDENCE);
    let evidence: Vec<String> = evidence
        .map(|item| format!("- {}", markup::indented(&prose(item, most))))
        .collect();
    if !evidence.is_empty() {
        parts.push(format!("Evidence:\n\n{}", evidence.join("\n")));
    }
    let shown = settled.demonstrations.iter();
    parts.extend(shown.map(|one| {
        let is_shown = one.claim == Claim::Defect && one.result.failed_before();
        let word = if is_shown { "Reproduced by" } else { "Test" };
        format!("{word} {}", prose(&one.summary(), most))
    }));
    let suggestion = settled.finding.other_suggestion();
    let fix = settled.finding.exact_fix.as_ref().map(ExactFix::shown);
    let fix = fix
        .as_ref()
        .filter(|_| suggestion.is_some() || raw.suggestion.is_none());
    match block {
        Some(block) => {
            parts.push(block.to_owned());
            parts.extend(suggestion.map(|suggestion| prose(suggestion, most)));
        }
        None => parts.extend(raw.suggestion.iter().chain(fix).map(|suggestion| {
            let suggestion = markup::cut(&clean(suggestion), most);
            format!("Suggestion:\n\n{}", markup::fenced(&suggestion))
        })),
    }
    for again in &settled.finding.restated {
        parts.push(format!(
            "{} also says: {}",
            code(&again.by.0),
            line(&again.title)
        ));
        parts.push(prose(&again.body, most));
    }
    parts.retain(|part| !part.trim().is_empty());
    parts
}

pub(super) fn severity(settled: &SettledFinding) -> String {
    match line(&settled.finding.raw.severity.to_string()) {
        word if word.trim().is_empty() => "UNRATED".to_owned(),
        word => word,
    }
}

pub(super) fn title(settled: &SettledFinding) -> String {
    match line(&settled.finding.raw.title) {
        title if title.trim().is_empty() => "(no title)".to_owned(),
        title => title,
    }
}

/// The file and the lines, as in `src/a.rs:3-5`. The text is not escaped for Markdown.
pub(super) fn location(settled: &SettledFinding) -> String {
    let place = settled.finding.raw.location();
    let place = place
        .map(|place| printable::line(&place.to_string()))
        .unwrap_or_default();
    markup::cut(&place, TITLE)
}
