//! Tests the effect of rulings on later reviews: reviewers that insist, code that moves or changes, rewritten
//! commits.

use serde_json::Value;

use crate::review::json;
use crate::support::{Output, Sandbox};

/// Prints the file of its name with the nonce inserted.
const REVIEWER: &str = r#"#!/bin/sh
cat > /dev/null
if [ "$GLEE_TASK" = recheck ]; then
  n=0
  for id in $GLEE_FINDINGS; do echo "[$id] RESOLVED: done"; n=$((n + 1)); done
  echo "GLEE-RECHECK-END nonce=$GLEE_NONCE answers=$n"
  exit 0
fi
sed "s/@NONCE@/$GLEE_NONCE/" "$0.txt"
grep -q @NONCE@ "$0.txt" || echo "GLEE-REVIEW-END nonce=$GLEE_NONCE findings=$(grep -c '^\[' "$0.txt")"
"#;

/// Raises the ruled finding again, in other words and by its id.
const INSISTS: &str = r#"#!/bin/sh
n=0
for place in $(sed -n 's/^: \(D[0-9]*\): app.py\([^ ]*\) .*/\2=\1/p'); do
  n=$((n + 1))
  echo "[MUST] app.py${place%=*} (${place#*=}) Wholly unlike wording number $n (confidence 90, bug)"
done
echo "GLEE-REVIEW-END nonce=$GLEE_NONCE findings=$n"
"#;

const CODER: &str = r#"#!/bin/sh
cat > /dev/null
n=0
for id in $GLEE_FINDINGS; do n=$((n + 1)); echo "[$id] DISAGREE: it is meant so"; echo "  Evidence: app.py:1"; done
echo "GLEE-RESPONSE-END nonce=$GLEE_NONCE answers=$n"
"#;

/// Dismisses, unless the dispute reopens an earlier one and the prompt contains its new evidence.
const JUDGE: &str = r#"#!/bin/sh
word=DISMISS
grep -q 'reopens dispute 1 with new evidence: store.py:2' && word=ENFORCE
echo "It is meant so, see app.py:1."
echo "GLEE-RULING nonce=$GLEE_NONCE dispute=$GLEE_DISPUTE ruling=$word"
"#;

const APP: &str = "\
import store


def find(name):
    return store.query('select * from t where n = ' + name)


def save(path, text):
    handle = open(path, 'w')
    handle.write(text)
";

const STORE: &str =
    "def query(text):\n    return run(text)\n\n\ndef test_quotes():\n    query(\"it's\")\n";

const INJECTION: &str = "[MUST] app.py:5 SQL injection: the name is put into the query text\n";
const HANDLE: &str = "[MUST] app.py:9 The file handle is never closed after the write\n";

fn project() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox
        .git_init()
        .write("app.py", APP)
        .write("store.py", STORE);
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "Add the app"]);
    for (name, role, text) in [
        ("rev", "reviewer", REVIEWER),
        ("pen", "coder", CODER),
        ("scales", "judge", JUDGE),
    ] {
        sandbox.connect(name, role, text, &[]);
    }
    // The reviewer's answer is stored next to its program, where the cache of answers does not detect changes.
    assert_eq!(
        sandbox
            .glee(&["config", "set", "--user", "review.reuse", "false"])
            .code,
        0
    );
    sandbox
}

fn says(sandbox: &Sandbox, reviewer: &str, answer: &str) {
    sandbox.write(format!("../bin/{reviewer}.txt"), answer);
}

const ARBITRATE: [&str; 6] = [
    "review",
    "app.py",
    "store.py",
    "--arbitrate",
    "--format",
    "json",
];

/// Reviews with this answer; returns the output and the outcome.
fn review(sandbox: &Sandbox, answer: &str) -> (Output, Value) {
    says(sandbox, "rev", answer);
    let output = sandbox.glee(&ARBITRATE);
    let outcome = json(&output.stdout);
    (output, outcome)
}

/// `F1 already_ruled 1`, `F2 open`, ...
fn states(outcome: &Value) -> Vec<String> {
    let findings = outcome["findings"].as_array().expect("findings are a list");
    let said = |finding: &Value| {
        let text = |name: &str| finding[name].as_str().unwrap_or_default().to_owned();
        let dispute = finding["dispute"]
            .as_u64()
            .map(|number| format!(" {number}"))
            .unwrap_or_default();
        format!("{} {}{dispute}", text("id"), text("state"))
    };
    findings.iter().map(said).collect()
}

