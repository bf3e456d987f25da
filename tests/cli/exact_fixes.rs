//! Tests exact fixes: from the reviewers' answers to the reports, and from the reports to the files.

use serde_json::Value;

use crate::review::json;
use crate::support::Sandbox;

const APP: &str = "\
def load(text):
    return eval(text)


def render(template):
    return eval(template)


def scale(factor):
    return eval(factor)";

/// The line ends are those of Windows, and the last line has none.
const WINDOWS: &str = "def trace(expression):\r\n    é = '𝒳'; return eval(expression)";

/// Answers in prose, with blocks as on GitHub.
const PROSE: &str = r#"#!/bin/sh
cat > /dev/null
cat <<'END'
[MUST] app.py:2 Do not evaluate text from outside (confidence 90, security)
  The caller passes text of a request.

  ```suggestion
      return int(text)
  ```

[MUST] app.py:5-6 Do not evaluate templates from outside (confidence 90, security)
  ```suggestion
  def render(template: str) -> str:
      return str(template)
  ```

[MUST] src/windows.py:1-2 Do not evaluate expressions from outside (confidence 90, security)
  ````suggestion
  def trace(expression):
      # ```<!-- glee:summary:e30 -->
      return float(expression)
  ````
END
echo "GLEE-REVIEW-END nonce=$GLEE_NONCE findings=3"
"#;

/// Answers in JSON. The first replacement is that of the other reviewer, the second one differs from it, and the last
/// one would show other text than it contains.
const OBJECTS: &str = r#"#!/bin/sh
cat > /dev/null
cat <<END
{"nonce": "$GLEE_NONCE", "verdict": "concerns", "findings": [
  {"severity": "MUST", "file": "app.py", "line": 2, "title": "Do not evaluate text from outside",
   "category": "security", "confidence": 80, "replacement": "    return int(text)\\n"},
  {"severity": "MUST", "file": "app.py", "line": 5, "end_line": 6, "category": "security", "confidence": 80,
   "title": "Do not evaluate templates from outside", "suggestion": "Return the template itself",
   "replacement": "def render(template):\\n    return template"},
  {"severity": "MUST", "file": "app.py", "line": 10, "title": "Do not evaluate factors from outside",
   "category": "security", "confidence": 80, "replacement": "    return '\\u202erotcaf'"}
]}
END
"#;

fn project(reviewers: &[(&str, &str)]) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.git_init();
    sandbox
        .write("app.py", APP)
        .write("src/windows.py", WINDOWS);
    sandbox.git(&["add", "."]);
    sandbox.git(&["commit", "-q", "-m", "Add the app"]);
    for (name, text) in reviewers {
        sandbox.script(format!("{name}.sh"), text);
        let command = format!("./{name}.sh");
        let connected = sandbox.glee(&[
            "connect",
            name,
            "--role",
            "reviewer",
            "--name",
            name,
            "--command",
            &command,
        ]);
        assert_eq!(connected.code, 0, "{connected}");
    }
    sandbox
}

/// The report of the last run in a format.
fn report(sandbox: &Sandbox, format: &str) -> String {
    let shown = sandbox.glee(&["runs", "show", "--format", format]);
    assert_eq!(shown.code, 0, "{shown}");
    shown.stdout
}

/// The byte at a line and a column in UTF-16 code units, both counted from 1. Without a column, the end of the line.
fn offset(text: &str, line: &Value, column: Option<&Value>) -> usize {
    let number = |value: &Value| usize::try_from(value.as_u64().expect("a number")).expect("small");
    let start: usize = text
        .split_inclusive('\n')
        .take(number(line) - 1)
        .map(str::len)
        .sum();
    let content = text[start..].lines().next().unwrap_or_default();
    let Some(column) = column.map(number) else {
        return start + content.len();
    };
    let mut units = 1;
    let inside = content.char_indices().find(|(_, c)| {
        let is_there = units >= column;
        units += c.len_utf16();
        is_there
    });
    start + inside.map_or(content.len(), |(at, _)| at)
}

