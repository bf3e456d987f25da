//! `--format sarif`: SARIF 2.1.0. `--format sarif-github`: SARIF with only the findings that GitHub code
//! scanning accepts.

use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

use crate::cli::report::formats::entry::{self, AlertLevel, Entry, Region};
use crate::cli::report::formats::{gaps, json};
use crate::cli::report::options::RenderOptions;
use crate::cli::report::text;
use crate::cli::report::view::ReportedState;
use crate::cli::style::{count, thousands};
use glee_model::domain::{Cwe, Finding, FindingState, Outcome, Tag};
use glee_model::rules::review::rulings;
use glee_system::uri;

/// The program that reads the SARIF file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    Any,
    /// GitHub code scanning. Code scanning ignores suppressions, and requires a file and a region for each
    /// result. This report therefore contains only open findings with a file. The number of findings is also
    /// limited.
    GitHub,
}

/// The maximum number of results that GitHub code scanning accepts in one run of a SARIF file.
const MOST_RESULTS: usize = 25_000;

/// The maximum number of locations that GitHub code scanning accepts in one result.
const MOST_LOCATIONS: usize = 1000;

const ROOT: &str = "%SRCROOT%";

/// The JSON key under which a SARIF result contains Glee's fingerprint. GitHub computes another fingerprint,
/// `primaryLocationLineHash`.
const FINGERPRINT: &str = "gleeFinding/v1";

/// The JSON key of the problem's id in all histories, with the position of a further member of a group.
const PROBLEM: &str = "gleeProblem/v1";

pub(crate) fn render(outcome: &Outcome, options: &RenderOptions<'_>, reader: Reader) -> String {
    let mut entries = match reader {
        Reader::Any => entry::all(outcome),
        Reader::GitHub => entry::open_in_files(outcome),
    };
    let closed = outcome.findings.len() - entries.len();
    let excess = match reader {
        Reader::Any => 0,
        Reader::GitHub => entries.len().saturating_sub(MOST_RESULTS),
    };
    entries.truncate(entries.len() - excess);
    let weaknesses: BTreeSet<Cwe> = entries.iter().filter_map(|entry| entry.raw().cwe).collect();
    let weaknesses: Vec<Cwe> = weaknesses.into_iter().collect();
    let has_weaknesses = !weaknesses.is_empty();
    let (rules, numbers) = rules(&entries, &weaknesses);
    let mut results = Vec::new();
    for entry in &entries {
        let mut result = result(entry, outcome, options, reader);
        result["ruleIndex"] = json!(numbers.get(&entry.rule()));
        results.push(result);
    }
    let mut log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {
                "driver": {
                    "name": "Glee",
                    "version": env!("CARGO_PKG_VERSION"),
                    "semanticVersion": env!("CARGO_PKG_VERSION"),
                    "rules": rules,
                    "supportedTaxonomies": has_weaknesses.then(|| [taxonomy_reference()]),
                },
            },
            "automationDetails": { "id": format!("glee/{}", entry::line(&outcome.run.0)) },
            "invocations": [invocation(outcome, options, closed, excess)],
            "originalUriBaseIds": {
                ROOT: { "description": message("The root of the reviewed tree.") },
            },
            "results": results,
            "taxonomies": has_weaknesses.then(|| [taxonomy(&weaknesses)]),
            "columnKind": "utf16CodeUnits",
            "properties": {
                "target": entry::line(&outcome.proof.target),
                "tree": entry::line(&outcome.proof.tree),
                "commit": outcome.proof.commit.as_deref().map(entry::line),
            },
        }],
    });
    leave_out_absent(&mut log);
    json::pretty(&log)
}

/// Removes the members without a value.
fn leave_out_absent(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|_, member| !member.is_null());
            members.values_mut().for_each(leave_out_absent);
        }
        Value::Array(items) => items.iter_mut().for_each(leave_out_absent),
        _ => {}
    }
}

/// A list, or no value if the list is empty.
fn some<T: Serialize>(items: &[T]) -> Option<&[T]> {
    Some(items).filter(|items| !items.is_empty())
}

fn message(text: impl Into<String>) -> Value {
    // In a SARIF message, `[text](target)` is a link. A blank after `]` prevents links in the texts of agents.
    json!({ "text": text.into().replace("](", "] (") })
}

/// The only taxonomy of the run.
fn taxonomy_reference() -> Value {
    json!({ "name": "CWE", "index": 0 })
}