/// The state of the only finding, without its number.
fn state(outcome: &Value) -> String {
    let states = states(outcome);
    let [only] = states.as_slice() else {
        panic!("{states:?}")
    };
    only.split_once(' ')
        .expect("an id and a state")
        .1
        .to_owned()
}

/// A project in which dispute 1 dismisses the injection and dispute 2 the handle.
fn ruled() -> Sandbox {
    let sandbox = project();
    let (output, outcome) = review(&sandbox, &format!("{INJECTION}{HANDLE}"));
    assert_eq!(
        (output.code, states(&outcome)),
        (0, vec!["F1 dismissed 1".into(), "F2 dismissed 2".into()])
    );
    sandbox
}

#[test]
fn who_insists_without_new_evidence_is_counted_and_costs_nothing() {
    let sandbox = ruled();
    let answer =
        "[MUST] app.py:5 (D1) Escape everything that users type (confidence 80, security)\n";
    let (output, outcome) = review(&sandbox, answer);
    assert_eq!(
        (output.code, states(&outcome)),
        (0, vec!["F1 already_ruled 1".into()]),
        "{output}"
    );
    let finding = &outcome["findings"][0];
    assert_eq!(
        (&finding["insisted"], &finding["insists_on"]),
        (&true.into(), &1.into())
    );
    assert_eq!(
        (&finding["title"], &finding["confidence"]),
        (&"Escape everything that users type".into(), &80.into())
    );
    assert!(
        output
            .stderr
            .contains("F1: raised again after dispute 1 without new evidence\n"),
        "{output}"
    );
    assert_eq!(
        outcome["proof"]["calls"], 1,
        "neither the coder nor the judge is asked"
    );
    let text = sandbox
        .glee(&["-v", "review", "app.py", "--arbitrate"])
        .stdout;
    assert!(
        text.contains("insisted: on dispute 1 of an earlier run without new evidence"),
        "{text}"
    );
    assert!(text.contains("1 finding: 1 insisted"), "{text}");
    // The citations of the first dispute and its place are not new evidence.
    let known = "[MUST] app.py:5 (D1) Escape it\n  See app.py:1, app.py:5 and nowhere.py:3, tests/no.py::test_x.\n";
    let (output, outcome) = review(&sandbox, known);
    assert_eq!(
        (output.code, states(&outcome)),
        (0, vec!["F1 already_ruled 1".into()]),
        "{output}"
    );
}

#[test]
fn an_answer_in_json_names_the_ruling_in_a_field() {
    let sandbox = ruled();
    let answer = r#"{"nonce": "@NONCE@", "findings": [{"severity": "MUST", "file": "app.py", "line": 5, "title": "Escape it", "ruling": "D1"},
        {"severity": "MUST", "file": "app.py", "line": 9, "title": "Unlike anything", "dispute": 7}]}"#;
    let (_, outcome) = review(&sandbox, answer);
    assert_eq!(outcome["findings"][0]["insisted"], true, "{outcome:#}");
    assert!(
        states(&outcome)[1].starts_with("F3 dismissed 3"),
        "an id that it was not told of: {outcome:#}"
    );
}

#[test]
fn a_reviewer_that_always_names_the_id_is_always_recognised() {
    let sandbox = ruled();
    sandbox.program("rev", INSISTS);
    let output = sandbox.glee(&ARBITRATE);
    let outcome = json(&output.stdout);
    assert_eq!(
        (output.code, states(&outcome)),
        (
            0,
            vec!["F1 already_ruled 1".into(), "F2 already_ruled 2".into()]
        )
    );
    assert!(
        outcome["findings"]
            .as_array()
            .expect("a list")
            .iter()
            .all(|finding| finding["insisted"] == true)
    );
}

#[test]
fn a_ruling_goes_with_a_renamed_file_and_is_shown_there() {
    let sandbox = ruled();
    sandbox.git(&["mv", "app.py", "shop.py"]);
    sandbox.program("rev", &INSISTS.replace("[MUST] app.py", "[MUST] shop.py"));
    let output = sandbox.glee(&["review", "shop.py", "--arbitrate", "--format", "json"]);
    let outcome = json(&output.stdout);
    assert_eq!(
        states(&outcome),
        ["F1 already_ruled 1", "F2 already_ruled 2"],
        "{output}"
    );
}

