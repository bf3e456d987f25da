//! Tests `glee merge`, which merges several reviews offline.

use serde_json::Value;

use crate::support::Sandbox;

const CLAUDE: &str = r#"{"model": "claude", "file": "db.py", "findings": [
  {"severity": "high", "confidence": 85, "line": 2, "title": "SQL injection in find_user",
   "description": "When `name` holds a quote, `find_user` concatenates it into the query.", "suggestion": "bind it"},
  {"severity": "low", "confidence": 60, "line": 40, "title": "Rename `q`", "description": "`q` says nothing."}]}"#;
const CODEX: &str = r#"{"model": "codex", "file": "./db.py", "findings": [
  {"severity": "medium", "confidence": 70, "line": 3, "title": "Query built by concatenation",
   "description": "find_user concatenates name into the SQL query.", "suggestion": "use `execute(q, (name,))`"}]}"#;

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn files_become_one_answer() {
    let sandbox = Sandbox::new();
    sandbox.write("claude.json", CLAUDE);
    sandbox.write("codex.json", CODEX);
    let output = sandbox.glee(&["merge", "claude.json", "codex.json"]);
    assert_eq!((output.code, output.stderr.as_str()), (0, ""));
    let answer = json(&output.stdout);
    let accepted = &answer["consensus"]["accepted"][0];
    assert_eq!(accepted["agreement_level"], "unanimous");
    assert_eq!(
        accepted["original_severities"],
        json(r#"{"claude": "high", "codex": "medium"}"#)
    );
    let finding = &answer["findings"][0];
    assert_eq!(
        finding["suggestion"], "use `execute(q, (name,))`",
        "the most actionable one"
    );
    assert_eq!(
        finding["cross_examination_trail"]["final_confidence_calculation"],
        "85 (original) + 10 (agreement) = 95"
    );
    assert_eq!(
        answer["groups"],
        json(
            r#"[{"members": ["claude/1", "codex/1"], "class": "accepted", "why": "2 reviewers raised it: claude, codex"},
                {"members": ["claude/2"], "class": "uncorroborated", "why": "raised only by claude; its evidence scores 4"}]"#
        )
    );
}

#[test]
fn a_batch_answers_line_by_line() {
    let run = |id| {
        format!(
            "{{\"id\": \"{id}\", \"findings\": [{{\"id\": \"x\", \"model\": \"a\", \"title\": \"t\u{202e}\"}}]}}\n"
        )
    };
    let output = Sandbox::new().glee_with(
        &["merge", "--batch", "--policy", "specification"],
        &(run(1) + "\n" + &run(2)),
    );
    let answers: Vec<Value> = output.stdout.lines().map(json).collect();
    let ids: Vec<&Value> = answers.iter().map(|answer| &answer["id"]).collect();
    assert_eq!(ids, ["1", "2"]);
    assert_eq!(answers[0]["groups"][0]["members"][0], "x");
    assert!(
        !output.stdout.contains('\u{202e}'),
        "nothing invisible reaches the terminal"
    );
}

#[test]
fn what_is_no_finding_is_an_error_with_its_place() {
    let output = Sandbox::new().glee_with(
        &["merge", "--batch"],
        "{\"model\": \"a\", \"findings\": []}\n{\"findings\": 3}\n",
    );
    assert_eq!(output.code, 2);
    assert!(
        output.stderr.contains("line 2: invalid type: number `3`"),
        "{}",
        output.stderr
    );
    assert_eq!(
        output.stdout.lines().count(),
        1,
        "what came before is answered"
    );
}

/// A merge says that the code passed only if a reviewer did.
#[test]
fn without_the_result_of_a_reviewer_nothing_has_passed() {
    let sandbox = Sandbox::new();
    for input in [
        "",
        "[]",
        "{}",
        "null",
        "[[], {}]",
        r#"{"findings": null}"#,
        r#"{"findings": []}"#,
        r#"{"model": "a"}"#,
        r#"{"model": "a", "findings": null}"#,
        r#"{"model": "a", "verdict": "blocker", "findings": []}"#,
        r#"{"type": "review_result", "reviewer": "a", "payload": {"verdict": "concerns", "issues": []}}"#,
        r#"{"reviewers": ["a"], "silent": ["a"], "findings": []}"#,
    ] {
        for args in [&["merge"][..], &["merge", "--batch"]] {
            if args.len() > 1 && input.is_empty() {
                continue;
            }
            let output = sandbox.glee_with(args, input);
            assert_eq!(output.code, 2, "{input}: {output}");
            assert_eq!(output.stdout, "", "{input}");
            assert!(
                output.stderr.contains("no reviewer states a result"),
                "{input}: {output}"
            );
        }
    }
    for (input, expected) in [
        (
            r#"{"model": "a", "findings": []}"#,
            "The reviewer agrees that the code passed review: no findings.",
        ),
        (
            r#"[{"model": "a", "findings": []}, {"model": "b", "verdict": "approved"}]"#,
            "All 2 reviewers agree that the code passed review: no findings.",
        ),
        (
            r#"[{"model": "a", "findings": []}, {"model": "b", "findings": null}]"#,
            "1 of 2 reviewers answered: no findings. Debate incomplete - b did not respond.",
        ),
        (
            r#"[{"model": "a", "findings": []}, {"model": "b", "verdict": "reject", "issues": []}]"#,
            "1 of 2 reviewers answered: no findings. Debate incomplete - b did not respond.",
        ),
    ] {
        let output = sandbox.glee_with(&["merge"], input);
        assert_eq!(output.code, 0, "{input}: {output}");
        assert_eq!(json(&output.stdout)["summary"], expected, "{input}");
    }
}

