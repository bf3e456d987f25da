//! Tests each report format with its published schema. The outcomes contain every kind of finding, dispute and
//! failure, and hostile texts. `tests/programs/` has the formats that need a program as their consumer.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;

use serde_json::Value;

use crate::cli::report::formats::{entry, gaps};
use crate::cli::report::options::{Detail, FixCommand, RenderOptions, TextOptions};
use crate::cli::report::{Format, left_out, render};
use crate::cli::style::fixture::clean;
use crate::cli::style::fixture::everything::{PATHS, everything, many, source};
use crate::cli::style::{Style, count};
use glee_model::domain::{ExitReason, FindingState, Location, Outcome, SettledFinding, UnreadFile};
use glee_protocol::text::printable;

fn rendered(format: Format, outcome: &Outcome) -> String {
    let options = RenderOptions {
        style: Style {
            color: false,
            unicode: true,
            width: 100,
        },
        detail: Detail::Full,
        source: &source,
        events: &[],
        fix: &FixCommand {
            command: None,
            has_coder: true,
        },
        only: &[],
        whole: outcome,
        text: TextOptions::default(),
    };
    render(format, outcome, &options)
}

fn outcomes() -> [Outcome; 3] {
    [clean(), everything(), many(2_000)]
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn assert_valid(schema: &str, value: &Value) {
    let schema = jsonschema::validator_for(&json(schema)).unwrap();
    let errors: Vec<String> = schema
        .iter_errors(value)
        .take(5)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert_eq!(errors, Vec::<String>::new());
}

const SARIF: &str = include_str!("../../../../tests/formats/sarif-2.1.0.json");
const RDJSON: &str = include_str!("../../../../tests/formats/rdjson-diagnostic.json");
const GITLAB: &str = include_str!("../../../../tests/formats/gitlab-code-quality.json");
const GITLAB_ITEM: &str = include_str!("../../../../tests/formats/gitlab-codeclimate.json");

#[test]
fn no_format_shows_a_character_that_controls_the_display() {
    for outcome in outcomes() {
        for (name, format, _) in Format::ALL {
            let text = rendered(*format, &outcome);
            assert_eq!(
                text.chars()
                    .find(|c| *c != '\n' && printable::is_unsafe(*c)),
                None,
                "{name}"
            );
            let commands = text.lines().filter(|line| line.starts_with("::")).count();
            assert!(
                commands == 0 || *format == Format::Github,
                "{name} gives commands to a CI service"
            );
            assert!(!text.contains("##["), "{name}");
        }
    }
}

#[test]
fn sarif_follows_its_schema_and_holds_each_finding_once() {
    for outcome in outcomes() {
        let log = json(&rendered(Format::Sarif, &outcome));
        assert_valid(SARIF, &log);
        let run = &log["runs"][0];
        let results = run["results"].as_array().unwrap();
        let ids: BTreeSet<&str> = results
            .iter()
            .map(|it| it["properties"]["finding"].as_str().unwrap())
            .collect();
        assert_eq!(
            (ids.len(), results.len()),
            (outcome.findings.len(), outcome.findings.len())
        );
        let prints: BTreeSet<&str> = results
            .iter()
            .map(|it| {
                it["partialFingerprints"]["gleeFinding/v1"]
                    .as_str()
                    .unwrap()
            })
            .collect();
        assert_eq!(prints.len(), results.len());
        let entries = entry::all(&outcome);
        let open: BTreeSet<String> = entries
            .iter()
            .filter(|entry| entry.is_open())
            .map(|entry| entry.id())
            .collect();
        for result in results {
            let rule = &run["tool"]["driver"]["rules"]
                [usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap()];
            assert_eq!(rule["id"], result["ruleId"]);
            let id = result["properties"]["finding"].as_str().unwrap();
            let settled = outcome
                .findings
                .iter()
                .find(|it| it.finding.id.to_string() == id)
                .unwrap();
            let is_open = open.contains(id);
            let fix = settled
                .finding
                .exact_fix
                .as_ref()
                .filter(|_| is_open && settled.finding.raw.file.is_some());
            assert_eq!(result["fixes"].is_array(), fix.is_some(), "{result}");
            assert!(
                result["kind"] == "pass"
                    || rule["defaultConfiguration"]["level"] == result["level"]
            );
            let target = &rule["relationships"][0]["target"];
            let weakness = settled.finding.raw.cwe;
            assert_eq!(
                target["id"].as_str().map(str::to_owned),
                weakness.map(|cwe| cwe.to_string())
            );
            if let Some(cwe) = weakness {
                let index = target["index"].as_u64().unwrap();
                let taxon = &run["taxonomies"][0]["taxa"][usize::try_from(index).unwrap()];
                assert_eq!(taxon["id"], target["id"]);
                let tag = format!("external/cwe/cwe-{:03}", cwe.0);
                let tags = rule["properties"]["tags"].as_array().unwrap();
                assert!(tags.contains(&tag.into()), "{rule}");
            }
        }
        assert_eq!(
            run["invocations"][0]["executionSuccessful"],
            gaps::is_conclusive(&outcome)
        );
        let notes = run["invocations"][0]["toolExecutionNotifications"]
            .as_array()
            .map_or(0, Vec::len);
        assert!(notes >= outcome.failures.len());
        assert_eq!(empty_strings(&log), Vec::<String>::new());
        assert!(!log.to_string().contains("primaryLocationLineHash"));
        let notifications = run["invocations"][0]["toolExecutionNotifications"].as_array();
        for message in results
            .iter()
            .chain(notifications.into_iter().flatten())
            .map(|it| &it["message"]["text"])
        {
            assert!(
                !message.as_str().unwrap().contains("]("),
                "a message has no links: {message}"
            );
        }
    }
    let mut broken = json(&rendered(Format::Sarif, &everything()));
    broken["runs"][0]["results"][0]["level"] = "fatal".into();
    assert!(
        !jsonschema::validator_for(&json(SARIF))
            .unwrap()
            .is_valid(&broken)
    );
}

fn empty_strings(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => {
            if text.trim().is_empty() {
                vec![String::new()]
            } else {
                Vec::new()
            }
        }
        Value::Array(items) => items.iter().flat_map(empty_strings).collect(),
        Value::Object(fields) => fields
            .iter()
            .flat_map(|(name, value)| {
                empty_strings(value)
                    .into_iter()
                    .map(move |below| format!("{name}/{below}"))
            })
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

#[test]
fn sarif_says_what_was_decided_about_each_finding() {
    let outcome = everything();
    let log = json(&rendered(Format::Sarif, &outcome));
    for result in log["runs"][0]["results"].as_array().unwrap() {
        let id = result["properties"]["finding"].as_str().unwrap();
        let settled = outcome
            .findings
            .iter()
            .find(|settled| settled.finding.id.to_string() == id)
            .unwrap();
        let status = result["suppressions"][0]["status"].as_str();
        let is_rejected = settled.finding.is_rejected() && !settled.blocks();
        let expected = match &settled.state {
            FindingState::Resolved | FindingState::Unchecked => None,
            _ if is_rejected => Some("accepted"),
            FindingState::Dismissed { .. } | FindingState::Discarded => Some("accepted"),
            FindingState::AlreadyRuled { disposition, .. } if disposition.closes() => {
                Some("accepted")
            }
            FindingState::AlreadyRuled { .. } | FindingState::Enforced { .. } => Some("rejected"),
            FindingState::Disputed { .. } => Some("underReview"),
            _ => None,
        };
        assert_eq!(status, expected, "{id}: {:?}", settled.state);
        if let FindingState::Dismissed { .. } = settled.state {
            let why = result["suppressions"][0]["justification"].as_str().unwrap();
            assert!(
                why.starts_with("DISMISS by Ada Lovelace in dispute 13: </script>"),
                "{why}"
            );
        }
    }
}

#[test]
fn sarif_names_exact_places() {
    let mut outcome = clean();
    outcome.findings = everything()
        .findings
        .into_iter()
        .filter(|it| it.finding.raw.line.is_some())
        .collect();
    let log = json(&rendered(Format::Sarif, &outcome));
    let mut paths = BTreeSet::new();
    for result in log["runs"][0]["results"].as_array().unwrap() {
        let place = &result["locations"][0]["physicalLocation"];
        let uri = place["artifactLocation"]["uri"].as_str().unwrap();
        assert!(
            uri.bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-._~/%".contains(&byte)),
            "{uri}"
        );
        let path = percent_encoding::percent_decode_str(uri)
            .decode_utf8()
            .unwrap();
        assert!(PATHS.contains(&&*path), "{path}");
        let at = |name: &str| place["region"][name].as_u64().unwrap();
        assert!(
            (at("startLine"), at("startColumn")) < (at("endLine"), at("endColumn")),
            "{place}"
        );
        if let Some(text) = source(&path, 1) {
            let line = text
                .lines()
                .nth(usize::try_from(at("endLine")).unwrap() - 1)
                .unwrap();
            assert_eq!(at("endColumn"), line.encode_utf16().count() as u64 + 1);
        }
        paths.insert(path);
    }
    assert_eq!(paths.len(), PATHS.len());
}

#[test]
fn sarif_for_github_keeps_its_limits_and_says_what_is_left_out() {
    for outcome in outcomes() {
        let text = rendered(Format::SarifGithub, &outcome);
        let log = json(&text);
        assert_valid(SARIF, &log);
        let results = log["runs"][0]["results"].as_array().unwrap();
        for result in results {
            assert!(
                result["suppressions"].is_null()
                    || result["suppressions"][0]["status"] != "accepted"
            );
            let locations = result["locations"].as_array().unwrap();
            assert!((1..=1_000).contains(&locations.len()));
            for location in locations {
                let region = &location["physicalLocation"]["region"];
                assert_eq!(region.as_object().unwrap().len(), 4);
            }
        }
        for rule in log["runs"][0]["tool"]["driver"]["rules"]
            .as_array()
            .unwrap()
        {
            assert!(rule["properties"]["tags"].as_array().map_or(0, Vec::len) <= 20);
            for key in ["shortDescription", "fullDescription", "help"] {
                assert!(!rule[key]["text"].as_str().unwrap().is_empty());
            }
        }
        let left_out = outcome.findings.len() - results.len();
        assert_eq!(
            text.contains(&format!("{} left out: closed", count(left_out, "finding"))),
            left_out > 0
        );
    }
}

#[test]
fn github_annotates_ten_of_a_kind_and_counts_the_rest() {
    for outcome in outcomes() {
        let text = rendered(Format::Github, &outcome);
        let kinds = ["error", "warning", "notice"].map(|kind| {
            let begin = [format!("::{kind} "), format!("::{kind}::")];
            text.lines()
                .filter(|line| begin.iter().any(|begin| line.starts_with(begin)))
                .count()
        });
        assert!(kinds.iter().all(|kind| *kind <= 10), "{kinds:?}");
        for command in text.lines().filter(|line| line.starts_with("::")) {
            let (properties, data) = command[2..].split_once("::").unwrap();
            let properties = properties
                .split_once(' ')
                .map_or("", |(_, properties)| properties);
            for property in properties
                .split(',')
                .filter(|property| !property.is_empty())
            {
                let (name, value) = property.split_once('=').unwrap();
                assert!(
                    ["file", "line", "endLine", "title"].contains(&name),
                    "{command}"
                );
                assert!(!value.is_empty() && !value.contains(':'), "{command}");
            }
            assert!(!data.is_empty(), "{command}");
        }
        let open = entry::all(&outcome)
            .iter()
            .filter(|entry| entry.is_open())
            .count();
        let annotated = text
            .lines()
            .filter(|line| line.starts_with("::") && line.contains("title="))
            .count();
        let closed = outcome.findings.len() - open;
        let rest = format!(
            "Not annotated: {} ",
            count(open - annotated, "open finding")
        );
        assert_eq!(text.contains(&rest), open > annotated, "{text}");
        assert_eq!(
            text.contains(&count(closed, "closed finding")),
            closed > 0,
            "{text}"
        );
    }
}

#[test]
fn a_single_finding_and_every_gap_that_is_left_out_is_counted() {
    let mut outcome = everything();
    let closed =
        |settled: &SettledFinding| settled.state.is_closed() && !settled.finding.is_rejected();
    let mut only = outcome
        .findings
        .iter()
        .find(|settled| closed(settled))
        .unwrap()
        .clone();
    only.finding.raw.file = Some("same.py".to_owned());
    outcome.findings = vec![only];
    let gap = UnreadFile {
        file: "a.xyz".to_owned(),
        language: "xyz".to_owned(),
    };
    outcome.proof.unread = vec![gap; 12];
    outcome.proof.skipped.clear();
    let text = rendered(Format::Github, &outcome);
    assert!(
        text.ends_with(
            "Not annotated: 2 gaps above GitHub's limit of 10 annotations of each kind, 1 closed finding\n"
        ),
        "{text}"
    );
    let text = rendered(Format::SarifGithub, &outcome);
    assert!(
        text.contains("\"1 finding left out: closed, or without a place in a file\""),
        "{text}"
    );

    let mut outcome = many(25_003);
    for settled in &mut outcome.findings {
        settled.finding.raw.file = Some("same.py".to_owned());
        settled.finding.consensus = None;
        settled.state = FindingState::Open;
    }
    let log = json(&rendered(Format::SarifGithub, &outcome));
    let open = entry::open_in_files(&outcome).len();
    assert_eq!(
        (open, log["runs"][0]["results"].as_array().unwrap().len()),
        (25_003, 25_000)
    );
    let notes = log["runs"][0]["invocations"][0]["toolExecutionNotifications"].to_string();
    assert!(
        notes.contains("\"3 findings left out: above the limit of 25,000 results\""),
        "{notes}"
    );
}

#[test]
fn gitlab_and_rdjsonl_follow_their_schemas_and_hold_the_open_findings_in_files() {
    for outcome in outcomes() {
        let held = outcome.findings.len() - left_out(Format::Gitlab, &outcome);
        let report = json(&rendered(Format::Gitlab, &outcome));
        assert_valid(GITLAB, &report);
        let items = report.as_array().unwrap();
        items
            .iter()
            .for_each(|item| assert_valid(GITLAB_ITEM, item));
        let prints: BTreeSet<&str> = items
            .iter()
            .map(|item| item["fingerprint"].as_str().unwrap())
            .collect();
        assert_eq!(
            (items.len(), prints.len()),
            (held, held),
            "GitLab drops findings with equal fingerprints"
        );
        let schema = jsonschema::validator_for(&json(RDJSON)).unwrap();
        let text = rendered(Format::Rdjsonl, &outcome);
        let lines: Vec<Value> = text.lines().map(json).collect();
        for line in &lines {
            let errors: Vec<String> = schema
                .iter_errors(line)
                .map(|error| error.to_string())
                .collect();
            assert_eq!(errors, Vec::<String>::new(), "{line}");
            assert!(
                PATHS.contains(&line["location"]["path"].as_str().unwrap()),
                "paths are exact"
            );
        }
        assert_eq!(lines.len(), held);
    }
}

#[test]
fn markdown_stays_below_its_limit_and_counts_what_is_left_out() {
    for outcome in outcomes() {
        let text = rendered(Format::Markdown, &outcome);
        assert!(text.chars().count() <= 65_000, "{}", text.chars().count());
        let items: Vec<&str> = text
            .lines()
            .filter(|line| line.starts_with("- **"))
            .collect();
        let ids = items
            .iter()
            .map(|line| line.split("** ").nth(1).unwrap().split(' ').next().unwrap());
        let ids: Vec<String> = ids.map(ToOwned::to_owned).collect();
        let expected: Vec<String> = entry::all(&outcome)
            .iter()
            .map(|entry| entry.id())
            .collect();
        assert_eq!(
            ids,
            expected[..ids.len()],
            "the most important come first, each once"
        );
        let left = expected.len() - ids.len();
        assert_eq!(text.contains("are left out, because"), left > 0, "{left}");
        let said = if left < 1_000 {
            left.to_string()
        } else {
            format!("{},{:03}", left / 1_000, left % 1_000)
        };
        assert!(
            left == 0 || text.contains(&format!("\n{said} findings are left out")),
            "{left}"
        );
    }
}

#[test]
fn an_interrupted_review_is_no_success() {
    let mut outcome = clean();
    outcome.exit = ExitReason::Budget;
    let log = json(&rendered(Format::Sarif, &outcome));
    let invocation = &log["runs"][0]["invocations"][0];
    assert_eq!(
        (&invocation["executionSuccessful"], &invocation["exitCode"]),
        (&false.into(), &75.into())
    );
    assert!(rendered(Format::Markdown, &outcome).starts_with("## Glee: The budget is used up"));
}

#[test]
fn all_formats_name_all_places_of_a_finding() {
    let mut outcome = clean();
    let mut settled = everything()
        .findings
        .into_iter()
        .find(|it| it.finding.raw.line.is_some() && it.is_open())
        .unwrap();
    let main = settled.finding.raw.location().unwrap();
    settled.finding.raw.places = (1..2_000)
        .map(|line| Location::line("other.py", line))
        .collect();
    settled.finding.also = vec![None; 1_999];
    outcome.findings = vec![settled];
    for format in [Format::Sarif, Format::SarifGithub] {
        let log = json(&rendered(format, &outcome));
        assert_valid(SARIF, &log);
        let locations = log["runs"][0]["results"][0]["locations"]
            .as_array()
            .unwrap();
        assert_eq!(locations.len(), 1_000);
        let line = |at: usize| locations[at]["physicalLocation"]["region"]["startLine"].as_u64();
        assert_eq!(line(0), main.line.map(u64::from));
        assert_eq!((line(1), line(999)), (Some(1), Some(999)));
    }
    for format in [
        Format::Gitlab,
        Format::Rdjsonl,
        Format::Junit,
        Format::Github,
    ] {
        let text = rendered(format, &outcome);
        assert!(text.contains("other.py:7"), "{format:?}: {text}");
    }
}
