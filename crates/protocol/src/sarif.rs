//! Reads the findings of static analysers in SARIF 2.1.0.

use std::collections::HashMap;

use percent_encoding::percent_decode_str;

use crate::replies::review::fields;
use crate::text::{LenientValue, weakness};
use glee_model::domain::{Cwe, Location, RawFinding, Severity, Tag};

/// The level of a result if neither the result nor its rule states a level.
const DEFAULT_LEVEL: &str = "warning";

type Rules<'a> = HashMap<String, &'a LenientValue>;

/// Returns the findings of all runs, or `None` if the document is no SARIF. Results that the analyser suppresses, and
/// results that report no problem, are no findings.
pub(crate) fn findings(document: &LenientValue) -> Option<Vec<RawFinding>> {
    let runs = items(document.get(&["runs"]));
    let is_sarif = !runs.is_empty() && runs.iter().all(|run| !run.get(&["tool"]).is_nothing());
    if !is_sarif {
        return None;
    }
    let mut findings = Vec::new();
    for run in runs {
        let rules = rules(run);
        let results = items(run.get(&["results"])).iter();
        findings.extend(
            results
                .filter(|result| is_problem(result))
                .map(|result| finding(result, &rules)),
        );
    }
    Some(findings)
}

fn items(value: &LenientValue) -> &[LenientValue] {
    match value {
        LenientValue::List(items) => items,
        _ => &[],
    }
}

fn rules(run: &LenientValue) -> Rules<'_> {
    let tool = run.get(&["tool"]);
    let extensions = items(tool.get(&["extensions"])).iter();
    let mut rules = Rules::new();
    for component in extensions.chain([tool.get(&["driver"])]) {
        for rule in items(component.get(&["rules"])) {
            if let Some(id) = rule.get(&["id"]).word() {
                rules.insert(id, rule);
            }
        }
    }
    rules
}

fn is_problem(result: &LenientValue) -> bool {
    let kind = result.get(&["kind"]).word();
    let is_failure = kind.is_none_or(|kind| ["fail", "open", "review"].contains(&kind.as_str()));
    is_failure && items(result.get(&["suppressions"])).is_empty()
}

fn finding(result: &LenientValue, rules: &Rules<'_>) -> RawFinding {
    let id = result.get(&["ruleId"]).word();
    let id = id.or_else(|| result.get(&["rule"]).get(&["id"]).word());
    let rule = id.as_ref().and_then(|id| rules.get(id).copied());
    let rule = rule.unwrap_or(&LenientValue::Nothing);
    let level = result.get(&["level"]).word();
    let level = level.or_else(|| rule.get(&["defaultConfiguration"]).get(&["level"]).word());
    let level = level.unwrap_or_else(|| DEFAULT_LEVEL.to_owned());
    let message = [
        result.get(&["message"]),
        rule.get(&["shortDescription"]),
        rule.get(&["fullDescription"]),
    ];
    let message = message
        .iter()
        .find_map(|value| value.get(&["text"]).string());
    let message = message.or_else(|| id.clone()).into_iter().collect();
    let (title, body) = fields::texts(Vec::new(), message);
    let mut places = items(result.get(&["locations"])).iter().filter_map(place);
    let first = places.next();
    let tags = [result, rule].map(|value| value.get(&["properties"]).get(&["tags"]).texts());
    let is_security = tags.iter().flatten().any(|tag| tag == "security");
    RawFinding {
        severity: Severity {
            tag: Tag::parse(&level),
            raw: level,
        },
        title: title.into(),
        body: body.into(),
        line: first.as_ref().and_then(|place| place.line),
        end_line: first.as_ref().and_then(|place| place.end_line),
        file: first.map(|place| place.file),
        places: places.collect(),
        category: is_security.then(|| "security".to_owned()),
        cwe: cwe(result, rule, &tags),
        rule: id,
        ..RawFinding::default()
    }
}

fn place(location: &LenientValue) -> Option<Location> {
    let physical = location.get(&["physicalLocation"]);
    let uri = physical.get(&["artifactLocation"]).get(&["uri"]).word()?;
    let path = uri.strip_prefix("file://").unwrap_or(&uri);
    let file = percent_decode_str(path).decode_utf8_lossy().into_owned();
    let region = physical.get(&["region"]);
    let (line, end_line) = fields::lines(region.get(&["startLine"]), region.get(&["endLine"]));
    Some(Location {
        file,
        line,
        end_line,
    })
}

