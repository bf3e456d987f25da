//! Tests `--format agent` and `glee answer`: an agent that called Glee reads what is open and answers it; it does not rule.

use crate::review::{json, project};
use crate::shop::{shop, unchanged};
use crate::support::Sandbox;

/// A project whose last run has four mandatory findings (F1 to F4) and an optional one (F5).
fn reviewed() -> Sandbox {
    let sandbox = project();
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "Configure the review"]);
    assert_eq!(sandbox.glee(&["review", "app.py"]).code, 1);
    sandbox
}

fn edit(sandbox: &Sandbox, from: &str, to: &str) {
    let before = sandbox.read("app.py");
    assert!(before.contains(from), "{before}");
    sandbox.write("app.py", before.replace(from, to));
}

/// The state of the only finding of the newest run.
fn state(sandbox: &Sandbox) -> String {
    let outcome = json(&sandbox.glee(&["runs", "show", "--json"]).stdout);
    let findings = outcome["findings"].as_array().expect("findings are a list");
    assert_eq!(findings.len(), 1, "{outcome}");
    let state = findings[0]["state"].as_str();
    state.expect("a finding has a state").to_owned()
}

#[test]
fn an_implemented_finding_is_checked() {
    let sandbox = reviewed();
    let claimed = sandbox.glee(&["answer", "F1", "implemented"]);
    assert_eq!(claimed.code, 1, "nothing changed: {claimed}");
    assert_eq!(state(&sandbox), "claimed");

    edit(&sandbox, "return eval(template)", "return str(template)");
    let elsewhere = sandbox.glee(&["answer", "F1", "implemented"]);
    assert_eq!(elsewhere.code, 1, "other code changed: {elsewhere}");

    edit(&sandbox, "return eval(text)", "return int(text)");
    let before = sandbox.read("app.py");
    let done = sandbox.glee(&["answer", "F1", "implemented", "--reason", "int"]);
    assert_eq!(done.code, 0, "{done}");
    assert_eq!(state(&sandbox), "resolved");
    assert_eq!(sandbox.read("app.py"), before, "no coder was called");
    let again = sandbox.glee(&["answer", "F1", "implemented"]);
    assert_eq!(again.code, 2, "{again}");
    assert!(again.stderr.contains("already fixed"), "{again}");

    // Nobody raises it again, and the list no longer has it.
    let listed = sandbox.glee(&["findings"]).stdout;
    assert!(!listed.contains("F1 "), "{listed}");
    assert_eq!(sandbox.glee(&["disputes", "verify"]).code, 0);
}

#[test]
fn a_reviewer_that_is_not_convinced_keeps_the_finding_open() {
    let sandbox = Sandbox::new();
    sandbox.git_init();
    sandbox.write("a.py", "key = md5(name)\n");
    sandbox.connect(
        "lens",
        "reviewer",
        r#"#!/bin/sh
if [ "$GLEE_TASK" = recheck ]; then
  if grep -q sha1 a.py; then word="NOT RESOLVED"; else word=RESOLVED; fi
  echo "[$GLEE_FINDINGS] $word: looked"
  echo "GLEE-RECHECK-END nonce=$GLEE_NONCE answers=1"
  exit
fi
echo "[MUST] a.py:1 Do not use md5"
echo "GLEE-REVIEW-END nonce=$GLEE_NONCE findings=1"
"#,
        &[],
    );
    assert_eq!(sandbox.glee(&["review", "a.py"]).code, 1);
    sandbox.write("a.py", "key = sha1(name)\n");
    let half = sandbox.glee(&["answer", "F1", "implemented"]);
    assert_eq!(half.code, 1, "{half}");
    assert_eq!(state(&sandbox), "not_resolved");
    sandbox.write("a.py", "key = sha256(name)\n");
    let done = sandbox.glee(&["answer", "F1", "implemented", "--format", "agent"]);
    assert_eq!((done.code, done.stderr.as_str()), (0, ""), "{done}");
    let undone = sandbox.glee(&["runs", "undo"]);
    assert_eq!(undone.code, 0, "{undone}");
    assert_eq!(sandbox.read("a.py"), "key = sha256(name)\n", "{undone}");
}

