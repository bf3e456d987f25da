//! Tests open disputes: the next arbitration, `runs resume` and `disputes resolve` settle them.

#![cfg(unix)]

use crate::dialog::{JUDGE, ONE, TWO, project};
use crate::support::Sandbox;
use crate::support::pty::Pty;

/// A project with disputes that a run with `--fix` left open.
fn left_open(app: &str, judge: Option<&str>) -> Sandbox {
    let sandbox = project(app, judge);
    let fixed = sandbox.glee(&["review", "app.py", "--fix"]);
    assert_eq!(fixed.code, 3, "{fixed}");
    sandbox
}

fn disputes(sandbox: &Sandbox) -> Vec<(u64, Option<String>)> {
    let listed = sandbox.glee(&["disputes", "--json"]).stdout;
    let listed: serde_json::Value = serde_json::from_str(&listed).expect("pure JSON");
    let rows = listed["disputes"].as_array().expect("a list").iter();
    rows.map(|row| {
        (
            row["number"].as_u64().expect("a number"),
            row["disposition"]["as"].as_str().map(str::to_owned),
        )
    })
    .collect()
}

fn refuted(number: u64) -> (u64, Option<String>) {
    (number, Some("refuted".to_owned()))
}

#[test]
fn spec_04_the_next_arbitration_settles_what_an_earlier_run_left_open() {
    let sandbox = left_open(ONE, Some(JUDGE));
    let next = sandbox.glee(&["review", "app.py", "--arbitrate"]);
    assert_eq!(next.code, 0, "{next}");
    assert!(next.stderr.contains("DISMISS by scales"), "{next}");
    assert_eq!(disputes(&sandbox), [refuted(1)], "it is the same dispute");
    let shown = sandbox.glee(&["disputes", "show", "1"]).stdout;
    assert!(
        shown.contains("DISMISS by scales") && shown.contains("Settled"),
        "{shown}"
    );
    // The earlier run shows the decision, too; its record is intact, and its replay has the same result.
    let runs = sandbox.glee(&["runs", "--json"]).stdout;
    let runs: serde_json::Value = serde_json::from_str(&runs).expect("pure JSON");
    let first = runs[1]["run"].as_str().expect("a run");
    let resumed = sandbox.glee(&["runs", "resume", first]);
    assert_eq!(resumed.code, 0, "{resumed}");
    assert!(!resumed.stderr.contains("ruling on dispute"), "{resumed}");
    assert_eq!(sandbox.glee(&["disputes", "verify"]).code, 0);
    let replayed = sandbox.glee(&["runs", "replay", runs[0]["run"].as_str().expect("a run")]);
    assert_eq!(replayed.code, 0, "{replayed}");
}

#[test]
fn spec_04_an_earlier_dispute_is_enforced_by_the_dialog_of_the_next_arbitration() {
    let sandbox = left_open(ONE, None);
    let mut pty = Pty::open(&sandbox, &["review", "app.py", "--arbitrate"]);
    pty.expect("Dispute 1")
        .expect("How to resolve?")
        .expect("Esc")
        .pick(0);
    pty.expect("Your ruling on dispute 1?")
        .expect("Esc")
        .pick(0);
    pty.expect("Reason (optional):")
        .send("decided by hand")
        .send("\r");
    let (code, shown) = pty.end();
    assert_eq!(code, 0, "{shown}");
    assert_eq!(disputes(&sandbox), [(1, Some("enforced".to_owned()))]);
    assert!(sandbox.read("app.py").contains("int(text)"), "{shown}");
}

#[test]
fn what_was_enforced_goes_to_the_coder_only_where_one_takes_part() {
    let sandbox = left_open(ONE, None);
    assert_eq!(
        sandbox
            .glee(&["disputes", "resolve", "1", "enforce", "--by", "Test"])
            .code,
        0
    );
    let alone = sandbox.glee(&["review", "app.py"]);
    assert!(
        alone
            .stdout
            .contains("note: F1 was enforced in dispute 1\n"),
        "{alone}"
    );
    let fixed = sandbox.glee(&["review", "app.py", "--fix"]);
    assert!(
        fixed
            .stdout
            .contains("enforced in dispute 1; the finding was sent directly to the coder\n"),
        "{fixed}"
    );
}

