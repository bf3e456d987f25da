//! Tests what a reviewer says beside a count of 0: it is held against the count, asked about, and shown.

use crate::support::{Output, Sandbox};

/// Answers each task with the file of its name.
const SCRIPT: &str = r#"#!/bin/sh
sed "s/{nonce}/$GLEE_NONCE/g" "../bin/$GLEE_TASK"
"#;

fn reviewed(review: &str, close: &str) -> (Sandbox, Output, u64) {
    let sandbox = Sandbox::new();
    sandbox.git_init();
    sandbox.write("app.py", "def load(path):\n    return open(path).read()\n");
    sandbox.script("rev.sh", SCRIPT);
    let beside = sandbox.root().with_file_name("bin");
    std::fs::write(beside.join("review"), review).expect("the answer is written");
    std::fs::write(beside.join("close"), close).expect("the answer is written");
    let connected = sandbox.glee(&[
        "connect",
        "rev",
        "--role",
        "reviewer",
        "--name",
        "rev",
        "--command",
        "./rev.sh",
    ]);
    assert_eq!(connected.code, 0, "{connected}");
    let reviewed = sandbox.glee(&["review", "app.py", "--no-input"]);
    let shown = sandbox.glee(&["runs", "show", "last", "--format", "json"]);
    let outcome: serde_json::Value = serde_json::from_str(&shown.stdout).expect("an outcome");
    let calls = outcome["proof"]["calls"].as_u64().unwrap_or_default();
    (sandbox, reviewed, calls)
}

#[test]
fn words_that_contradict_or_doubt_a_count_of_0_are_not_clean() {
    const CLOSED: &str = "GLEE-REVIEW-END nonce={nonce} findings=0 read=all\n";
    for (review, close, code, calls) in [
        ("GLEE-REVIEW-END nonce={nonce} findings=0\n", "", 0, 1),
        (
            "No issues found.\n\nGLEE-REVIEW-END nonce={nonce} findings=0 read=all\n",
            "",
            0,
            1,
        ),
        (
            "I am unable to read app.py. No issues found.\n\nGLEE-REVIEW-END nonce={nonce} findings=0\n",
            CLOSED,
            0,
            2,
        ),
        (
            "I am unable to read app.py. No issues found.\n\nGLEE-REVIEW-END nonce={nonce} findings=0\n",
            "GLEE-REVIEW-END nonce={nonce} findings=0 read=part\n",
            4,
            4,
        ),
        (
            "Decision: fail - two regressions: 1. the handle leaks. 2. the hash is broken.\n\nGLEE-REVIEW-END nonce={nonce} findings=0\n",
            CLOSED,
            4,
            2,
        ),
        (
            "- MUST app.py:2 close the file\n\nGLEE-REVIEW-END nonce={nonce} findings=0\n",
            CLOSED,
            1,
            2,
        ),
        (
            r#"{"nonce":"{nonce}","findings":[],"summary":"Only the first half was visible to me."}"#,
            CLOSED,
            0,
            2,
        ),
        (
            r#"{"nonce":"{nonce}","findings":[],"decision":"fail"}"#,
            CLOSED,
            4,
            2,
        ),
        (
            r#"{"nonce":"{nonce}","findings":[],"read":"part"}"#,
            CLOSED,
            4,
            2,
        ),
    ] {
        let (_sandbox, output, asked) = reviewed(review, close);
        assert_eq!(output.code, code, "{review}\n{output}");
        assert_eq!(asked, calls, "{review}\n{output}");
    }
}

#[test]
fn what_a_reviewer_says_beside_its_findings_is_in_every_report() {
    let (sandbox, text, _) = reviewed(
        "I could read only the first half of app.py.\u{1b}[31m\n\n[SHOULD] app.py:2 Name the encoding\nGLEE-REVIEW-END nonce={nonce} findings=1\n",
        "",
    );
    assert!(
        text.stdout.contains("only the first half of app.py"),
        "{text}"
    );
    for format in ["json", "markdown", "html", "sarif", "text"] {
        let shown = sandbox.glee(&["runs", "show", "last", "--format", format]);
        assert!(
            shown.stdout.contains("only the first half of app.py"),
            "{format}: {shown}"
        );
        assert!(!shown.stdout.contains('\u{1b}'), "{format}: {shown}");
    }
    let calls = sandbox.glee(&["runs", "show", "last", "--calls"]);
    assert!(
        calls.stdout.contains("only the first half of app.py"),
        "{calls}"
    );
}