#[test]
fn the_judge_rules_on_an_objection_and_the_caller_obeys() {
    let sandbox = reviewed();
    let object = |id: &str| {
        sandbox.glee(&[
            "answer",
            id,
            "disagree",
            "--reason",
            "ours",
            "--evidence",
            "app.py:9",
        ])
    };
    let enforced = object("F2");
    assert_eq!(enforced.code, 1, "{enforced}");
    assert_eq!(state(&sandbox), "enforced");
    assert!(
        sandbox.read("app.py").contains("eval(template)"),
        "no coder was called"
    );
    let settled = object("F2");
    assert_eq!(settled.code, 2, "{settled}");
    edit(&sandbox, "eval(template)", "str(template)");
    let obeyed = sandbox.glee(&["answer", "F2", "implemented"]);
    assert_eq!(obeyed.code, 0, "{obeyed}");

    let dismissed = object("F3");
    assert_eq!(dismissed.code, 0, "{dismissed}");
    assert_eq!(state(&sandbox), "dismissed");
    let escalated = object("F4");
    assert_eq!(escalated.code, 3, "{escalated}");
    let open = sandbox.glee(&["runs", "show", "--format", "agent"]).stdout;
    assert!(open.contains("> dispute 3 waits for a ruling"), "{open}");
    let optional = object("F5");
    assert_eq!(optional.code, 0, "{optional}");
    assert_eq!(state(&sandbox), "discarded");

    // A later review binds what was dismissed and repeats what waits.
    let again = json(&sandbox.glee(&["review", "app.py", "--json"]).stdout);
    let states: Vec<&str> = again["findings"]
        .as_array()
        .expect("findings are a list")
        .iter()
        .filter_map(|finding| finding["state"].as_str())
        .collect();
    assert!(states.contains(&"already_ruled"), "{again}");
}

#[test]
fn a_coder_can_take_over_what_the_caller_left() {
    let sandbox = reviewed();
    assert_eq!(sandbox.glee(&["answer", "F1", "implemented"]).code, 1);
    let fixed = sandbox.glee(&["fix", "F1"]);
    assert_eq!(fixed.code, 0, "{fixed}");
    assert_eq!(state(&sandbox), "resolved");
    assert!(sandbox.read("app.py").contains("int(text)"));
    let undone = sandbox.glee(&["runs", "undo"]);
    assert_eq!(undone.code, 0, "{undone}");
    assert!(sandbox.read("app.py").contains("eval(text)"));
}

#[test]
fn a_wrong_answer_is_refused_before_anything_is_recorded() {
    let sandbox = reviewed();
    let runs = sandbox.glee(&["runs", "--json"]).stdout;
    for (words, why) in [
        (&["F1", "disagree"][..], "--reason"),
        (&["F1", "disagree", "--reason", ""], "--reason"),
        (&["F9", "implemented"], "F9"),
        (&["F1", "dismissed"], "dismissed"),
        (&["F1", "implemented", "--evidence", "app.py"], "PATH:LINE"),
        (
            &["F1", "implemented", "--evidence", "app.py:0"],
            "PATH:LINE",
        ),
        (
            &["F1", "implemented", "--evidence", "app.py:99"],
            "does not have",
        ),
        (
            &["F1", "implemented", "--evidence", "b.py:1"],
            "no readable file",
        ),
        (
            &["F1", "implemented", "--evidence", "../../etc/passwd:1"],
            "no readable file",
        ),
    ] {
        let refused = sandbox.glee(&[&["answer"], words].concat());
        assert_eq!(refused.code, 2, "{words:?} {refused}");
        assert!(refused.stderr.contains(why), "{words:?} {refused}");
        assert!(refused.stderr.contains("hint:"), "{words:?} {refused}");
    }
    assert_eq!(sandbox.glee(&["runs", "--json"]).stdout, runs);
}

