//! Unusually written findings: none is lost or assigned to another file.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::agent::Step;
use crate::runner::Cases;
use crate::scene::{Kind, Scene, emit, outcome};

pub(crate) fn add(cases: &mut Cases) {
    lists(cases);
    texts(cases);
    paths(cases);
    severities(cases);
}

fn reviewed(text: &str) -> (Vec<String>, String, i32) {
    let mut scene = Scene::new(Kind::Plain);
    scene.play("rev", "review", [emit(text)]);
    let output = scene.review();
    let outcome = outcome(&output);
    let title = |finding: &Value| finding["title"].as_str().unwrap_or_default().to_owned();
    let titles = outcome["findings"]
        .as_array()
        .into_iter()
        .flatten()
        .map(title)
        .collect();
    (
        titles,
        outcome["proof"]["reviewers"][0]["status"]
            .as_str()
            .unwrap_or_default()
            .to_owned(),
        output.code,
    )
}

/// A mandatory finding in JSON.
fn finding(title: &str) -> Value {
    json!({"severity": "critical", "title": title, "file": "app.py", "line": 2})
}

fn lists(cases: &mut Cases) {
    const ROW: &str = "findings in several lists";
    let signed = |findings: &[Value]| json!({"nonce": "{nonce}", "findings": findings}).to_string();
    let plain = |findings: &[Value]| json!({"findings": findings}).to_string();
    let (a, b, none) = (finding("alpha"), finding("beta"), signed(&[]));
    let end = |count: usize| format!("GLEE-REVIEW-END nonce={{nonce}} findings={count}");
    let both: &[&str] = &["alpha", "beta"];
    let one: &[&str] = &["alpha"];
    let result = |issues: &[Value]| {
        json!({"type": "review_result", "nonce": "{nonce}", "payload": {"verdict": "blocker", "summary": "s", "issues": issues}})
            .to_string()
    };
    for (name, text, titles, status) in [
        (
            "one a file, the last empty",
            format!("{}\n{none}\n", signed(std::slice::from_ref(&a))),
            one,
            "complete",
        ),
        (
            "one a file in fences",
            format!(
                "```json\n{}\n```\nb.py:\n```\n{none}\n```\n",
                signed(std::slice::from_ref(&a))
            ),
            one,
            "complete",
        ),
        (
            "one a file, the first empty",
            format!("{none}\n{}\n", signed(std::slice::from_ref(&a))),
            one,
            "complete",
        ),
        (
            "two a file",
            format!(
                "{}\n{}\n",
                signed(std::slice::from_ref(&a)),
                signed(std::slice::from_ref(&b))
            ),
            both,
            "complete",
        ),
        (
            "the same twice",
            format!(
                "{}\n{}\n",
                signed(std::slice::from_ref(&a)),
                signed(std::slice::from_ref(&a))
            ),
            one,
            "complete",
        ),
        (
            "two, the number of the last one",
            format!(
                "{}\n{}\n{}\n",
                plain(std::slice::from_ref(&a)),
                plain(&[
                    json!({"severity": "critical", "title": "beta", "file": "b.py", "line": 9})
                ]),
                end(1)
            ),
            both,
            "incomplete",
        ),
        (
            "two, one without a nonce",
            format!(
                "{}\n{}\n",
                signed(std::slice::from_ref(&a)),
                plain(std::slice::from_ref(&b))
            ),
            both,
            "incomplete",
        ),
        (
            "two, one with another nonce",
            format!(
                "{}\n{}\n",
                signed(std::slice::from_ref(&a)),
                signed(std::slice::from_ref(&b)).replace("{nonce}", "0000")
            ),
            both,
            "incomplete",
        ),
        (
            "tags and a list",
            format!(
                "[MUST] app.py:2 alpha\n{}\n{}\n",
                plain(std::slice::from_ref(&b)),
                end(2)
            ),
            both,
            "complete",
        ),
        (
            "tags and a list, the number of the list",
            format!(
                "[MUST] app.py:2 alpha\n{}\n{}\n",
                plain(std::slice::from_ref(&b)),
                end(1)
            ),
            both,
            "incomplete",
        ),
        (
            "tags and an empty list",
            format!("[MUST] app.py:2 alpha\n{none}\n"),
            one,
            "incomplete",
        ),
        (
            "tags and an empty list, the number 0",
            format!("[MUST] app.py:2 alpha\n{}\n{}\n", plain(&[]), end(0)),
            one,
            "incomplete",
        ),
        (
            "an empty list and tags",
            format!("{none}\n\n[MUST] app.py:2 alpha\n"),
            one,
            "incomplete",
        ),
        (
            "the same in both forms",
            format!(
                "[CRITICAL] app.py:2 Alpha\n{}\n{}\n",
                plain(std::slice::from_ref(&a)),
                end(1)
            ),
            &["Alpha"],
            "complete",
        ),
        (
            "a list without an object",
            format!("[{a}, {b}]\n{}\n", end(2)),
            both,
            "complete",
        ),
        (
            "a list without an object, the number 0",
            format!("[{a}]\n{}\n", end(0)),
            one,
            "incomplete",
        ),
        (
            "one a line",
            format!("{a}\n{b}\n{}\n", end(2)),
            both,
            "complete",
        ),
        (
            "one a line in a fence",
            format!("```jsonl\n{a}\n{b}\n```\n{}\n", end(2)),
            both,
            "complete",
        ),
        (
            "lists of lists",
            format!("{}\n", json!({"nonce": "{nonce}", "findings": [[a], [b]]})),
            both,
            "complete",
        ),
        (
            "lists in files",
            format!(
                "{}\n",
                json!({"nonce": "{nonce}", "files": [{"file": "app.py", "issues": [a]}, {"file": "b.py", "issues": [b]}]})
            ),
            both,
            "complete",
        ),
        (
            "lists by file",
            format!(
                "{}\n",
                json!({"nonce": "{nonce}", "findings": {"app.py": [a], "b.py": [b]}})
            ),
            both,
            "complete",
        ),
        (
            "a list in a text",
            format!(
                "{}\n",
                json!({"nonce": "{nonce}", "findings": json!([a, b]).to_string()})
            ),
            both,
            "complete",
        ),
        (
            "tags in a text",
            format!(
                "{}\n",
                json!({"nonce": "{nonce}", "findings": "[MUST] alpha\n[MUST] beta"})
            ),
            both,
            "complete",
        ),
        (
            "a list with a null",
            format!("{}\n", json!({"nonce": "{nonce}", "findings": [a, null]})),
            one,
            "incomplete",
        ),
        (
            "a result and a list",
            format!(
                "{}\n{}\n",
                result(std::slice::from_ref(&a)),
                signed(std::slice::from_ref(&b))
            ),
            both,
            "complete",
        ),
        (
            "a verdict without an issue",
            format!("{}\n", result(&[])),
            &[],
            "incomplete",
        ),
    ] {
        cases.add(ROW, name, move || {
            let (mut found, said, code) = reviewed(&text);
            found.sort();
            assert_eq!(
                (
                    found
                        .iter()
                        .map(String::as_str)
                        .collect::<Vec<_>>()
                        .as_slice(),
                    said.as_str()
                ),
                (titles, status)
            );
            assert_eq!(code, if status == "complete" { 1 } else { 4 });
        });
    }
}

