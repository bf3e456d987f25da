//! The replies of Glee in a thread, after the comment that starts the thread.

use crate::pull_request::marker::FindingName;
use crate::pull_request::standing::KnownDecision;
use crate::pull_request::text::escape::{code, commit, line, prose};
use glee_model::domain::{Disposition, Ruler};

pub(crate) const WHO_RULES: &str = "a maintainer rules with `@glee enforce <reason>` or `@glee dismiss <reason>` in the first line of a reply";

/// The maximum number of citations.
const CITED: usize = 10;

pub(crate) fn ruling(decision: &KnownDecision<'_>) -> String {
    let word = match decision.disposition {
        None if decision.record.is_some() => "**Escalated**".to_owned(),
        None => "**Waits for a person**".to_owned(),
        Some(Disposition::Enforced) => "**Enforced**".to_owned(),
        Some(Disposition::Refuted) => "**Dismissed**".to_owned(),
        Some(Disposition::Deferred { reference }) => {
            format!("**Dismissed** (deferred to {})", line(reference))
        }
        Some(Disposition::Duplicate { of }) => format!("**Dismissed** (duplicate of {})", line(of)),
        Some(other) => format!("**Dismissed** ({})", other.as_str()),
    };
    let ruling = decision.record.map(|record| &record.ruling);
    let by = ruler(decision)
        .map(|by| format!(" by {by}"))
        .unwrap_or_default();
    let reason = decision
        .shared
        .map(|shared| &shared.rationale)
        .filter(|reason| !reason.is_blank());
    let reason = reason
        .or(ruling.map(|ruling| &ruling.rationale))
        .or(decision.rationale);
    let mut parts = vec![match reason.filter(|reason| !reason.is_blank()) {
        Some(reason) => format!("{word}{by}: {}", prose(reason)),
        None => format!("{word}{by}."),
    }];
    let grounds = ruling.and_then(|ruling| ruling.grounds);
    parts
        .extend(grounds.map(|grounds| format!("Grounds: {}.", grounds.as_str().replace('_', " "))));
    let cited = ruling
        .map(|ruling| ruling.citations.as_slice())
        .unwrap_or_default();
    let cited: Vec<String> = cited
        .iter()
        .take(CITED)
        .map(code)
        .filter(|cited| !cited.is_empty())
        .collect();
    if !cited.is_empty() {
        parts.push(format!("Cited: {}.", cited.join(", ")));
    }
    parts.extend(match decision.disposition {
        None => Some(format!("{}.", capitalised(WHO_RULES))),
        Some(Disposition::Enforced) => Some("The finding has to be fixed.".to_owned()),
        Some(_) => None,
    });
    parts.join("\n\n")
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars
        .next()
        .map(|first| format!("{}{}", first.to_uppercase(), chars.as_str()))
        .unwrap_or_default()
}

fn ruler(decision: &KnownDecision<'_>) -> Option<String> {
    let person = decision
        .shared
        .and_then(|shared| shared.by.person.as_deref());
    match (decision.record.map(|record| &record.by), person) {
        (Some(Ruler::Judge { name }), _) => Some(code(&name.0)),
        (Some(Ruler::Panel), _) => Some("the panel".to_owned()),
        (Some(Ruler::Policy), _) => Some("policy".to_owned()),
        (Some(Ruler::Human(person)), _) => Some(code(&person.name)),
        (None, person) => person.map(code),
    }
}

/// Names the findings of a thread that `text` is about.
pub(crate) fn about(findings: &[FindingName], text: &str) -> String {
    let mut ids: Vec<String> = Vec::new();
    for name in findings {
        let id = format!("`{}`", name.finding);
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    format!("{}: {text}", ids.join(", "))
}

pub(crate) fn fixed(head: &str) -> String {
    format!("Fixed in {}.", commit(head))
}

pub(crate) fn raised_again(head: &str) -> String {
    format!("Raised again in {}.", commit(head))
}

pub(crate) fn kept_open(head: &str) -> String {
    format!(
        "Opened again: the finding is mandatory and still raised in {}. {}.",
        commit(head),
        capitalised(WHO_RULES)
    )
}

/// For each refused command, `refusals` contains the login name of the person and the reason for the refusal.
pub(crate) fn refused(refusals: &[(String, &str)]) -> String {
    let mut lines: Vec<String> = Vec::new();
    for (by, why) in refusals {
        let said = format!("Sorry, {}: {why}.", code(by));
        if !lines.contains(&said) {
            lines.push(said);
        }
    }
    lines.join("\n\n")
}
