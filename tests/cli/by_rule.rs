//! Tests that files which no person wrote are left out of a review, and named.

use crate::review::json;
use crate::support::Sandbox;

const READER: &str =
    "#!/bin/sh\ncat > \"$HOME/prompt\"\necho \"GLEE-REVIEW-END nonce=$GLEE_NONCE findings=0\"\n";

fn project() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.git_init();
    sandbox.connect("lens", "reviewer", READER, &[]);
    let set = sandbox.glee(&["config", "set", "--user", "sandbox", "off"]);
    assert_eq!(set.code, 0, "{set}");
    sandbox.write("app.dart", "var a = 1;\n");
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "Base"]);
    sandbox.write(
        "app.g.dart",
        "// GENERATED CODE - DO NOT MODIFY BY HAND\nvar made = 1;\n",
    );
    sandbox.write("prices.csv", "a,b\n");
    sandbox.write("node_modules/a/a.js", "var vendored = 1;\n");
    sandbox
}

#[test]
fn a_change_of_such_files_alone_says_so_and_asks_nobody() {
    let sandbox = project();
    let output = sandbox.glee(&["review"]);
    assert_eq!(output.code, 0, "{output}");
    let line = "Nothing to review in uncommitted changes: app.g.dart (generated), node_modules/a/a.js (vendored), prices.csv (data)";
    let words: Vec<&str> = output.stdout.split_whitespace().collect();
    assert!(words.join(" ").contains(line), "{output}");
    assert!(!sandbox.home().join("prompt").exists());
}

#[test]
fn such_files_beside_code_are_named_and_do_not_make_a_review_incomplete() {
    let sandbox = project();
    sandbox.write("app.dart", "var a = 2;\n");
    let output = sandbox.glee(&["review", "--format", "json"]);
    assert_eq!(output.code, 0, "{output}");
    let prompt = std::fs::read_to_string(sandbox.home().join("prompt")).expect("a prompt");
    assert!(
        prompt.contains("var a = 2") && !prompt.contains("var made"),
        "{prompt}"
    );
    assert_eq!(
        json(&output.stdout)["proof"]["skipped"],
        serde_json::json!([
            {"file": "app.g.dart", "reason": "generated"},
            {"file": "node_modules/a/a.js", "reason": "vendored"},
            {"file": "prices.csv", "reason": "data"},
        ])
    );
    let text = sandbox.glee(&["runs", "show", "last"]);
    assert_eq!(
        text.stdout.matches("prices.csv").count(),
        1,
        "each file is named once: {text}"
    );
    assert!(
        text.stdout.contains("Not reviewed by rule: 3 files"),
        "{text}"
    );
    let named = sandbox.glee(&["review", "app.g.dart"]);
    assert_eq!(named.code, 0, "{named}");
    let prompt = std::fs::read_to_string(sandbox.home().join("prompt")).expect("a prompt");
    assert!(
        prompt.contains("var made"),
        "who names a file wants it reviewed: {prompt}"
    );
}