#[test]
fn an_agent_does_not_rule_and_without_a_terminal_a_person_is_named() {
    let mut sandbox = reviewed();
    for id in ["F2", "F3", "F4"] {
        let object = ["answer", id, "disagree", "--reason", "ours"];
        sandbox.glee(&object);
    }
    let rulings = [
        &["dismiss", "F1", "--reason", "mine"][..],
        &["disputes", "resolve", "3", "dismiss"],
        &["disputes", "resolve", "3", "enforce"],
        &["disputes", "resolve", "3", "discard"],
        &["disputes", "resolve", "--all", "dismiss"],
    ];
    for ruling in rulings {
        let refused = sandbox.glee(ruling);
        assert_eq!(refused.code, 2, "{ruling:?} {refused}");
        assert!(refused.stderr.contains("add `--by NAME`"), "{refused}");
    }
    for variable in ["CLAUDECODE", "CODEX_SANDBOX", "GEMINI_CLI", "GLEE_AGENT"] {
        sandbox.env(variable, "1");
        for ruling in rulings {
            let refused = sandbox.glee(&[ruling, &["--by", "Ada"]].concat());
            assert_eq!(refused.code, 2, "{ruling:?} {refused}");
            assert!(
                refused.stderr.contains("an agent does not rule"),
                "{refused}"
            );
        }
        let revoked = sandbox.glee(&["disputes", "reopen", "2"]);
        assert_eq!(revoked.code, 2, "{revoked}");
        // To ask the judge is not to rule.
        let judged = sandbox.glee(&["disputes", "resolve", "3", "judge"]);
        assert_eq!(judged.code, 3, "{judged}");
        sandbox.env(variable, "");
    }
    let ruled = sandbox.glee(&["disputes", "resolve", "3", "enforce", "--by", "Ada"]);
    assert_eq!(ruled.code, 0, "{ruled}");
    let record = json(&sandbox.glee(&["disputes", "show", "3", "--json"]).stdout);
    assert!(record.to_string().contains(r#""name":"Ada""#), "{record}");
    assert!(!record.to_string().contains("test@example.org"), "{record}");
}

#[test]
fn the_form_for_agents_is_small_and_enough_to_answer_everything() {
    let sandbox = shop(unchanged);
    let review = sandbox.glee(&["review", "examples/shop", "--format", "agent"]);
    assert_eq!((review.code, review.stderr.as_str()), (1, ""), "{review}");
    let report = &review.stdout;
    let answers: Vec<&str> = report
        .lines()
        .filter_map(|line| line.strip_prefix("> glee answer "))
        .filter_map(|line| line.split(' ').next())
        .collect();
    let outcome = json(&sandbox.glee(&["runs", "show", "--open", "--json"]).stdout);
    let open = outcome["findings"].as_array().expect("findings are a list");
    assert_eq!(answers.len(), open.len(), "{report}");
    assert!(open.len() >= 9, "{report}");
    assert!(report.len() <= 4_000, "{} {report}", report.len());
    let (_, items) = report
        .split_once("ID\n")
        .expect("the help before the findings");
    for item in items.split("\nF") {
        let lines = item.lines().filter(|line| !line.contains("| "));
        let size: usize = lines.map(|line| line.len() + 1).sum();
        assert!(size <= 300, "{size} {item}");
    }
    for id in answers {
        let answered = sandbox.glee(&[
            "answer",
            id,
            "disagree",
            "--reason",
            "It is meant so.",
            "--format",
            "agent",
        ]);
        assert!([0, 1, 3].contains(&answered.code), "{id} {answered}");
        assert!(answered.stdout.len() <= 1_000, "{answered}");
    }

    let sandbox = shop(unchanged);
    let args = [
        "review",
        "examples/shop",
        "--arbitrate",
        "--format",
        "agent",
    ];
    let arbitrated = sandbox.glee(&args);
    assert_eq!(arbitrated.stderr, "", "{arbitrated}");
    assert!(
        arbitrated.stdout.len() <= 1_000,
        "{} {arbitrated}",
        arbitrated.stdout.len()
    );
    assert_eq!(arbitrated.stdout.matches("\n> ").count(), 1, "{arbitrated}");
}

#[test]
fn filters_work_in_every_format() {
    let sandbox = reviewed();
    edit(&sandbox, "return eval(text)", "return int(text)");
    for format in [
        "text",
        "agent",
        "json",
        "html",
        "sarif",
        "sarif-github",
        "junit",
        "github",
        "gitlab",
        "rdjsonl",
        "markdown",
    ] {
        let show = |flags: &[&str]| {
            let shown = sandbox.glee(&[&["runs", "show", "--format", format], flags].concat());
            assert_eq!(shown.code, 0, "{format} {flags:?} {shown}");
            shown.stdout
        };
        let all = show(&[]);
        assert!(all.contains("Finish this"), "{format} {all}");
        for flags in [
            &["--severity", "must"][..],
            &["--path", "app.py", "--severity", "must"],
            &["--open", "--severity", "must,high"],
        ] {
            let must = show(flags);
            assert!(!must.contains("Finish this"), "{format} {flags:?} {must}");
            assert!(
                must.contains("Do not evaluate text"),
                "{format} {flags:?} {must}"
            );
        }
        let nothing = show(&["--path", "other"]);
        assert!(
            !nothing.contains("Do not evaluate text"),
            "{format} {nothing}"
        );
        assert!(
            !nothing.contains("Nothing mandatory is open"),
            "the conclusion is about all findings: {format} {nothing}"
        );
    }
    let record = sandbox.glee(&["runs", "show", "--format", "jsonl", "--open"]);
    assert_eq!(record.code, 2, "{record}");
}