#[test]
fn a_reference_binds_only_where_it_was_shown_and_in_the_file_of_the_ruling() {
    let sandbox = ruled();
    let answer = "[MUST] store.py:2 (D1) Every statement is run unchecked\n\
                  [MUST] app.py:9 (D9) The path may lead anywhere at all\n";
    let (output, outcome) = review(&sandbox, answer);
    assert_eq!(
        states(&outcome),
        ["F3 dismissed 3", "F4 dismissed 4"],
        "{output}"
    );
    assert_eq!(
        outcome["findings"][0]["title"],
        "(D9) The path may lead anywhere at all"
    );
}

#[test]
fn one_reviewer_that_names_a_ruling_does_not_mute_another() {
    let sandbox = ruled();
    sandbox.connect("second", "reviewer", REVIEWER, &[]);
    let words = "The password of the store is written to the log in plain text";
    says(&sandbox, "second", &format!("[MUST] app.py:5 {words}\n"));
    let (output, outcome) = review(&sandbox, &format!("[MUST] app.py:5 (D1) {words}\n"));
    assert_eq!(
        states(&outcome),
        ["F1a already_ruled 1", "F1b dismissed 3"],
        "{output}"
    );
    // Both reviewers refer to the ruling, so the finding is not raised again.
    says(
        &sandbox,
        "second",
        "[MUST] app.py:5 (D1) Escape everything that users type\n",
    );
    let (output, outcome) = review(
        &sandbox,
        "[MUST] app.py:5 (D1) Escape everything that users type\n",
    );
    assert_eq!(
        (output.code, states(&outcome)),
        (0, vec!["F1 already_ruled 1".into()]),
        "{output}"
    );
}

#[test]
fn new_evidence_reopens_a_ruling_once() {
    let sandbox = ruled();
    let answer =
        "[MUST] app.py:5 (D1) SQL injection all the same\n  store.py:2 runs the text as it is.\n";
    let (output, outcome) = review(&sandbox, answer);
    assert_eq!(states(&outcome), ["F1 enforced 3"], "{output}");
    assert!(
        output
            .stderr
            .contains("F1: reopens dispute 1 with new evidence: store.py:2\n"),
        "{output}"
    );
    let earlier = &outcome["disputes"][0]["earlier"][0];
    assert_eq!(
        (&earlier["dispute"], &earlier["relation"]),
        (&1.into(), &"reopens".into())
    );
    assert_eq!(earlier["evidence"][0], "store.py:2");
    let shown = sandbox.glee(&["disputes", "show", "3"]).stdout;
    assert!(
        shown.contains("Earlier dispute 1\n  reopens dispute 1 with new evidence: store.py:2\n"),
        "{shown}"
    );
    // The first ruling is no longer in force, even for its exact words, and is not shown to reviewers.
    let (output, outcome) = review(&sandbox, INJECTION);
    assert_eq!(states(&outcome), ["F1 already_ruled 3"], "{output}");
    assert_eq!(outcome["findings"][0]["disposition"]["as"], "enforced");
}

#[test]
fn a_test_that_exists_is_evidence_and_a_dismissal_of_it_stands() {
    let sandbox = ruled();
    let answer = "[MUST] app.py:5 (D1) It breaks\n  Evidence: store.py::test_quotes fails on it.\n";
    let (output, outcome) = review(&sandbox, answer);
    assert_eq!(states(&outcome), ["F1 dismissed 3"], "{output}");
    assert_eq!(
        outcome["disputes"][0]["earlier"][0]["evidence"][0],
        "store.py::test_quotes"
    );
    let (output, outcome) = review(&sandbox, &answer.replace("D1", "D3"));
    assert_eq!(
        (output.code, states(&outcome)),
        (0, vec!["F1 already_ruled 3".into()]),
        "{output}"
    );
    assert_eq!(outcome["findings"][0]["insisted"], true);
    assert_eq!(sandbox.glee(&["disputes", "verify"]).code, 0);
}

#[test]
fn a_line_that_moved_is_no_new_evidence() {
    let sandbox = project();
    review(&sandbox, &format!("{INJECTION}  store.py:2 runs it.\n"));
    sandbox.write("store.py", format!("# The store.\n\n{STORE}"));
    let (output, outcome) = review(
        &sandbox,
        "[MUST] app.py:5 (D1) Escape it\n  store.py:4 runs it.\n",
    );
    assert_eq!(
        (output.code, states(&outcome)),
        (0, vec!["F1 already_ruled 1".into()]),
        "{output}"
    );
    assert_eq!(outcome["findings"][0]["insisted"], true);
}

