//! Tests that a problem has one number in all runs and worktrees of a repository.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::review::{json, project};
use crate::support::Sandbox;

/// The ids of the findings, with the keys of their problems, by the line of code and the title.
fn ids(sandbox: &Sandbox, tree: &Path, outcome: &str) -> BTreeMap<String, (String, String)> {
    let outcome = json(outcome);
    let findings = outcome["findings"].as_array().expect("a list").iter();
    let text = sandbox.read(tree.join("app.py"));
    let lines: Vec<&str> = text.lines().collect();
    let word = |value: &serde_json::Value| value.as_str().unwrap_or("?").to_owned();
    let entry = |finding: &serde_json::Value| {
        let line = usize::try_from(finding["line"].as_u64().expect("a line")).expect("few lines");
        let about = format!("{} {}", lines[line - 1].trim(), word(&finding["title"]));
        (about, (word(&finding["id"]), word(&finding["problem"])))
    };
    findings.map(entry).collect()
}

#[test]
fn two_worktrees_at_once_give_a_problem_one_number_and_a_number_one_problem() {
    let sandbox = project();
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "Configure the review"]);
    let other = sandbox.root().with_file_name("other");
    let other = other.to_str().expect("a path");
    sandbox.git(&["worktree", "add", "-q", "-b", "other", other]);
    assert_eq!(sandbox.glee(&["-C", other, "trust"]).code, 0);
    let app = sandbox.read("app.py");
    for (tree, name) in [(".", "here"), (other, "there")] {
        let code = format!("{app}\n\ndef {name}(value):\n    return eval(value, {name})\n");
        sandbox.write(Path::new(tree).join("app.py"), code);
    }
    let mut all: BTreeMap<String, BTreeSet<(String, String)>> = BTreeMap::new();
    for _ in 0..3 {
        let trees = [".", other];
        let running = trees.map(|tree| {
            let args = ["-C", tree, "review", "app.py", "--full", "--json"];
            let mut command = sandbox.command(&args);
            command.stdout(std::process::Stdio::piped());
            command.stderr(std::process::Stdio::null());
            command.spawn().expect("glee starts")
        });
        for (tree, child) in trees.into_iter().zip(running) {
            let output = child.wait_with_output().expect("glee ends");
            let outcome = String::from_utf8(output.stdout).expect("UTF-8");
            for (about, id) in ids(&sandbox, Path::new(tree), &outcome) {
                all.entry(about).or_default().insert(id);
            }
        }
    }
    assert_eq!(all.len(), 7, "{all:#?}");
    for (about, ids) in &all {
        assert_eq!(ids.len(), 1, "{about} has one number and one key: {all:#?}");
    }
    let distinct: BTreeSet<&(String, String)> = all.values().flatten().collect();
    assert_eq!(distinct.len(), all.len(), "{all:#?}");
    assert_eq!(sandbox.glee(&["disputes", "verify"]).code, 0);
}

#[test]
fn a_number_is_found_in_whatever_run_raised_it_last() {
    let sandbox = project();
    let first = json(&sandbox.glee(&["review", "app.py", "--json"]).stdout);
    let key = first["findings"][0]["problem"].as_str().expect("a key");
    // The next run raises two of the findings again, and a new one.
    let fixed = sandbox.read("app.py").replace("eval(text)", "int(text)");
    sandbox.write(
        "app.py",
        format!("{fixed}\n\ndef late(word):\n    return eval(word)\n"),
    );
    let second = json(&sandbox.glee(&["review", "app.py", "--json"]).stdout);
    let ids: Vec<&str> = second["findings"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|finding| finding["id"].as_str())
        .collect();
    assert_eq!(ids, ["F2", "F3", "F4", "F5", "F6"]);
    for named in ["F1", &key[..6], key] {
        let shown = sandbox.glee(&["show", named]);
        assert_eq!(shown.code, 0, "{shown}");
        assert!(shown.stdout.contains("MUST[F1]"), "{shown}");
    }
    let dismissed = sandbox.glee(&["dismiss", "--by", "Test", "F1", "--reason", "it is ours"]);
    assert!(
        dismissed
            .stdout
            .starts_with("F1 app.py:2 Do not evaluate text from outside\n"),
        "{dismissed}"
    );
    let different = sandbox.glee(&["fix", "F1", "F6"]);
    assert_eq!(different.code, 2, "{different}");
    assert!(different.stderr.contains("F6 by run"), "{different}");

    let duplicate = [
        "dismiss",
        "--by",
        "Test",
        "F6",
        "--as",
        "duplicate",
        "--of",
        "F2",
        "--reason",
        "one place",
    ];
    assert_eq!(sandbox.glee(&duplicate).code, 0);
    let shown = sandbox.glee(&["show", "F6"]);
    assert!(
        shown.stderr.contains("F6 is the same problem as F2"),
        "{shown}"
    );
    assert_eq!(sandbox.glee(&["disputes", "verify"]).code, 0);
}