#[test]
fn a_finding_that_names_a_package_is_checked_against_advisories_offline() {
    let sandbox = Sandbox::new();
    sandbox.write("requirements.txt", "Jinja2==2.10.1\n");
    sandbox.write(".glee/config.yml", "version: 1\nadvisories:\n  path: osv\n");
    sandbox.write(
        "osv/GHSA-462w-v97r-4m45.json",
        r#"{"id": "GHSA-462w-v97r-4m45", "aliases": ["CVE-2019-10906"], "affected": [{
            "package": {"ecosystem": "PyPI", "name": "jinja2"},
            "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "2.10.2"}]}]}]}"#,
    );
    let finding = r#"{"model": "a", "file": "app.py", "findings": [{"severity": "high", "confidence": 70, "line": 1,
        "category": "security", "title": "`jinja2` escapes its sandbox", "description": "Templates are untrusted."}]}"#;
    let output = sandbox.glee_with(&["merge"], finding);
    assert_eq!((output.code, output.stderr.as_str()), (0, ""));
    let answer = json(&output.stdout);
    let found = &answer["findings"][0];
    assert_eq!(found["confidence"], 80);
    let text = found["description"].as_str().expect("a text");
    assert!(
        text.contains("confirmed by GHSA-462w-v97r-4m45: jinja2 2.10.1 is affected"),
        "{text}"
    );
    assert_eq!(
        answer["debate_statistics"]["security_advisories_checked"],
        1
    );
    sandbox.write(
        ".glee/config.yml",
        "version: 1\nadvisories:\n  path: nowhere\n",
    );
    let missing = sandbox.glee_with(&["merge"], finding);
    assert_eq!(missing.code, 2);
    assert!(
        missing.stderr.contains("failed to read the advisories in"),
        "{}",
        missing.stderr
    );
}

#[test]
fn a_server_that_an_untrusted_project_names_is_not_asked() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "Cargo.lock",
        "[[package]]\nname = \"time\"\nversion = \"0.1.43\"\n",
    );
    sandbox.write(
        ".glee/config.yml",
        "version: 1\nadvisories:\n  url: http://127.0.0.1:1\n",
    );
    let finding = r#"{"model": "a", "file": "a.rs", "findings": [{"severity": "high", "line": 1, "category": "security",
        "title": "`time` may crash", "description": "It reads the environment."}]}"#;
    let output = sandbox.glee_with(&["merge"], finding);
    assert_eq!(output.code, 0, "{}", output.stderr);
    insta::assert_snapshot!(output.stderr, @"warning: the project is not trusted, so `advisories.url` is not queried; see `glee trust`");
    let trusted = sandbox.glee(&["trust"]);
    assert_eq!(trusted.code, 0, "{}", trusted.stderr);
    let refused = sandbox.glee_with(&["merge"], finding);
    assert_eq!(refused.code, 2);
    assert!(
        refused
            .stderr
            .starts_with("error: failed to request advisories from `http://127.0.0.1:1`"),
        "{}",
        refused.stderr
    );
}

/// A large answer is written in parts, none of which contains a command of a continuous integration.
#[test]
fn an_answer_of_many_pieces_is_one_json_and_orders_nobody() {
    let order = "##vso[task.setvariable variable=x]y";
    let findings: Vec<_> = (1..3000)
        .map(|line| serde_json::json!({"model": "a", "file": "a.rs", "line": line, "title": format!("{order} {line}")}))
        .collect();
    let output = Sandbox::new().glee_with(
        &["merge"],
        &serde_json::json!({ "findings": findings }).to_string(),
    );
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert!(output.stdout.len() > 1 << 20 && !output.stdout.contains("##vso["));
    let groups = json(&output.stdout)["groups"].as_array().map(Vec::len);
    assert_eq!(groups, Some(2999));
    assert!(
        json(&output.stdout)["findings"][0]["title"]
            .as_str()
            .is_some_and(|title| title.starts_with(order))
    );
}