#[test]
fn spec_04_resume_keeps_to_the_route_of_the_run_and_takes_another() {
    let sandbox = project(ONE, Some(JUDGE));
    let human = ["review", "app.py", "--arbitrate", "--on-dispute", "human"];
    assert_eq!(sandbox.glee(&human).code, 3);
    let same = sandbox.glee(&["runs", "resume"]);
    assert_eq!(same.code, 3, "{same}");
    assert!(!same.stderr.contains("ruling on dispute"), "{same}");
    let judged = sandbox.glee(&["runs", "resume", "--on-dispute", "judge"]);
    assert_eq!(judged.code, 0, "{judged}");
    assert_eq!(disputes(&sandbox), [refuted(1)]);
    let replayed = sandbox.glee(&["runs", "replay"]);
    assert_eq!(replayed.code, 0, "{replayed}");
}

#[test]
fn spec_04_resume_settles_what_fix_left_open() {
    let sandbox = left_open(ONE, Some(JUDGE));
    let resumed = sandbox.glee(&["runs", "resume"]);
    assert_eq!(resumed.code, 0, "{resumed}");
    assert_eq!(disputes(&sandbox), [refuted(1)]);

    let sandbox = left_open(ONE, None);
    let waits = sandbox.glee(&["runs", "resume"]);
    assert_eq!(waits.code, 3, "nobody is there to ask: {waits}");
    let nobody = sandbox.glee(&["runs", "resume", "--on-dispute", "judge"]);
    assert_eq!(nobody.code, 2, "{nobody}");
    let mut pty = Pty::open(&sandbox, &["runs", "resume"]);
    pty.expect("How to resolve?").expect("Esc").pick(1);
    let (code, shown) = pty.end();
    assert_eq!(code, 0, "{shown}");
    assert_eq!(disputes(&sandbox), [(1, Some("discarded".to_owned()))]);
}

#[test]
fn spec_04_resolve_takes_judge_and_discard_and_goes_through_all() {
    let sandbox = left_open(TWO, Some(JUDGE));
    let nobody = sandbox.glee(&["disputes", "resolve", "1"]);
    assert_eq!(nobody.code, 2, "{nobody}");
    assert!(
        nobody.stderr.contains("judge|discard|enforce|dismiss"),
        "{nobody}"
    );
    let judged = sandbox.glee(&["disputes", "resolve", "1", "judge"]);
    assert_eq!(
        (judged.code, judged.stdout.as_str()),
        (
            0,
            "F1 app.py:2 Do not evaluate text from outside\n  Dispute 1: DISMISS by scales, refuted.\n"
        ),
        "{judged}"
    );
    assert_eq!(
        disputes(&sandbox),
        [(2, None), refuted(1)],
        "the other one is left alone"
    );
    let discarded = sandbox.glee(&["disputes", "resolve", "2", "discard", "--by", "Test"]);
    assert_eq!(
        (discarded.code, discarded.stdout.as_str()),
        (
            0,
            "F2 app.py:6 Do not evaluate text from outside\n  Dispute 2: discarded by Test.\n"
        ),
        "{discarded}"
    );
    let ended = sandbox.glee(&["runs", "resume"]);
    assert_eq!(ended.code, 0, "{ended}");

    let sandbox = left_open(TWO, Some(JUDGE));
    let all = sandbox.glee(&["disputes", "resolve", "--all", "judge"]);
    assert_eq!(all.code, 0, "{all}");
    assert_eq!(disputes(&sandbox), [refuted(2), refuted(1)]);
    insta::assert_snapshot!(sandbox.glee(&["disputes", "resolve", "--all"]).stdout, @"No dispute is open.");
}