#[test]
fn changed_code_is_judged_again_and_says_what_changed() {
    let sandbox = ruled();
    sandbox.write(
        "app.py",
        APP.replace("where n = ' + name", "where name = ' + name.strip()"),
    );
    let (output, outcome) = review(&sandbox, INJECTION);
    assert_eq!(states(&outcome), ["F1 dismissed 3"], "{output}");
    let sentence = "dispute 1 was about this; the code has changed since";
    assert!(
        output.stderr.contains(&format!(": {sentence}\n")),
        "{output}"
    );
    let earlier = &outcome["findings"][0]["earlier"][0];
    assert_eq!(
        (&earlier["dispute"], &earlier["relation"]),
        (&1.into(), &"code_changed".into())
    );
    let diff = earlier["diff"].as_str().expect("a difference");
    assert!(
        diff.contains("-    return store.query('select * from t where n = ' + name)\n+    return"),
        "{diff}"
    );
    let shown = sandbox.glee(&["disputes", "show", "3"]).stdout;
    assert!(
        shown.contains(sentence) && shown.contains("+    return store.query("),
        "{shown}"
    );
    let report = sandbox.glee(&["-v", "runs", "show", "last"]).stdout;
    assert!(report.contains(sentence), "{report}");
    let (output, outcome) = review(&sandbox, HANDLE);
    assert_eq!(
        (output.code, states(&outcome)),
        (0, vec!["F2 already_ruled 2".into()]),
        "{output}"
    );
}

#[test]
fn a_ruling_ends_with_the_code_that_it_cites() {
    let unrelated = [
        ("other line ends", APP.replace('\n', "\r\n")),
        ("shifted", format!("\"\"\"The app.\"\"\"\n\n{APP}")),
        (
            "another function",
            APP.replace("path, text", "path, text, mode"),
        ),
    ];
    for (what, text) in unrelated {
        let sandbox = ruled();
        sandbox.write("app.py", &text);
        let place = text.lines().position(|line| line.contains("select"));
        let again = INJECTION.replace(":5", &format!(":{}", place.expect("the query") + 1));
        let (output, outcome) = review(&sandbox, &again);
        assert_eq!(state(&outcome), "already_ruled 1", "{what}: {output}");
    }
    let sandbox = ruled();
    sandbox.write(
        "app.py",
        APP.replace("import store", "import warehouse as store"),
    );
    let (output, outcome) = review(&sandbox, INJECTION);
    assert_eq!(state(&outcome), "dismissed 3", "{output}");
    let sentence = "dispute 1 was ruled by `app.py:1`, which is gone";
    assert!(
        output.stderr.contains(&format!(": {sentence}\n")),
        "{output}"
    );
    let earlier = &outcome["findings"][0]["earlier"][0];
    assert_eq!(
        (
            &earlier["relation"],
            &earlier["change"],
            &earlier["cited"]["line"]
        ),
        (&"evidence_gone".into(), &"gone".into(), &1.into())
    );
    for args in [
        &["-v", "runs", "show", "last"][..],
        &["disputes", "show", "3"],
    ] {
        let shown = sandbox.glee(args).stdout;
        assert!(shown.contains(sentence), "{shown}");
    }
    // A reviewer is not told of a ruling that has fallen, so a reference to it binds nothing.
    let (output, outcome) = review(&sandbox, "[MUST] app.py:9 (D2) Whatever it says\n");
    assert_eq!(state(&outcome), "dismissed 4", "{output}");
}

#[test]
fn a_ruling_about_a_test_does_not_bind_in_the_product() {
    let sandbox = project();
    sandbox.write("tests/helper.py", APP);
    says(
        &sandbox,
        "rev",
        &INJECTION.replace("app.py", "tests/helper.py"),
    );
    assert_eq!(sandbox.glee(&["review", "tests"]).code, 1);
    let ruling = [
        "dismiss",
        "--by",
        "Test",
        "F1",
        "--as",
        "refuted",
        "--reason",
        "only in tests",
    ];
    assert_eq!(sandbox.glee(&ruling).code, 0);
    std::fs::create_dir_all(sandbox.root().join("src")).expect("a folder");
    let moved = |to: &str| {
        sandbox.git(&["add", "-A"]);
        sandbox.git(&["mv", "tests/helper.py", to]);
        says(&sandbox, "rev", &INJECTION.replace("app.py", to));
        let output = sandbox.glee(&["review", to, "--format", "json"]);
        sandbox.git(&["mv", to, "tests/helper.py"]);
        json(&output.stdout)
    };
    assert_eq!(state(&moved("tests/other.py")), "already_ruled 1");
    let outcome = moved("src/prod.py");
    assert_eq!(state(&outcome), "open");
    let earlier = &outcome["findings"][0]["earlier"][0];
    assert_eq!(
        (&earlier["relation"], &earlier["was"], &earlier["now"]),
        (&"other_ground".into(), &"test".into(), &"product".into())
    );
}