fn texts(cases: &mut Cases) {
    const ROW: &str = "findings whose text has another name";
    for name in [
        "message",
        "text",
        "body",
        "comment",
        "summary",
        "name",
        "details",
        "description",
    ] {
        cases.add(ROW, name, move || {
            let found = json!({"severity": "high", name: "The hash is weak", "file": "app.py"});
            let (titles, status, code) =
                reviewed(&json!({"nonce": "{nonce}", "findings": [found]}).to_string());
            assert_eq!(
                (titles, status.as_str(), code),
                (vec!["The hash is weak".to_owned()], "complete", 1)
            );
        });
    }
    for (name, found) in [
        ("nothing", json!({})),
        ("a severity alone", json!({"severity": "high"})),
        (
            "blank texts",
            json!({"severity": "high", "title": " ", "message": ""}),
        ),
        ("numbers", json!({"severity": 1, "title": 2})),
    ] {
        cases.add(ROW, format!("a finding of {name}"), move || {
            let (titles, _, code) =
                reviewed(&json!({"nonce": "{nonce}", "findings": [found]}).to_string());
            assert_eq!(
                (titles, code),
                (vec!["(a finding without a text)".to_owned()], 1)
            );
        });
    }
}

fn paths(cases: &mut Cases) {
    const ROW: &str = "paths with blanks";
    const NAMED: &str = "my dir/a file.py";
    let known = |text: &str| (text.to_owned(), Some(NAMED));
    for (text, file) in [
        known("my dir/a file.py:2"),
        known("`my dir/a file.py`:2"),
        known("\"my dir/a file.py\":2"),
        known("'my dir/a file.py' (line 2)"),
        known("(my dir/a file.py:2)"),
        known("./my dir/a file.py#L2"),
        ("src/file.py:2".to_owned(), Some("src/file.py")),
        ("file.py:2".to_owned(), Some("src/file.py")),
        ("other dir/a file.py:2".to_owned(), None),
        ("\"other dir/a file.py\":2".to_owned(), None),
        ("C:\\my dir\\a file.py:2".to_owned(), None),
    ] {
        cases.add(ROW, text.clone(), move || {
            let mut scene = Scene::new(Kind::Plain);
            for path in [NAMED, "src/file.py", "app.py"] {
                scene.write(path, "import os\nkey = md5(data)\n");
            }
            let answer = format!(
                "[MUST] {text} Replace the weak hash\nGLEE-REVIEW-END nonce={{nonce}} findings=1\n"
            );
            scene.play("rev", "review", [emit(&answer)]);
            let output = scene
                .ready()
                .glee(&["review", ".", "--format", "json", "--no-input"]);
            assert_eq!(output.code, 1, "{output}");
            let found = outcome(&output)["findings"][0].clone();
            assert_eq!(found["anchor"]["file"].as_str(), file, "{found}");
        });
    }
    for (name, file, line) in [
        ("its own field", json!(NAMED), json!(2)),
        ("a place", json!("my dir/a file.py:2"), Value::Null),
        ("quotes", json!("\"my dir/a file.py\""), json!(2)),
    ] {
        cases.add(ROW, format!("{name} in JSON"), move || {
            let mut scene = Scene::new(Kind::Plain);
            scene
                .write(NAMED, "import os\nkey = md5(data)\n")
                .write("src/file.py", "x = 1\n");
            let found = json!({"severity": "high", "title": "t", "file": file, "line": line});
            scene.play(
                "rev",
                "review",
                [emit(
                    &json!({"nonce": "{nonce}", "findings": [found]}).to_string(),
                )],
            );
            let output = scene
                .ready()
                .glee(&["review", ".", "--format", "json", "--no-input"]);
            assert_eq!(
                outcome(&output)["findings"][0]["anchor"]["file"],
                NAMED,
                "{output}"
            );
            assert_eq!(outcome(&output)["findings"][0]["line"], 2, "{output}");
        });
    }
}