fn taxonomy(weaknesses: &[Cwe]) -> Value {
    let taxa = weaknesses.iter().map(|cwe| {
        json!({
            "id": cwe.to_string(),
            "shortDescription": cwe.name().map(message),
            "helpUri": cwe.url(),
        })
    });
    json!({
        "name": "CWE",
        "organization": "MITRE",
        "informationUri": "https://cwe.mitre.org",
        "shortDescription": message("Common Weakness Enumeration"),
        "isComprehensive": false,
        "taxa": taxa.collect::<Vec<_>>(),
    })
}

/// Returns one SARIF rule for each combination of category, severity and weakness. Each key of the map is the id of a
/// rule, and the value is the index of this rule. The rules refer to weaknesses by their index in `weaknesses`.
fn rules(entries: &[Entry<'_>], weaknesses: &[Cwe]) -> (Vec<Value>, BTreeMap<String, usize>) {
    let mut by_id: BTreeMap<String, Vec<&Entry<'_>>> = BTreeMap::new();
    for entry in entries {
        by_id.entry(entry.rule()).or_default().push(entry);
    }
    let numbers = by_id.keys().cloned().zip(0..).collect();
    let rules = by_id
        .iter()
        .map(|(id, entries)| rule(id, entries, weaknesses));
    (rules.collect(), numbers)
}

fn rule(id: &str, entries: &[&Entry<'_>], weaknesses: &[Cwe]) -> Value {
    let first = entries[0];
    let category = first.category();
    let level = first.level();
    let tag = first.raw().severity.tag;
    let severity = tag.map_or("of an unknown severity", Tag::as_str);
    // Findings of static rules are less often wrong than findings of models.
    let is_static = entries.iter().all(|entry| entry.raw().rule.is_some());
    let cwe = first.raw().cwe;
    let is_security = rulings::is_security(Some(&category), None, "", cwe);
    let related = cwe.and_then(|cwe| weaknesses.binary_search(&cwe).ok());
    let related = cwe.zip(related).map(|(cwe, index)| {
        json!({
            "target": {
                "id": cwe.to_string(),
                "index": index,
                "toolComponent": taxonomy_reference(),
            },
            "kinds": ["superset"],
        })
    });
    let mut tags = Vec::new();
    if is_security {
        tags.push("security".to_owned());
    }
    // Code scanning reads the weakness from a tag of this form, with at least three digits.
    tags.extend(cwe.map(|cwe| format!("external/cwe/cwe-{:03}", cwe.0)));
    let weakness = cwe.map_or_else(String::new, |cwe| format!(", {cwe}"));
    json!({
        "id": id,
        "shortDescription": message(format!("{category} ({severity}{weakness})")),
        "fullDescription": message(format!(
            "A reviewer reports a problem of the category `{category}` and rates it {severity}."
        )),
        "help": message(
            "The message of the result explains the problem. Change the code, or object to the finding in Glee, \
             where a judge or a person rules on it.",
        ),
        "defaultConfiguration": { "level": level_name(level) },
        "relationships": some(related.as_slice()),
        "properties": {
            "precision": if is_static { "high" } else { "medium" },
            "problem.severity": match level {
                AlertLevel::Error => "error",
                AlertLevel::Warning => "warning",
                AlertLevel::Note => "recommendation",
            },
            "security-severity": is_security.then_some(match tag {
                Some(Tag::Critical) => "9.5",
                Some(Tag::Must | Tag::High) | None => "8.0",
                Some(Tag::Should | Tag::Medium) => "5.0",
                Some(Tag::Low) => "2.0",
            }),
            "tags": some(&tags),
        },
    })
}

fn level_name(level: AlertLevel) -> &'static str {
    match level {
        AlertLevel::Error => "error",
        AlertLevel::Warning => "warning",
        AlertLevel::Note => "note",
    }
}

fn result(
    entry: &Entry<'_>,
    outcome: &Outcome,
    options: &RenderOptions<'_>,
    reader: Reader,
) -> Value {
    let raw = entry.raw();
    let mut locations = Vec::new();
    // GitHub shows only the first location.
    for place in raw.locations().iter().take(MOST_LOCATIONS) {
        let mut region = entry.region_at(place, options);
        if reader == Reader::GitHub {
            region = region.or(Some(Region::FIRST_LINE));
        }
        locations.push(location(&place.file, region));
    }
    let (kind, level) = match entry.reported_state() {
        ReportedState::Fixed => ("pass", "none"),
        ReportedState::Mandatory | ReportedState::Optional | ReportedState::Dismissed => {
            ("fail", level_name(entry.level()))
        }
    };
    let status = match (entry.reported_state(), &entry.settled.state) {
        (ReportedState::Dismissed, _) => Some("accepted"),
        (_, FindingState::Disputed { .. }) => Some("underReview"),
        (_, FindingState::Enforced { .. } | FindingState::AlreadyRuled { .. }) => Some("rejected"),
        _ => None,
    };
    let suppression = status.map(|status| {
        json!({ "kind": "external", "status": status, "justification": entry.reason(outcome) })
    });
    json!({
        "ruleId": entry.rule(),
        "ruleIndex": 0,
        "kind": kind,
        "level": level,
        "message": message(entry.text()),
        "locations": locations,
        "partialFingerprints": fingerprints(entry),
        "suppressions": some(suppression.as_slice()),
        "fixes": some(fix(entry, options).as_slice()),
        "properties": {
            "finding": entry.id(),
            // The group, if reviewers describe one defect in several findings.
            "group": entry.group(),
            "severity": entry.severity(),
            "state": entry.settled.state.to_string(),
            "mandatory": entry.settled.finding.mandatory,
            "raisedBy": entry.raised_by(),
            "confidence": raw.confidence,
            "demonstrations": some(demonstrations(entry).as_slice()),
        },
    })
}

/// The tests of a result, and what they show.
fn demonstrations(entry: &Entry<'_>) -> Vec<Value> {
    let shown = entry.settled.demonstrations.iter();
    let shown = shown.map(|one| {
        json!({
            "path": entry::line(&one.demonstration.path),
            "runner": entry::line(&one.demonstration.runner),
            "by": one.by,
            "shows": one.shows(),
            "output": one.output().map(entry::block),
        })
    });
    shown.collect()
}

fn fingerprints(entry: &Entry<'_>) -> Value {
    let Finding { id, problem, .. } = &entry.settled.finding;
    let problem = problem.as_ref().map(|key| match id.member {
        0 | 1 => key.to_string(),
        member => format!("{key}/{member}"),
    });
    json!({ FINGERPRINT: entry.fingerprint, PROBLEM: problem })
}

fn fix(entry: &Entry<'_>, options: &RenderOptions<'_>) -> Option<Value> {
    let (fix, file) = entry.fix().zip(entry.raw().file.as_deref())?;
    // Whole lines are deleted, without the line break after the last line. Without `endColumn`, the region extends to
    // the end of the line.
    let end = entry.length(fix.end_line, options);
    Some(json!({
        "description": message(entry.title()),
        "artifactChanges": [{
            "artifactLocation": artifact(file),
            "replacements": [{
                "deletedRegion": {
                    "startLine": fix.line,
                    "startColumn": 1,
                    "endLine": fix.end_line,
                    "endColumn": end.map(|length| length + 1),
                },
                "insertedContent": { "text": fix.text },
            }],
        }],
    }))
}

fn location(file: &str, region: Option<Region>) -> Value {
    json!({ "physicalLocation": { "artifactLocation": artifact(file), "region": region } })
}

fn artifact(file: &str) -> Value {
    json!({ "uri": uri::path(file), "uriBaseId": ROOT })
}

/// The parameters `closed` and `excess` are the numbers of findings that the results omit.
fn invocation(
    outcome: &Outcome,
    options: &RenderOptions<'_>,
    closed: usize,
    excess: usize,
) -> Value {
    let mut notifications = Vec::new();
    for gap in gaps::all(outcome) {
        let location = gap.file.map(|file| location(file, None));
        notifications.push(json!({
            "level": level_name(gap.level),
            "message": message(gap.text),
            "locations": some(location.as_slice()),
        }));
    }
    let notices = outcome.notices.iter().map(entry::line);
    let mut notes: Vec<String> = notices.filter(|notice| !notice.trim().is_empty()).collect();
    notes.extend(gaps::said(outcome).map(|(name, said)| format!("{name} says: {said}")));
    if closed > 0 {
        let findings = count(closed, "finding");
        notes.push(format!(
            "{findings} left out: closed, or without a place in a file"
        ));
    }
    if excess > 0 {
        notes.push(format!(
            "{} left out: above the limit of {} results",
            count(excess, "finding"),
            thousands(MOST_RESULTS as u64)
        ));
    }
    for note in notes {
        notifications.push(json!({ "level": "note", "message": message(note) }));
    }
    json!({
        "executionSuccessful": gaps::is_conclusive(outcome),
        "exitCode": outcome.exit.code(),
        "exitCodeDescription": text::conclusion(options.whole),
        "toolExecutionNotifications": some(&notifications),
    })
}