#[test]
fn a_persons_reason_binds_the_ruling_to_the_code_that_it_cites() {
    let sandbox = project();
    says(&sandbox, "rev", INJECTION);
    assert_eq!(sandbox.glee(&["review", "app.py"]).code, 1);
    let reason = "the store escapes it, see store.py:2 and gone.py:1";
    let accepted = sandbox.glee(&[
        "dismiss", "--by", "Test", "F1", "--as", "refuted", "--reason", reason,
    ]);
    assert_eq!(accepted.code, 0, "{accepted}");
    assert_eq!(sandbox.glee(&["review", "app.py"]).code, 0);
    let open = |sandbox: &Sandbox| sandbox.glee(&["findings"]).stdout;
    assert_eq!(open(&sandbox), "No open findings.\n");
    sandbox.write("store.py", STORE.replace("run(text)", "run_raw(text)"));
    assert!(open(&sandbox).contains("app.py:5"), "{}", open(&sandbox));
    let output = sandbox.glee(&["review", "app.py"]);
    let sentence = "dispute 1 was ruled by `store.py:2`, which is gone";
    assert_eq!(output.code, 1, "{output}");
    assert!(output.stdout.contains(sentence), "{output}");
    sandbox.write("store.py", format!("# The store.\n{STORE}"));
    assert_eq!(
        sandbox.glee(&["review", "app.py"]).code,
        0,
        "it stands again"
    );
}

#[test]
fn where_the_old_code_is_gone_the_change_is_said_without_it() {
    let sandbox = project();
    sandbox.write("app.py", APP.replace("select *", "select n"));
    review(&sandbox, INJECTION);
    let pruned = sandbox.glee(&["runs", "prune", "--before", "2999-01-01"]);
    sandbox.write("app.py", APP.replace("select *", "select m"));
    let (output, outcome) = review(&sandbox, INJECTION);
    let earlier = &outcome["findings"][0]["earlier"][0];
    assert_eq!(
        (&earlier["relation"], &earlier["diff"]),
        (&"code_changed".into(), &Value::Null),
        "{pruned}{output}"
    );
}

/// Rewrites the commits without changing the content; the ruling remains in force.
fn holds(what: &str, sandbox: &Sandbox) {
    let (output, outcome) = review(sandbox, &format!("{INJECTION}{HANDLE}"));
    let bound = vec![
        "F1 already_ruled 1".to_owned(),
        "F2 already_ruled 2".to_owned(),
    ];
    assert_eq!(
        (output.code, states(&outcome)),
        (0, bound),
        "{what}: {output}"
    );
}

#[test]
fn commits_that_are_rewritten_with_the_same_content_change_nothing() {
    let sandbox = ruled();
    sandbox.git(&["checkout", "-q", "-b", "topic"]);
    sandbox.write("notes.txt", "a\n");
    sandbox.git(&["add", "notes.txt"]);
    sandbox.git(&["commit", "-q", "-m", "Add notes"]);
    sandbox.write("notes.txt", "b\n");
    sandbox.git(&["commit", "-q", "-am", "Change notes"]);
    holds("a branch", &sandbox);
    sandbox.git(&["checkout", "-q", "main"]);
    sandbox.write("other.txt", "x\n");
    sandbox.git(&["add", "other.txt"]);
    sandbox.git(&["commit", "-q", "-m", "Add another file"]);
    sandbox.git(&["checkout", "-q", "topic"]);
    sandbox.git(&["rebase", "-q", "main"]);
    holds("a rebase", &sandbox);
    sandbox.git(&["checkout", "-q", "main"]);
    sandbox.git(&["merge", "-q", "--squash", "topic"]);
    sandbox.git(&["commit", "-q", "-m", "Notes, squashed"]);
    holds("a squash merge", &sandbox);
    sandbox.git(&["commit", "-q", "--amend", "-m", "Notes in other words"]);
    holds("an amended commit", &sandbox);
    // Another clone rewrites the branch and force-pushes it; this clone resets to it.
    sandbox.git(&["init", "-q", "--bare", "../remote.git"]);
    sandbox.git(&["remote", "add", "origin", "../remote.git"]);
    sandbox.git(&["push", "-q", "origin", "main"]);
    sandbox.git(&["clone", "-q", "-b", "main", "../remote.git", "../elsewhere"]);
    sandbox.git(&[
        "-C",
        "../elsewhere",
        "commit",
        "-q",
        "--amend",
        "-m",
        "Rewritten",
    ]);
    sandbox.git(&[
        "-C",
        "../elsewhere",
        "push",
        "-q",
        "--force",
        "origin",
        "main",
    ]);
    sandbox.git(&["fetch", "-q", "origin"]);
    sandbox.git(&["reset", "-q", "--hard", "origin/main"]);
    holds("a force-push", &sandbox);
    // A function moves within its file, and a file is renamed.
    let moved = APP.replace("def save", "def other():\n    return 1\n\n\ndef save");
    sandbox.write("app.py", moved);
    let handle = HANDLE.replace(":9", ":13");
    let (output, outcome) = review(&sandbox, &format!("{INJECTION}{handle}"));
    assert_eq!(
        states(&outcome),
        ["F1 already_ruled 1", "F2 already_ruled 2"],
        "{output}"
    );
}

