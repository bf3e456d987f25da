//! Tests `glee show`, `glee fix` and `glee dismiss` on the findings of a recorded run.

use crate::review::{json, project};
use crate::support::Sandbox;

/// A committed project whose last run has four mandatory findings (F1 to F4) and an optional one (F5).
fn reviewed() -> Sandbox {
    let sandbox = project();
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "Configure the review"]);
    assert_eq!(sandbox.glee(&["review", "app.py"]).code, 1);
    sandbox
}

fn states(sandbox: &Sandbox) -> String {
    let shown = sandbox.glee(&["runs", "show", "--format", "json"]);
    let outcome = json(&shown.stdout);
    let findings = outcome["findings"]
        .as_array()
        .expect("findings are a list")
        .iter();
    let state = |finding: &serde_json::Value| {
        format!(
            "{} {}",
            finding["id"].as_str().unwrap_or("?"),
            finding["state"].as_str().unwrap_or("?")
        )
    };
    findings.map(state).collect::<Vec<_>>().join(", ")
}

/// Runs each command and returns the commands with what they printed.
fn session(sandbox: &Sandbox, commands: &[&[&str]]) -> String {
    let screen = |args: &&[&str]| {
        format!(
            "$ glee {}\n{}\n",
            args.join(" "),
            sandbox.glee(args).stable()
        )
    };
    commands.iter().map(screen).collect()
}

#[test]
fn a_finding_is_shown_with_its_text_and_its_code() {
    let sandbox = reviewed();
    insta::assert_snapshot!(session(
        &sandbox,
        &[
            &["show", "f2"],
            &["show", "F9"],
            &["show", "3"],
            &["show", "F1", "--run", "0000"]
        ],
    ));
    let shown = json(&sandbox.glee(&["show", "F2", "--json"]).stdout);
    assert_eq!(
        (&shown["id"], &shown["state"], &shown["line"]),
        (&"F2".into(), &"open".into(), &6.into())
    );
}

