//! Tests findings about code that the change under review does not reach.

use crate::review::json;
use crate::support::{Output, Sandbox};

const BASE: &str = "import hashlib\n\n\ndef token(user):\n    return hashlib.md5(user).hexdigest()\n\n\ndef load(path):\n    return open(path).read()\n";
const ADDED: &str = "\n\ndef save(path, text):\n    open(path, \"w\").write(text)\n";
const OLD: &str = "[MUST] src/app.py:5 `md5` is broken as a hash\n";
const NEW: &str = "[MUST] src/app.py:13 The file is not closed\n";

/// A change that adds a function, and a reviewer that raises `findings`.
fn project(findings: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.git_init();
    sandbox.write("src/app.py", BASE);
    let answer = findings.concat();
    let count = findings.len();
    let script = format!(
        "#!/bin/sh\ncat > /dev/null\ncat <<'E'\n{answer}E\necho \"GLEE-REVIEW-END nonce=$GLEE_NONCE findings={count}\"\n"
    );
    sandbox.connect("lens", "reviewer", &script, &[]);
    set(&sandbox, "sandbox", "off");
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "Base"]);
    sandbox.write("src/app.py", [BASE, ADDED].concat());
    sandbox
}

fn set(sandbox: &Sandbox, key: &str, value: &str) {
    let set = sandbox.glee(&["config", "set", "--user", key, value]);
    assert_eq!(set.code, 0, "{set}");
}

/// The last section's first line, which is the first line of the other reports.
fn verdict(sandbox: &Sandbox) -> String {
    let shown = sandbox.glee(&["runs", "show", "last", "--format", "markdown"]);
    shown.stdout.lines().next().unwrap_or_default().to_owned()
}

fn titles(output: &Output) -> Vec<String> {
    let outcome = json(&output.stdout);
    let findings = outcome["findings"].as_array().into_iter().flatten();
    let titles = findings.map(|finding| finding["title"].as_str().unwrap_or_default().to_owned());
    titles.collect()
}

#[test]
fn an_older_finding_is_counted_and_blocks_as_the_setting_says() {
    // The setting, the findings, the exit code, the first line, and how many findings are shown.
    for (older, findings, code, verdict, shown) in [
        (
            "show",
            &[OLD, NEW][..],
            1,
            "1 mandatory finding is open; 1 older finding does not block",
            2,
        ),
        (
            "show",
            &[OLD],
            0,
            "Nothing mandatory is open; 1 older finding does not block",
            1,
        ),
        ("show", &[NEW], 1, "1 mandatory finding is open", 1),
        (
            "hide",
            &[OLD],
            0,
            "No findings; 1 older finding is hidden",
            0,
        ),
        (
            "hide",
            &[OLD, NEW],
            1,
            "1 mandatory finding is open; 1 older finding is hidden",
            1,
        ),
        (
            "block",
            &[OLD],
            1,
            "1 mandatory finding is open; 1 older finding blocks",
            1,
        ),
    ] {
        let sandbox = project(findings);
        set(&sandbox, "review.older", older);
        let output = sandbox.glee(&["review", "--format", "json"]);
        assert_eq!(output.code, code, "{older} {findings:?}: {output}");
        assert_eq!(
            self::verdict(&sandbox),
            format!("## Glee: {verdict}"),
            "{older} {findings:?}"
        );
        assert_eq!(
            titles(&output).len(),
            shown,
            "{older} {findings:?}: {output}"
        );
        let text = sandbox.glee(&["runs", "show", "last"]);
        let is_marked = findings.contains(&OLD) && shown == findings.len();
        assert_eq!(
            text.stdout.contains("older than the change"),
            is_marked,
            "{text}"
        );
    }
}

#[test]
fn a_review_of_files_calls_nothing_older() {
    let sandbox = project(&[OLD]);
    let output = sandbox.glee(&["review", "src/app.py", "--format", "json"]);
    assert_eq!(output.code, 1, "{output}");
    assert_eq!(
        json(&output.stdout)["findings"][0]["older"],
        serde_json::Value::Null
    );
}

#[test]
fn a_branch_cannot_loosen_what_becomes_of_older_findings() {
    let mut sandbox = project(&[OLD]);
    set(&sandbox, "review.older", "block");
    sandbox.git(&["checkout", "-q", "-b", "change"]);
    let config = sandbox.read(".glee/config.yml");
    sandbox.write(
        ".glee/config.yml",
        format!("{config}\nreview: {{older: hide}}\n"),
    );
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "Save"]);
    sandbox.env("CI", "true");
    let output = sandbox.glee(&["review", "--base", "main", "--format", "json"]);
    assert_eq!(output.code, 1, "{output}");
    assert!(
        titles(&output).iter().any(|title| title.contains("md5")),
        "{output}"
    );
}

#[test]
fn a_ruling_binds_an_older_finding() {
    let sandbox = project(&[OLD]);
    let output = sandbox.glee(&["review"]);
    assert_eq!(output.code, 0, "{output}");
    let disputed = sandbox.glee(&[
        "dismiss",
        "F1",
        "--reason",
        "only a cache key",
        "--by",
        "Ada",
    ]);
    assert_eq!(disputed.code, 0, "{disputed}");
    let ruled = sandbox.glee(&["disputes", "reopen", "1"]);
    assert_eq!(ruled.code, 0, "{ruled}");
    let args = [
        "disputes", "resolve", "1", "enforce", "--reason", "it signs", "--by", "Ada",
    ];
    let enforced = sandbox.glee(&args);
    assert_eq!(enforced.code, 0, "{enforced}");
    let again = sandbox.glee(&["review"]);
    assert_eq!(again.code, 1, "{again}");
}