#[test]
fn an_undo_changes_nothing_for_what_it_brings_back() {
    let sandbox = ruled();
    let edits = "#!/bin/sh\ncat > /dev/null\nsed -i 's/return run(text)/return run(str(text))/' store.py\nn=0\n\
                 for id in $GLEE_FINDINGS; do n=$((n + 1)); echo \"[$id] IMPLEMENTED: done\"; done\n\
                 echo \"GLEE-RESPONSE-END nonce=$GLEE_NONCE answers=$n\"\n";
    sandbox.program("pen", edits);
    let (output, outcome) = review(
        &sandbox,
        "[MUST] store.py:2 Convert the text before it is run\n",
    );
    assert_eq!(states(&outcome), ["F3 resolved"], "{output}");
    let run = outcome["run"].as_str().expect("a run");
    let undone = sandbox.glee(&["runs", "undo", run]);
    assert_eq!(
        (undone.code, sandbox.read("store.py")),
        (0, STORE.to_owned()),
        "{undone}"
    );
    sandbox.program("pen", CODER);
    holds("an undo", &sandbox);
}

/// Two texts at one place that may or may not have the same meaning.
const UNSURE: [&str; 2] = [
    "[MUST] app.py:9 fetch_score is never removed from the lru_cache, so it always returns the same stale result for a \
     given slug forever, defeating the TTL cache logic in get_cached.\n",
    "[MUST] app.py:9 lru_cache wraps an async function so it caches unawaited coroutine objects, causing all subsequent \
     calls for the same slug to await an already consumed coroutine and raise a RuntimeError\n",
];

/// Answers every comparison with the file of its name, and counts its calls.
const COMPARES: &str = r#"#!/bin/sh
if [ "$GLEE_TASK" = compare ]; then
  cat > /dev/null
  n=0
  for id in $GLEE_FINDINGS; do n=$((n + 1)); echo "[$id] $(cat "$0.txt"): so it seems"; done
  echo "GLEE-COMPARE-END nonce=$GLEE_NONCE answers=$n"
  exit 0
fi
cat > /dev/null
echo "It is meant so, see app.py:1."
echo "GLEE-RULING nonce=$GLEE_NONCE dispute=$GLEE_DISPUTE ruling=DISMISS"
"#;

#[test]
fn the_judge_says_which_uncertain_findings_repeat_a_dispute() {
    for (word, expected, calls) in [
        ("SAME", "F2 already_ruled 1", 2),
        ("DIFFERENT", "F2 dismissed 2", 4),
        // After one retry, both count as different.
        ("PERHAPS", "F2 dismissed 2", 5),
    ] {
        let sandbox = project();
        sandbox.program("scales", COMPARES);
        says(&sandbox, "scales", word);
        review(&sandbox, UNSURE[0]);
        let (output, outcome) = review(&sandbox, UNSURE[1]);
        assert_eq!(states(&outcome), [expected], "{word}: {output}");
        let asked = outcome["proof"]["calls"].as_u64().expect("a number");
        assert_eq!(
            asked, calls,
            "{word}: the reviewer, the judge on the pair, and only then coder and judge"
        );
        let again = sandbox.glee(&["runs", "replay", "last"]);
        assert!(!again.stderr.contains("not recorded"), "{word}: {again}");
    }
}