#[test]
fn no_open_finding_is_no_clean_review_where_the_newest_one_failed() {
    let sandbox = Sandbox::local();
    sandbox.write("app.py", "x = 1\n");
    sandbox.connect("lens", "reviewer", "#!/bin/sh\nexit 9\n", &[]);
    assert_eq!(sandbox.glee(&["review", "app.py"]).code, 4);
    let listed = sandbox.glee(&["findings"]).stable();
    insta::assert_snapshot!(listed, @"
    exit: 0
    --- stdout
    No open findings.
    The newest review is not complete (agent failed): `glee runs show [RUN]`
    ");
    let again = "#!/bin/sh\ncat > /dev/null\necho \"GLEE-REVIEW-END nonce=$GLEE_NONCE findings=0 read=all\"\n";
    sandbox.program("lens", again);
    let reviewed = sandbox.glee(&["review", "app.py"]);
    assert_eq!(reviewed.code, 0, "{reviewed}");
    let listed = sandbox.glee(&["findings"]).stable();
    insta::assert_snapshot!(listed, @"
    exit: 0
    --- stdout
    No open findings.
    ");
}

#[test]
fn only_the_named_findings_go_to_the_coder() {
    let sandbox = reviewed();
    let before = sandbox.read("app.py");
    let fixed = sandbox.glee(&["fix", "F1", "F3"]);
    assert_eq!(
        fixed.code, 3,
        "the coder objects to F3, and the dispute waits: {fixed}"
    );
    assert!(
        fixed.stderr.contains("The coder receives F1, F3"),
        "{fixed}"
    );
    assert_eq!(
        states(&sandbox),
        "F1 resolved, F2 open, F3 disputed, F4 open, F5 open"
    );
    assert_eq!(
        sandbox.read("app.py"),
        before.replace("eval(text)", "int(text)")
    );

    // A second request in the same run asks the coder again; an enforced finding is a ruling to implement.
    let again = sandbox.glee(&["fix", "F5"]);
    assert_eq!(again.code, 3, "{again}");
    assert_eq!(
        states(&sandbox),
        "F1 resolved, F2 open, F3 disputed, F4 open, F5 discarded"
    );
    assert!(
        !again.stderr.contains("may be stale"),
        "only the coder changed the file: {again}"
    );
    let replayed = sandbox.glee(&["runs", "replay"]);
    assert!(
        replayed.stderr.contains("with the same result"),
        "{replayed}"
    );
    let object = sandbox.glee(&["fix", "F2"]);
    assert_eq!(object.code, 3, "{object}");
    assert_eq!(
        states(&sandbox),
        "F1 resolved, F2 disputed, F3 disputed, F4 open, F5 discarded"
    );
    let enforce = [
        "disputes", "resolve", "2", "enforce", "--by", "Test", "--reason", "ruled so",
    ];
    assert_eq!(sandbox.glee(&enforce).code, 0);
    assert_eq!(
        sandbox
            .glee(&["disputes", "resolve", "1", "dismiss", "--by", "Test"])
            .code,
        0
    );
    let enforced = sandbox.glee(&["fix", "F2"]);
    assert_eq!(enforced.code, 1, "{enforced}");
    assert_eq!(
        states(&sandbox),
        "F1 resolved, F2 resolved, F3 dismissed, F4 open, F5 discarded"
    );

    // A resumed run sends the coder nothing else, and decides the same again.
    let resumed = sandbox.glee(&["runs", "resume"]);
    assert_eq!(resumed.code, 1, "{resumed}");
    assert_eq!(
        states(&sandbox),
        "F1 resolved, F2 resolved, F3 dismissed, F4 open, F5 discarded"
    );
    assert_eq!(sandbox.glee(&["disputes", "verify"]).code, 0);

    let undone = sandbox.glee(&["runs", "undo"]);
    assert_eq!(undone.code, 0, "{undone}");
    assert_eq!(sandbox.read("app.py"), before);
}

#[test]
fn resume_with_fix_hands_over_what_is_open() {
    let sandbox = reviewed();
    let fixed = sandbox.glee(&["runs", "resume", "--fix"]);
    assert_eq!(
        fixed.code, 3,
        "the coder objects, and the disputes wait: {fixed}"
    );
    assert!(
        fixed
            .stderr
            .starts_with("The run continues as with `glee fix F1 F2 F3 F4 --run "),
        "{fixed}"
    );
    assert_eq!(
        states(&sandbox),
        "F1 resolved, F2 disputed, F3 disputed, F4 disputed, F5 open"
    );
    insta::assert_snapshot!(sandbox.glee(&["runs", "resume", "last", "--fix"]).stable(), @"
    exit: 2
    --- stderr
    error: no mandatory finding of run [RUN] is open
    hint: fix another finding with `glee fix F1 --run [RUN]`
    ");
    let listed = sandbox.glee(&["runs"]).stdout;
    assert!(listed.contains("  review, fix  "), "{listed}");
    assert_eq!(
        json(&sandbox.glee(&["runs", "--json"]).stdout)[0]["fixed"],
        true
    );
}

#[test]
fn a_fix_has_the_guards_of_a_review() {
    let sandbox = reviewed();
    insta::assert_snapshot!(session(
        &sandbox,
        &[
            &["fix"],
            &["fix", "F1", "F9"],
            &["fix", "F4"],
            &["fix", "F4"],
            &["fix", "F1"],
            &["fix", "F1"],
            &["runs", "undo"],
            &["fix", "F2"],
        ],
    ));
    sandbox.glee(&["runs", "undo", "--redo"]);
    sandbox.write("app.py", sandbox.read("app.py") + "\n# mine\n");
    let changed = sandbox.glee(&["fix", "F2"]);
    assert_eq!(changed.code, 3, "{changed}");
    assert!(
        changed.stderr.contains("the tree has changed since run"),
        "{changed}"
    );

    assert_eq!(sandbox.glee(&["review", "app.py"]).code, 3);
    sandbox.write("app.py", sandbox.read("app.py") + "# mine too\n");
    let stale = sandbox.glee(&["fix", "F3"]);
    assert!(
        stale
            .stderr
            .contains("`app.py` has changed since its review"),
        "{stale}"
    );

    assert_eq!(sandbox.glee(&["disconnect", "pen"]).code, 0);
    assert_eq!(sandbox.glee(&["review", "app.py"]).code, 3);
    let missing = sandbox.glee(&["fix", "F2"]);
    assert_eq!(missing.code, 2, "{missing}");
    assert!(
        missing.stderr.contains("no agent has the role `coder`"),
        "{missing}"
    );
}

#[test]
fn a_person_rules_without_an_objection() {
    let sandbox = reviewed();
    insta::assert_snapshot!(session(
        &sandbox,
        &[
            &["dismiss", "--by", "Test", "F1"],
            &[
                "dismiss", "--by", "Test", "F1", "--as", "deferred", "--reason", "later"
            ],
            &[
                "dismiss", "--by", "Test", "F1", "--ref", "issue-1", "--reason", "later"
            ],
            &[
                "dismiss",
                "--by",
                "Test",
                "F1",
                "--as",
                "accepted-risk",
                "--reason",
                "the text is ours"
            ],
            &[
                "dismiss",
                "--by",
                "Test",
                "F1",
                "--reason",
                "the text is ours"
            ],
            &[
                "dismiss",
                "--by",
                "Test",
                "F1",
                "--as",
                "duplicate",
                "--reason",
                "the same"
            ],
            &[
                "dismiss",
                "--by",
                "Test",
                "F1",
                "--as",
                "duplicate",
                "--of",
                "F1",
                "--reason",
                "the same"
            ],
            &[
                "dismiss",
                "--by",
                "Test",
                "F2",
                "--as",
                "refuted",
                "--reason",
                "the template is a constant"
            ],
            &[
                "dismiss",
                "--by",
                "Test",
                "F3",
                "--as",
                "deferred",
                "--ref",
                "issue-12",
                "--reason",
                "after the release"
            ],
            &[
                "dismiss",
                "--by",
                "Test",
                "F4",
                "--until",
                "2999-01-01",
                "--reason",
                "only in tests"
            ],
            &["disputes"],
            &["disputes", "show", "1"],
            &["show", "F4"],
            &["fix", "F1"],
            &["runs", "resume"],
            &["review", "app.py"],
            &["disputes", "verify"],
        ],
    ));
    let shown = sandbox.glee(&["show", "F1"]);
    assert!(
        shown.stdout.contains("dispute 1")
            && shown
                .stdout
                .contains("Dispute 1: DISMISS by Test, accepted risk."),
        "who ruled earlier: {shown}"
    );
    let shared = sandbox.glee(&["disputes", "share", "1", "--by", "Ada"]);
    assert_eq!(shared.code, 0, "{shared}");
    let reopened = sandbox.glee(&[
        "disputes",
        "reopen",
        "1",
        "--reason",
        "the text comes from outside now",
    ]);
    assert_eq!(reopened.code, 0, "{reopened}");
    let again = sandbox.glee(&["review", "app.py", "--format", "json"]);
    assert_eq!(again.code, 3, "the dispute is open again: {again}");
    let settled = sandbox.glee(&[
        "dismiss",
        "--by",
        "Test",
        "F1",
        "--reason",
        "checked before",
    ]);
    assert!(
        settled
            .stdout
            .contains("Dispute 1: DISMISS by Test, refuted."),
        "{settled}"
    );
    assert_eq!(sandbox.glee(&["review", "app.py"]).code, 0);
}

#[test]
fn a_ruled_run_is_replayed_with_the_same_result() {
    let sandbox = reviewed();
    for id in ["F1", "F2", "F3", "F4"] {
        assert_eq!(
            sandbox
                .glee(&["dismiss", "--by", "Test", id, "--reason", "in tests"])
                .code,
            0
        );
    }
    let resumed = sandbox.glee(&["runs", "resume"]);
    assert_eq!(resumed.code, 0, "{resumed}");
    let replayed = sandbox.glee(&["runs", "replay"]);
    assert_eq!(replayed.code, 0, "{replayed}");
    assert!(
        replayed.stderr.contains("with the same result"),
        "{replayed}"
    );
}
