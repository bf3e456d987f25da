//! `--format sarif`: SARIF 2.1.0. `--format sarif-github`: SARIF with only the findings that GitHub code
//! scanning accepts.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::cli::report::formats::entry::{self, AlertLevel, Entry, Region, ReportedState};
use crate::cli::report::formats::{gaps, json};
use crate::cli::report::options::RenderOptions;
use crate::cli::report::text;
use crate::cli::style::{count, thousands};
use glee_model::domain::{Cwe, Finding, FindingState, Outcome, Tag, Untrusted};
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

/// The only taxonomy of the run.
const CWE: ComponentReference = ComponentReference {
    name: "CWE",
    index: 0,
};

#[derive(Serialize)]
struct Log {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run {
    tool: Tool,
    automation_details: AutomationDetails,
    invocations: [Invocation; 1],
    original_uri_base_ids: BTreeMap<&'static str, Described>,
    results: Vec<SarifResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    taxonomies: Option<[Taxonomy; 1]>,
    column_kind: &'static str,
    properties: RunProperties,
}

#[derive(Serialize)]
struct Tool {
    driver: Driver,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Driver {
    name: &'static str,
    version: &'static str,
    semantic_version: &'static str,
    rules: Vec<Rule>,
    #[serde(skip_serializing_if = "Option::is_none")]
    supported_taxonomies: Option<[ComponentReference; 1]>,
}

/// The weaknesses that the rules refer to.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Taxonomy {
    name: &'static str,
    organization: &'static str,
    information_uri: &'static str,
    short_description: Message,
    is_comprehensive: bool,
    taxa: Vec<Taxon>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Taxon {
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    short_description: Option<Message>,
    help_uri: String,
}

#[derive(Serialize)]
struct ComponentReference {
    name: &'static str,
    index: usize,
}

#[derive(Serialize)]
struct Relationship {
    target: TaxonReference,
    kinds: [&'static str; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TaxonReference {
    id: String,
    index: usize,
    tool_component: ComponentReference,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    id: String,
    short_description: Message,
    full_description: Message,
    help: Message,
    default_configuration: Configuration,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    relationships: Vec<Relationship>,
    properties: RuleProperties,
}

#[derive(Serialize)]
struct Configuration {
    level: &'static str,
}

#[derive(Serialize)]
struct RuleProperties {
    precision: &'static str,
    #[serde(rename = "problem.severity")]
    problem_severity: &'static str,
    #[serde(rename = "security-severity", skip_serializing_if = "Option::is_none")]
    security_severity: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
}

#[derive(Serialize)]
struct Message {
    text: String,
}

#[derive(Serialize)]
struct Described {
    description: Message,
}

#[derive(Serialize)]
struct AutomationDetails {
    id: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Invocation {
    execution_successful: bool,
    exit_code: u8,
    exit_code_description: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_execution_notifications: Vec<Notification>,
}

#[derive(Serialize)]
struct Notification {
    level: &'static str,
    message: Message,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    locations: Vec<SarifLocation>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifResult {
    rule_id: String,
    rule_index: usize,
    kind: &'static str,
    level: &'static str,
    message: Message,
    locations: Vec<SarifLocation>,
    partial_fingerprints: BTreeMap<&'static str, String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suppressions: Vec<Suppression>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fixes: Vec<SarifFix>,
    properties: ResultProperties,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifFix {
    description: Message,
    artifact_changes: [ArtifactChange; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ArtifactChange {
    artifact_location: ArtifactLocation,
    replacements: [SarifReplacement; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifReplacement {
    deleted_region: DeletedRegion,
    inserted_content: InsertedContent,
}

/// The region that a fix deletes: whole lines, without the line break after the last line.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DeletedRegion {
    start_line: u32,
    start_column: u32,
    end_line: u32,
    /// Without `end_column`, the region extends to the end of the line `end_line`.
    #[serde(skip_serializing_if = "Option::is_none")]
    end_column: Option<u32>,
}

#[derive(Serialize)]
struct InsertedContent {
    text: Untrusted,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifLocation {
    physical_location: PhysicalLocation,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: ArtifactLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<SarifRegion>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ArtifactLocation {
    uri: String,
    uri_base_id: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifRegion {
    start_line: u32,
    start_column: u32,
    end_line: u32,
    end_column: u32,
}

#[derive(Serialize)]
struct Suppression {
    kind: &'static str,
    status: &'static str,
    justification: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RunProperties {
    target: String,
    tree: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResultProperties {
    finding: String,
    /// The group, if reviewers describe one defect in several findings.
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<String>,
    severity: String,
    state: String,
    mandatory: bool,
    raised_by: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    confidence: Option<u8>,
}

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
    let (rules, numbers) = rules(&entries, &weaknesses);
    let results = entries.iter().map(|entry| {
        let rule_id = entry.rule();
        result(
            entry,
            numbers.get(&rule_id).copied().unwrap_or_default(),
            rule_id,
            outcome,
            options,
            reader,
        )
    });
    let run = Run {
        tool: Tool {
            driver: Driver {
                name: "Glee",
                version: env!("CARGO_PKG_VERSION"),
                semantic_version: env!("CARGO_PKG_VERSION"),
                rules,
                supported_taxonomies: (!weaknesses.is_empty()).then_some([CWE]),
            },
        },
        automation_details: AutomationDetails {
            id: format!("glee/{}", entry::line(&outcome.run.0)),
        },
        invocations: [invocation(outcome, closed, excess)],
        original_uri_base_ids: BTreeMap::from([(
            ROOT,
            Described {
                description: message("The root of the reviewed tree."),
            },
        )]),
        results: results.collect(),
        taxonomies: (!weaknesses.is_empty()).then(|| [taxonomy(&weaknesses)]),
        column_kind: "utf16CodeUnits",
        properties: RunProperties {
            target: entry::line(&outcome.proof.target),
            tree: entry::line(&outcome.proof.tree),
            commit: outcome.proof.commit.as_deref().map(entry::line),
        },
    };
    json::pretty(&Log {
        schema: "https://json.schemastore.org/sarif-2.1.0.json",
        version: "2.1.0",
        runs: [run],
    })
}

fn message(text: impl Into<String>) -> Message {
    // In a SARIF message, `[text](target)` is a link. A blank after `]` prevents links in the texts of agents.
    Message {
        text: text.into().replace("](", "] ("),
    }
}

fn taxonomy(weaknesses: &[Cwe]) -> Taxonomy {
    let taxon = |cwe: &Cwe| Taxon {
        id: cwe.to_string(),
        short_description: cwe.name().map(message),
        help_uri: cwe.url(),
    };
    Taxonomy {
        name: CWE.name,
        organization: "MITRE",
        information_uri: "https://cwe.mitre.org",
        short_description: message("Common Weakness Enumeration"),
        is_comprehensive: false,
        taxa: weaknesses.iter().map(taxon).collect(),
    }
}

/// Returns one SARIF rule for each combination of category, severity and weakness. Each key of the map is the id of a
/// rule, and the value is the index of this rule. The rules refer to weaknesses by their index in `weaknesses`.
fn rules(entries: &[Entry<'_>], weaknesses: &[Cwe]) -> (Vec<Rule>, BTreeMap<String, usize>) {
    let mut by_id: BTreeMap<String, Vec<&Entry<'_>>> = BTreeMap::new();
    for entry in entries {
        by_id.entry(entry.rule()).or_default().push(entry);
    }
    let numbers = by_id.keys().cloned().zip(0..).collect();
    let rules = by_id.into_iter().filter_map(|(id, entries)| {
        let first = entries.first()?;
        let (category, level) = (first.category(), first.level());
        let severity = first.raw().severity.tag.map_or("of an unknown severity", Tag::as_str);
        // Findings of static rules are less often wrong than findings of models.
        let is_static = entries.iter().all(|entry| entry.raw().rule.is_some());
        let cwe = first.raw().cwe;
        let is_security = rulings::is_security(Some(&category), None, "", cwe);
        let related = cwe.and_then(|cwe| {
            Some(Relationship {
                target: TaxonReference {
                    id: cwe.to_string(),
                    index: weaknesses.binary_search(&cwe).ok()?,
                    tool_component: CWE,
                },
                kinds: ["superset"],
            })
        });
        let mut tags = Vec::new();
        if is_security {
            tags.push("security".to_owned());
        }
        // Code scanning reads the weakness from a tag of this form, with at least three digits.
        tags.extend(cwe.map(|cwe| format!("external/cwe/cwe-{:03}", cwe.0)));
        let facts: Vec<String> = [severity.to_owned()].into_iter().chain(cwe.map(|cwe| cwe.to_string())).collect();
        Some(Rule {
            short_description: message(format!("{category} ({})", facts.join(", "))),
            full_description: message(format!(
                "A reviewer reports a problem of the category `{category}` and rates it {severity}."
            )),
            help: message(
                "The message of the result explains the problem. Change the code, or object to the finding in Glee, \
                 where a judge or a person rules on it.",
            ),
            default_configuration: Configuration { level: level_name(level) },
            properties: RuleProperties {
                precision: if is_static { "high" } else { "medium" },
                problem_severity: match level {
                    AlertLevel::Error => "error",
                    AlertLevel::Warning => "warning",
                    AlertLevel::Note => "recommendation",
                },
                security_severity: is_security.then_some(match first.raw().severity.tag {
                    Some(Tag::Critical) => "9.5",
                    Some(Tag::Must | Tag::High) | None => "8.0",
                    Some(Tag::Should | Tag::Medium) => "5.0",
                    Some(Tag::Low) => "2.0",
                }),
                tags,
            },
            relationships: related.into_iter().collect(),
            id,
        })
    });
    (rules.collect(), numbers)
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
    rule_index: usize,
    rule_id: String,
    outcome: &Outcome,
    options: &RenderOptions<'_>,
    reader: Reader,
) -> SarifResult {
    let raw = entry.raw();
    let region = entry.region(options).map(sarif_region);
    // In the SARIF report for GitHub, a finding about a whole file gets the first line of the file as its region.
    let first_line = || SarifRegion {
        start_line: 1,
        start_column: 1,
        end_line: 2,
        end_column: 1,
    };
    let region = region.or_else(|| (reader == Reader::GitHub).then(first_line));
    let mut locations: Vec<SarifLocation> = raw
        .file
        .as_deref()
        .map(|file| location(file, region))
        .into_iter()
        .collect();
    // GitHub shows only the first location.
    for place in raw.places.iter().take(MOST_LOCATIONS - 1) {
        let region = entry.region_at(place, options).map(sarif_region);
        let region = region.or_else(|| (reader == Reader::GitHub).then(first_line));
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
    let suppress = |status| Suppression {
        kind: "external",
        status,
        justification: entry.reason(outcome),
    };
    SarifResult {
        rule_id,
        rule_index,
        kind,
        level,
        message: message(entry.text()),
        locations,
        partial_fingerprints: fingerprints(entry),
        suppressions: status.map(suppress).into_iter().collect(),
        fixes: fix(entry, options).into_iter().collect(),
        properties: ResultProperties {
            finding: entry.id(),
            group: entry.group(),
            severity: entry.severity(),
            state: entry.settled.state.to_string(),
            mandatory: entry.settled.finding.mandatory,
            raised_by: entry.raised_by(),
            confidence: raw.confidence.map(|confidence| confidence.get()),
        },
    }
}

fn fingerprints(entry: &Entry<'_>) -> BTreeMap<&'static str, String> {
    let Finding { id, problem, .. } = &entry.settled.finding;
    let problem = problem.as_ref().map(|key| match id.member {
        0 | 1 => key.to_string(),
        member => format!("{key}/{member}"),
    });
    let problem = problem.map(|key| (PROBLEM, key));
    std::iter::once((FINGERPRINT, entry.fingerprint.clone()))
        .chain(problem)
        .collect()
}

fn sarif_region(region: Region) -> SarifRegion {
    SarifRegion {
        start_line: region.start_line,
        start_column: region.start_column,
        end_line: region.end_line,
        end_column: region.end_column,
    }
}

fn fix(entry: &Entry<'_>, options: &RenderOptions<'_>) -> Option<SarifFix> {
    let (fix, file) = entry.fix().zip(entry.raw().file.as_deref())?;
    let deleted_region = DeletedRegion {
        start_line: fix.line,
        start_column: 1,
        end_line: fix.end_line,
        end_column: entry.length(fix.end_line, options).map(|length| length + 1),
    };
    let replacement = SarifReplacement {
        deleted_region,
        inserted_content: InsertedContent {
            text: fix.text.clone(),
        },
    };
    let change = ArtifactChange {
        artifact_location: artifact(file),
        replacements: [replacement],
    };
    Some(SarifFix {
        description: message(entry.title()),
        artifact_changes: [change],
    })
}

fn location(file: &str, region: Option<SarifRegion>) -> SarifLocation {
    SarifLocation {
        physical_location: PhysicalLocation {
            artifact_location: artifact(file),
            region,
        },
    }
}

fn artifact(file: &str) -> ArtifactLocation {
    ArtifactLocation {
        uri: uri::path(file),
        uri_base_id: ROOT,
    }
}

/// The parameters `closed` and `excess` are the numbers of findings that the results omit.
fn invocation(outcome: &Outcome, closed: usize, excess: usize) -> Invocation {
    let gap = |gap: gaps::Gap<'_>| Notification {
        level: level_name(gap.level),
        message: message(gap.text),
        locations: gap
            .file
            .map(|file| location(file, None))
            .into_iter()
            .collect(),
    };
    let note = |text: String| Notification {
        level: "note",
        message: message(text),
        locations: Vec::new(),
    };
    let mut notifications: Vec<Notification> = gaps::all(outcome).into_iter().map(gap).collect();
    notifications.extend(
        outcome
            .notices
            .iter()
            .filter(|notice| !notice.trim().is_empty())
            .map(|it| note(entry::line(it))),
    );
    notifications
        .extend(gaps::said(outcome).map(|(name, said)| note(format!("{name} says: {said}"))));
    for (number, why) in [
        (closed, "closed, or without a place in a file".to_owned()),
        (
            excess,
            format!(
                "above the limit of {} results",
                thousands(MOST_RESULTS as u64)
            ),
        ),
    ] {
        if number > 0 {
            notifications.push(note(format!(
                "{} left out: {why}",
                count(number, "finding")
            )));
        }
    }
    Invocation {
        execution_successful: gaps::is_conclusive(outcome),
        exit_code: outcome.exit.code(),
        exit_code_description: text::conclusion(outcome),
        tool_execution_notifications: notifications,
    }
}