#[test]
fn a_review_asks_the_judge_or_else_the_aggregator_and_an_answer_is_used_again() {
    for role in ["judge", "aggregator"] {
        let sandbox = project();
        sandbox.program("scales", COMPARES);
        says(&sandbox, "scales", "SAME");
        review(&sandbox, UNSURE[0]);
        let set = sandbox.glee(&["config", "set", "agents.scales.role", role]);
        assert_eq!(set.code, 0, "{set}");
        let reuse = sandbox.glee(&["config", "set", "--user", "review.reuse", "true"]);
        assert_eq!(reuse.code, 0, "{reuse}");
        says(&sandbox, "rev", UNSURE[1]);
        // The first run learns only from the answer that its F2 is F1.
        for (calls, id) in [(2, "F2"), (1, "F1")] {
            // Another version of the reviewer is asked again, and the comparison is not.
            sandbox.program("rev", &format!("{REVIEWER}# {calls}\n"));
            let output = sandbox.glee(&["review", "app.py", "--format", "json"]);
            let outcome = json(&output.stdout);
            let expected = format!("{id} already_ruled 1");
            assert_eq!(states(&outcome), [expected], "{role}: {output}");
            assert_eq!(
                (output.code, &outcome["proof"]["calls"]),
                (0, &calls.into()),
                "{role}"
            );
        }
        let stats = json(&sandbox.glee(&["stats", "--json"]).stdout);
        assert_eq!(stats["comparisons"][0]["name"], "scales", "{role}");
        assert_eq!(stats["comparisons"][0]["calls"], 1, "{role}");
    }
}

#[test]
fn where_nobody_is_asked_both_are_shown_side_by_side() {
    let sandbox = project();
    sandbox.program("scales", COMPARES);
    review(&sandbox, UNSURE[0]);
    says(&sandbox, "rev", UNSURE[1]);
    // No call is made if the configuration disables it.
    let off = sandbox.glee(&["config", "set", "review.compare", "off"]);
    assert_eq!(off.code, 0, "{off}");
    for args in [
        &["review", "app.py", "--format", "json"][..],
        &["review", "app.py"],
    ] {
        let output = sandbox.glee(args);
        assert_eq!(output.code, 1, "{output}");
        assert!(
            output
                .stderr
                .contains("F2: may repeat dispute 1: fetch_score is never removed"),
            "{output}"
        );
        let shown = if args.len() > 2 {
            "\"relation\": \"may_repeat\""
        } else {
            "may repeat dispute 1: fetch_score"
        };
        assert!(output.stdout.contains(shown), "{output}");
    }
    let (output, outcome) = review(&sandbox, UNSURE[1]);
    assert_eq!(states(&outcome), ["F2 dismissed 2"], "{output}");
    assert_eq!(outcome["proof"]["calls"], 3, "{output}");
    let shown = sandbox.glee(&["disputes", "show", "2"]).stdout;
    assert!(shown.contains("may repeat dispute 1"), "{shown}");
}

#[test]
fn a_comparison_is_within_the_budget_and_paid_for_once() {
    let sandbox = project();
    sandbox.program("scales", COMPARES);
    says(&sandbox, "scales", "DIFFERENT");
    review(&sandbox, UNSURE[0]);
    let cap = |calls: &str| {
        let set = sandbox.glee(&["config", "set", "--user", "budget.calls", calls]);
        assert_eq!(set.code, 0, "{set}");
    };
    cap("1");
    let (output, outcome) = review(&sandbox, UNSURE[1]);
    assert_eq!(
        (output.code, &outcome["proof"]["calls"]),
        (75, &1.into()),
        "{output}"
    );
    let run = outcome["run"].as_str().expect("a run").to_owned();
    let resume = || sandbox.glee(&["runs", "resume", &run, "--format", "json"]);
    cap("2");
    let output = resume();
    assert_eq!(
        (output.code, &json(&output.stdout)["proof"]["calls"]),
        (75, &2.into()),
        "{output}"
    );
    cap("9");
    let output = resume();
    let outcome = json(&output.stdout);
    assert_eq!(states(&outcome), ["F2 dismissed 2"], "{output}");
    assert_eq!(
        outcome["proof"]["calls"], 4,
        "the reviewer, the comparison, the coder and the judge: {output}"
    );
}