/// Reads the weakness from the result's taxa, the rule's relationships, the property `cwe`, or the tags.
fn cwe(result: &LenientValue, rule: &LenientValue, tags: &[Vec<String>; 2]) -> Option<Cwe> {
    let taxa = items(result.get(&["taxa"])).iter();
    let targets = items(rule.get(&["relationships"])).iter();
    let mut related = taxa.chain(targets.map(|relation| relation.get(&["target"])));
    let named = related.find_map(|taxon| {
        let taxonomy = taxon.get(&["toolComponent"]).get(&["name"]).word();
        let is_cwe = taxonomy.is_some_and(|name| name.eq_ignore_ascii_case("cwe"));
        let id = taxon.get(&["id"]).word()?;
        // Without the name of the taxonomy, only an id such as `CWE-89` is a weakness.
        Cwe::parse(&id).filter(|_| is_cwe || Cwe::is_id(&id))
    });
    named
        .or_else(|| {
            let mut properties = [result, rule]
                .into_iter()
                .map(|value| value.get(&["properties"]));
            properties.find_map(|given| weakness::read(given.get(weakness::NAMES)).ok()?)
        })
        .or_else(|| tags.iter().flatten().find_map(|tag| Cwe::find(tag)))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use serde_json::{Value, json};

    use super::*;
    use crate::replies::review::parse;
    use glee_model::domain::AnswerStatus;

    fn read(driver: &Value, result: &Value) -> RawFinding {
        let run = json!({"tool": {"driver": driver}, "results": [result]});
        let document = json!({"version": "2.1.0", "runs": [run]});
        let document = serde_json::from_value(document).unwrap();
        findings(&document).unwrap().remove(0)
    }

    #[test]
    fn a_result_is_read_with_its_rule() {
        let found = read(
            &json!({"name": "semgrep", "rules": [{
                "id": "py.sql",
                "defaultConfiguration": {"level": "error"},
                "properties": {"tags": ["CWE-89: SQL Injection", "OWASP-A03:2021", "security"]},
            }]}),
            &json!({
                "ruleId": "py.sql",
                "message": {"text": "Bind the\nvalue.\n\nIt reaches `execute`."},
                "locations": [
                    {"physicalLocation": {"artifactLocation": {"uri": "src/a%20b.py"},
                                          "region": {"startLine": 3, "endLine": 5}}},
                    {"physicalLocation": {"artifactLocation": {"uri": "src/c.py"}, "region": {"startLine": 9}}},
                ],
            }),
        );
        let expected = RawFinding {
            severity: Severity {
                tag: None,
                raw: "error".to_owned(),
            },
            title: "Bind the value.".into(),
            body: "It reaches `execute`.".into(),
            file: Some("src/a b.py".to_owned()),
            line: Some(3),
            end_line: Some(5),
            places: vec![Location::line("src/c.py", 9)],
            category: Some("security".to_owned()),
            cwe: Some(Cwe(89)),
            rule: Some("py.sql".to_owned()),
            ..RawFinding::default()
        };
        assert_eq!(found, expected);
        let found = read(&json!({"name": "x"}), &json!({"ruleId": "R1"}));
        let severity = Severity {
            tag: None,
            raw: "warning".to_owned(),
        };
        assert_eq!(
            (found.title, found.severity, found.cwe),
            ("R1".into(), severity, None)
        );
    }

    #[test]
    fn a_weakness_stands_in_taxa_relationships_properties_or_tags() {
        let cwe = json!({"name": "CWE", "index": 0});
        for (rule, result, expected) in [
            (
                json!({}),
                json!({"taxa": [{"id": "89", "toolComponent": cwe}]}),
                Some(89),
            ),
            (
                json!({}),
                json!({"taxa": [{"id": "89", "toolComponent": {"name": "OWASP"}}]}),
                None,
            ),
            (
                json!({"relationships": [{"target": {"id": "CWE-79", "index": 0}}]}),
                json!({}),
                Some(79),
            ),
            (
                json!({"relationships": [{"target": {"id": "CWE-79", "toolComponent": cwe}}]}),
                json!({}),
                Some(79),
            ),
            (
                json!({"properties": {"cwe": "CWE-22"}}),
                json!({}),
                Some(22),
            ),
            (
                json!({}),
                json!({"properties": {"cwe": ["CWE-9999", "CWE-23"]}}),
                Some(23),
            ),
            (
                json!({"properties": {"tags": ["security", "external/cwe/cwe-089"]}}),
                json!({}),
                Some(89),
            ),
            (
                json!({"properties": {"tags": ["external/cwe/cwe-9999", "89"]}}),
                json!({}),
                None,
            ),
        ] {
            let mut rule = rule;
            rule["id"] = json!("r");
            let mut result = result;
            result["ruleId"] = json!("r");
            let found = read(&json!({"rules": [rule]}), &result);
            assert_eq!(found.cwe, expected.map(Cwe), "{rule} {result}");
        }
    }

    #[test]
    fn an_answer_in_sarif_needs_the_closing_line_and_leaves_out_what_is_no_problem() {
        let document = json!({"runs": [{"tool": {"driver": {"name": "x"}}, "results": [
            {"ruleId": "a", "message": {"text": "one"}},
            {"ruleId": "a", "message": {"text": "two"}, "suppressions": [{"kind": "inSource"}]},
            {"ruleId": "a", "message": {"text": "three"}, "kind": "pass"},
        ]}]});
        let empty = json!({"runs": [{"tool": {"driver": {"name": "x"}}, "results": []}]});
        let closing = |count: u32| format!("GLEE-REVIEW-END nonce=n findings={count}");
        for (text, status) in [
            (
                format!("{document}\n{}", closing(1)),
                AnswerStatus::Complete,
            ),
            (
                format!("{document:#}\n{}", closing(1)),
                AnswerStatus::Complete,
            ),
            (
                format!("{document}\n{}", closing(3)),
                AnswerStatus::Incomplete,
            ),
            (document.to_string(), AnswerStatus::Incomplete),
            (format!("{empty}\n{}", closing(0)), AnswerStatus::Clean),
        ] {
            let answer = parse(text.as_bytes(), Some("n")).unwrap();
            assert_eq!(answer.status, status, "{text}");
        }
    }
}