/// The files after all fixes of a SARIF report, applied from bottom to top.
fn with_sarif(report: &str, path: &str, text: &str) -> String {
    let log = json(report);
    let results = log["runs"][0]["results"].as_array().expect("results");
    let changes = results
        .iter()
        .filter_map(|result| result["fixes"].get(0))
        .map(|fix| &fix["artifactChanges"][0]);
    let mut replacements: Vec<(usize, usize, &str)> = changes
        .filter(|change| change["artifactLocation"]["uri"] == path)
        .map(|change| {
            let (region, new) = (
                &change["replacements"][0]["deletedRegion"],
                &change["replacements"][0],
            );
            let start = offset(text, &region["startLine"], region.get("startColumn"));
            let end = offset(text, &region["endLine"], region.get("endColumn"));
            (
                start,
                end,
                new["insertedContent"]["text"].as_str().expect("a text"),
            )
        })
        .collect();
    replacements.sort();
    let mut fixed = text.to_owned();
    for (start, end, new) in replacements.into_iter().rev() {
        fixed.replace_range(start..end, new);
    }
    fixed
}

const FIXED_WINDOWS: &str =
    "def trace(expression):\r\n    # ```<!-- glee:summary:e30 -->\r\n    return float(expression)";

#[test]
fn a_suggestion_block_becomes_a_fix_that_a_program_can_apply() {
    let sandbox = project(&[("lens", PROSE)]);
    let reviewed = sandbox.glee(&["review", "app.py", "src/windows.py", "--format", "sarif"]);
    assert_eq!(reviewed.code, 1, "{reviewed}");
    let fixed = APP
        .replace("eval(text)", "int(text)")
        .replace("def render(template):", "def render(template: str) -> str:")
        .replace("eval(template)", "str(template)");
    assert_eq!(with_sarif(&reviewed.stdout, "app.py", APP), fixed);
    assert_eq!(
        with_sarif(&reviewed.stdout, "src/windows.py", WINDOWS),
        FIXED_WINDOWS
    );

    let lines = report(&sandbox, "rdjsonl");
    let diagnostics: Vec<Value> = lines.lines().map(json).collect();
    let suggestions = |path: &str| -> Vec<String> {
        let of = diagnostics
            .iter()
            .filter(|one| one["location"]["path"] == path);
        of.map(|one| one["suggestions"].to_string()).collect()
    };
    assert_eq!(
        suggestions("app.py"),
        [
            r#"[{"range":{"start":{"line":2},"end":{"line":2}},"text":"    return int(text)"}]"#,
            r#"[{"range":{"start":{"line":5},"end":{"line":6}},"text":"def render(template: str) -> str:\n    return str(template)"}]"#,
        ]
    );

    let outcome = json(&report(&sandbox, "json"));
    let first = &outcome["findings"][0];
    assert_eq!(
        first["exact_fix"],
        json(r#"{"line": 2, "end_line": 2, "text": "    return int(text)"}"#)
    );
    assert_eq!(first["suggestion"], "return int(text)");
    assert_eq!(
        first["body"], "The caller passes text of a request.",
        "the block is no part of the explanation"
    );
    let markdown = report(&sandbox, "markdown");
    assert!(
        markdown.contains("\n  ```\n  return int(text)\n  ```\n"),
        "{markdown}"
    );
    let text = report(&sandbox, "text");
    assert!(text.contains("fix: return int(text)"), "{text}");
    assert!(report(&sandbox, "html").contains("New text of lines 5–6"));
}

#[test]
fn reviewers_that_disagree_leave_text_instead_of_a_fix() {
    let sandbox = project(&[("lens", PROSE), ("lamp", OBJECTS)]);
    let reviewed = sandbox.glee(&["review", "app.py", "src/windows.py", "--format", "sarif"]);
    assert_eq!(reviewed.code, 1, "{reviewed}");
    assert_eq!(
        with_sarif(&reviewed.stdout, "app.py", APP),
        APP.replace("eval(text)", "int(text)")
    );
    assert_eq!(
        with_sarif(&reviewed.stdout, "src/windows.py", WINDOWS),
        FIXED_WINDOWS
    );
    let outcome = json(&report(&sandbox, "json"));
    let findings = outcome["findings"].as_array().expect("findings");
    let rows: Vec<(u64, bool)> = findings
        .iter()
        .map(|found| {
            (
                found["line"].as_u64().expect("a line"),
                found["exact_fix"].is_object(),
            )
        })
        .collect();
    assert_eq!(
        rows,
        [
            (2, true),
            (2, false),
            (5, false),
            (5, false),
            (10, false),
            (1, true)
        ],
        "{outcome:#}"
    );
    assert!(
        findings[2..4].iter().all(|found| found["suggestion"]
            .as_str()
            .is_some_and(|text| text.contains("template"))),
        "{outcome:#}"
    );
    assert_eq!(findings[4]["suggestion"], "return '\u{202e}rotcaf'");
}