/// Rules on the members that the file `members` next to it names, and later lets the coder's objection to the others
/// fail.
const CHOOSER: &str = r#"#!/bin/sh
cat > /dev/null
if [ "$GLEE_DISPUTE" = 1 ]; then
  members=$(cat "$0.members")
  echo "{\"nonce\":\"$GLEE_NONCE\",\"dispute\":1,\"ruling\":\"DISMISS\",\"rationale\":\"The names are constants.\",\"citations\":[\"app.py:1\"],\"members\":[$members]}"
else
  echo "It is real, see app.py:5."
  echo "GLEE-RULING nonce=$GLEE_NONCE dispute=$GLEE_DISPUTE ruling=ESCALATE"
fi
"#;

const BY_REV: &str =
    "[MUST] app.py:5 SQL injection: the name is put into the query text (security, CWE-89)\n";
const BY_TWO: &str = "[MUST] app.py:5 The query text is built from the name, which allows SQL injection (security, CWE-89)\n";

/// Two reviewers raise one defect, the coder objects, and the judge dismisses these members of the group.
fn group(members: &str) -> Sandbox {
    let sandbox = project();
    sandbox.connect("two", "reviewer", REVIEWER, &[]);
    sandbox.program("scales", CHOOSER);
    sandbox.write("../bin/scales.members", members);
    sandbox
}

/// Reviews with these answers of the two reviewers.
fn both(sandbox: &Sandbox, rev: &str, two: &str) -> (Output, Value) {
    says(sandbox, "two", two);
    review(sandbox, rev)
}

#[test]
fn a_ruling_without_names_binds_each_member_by_its_own_text() {
    let sandbox = group("");
    let (output, outcome) = both(&sandbox, BY_REV, BY_TWO);
    assert_eq!(
        states(&outcome),
        ["F1a dismissed 1", "F1b dismissed 1"],
        "{output}"
    );
    for (rev, two, expected) in [
        (BY_REV, "", "F1 already_ruled 1"),
        ("", BY_TWO, "F1b already_ruled 1"),
    ] {
        let (output, outcome) = both(&sandbox, rev, two);
        assert_eq!(
            (output.code, states(&outcome)),
            (0, vec![expected.to_owned()])
        );
    }
}

#[test]
fn a_member_that_a_ruling_leaves_out_is_another_defect_with_a_number_of_its_own() {
    let sandbox = group("\"F1b\"");
    let (output, outcome) = both(&sandbox, BY_REV, BY_TWO);
    assert_eq!(
        (output.code, states(&outcome)),
        (
            3,
            vec!["F1b dismissed 1".to_owned(), "F2 disputed 2".to_owned()]
        ),
        "{output}"
    );
    assert_eq!(outcome["findings"][1]["was"], "F1a");
    assert_eq!(
        outcome["findings"][1]["consensus"]["class"],
        "uncorroborated"
    );
    for id in ["F2", "F1a"] {
        let shown = sandbox.glee(&["show", id]);
        let text = shown
            .stdout
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        assert!(text.contains("was F1a") && text.contains("F2"), "{shown}");
        assert!(!text.contains("2 of 2"), "{shown}");
    }
    let replayed = sandbox.glee(&["runs", "replay", "last", "--format", "json"]);
    assert_eq!(
        states(&json(&replayed.stdout)),
        states(&outcome),
        "{replayed}"
    );
    assert_eq!(sandbox.glee(&["disputes", "verify"]).code, 0);

    // Later runs keep the two apart, and each is bound by its own dispute.
    let (output, outcome) = both(&sandbox, BY_REV, BY_TWO);
    assert_eq!(
        (output.code, states(&outcome)),
        (
            3,
            vec!["F1b already_ruled 1".to_owned(), "F2 disputed 2".to_owned()]
        ),
        "{output}"
    );
    let enforced = sandbox.glee(&[
        "disputes", "resolve", "2", "enforce", "--by", "Test", "--reason", "real",
    ]);
    assert_eq!(enforced.code, 0, "{enforced}");
    let (output, outcome) = both(&sandbox, BY_REV, "");
    assert_eq!(
        (output.code, states(&outcome)),
        (1, vec!["F2 already_ruled 2".to_owned()]),
        "{output}"
    );
    let (output, outcome) = both(&sandbox, "", BY_TWO);
    assert_eq!(
        (output.code, states(&outcome)),
        (0, vec!["F1b already_ruled 1".to_owned()]),
        "{output}"
    );
}
