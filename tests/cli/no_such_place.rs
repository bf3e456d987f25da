//! Tests findings at files and lines that do not exist: corrected by the code that they quote, put back to their
//! reviewer, or shown as such.

use serde_json::Value;

use crate::review::json;
use crate::support::Sandbox;

const APP: &str = "import hashlib\n\n\ndef token(user):\n    return hashlib.md5(user).hexdigest()\n\n\ndef load(path):\n    return open(path).read()\n";

/// A reviewer with these findings, which answers `close` if it is asked about its answer.
fn reviewed(findings: &[&str], close: &str) -> (Sandbox, Value, i32) {
    let sandbox = Sandbox::new();
    sandbox.git_init();
    let answer = findings.join("\n");
    let count = findings.len();
    let script = format!(
        "#!/bin/sh\nif [ \"$GLEE_TASK\" = close ]; then cat > \"$HOME/question\"; cat <<E\n{close}\nE\nexit; fi\n\
         cat > /dev/null\ncat <<'E'\n{answer}\nE\necho \"GLEE-REVIEW-END nonce=$GLEE_NONCE findings={count}\"\n"
    );
    sandbox.connect("lens", "reviewer", &script, &[]);
    let set = sandbox.glee(&["config", "set", "--user", "sandbox", "off"]);
    assert_eq!(set.code, 0, "{set}");
    sandbox.write("src/app.py", "import hashlib\n");
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "Base"]);
    sandbox.write("src/app.py", APP);
    let output = sandbox.glee(&["review", "--format", "json"]);
    let outcome = json(&output.stdout);
    (sandbox, outcome, output.code)
}

/// The place of each finding, and whether it exists.
fn places(outcome: &Value) -> Vec<String> {
    let findings = outcome["findings"].as_array().into_iter().flatten();
    let place = |finding: &Value| {
        let file = finding["file"].as_str().unwrap_or_default();
        let mark = if finding["no_such_place"] == true {
            "?"
        } else {
            ""
        };
        format!("{file}:{}{mark}", finding["line"])
    };
    findings.map(place).collect()
}

const GHOST: &str = "[MUST] src/ghost.py:10 `create_session` is called twice";
const BEYOND: &str = "[MUST] src/app.py:900 The lock is never released";

#[test]
fn a_place_that_does_not_exist_is_marked_in_every_report_and_counted_apart() {
    let zero = "[MUST] src/app.py:0 The class prints";
    let found = "[MUST] src/app.py:5 `md5` is broken";
    let (sandbox, outcome, code) = reviewed(&[GHOST, BEYOND, zero, found], "");
    assert_eq!(code, 1);
    assert_eq!(
        places(&outcome),
        [
            "src/app.py:null?",
            "src/app.py:5",
            "src/app.py:900?",
            "src/ghost.py:10?"
        ]
    );
    for format in ["text", "markdown", "html", "sarif", "agent"] {
        let shown = sandbox.glee(&["runs", "show", "last", "--format", format]);
        assert!(
            shown.stdout.contains("3 findings name no such place"),
            "{format}: {shown}"
        );
    }
    let text = sandbox.glee(&["runs", "show", "last"]);
    assert_eq!(text.stdout.matches(" no such place").count(), 4, "{text}");
}

#[test]
fn the_quoted_code_corrects_a_place() {
    let (_sandbox, outcome, _) = reviewed(
        &[
            "[MUST] src/app.py:900 `hashlib.md5(user)` is broken as a hash",
            "[MUST] src/store.py:3 `open(path).read()` is not closed",
        ],
        "",
    );
    assert_eq!(places(&outcome), ["src/app.py:5", "src/app.py:9"]);
    let finding = &outcome["findings"][0];
    assert_eq!(finding["corrected_from"]["line"], 900);
    assert_eq!(finding["older"], Value::Null, "the line is new");
    assert_eq!(outcome["proof"]["calls"], 1, "nothing was asked");
}

#[test]
fn a_reviewer_says_where_a_finding_is_or_withdraws_it() {
    let (sandbox, outcome, code) = reviewed(
        &[GHOST, BEYOND],
        "[1] WITHDRAWN\n[2] src/app.py:9\nGLEE-REVIEW-END nonce=$GLEE_NONCE findings=1 read=all",
    );
    assert_eq!(code, 1);
    assert_eq!(places(&outcome), ["src/app.py:9"]);
    assert_eq!(outcome["proof"]["calls"], 2);
    assert!(
        outcome["notices"]
            .to_string()
            .contains("`lens` withdrew 1 finding"),
        "{outcome}"
    );
    let question = std::fs::read_to_string(sandbox.home().join("question")).expect("a question");
    assert!(question.contains("[1] src/ghost.py:10"), "{question}");
    // A place that does not exist either does not help.
    let (_sandbox, outcome, code) = reviewed(
        &[BEYOND],
        "[1] src/app.py:901\nGLEE-REVIEW-END nonce=$GLEE_NONCE findings=1 read=all",
    );
    assert_eq!(
        (places(&outcome), code),
        (vec!["src/app.py:901?".to_owned()], 1)
    );
    // Who withdraws all found nothing.
    let (_sandbox, outcome, code) = reviewed(
        &[GHOST],
        "[1] WITHDRAWN\nGLEE-REVIEW-END nonce=$GLEE_NONCE findings=0 read=all",
    );
    assert_eq!((places(&outcome).len(), code), (0, 0), "{outcome}");
}