/// The description may have any field name; a finding may have none.
#[test]
fn spec_17_findings_keep_their_texts_whatever_the_fields_are_called() {
    let fields = [
        "issue",
        "name",
        "summary",
        "problem",
        "details",
        "what_is_wrong",
    ];
    let mut findings: Vec<_> = fields
        .iter()
        .map(|field| serde_json::json!({"line": 3, *field: format!("Overflow in {field}")}))
        .collect();
    findings.push(serde_json::json!({"severity": "high", "line": 90}));
    findings.push(serde_json::json!("The lock at a.rs:7 is never released"));
    for policy in ["panel", "specification"] {
        let text =
            serde_json::json!({"model": "a", "file": "a.rs", "findings": findings}).to_string();
        let output = Sandbox::new().glee_with(&["merge", "--policy", policy], &text);
        assert_eq!(output.code, 0, "{}", output.stderr);
        let answer = json(&output.stdout);
        assert_eq!(
            answer["debate_statistics"]["total_findings_received"], 8,
            "{policy}"
        );
        for field in fields {
            assert!(
                output.stdout.contains(&format!("Overflow in {field}")),
                "{policy}: {field}"
            );
        }
        assert!(
            output.stdout.contains("never released") && !output.stdout.contains("passed review"),
            "{policy}"
        );
        assert_eq!(
            output.stderr,
            "warning: a finding of a has no text; the finding is recorded without text\n"
        );
    }
}

#[test]
fn spec_17_what_stands_around_a_review_hides_no_finding() {
    let rows = [
        r#"{"result": {"model": "a", "findings": [{"title": "Leaks", "file": "src/a.rs"}]}}"#,
        r#"{"model": "a", "findings": {"src/a.rs": [{"title": "Leaks"}]}}"#,
        r#"[{"model": "a", "summary": "Leaks", "path": "src/a.rs"}]"#,
        r#"{"model": "a", "findings": [{"title": "Leaks", "text": "x", "description": "y", "location": "src/a.rs:4"}]}"#,
    ];
    for row in rows {
        let output = Sandbox::new().glee_with(&["merge"], row);
        assert_eq!((output.code, output.stderr.as_str()), (0, ""), "{row}");
        let finding = &json(&output.stdout)["findings"][0];
        assert_eq!(
            (&finding["title"], &finding["file"]),
            (&"Leaks".into(), &"src/a.rs".into()),
            "{row}"
        );
    }
    let nothing = Sandbox::new().glee_with(&["merge"], r#"{"model": "a", "remarks": [1]}"#);
    insta::assert_snapshot!(nothing.stderr, @"
    warning: an object holds neither a finding nor an answer of a debate
    error: cannot read findings from the input: no reviewer states a result
    hint: `glee merge --help` describes the input
    ");
}

/// The same finding of two reviewers at two places becomes one finding of both.
#[test]
fn spec_18_findings_merged_from_other_places_keep_who_raised_them() {
    let finding = |model: &str, line: u32, severity: &str, confidence: u8| {
        serde_json::json!({"id": format!("{model}{line}"), "model": model, "file": "a.py", "line": line,
            "severity": severity, "confidence": confidence, "title": "SQL injection in `find`",
            "description": "When `name` holds a quote, `find` fails."})
    };
    let text = serde_json::json!({"findings": [
        finding("codex", 4, "medium", 80), finding("gemini", 10, "high", 90), finding("codex", 40, "low", 60)]});
    let output =
        Sandbox::new().glee_with(&["merge", "--policy", "specification"], &text.to_string());
    assert_eq!(output.code, 0, "{}", output.stderr);
    let answer = json(&output.stdout);
    let accepted = answer["consensus"]["accepted"].as_array().expect("a list");
    assert_eq!(accepted.len(), 1, "{answer:#}");
    let accepted = &accepted[0];
    assert_eq!(accepted["agreement_level"], "unanimous");
    assert_eq!(
        accepted["contributing_models"],
        json(r#"["codex", "gemini"]"#)
    );
    assert_eq!(
        accepted["original_severities"],
        json(r#"{"codex": "medium", "gemini": "high"}"#)
    );
    assert_eq!(
        accepted["original_confidences"],
        json(r#"{"codex": 80, "gemini": 90}"#)
    );
    let finding = &answer["findings"][0];
    assert_eq!(
        (
            &finding["line"],
            &finding["severity"],
            &finding["confidence"]
        ),
        (&4.into(), &"high".into(), &100.into())
    );
    assert_eq!(
        answer["groups"][0]["members"],
        json(r#"["codex4", "gemini10", "codex40"]"#)
    );
    let statistics = &answer["debate_statistics"];
    assert_eq!(
        (
            &statistics["agreements"],
            &statistics["unique_findings_accepted"]
        ),
        (&1.into(), &0.into())
    );
    assert!(
        !output.stdout.contains("single source"),
        "{}",
        output.stdout
    );
}