#[test]
fn spec_04_resolve_without_a_word_opens_the_dialog_with_the_code_and_what_is_cited() {
    let sandbox = left_open(ONE, Some(JUDGE));
    let mut pty = Pty::open(&sandbox, &["disputes", "resolve", "1"]);
    pty.expect("How to resolve?").expect("Esc").pick(1);
    pty.expect("Your ruling on dispute 1?")
        .expect("Esc")
        .pick(0);
    pty.expect("Reason (optional):")
        .send("decided by hand")
        .send("\r");
    let (code, shown) = pty.end();
    assert_eq!(code, 0, "{shown}");
    for words in [
        "return eval(text)",
        "--> app.py:1",
        "Dispute 1: ENFORCE by Test <test@example.org>, enforced.",
        "glee runs resume",
    ] {
        assert!(shown.contains(words), "{words}\n{shown}");
    }
    assert_eq!(
        sandbox.read("app.py"),
        ONE,
        "implemented when the run is carried on"
    );
    let resumed = sandbox.glee(&["runs", "resume"]);
    assert_eq!(resumed.code, 0, "{resumed}");
    assert!(sandbox.read("app.py").contains("int(text)"));
}

#[test]
fn spec_06_without_a_judge_the_hint_names_the_other_ways() {
    let sandbox = project(ONE, None);
    let refused = sandbox.glee(&["review", "app.py", "--arbitrate"]);
    assert_eq!(refused.code, 2, "{refused}");
    for words in [
        "glee connect <agent> --role judge",
        "--on-dispute human|discard",
        "glee config set review.on_dispute.default human|discard",
    ] {
        assert!(refused.stderr.contains(words), "{words}\n{refused}");
    }
}

#[test]
fn spec_08_small_words_are_true() {
    // The decider is shown, not the coder's text.
    let sandbox = project(ONE, Some(JUDGE));
    let discarded = sandbox.glee(&["review", "app.py", "--arbitrate", "--on-dispute", "discard"]);
    assert_eq!(discarded.code, 0, "{discarded}");
    assert!(
        discarded
            .stdout
            .contains("discarded by policy in dispute 1"),
        "{discarded}"
    );
    assert!(
        !discarded.stdout.contains("discarded: only our own text"),
        "{discarded}"
    );
    // Agreement is reported only if a coder could have disagreed.
    let sandbox = project("x = 1\n", Some(JUDGE));
    insta::assert_snapshot!(sandbox.glee(&["disputes"]).stdout, @"No disputes yet: nothing was reviewed.");
    assert_eq!(sandbox.glee(&["review", "app.py"]).code, 0);
    insta::assert_snapshot!(sandbox.glee(&["disputes"]).stdout, @"No disputes yet: no coder answered a mandatory finding.");
    // The configured default, and the reason why it does not apply.
    let sandbox = project(ONE, None);
    let mut pty = Pty::open(&sandbox, &["review", "app.py", "--fix"]);
    assert_eq!((pty.expect("dispute"), 0).1, 0);
    assert_eq!(pty.end().0, 3);
    let note = sandbox.glee(&["runs", "resume"]).stderr;
    assert!(
        note.contains("the default is `judge`, but no judge is connected: disputes stay open"),
        "{note}"
    );
}

#[test]
fn spec_08_a_failing_verification_is_the_headline_where_nothing_else_is_open() {
    let sandbox = project(ONE, Some(JUDGE));
    sandbox.write("pen.sh", "#!/bin/sh\nsed -i 's/eval(/int(/' app.py\nfor id in $GLEE_FINDINGS; do echo \"[$id] IMPLEMENTED: done\"; done\necho \"GLEE-RESPONSE-END nonce=$GLEE_NONCE answers=1\"\n");
    assert_eq!(
        sandbox
            .glee(&["config", "set", "review.verify", "[\"false\"]"])
            .code,
        0
    );
    assert_eq!(sandbox.glee(&["trust"]).code, 0);
    let fixed = sandbox.glee(&["review", "app.py", "--fix"]);
    assert_eq!(fixed.code, 1, "{fixed}");
    assert!(
        fixed
            .stdout
            .contains("Nothing mandatory is open, but `false` fails on the coder's edits"),
        "{fixed}"
    );
    assert!(!fixed.stdout.contains("0 mandatory findings"), "{fixed}");
}