/// A watch stops work that is approved with a severe issue.
fn severities(cases: &mut Cases) {
    const ROW: &str = "severities in a watch";
    let grave = [
        "critical",
        "P0",
        "P1",
        "severe",
        "major",
        "error",
        "sev1",
        "SEV-0",
        "S1",
        "blocking",
        "urgent",
        "must",
        "🔴",
        "high severity",
        "P1 (major)",
        "whatever",
    ];
    let light = ["low", "nit", "P3", "minor", "info", "S4"];
    let words = grave
        .into_iter()
        .map(|word| (word, false))
        .chain(light.into_iter().map(|word| (word, true)));
    for (word, goes_on) in words {
        cases.add(ROW, format!("approved with `{word}`"), move || {
            let mut scene = Scene::new(Kind::Git);
            scene.set("watch: {debounce: 100ms, agents: [fix]}\nlimits: {retries: 0}");
            let issue = json!({"severity": word, "description": "the key is in the log", "file": "app.py"});
            let payload = json!({"verdict": "approved", "summary": "s", "issues": [issue]});
            let said = json!({"nonce": "{nonce}", "type": "review_result", "reviewer": "rev", "payload": payload});
            scene.play("rev", "peer", [emit(&format!("{said}\n"))]);
            let milestone = "{\"type\": \"milestone\", \"summary\": \"m\", \"files\": [\"app.py\"]}\n";
            scene.play("fix", "", [emit(milestone), Step::Sleep(60_000)]);
            scene.ready();
            let mut watch = scene.start(&["watch", "--no-input"]);
            let begun = Instant::now();
            let status = loop {
                let output = scene.glee(&["watch", "status", "--json"]);
                let status: Value = serde_json::from_str(&output.stdout).unwrap_or_default();
                if status["last_action"].is_string() && status["in_cycle"] == false {
                    break status;
                }
                assert!(begun.elapsed() < Duration::from_secs(30), "no verdict: {output}");
                std::thread::sleep(Duration::from_millis(50));
            };
            scene.glee(&["watch", "stop"]);
            watch.wait().expect("it was started");
            assert_eq!(status["status"] == "RUNNING", goes_on, "{status}");
            assert_eq!(status["last_action"] == "continue", goes_on, "{status}");
        });
    }
}
