//! Tests reviews whose reviewers, model and settings come from the command line.

use serde_json::Value;

use crate::review::{json, project};
use crate::support::Sandbox;

const APP: &str = "def load(text):\n    return eval(text)\n";

fn names(outcome: &Value) -> Vec<&str> {
    let reviewers = outcome["proof"]["reviewers"]
        .as_array()
        .expect("reviewers are a list")
        .iter();
    reviewers
        .filter_map(|reviewer| reviewer["name"].as_str())
        .collect()
}

#[test]
fn a_review_needs_no_configuration() {
    let sandbox = Sandbox::new();
    sandbox.git_init().write("app.py", APP);
    let reviewed = sandbox.glee(&[
        "review",
        "app.py",
        "--with",
        "builtin:rules",
        "--format",
        "json",
    ]);
    assert_eq!(reviewed.code, 1, "{reviewed}");
    let outcome = json(&reviewed.stdout);
    assert_eq!(names(&outcome), ["rules"]);
    assert!(
        !sandbox.exists(".glee") && !sandbox.user_config().exists(),
        "nothing is connected"
    );
    assert_eq!(
        sandbox.glee(&["runs", "resume"]).code,
        1,
        "the run knows its reviewer"
    );
    assert_eq!(sandbox.glee(&["show", "F1"]).code, 0);
    let accepted = sandbox.glee(&["dismiss", "--by", "Test", "F1", "--reason", "our own text"]);
    assert_eq!(accepted.code, 0, "{accepted}");
    let again = sandbox.glee(&[
        "review",
        "app.py",
        "--with",
        "builtin:rules",
        "--format",
        "json",
    ]);
    assert_eq!(
        json(&again.stdout)["findings"][0]["state"],
        "already_ruled",
        "{again}"
    );
}

#[test]
fn only_the_named_programs_review() {
    let sandbox = project();
    let reviewed = sandbox.glee(&[
        "review",
        "app.py",
        "--with",
        "builtin:rules",
        "--format",
        "json",
    ]);
    assert_eq!(names(&json(&reviewed.stdout)), ["rules"], "{reviewed}");

    sandbox.program("codex", "#!/bin/sh\necho codex-cli 0.50.0\n");
    let dry = [
        "review",
        "app.py",
        "--with",
        "codex:gpt-5.2",
        "--with",
        "builtin:rules",
        "--model",
        "other",
    ];
    let refused = sandbox.glee(&dry);
    assert_eq!(refused.code, 2, "{refused}");
    assert!(
        refused
            .stderr
            .contains("no reviewer of this run accepts `--model`"),
        "{refused}"
    );
    let planned = sandbox.glee(&[&dry[..6], &["--dry-run", "--format", "json"]].concat());
    assert_eq!(planned.code, 0, "{planned}");
    let plan = json(&planned.stdout)["plan"].clone();
    let agent =
        |agent: &Value| format!("{} {} {}", agent["name"], agent["command"], agent["model"]);
    let agents: Vec<String> = plan["agents"]
        .as_array()
        .expect("agents are a list")
        .iter()
        .map(agent)
        .collect();
    assert_eq!(
        agents,
        [
            r#""codex" ["codex"] "gpt-5.2""#,
            r#""rules" ["builtin:rules"] null"#
        ]
    );
    assert_eq!(
        plan["settings"]["review.reviewers"],
        serde_json::json!(["codex", "rules"])
    );
}

#[test]
fn wrong_reviewers_are_refused() {
    let sandbox = project();
    let refused = |args: &[&str]| {
        let args = [&["review", "app.py"], args].concat();
        format!(
            "$ glee {}\n{}\n",
            args.join(" "),
            sandbox.glee(&args).stable()
        )
    };
    let said: String = [
        &["--with", "clade"][..],
        &["--with", "builtin:fixer"],
        &["--with", "claude:"],
        &["--with", "claude", "--reviewer", "lens"],
        &["--model", "opus"],
        &["--quick", "--thorough"],
    ]
    .map(refused)
    .concat();
    insta::assert_snapshot!(said);
}

#[test]
fn a_preset_sets_settings_and_other_flags_override_it() {
    let sandbox = project();
    assert_eq!(
        sandbox.glee(&["config", "set", "review.rounds", "7"]).code,
        0
    );
    let planned = |flags: &[&str]| {
        let output = sandbox.glee(
            &[
                &["review", "app.py", "--dry-run", "--format", "json"],
                flags,
            ]
            .concat(),
        );
        let settings = json(&output.stdout)["plan"]["settings"].clone();
        let keys = ["review.reviewers", "review.rounds", "review.debate"];
        keys.map(|key| settings[key].to_string().replace('"', ""))
            .join(" ")
    };
    assert_eq!(planned(&[]), "all 7 off");
    assert_eq!(planned(&["--quick"]), "first 1 off");
    assert_eq!(planned(&["--thorough"]), "all 3 auto");
    assert_eq!(
        planned(&["--quick", "--rounds", "2", "--debate", "2"]),
        "first 2 2"
    );
    assert_eq!(
        planned(&["--quick", "--with", "builtin:rules"]),
        "[rules] 1 off"
    );
    let listed = sandbox.glee(&["config", "list"]);
    let preset = "`glee review --quick` sets review.reviewers = first, review.rounds = 1, review.debate = off\n";
    assert!(listed.stdout.contains(preset), "{listed}");
}
