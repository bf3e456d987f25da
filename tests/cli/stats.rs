//! Tests `glee stats` and `glee stats audit`: every number is counted by hand from a review with scripted agents.

use serde_json::Value;

use crate::support::{Output, Sandbox};

/// Answers as `claude` does, with a model, tokens and a cost: a reviewer `ada`, and the judges `jo` and `kim`.
const CLAUDE: &str = r#"#!/bin/sh
case "$*" in
*--version*) echo '9.9.9'; exit ;;
*--help*) echo '--setting-sources --strict-mcp-config --tools --permission-mode --model --effort'; exit ;;
esac
prompt=$(cat)
answer=$(
  case $GLEE_AGENT-$GLEE_TASK in
  ada-review)
    echo '[MUST] app.py:2 Do not evaluate text from outside'
    echo '[MUST] app.py:5 The second function divides by zero'
    echo '[MUST] app.py:8 The third function leaks its file'
    echo '[LOW] app.py:11 Rename the fourth function'
    echo "GLEE-REVIEW-END nonce=$GLEE_NONCE findings=4" ;;
  ada-recheck)
    n=0; for id in $GLEE_FINDINGS; do n=$((n + 1)); echo "[$id] RESOLVED: gone"; done
    echo "GLEE-RECHECK-END nonce=$GLEE_NONCE answers=$n" ;;
  jo-judge)
    set -- DISMISS ENFORCE ESCALATE
    case $GLEE_DISPUTE in *' '*)
      list=
      for dispute in $GLEE_DISPUTE; do
        list="$list${list:+, }{\"dispute\": $dispute, \"ruling\": \"$1\", \"rationale\": \"app.py:5 says so\", \"citations\": [\"app.py:5\"]}"
        shift
      done
      echo "{\"nonce\": \"$GLEE_NONCE\", \"rulings\": [$list]}"
      exit ;;
    esac
    case $prompt in
    *'divides by zero'*) word=DISMISS ;;
    *'leaks its file'*) word=ENFORCE ;;
    *) word=ESCALATE ;;
    esac
    echo "app.py:5 says so"
    echo "GLEE-RULING nonce=$GLEE_NONCE dispute=$GLEE_DISPUTE ruling=$word" ;;
  kim-judge)
    case $prompt in *'Earlier rulings'*) word=ESCALATE ;; *) word=ENFORCE ;; esac
    echo "app.py:5 divides"
    echo "GLEE-RULING nonce=$GLEE_NONCE dispute=$GLEE_DISPUTE ruling=$word" ;;
  esac | sed 's/["\\]/\\&/g; s/$/\\n/' | tr -d '\n'
)
echo '{"type":"system","subtype":"init","session_id":"s","model":"opus-'$GLEE_ROLE'"}'
printf '%s\n' '{"type":"result","subtype":"success","is_error":false,"result":"'"$answer"'","total_cost_usd":0.25,"usage":{"input_tokens":1000,"output_tokens":50}}'
"#;

/// Raises one finding that ada raises, too, and one of its own. Its cost is unknown.
const BOB: &str = r#"#!/bin/sh
case $GLEE_TASK in
recheck) n=0; for id in $GLEE_FINDINGS; do n=$((n + 1)); echo "[$id] RESOLVED: gone"; done
  echo "GLEE-RECHECK-END nonce=$GLEE_NONCE answers=$n" ;;
*) echo '[MUST] app.py:2 Do not evaluate text from outside'
  echo '[MUST] app.py:14 The fifth function never ends'
  echo "GLEE-REVIEW-END nonce=$GLEE_NONCE findings=2" ;;
esac
"#;

/// Implements the first finding and what a judge enforces, and objects to the rest.
const PEN: &str = r#"#!/bin/sh
n=0
for id in $GLEE_FINDINGS; do
  n=$((n + 1))
  case $id-$GLEE_FINDINGS in
  F1-*) sed -i 's/eval(/int(/' app.py; echo "[$id] IMPLEMENTED: done" ;;
  F3-F3) sed -i 's/open(/fixed(/' app.py; echo "[$id] IMPLEMENTED: done" ;;
  F4-*) echo "[$id] DISCARDED: the name is fine" ;;
  *) echo "[$id] DISAGREE: it is right as it is"; echo "  Evidence: app.py:5" ;;
  esac
done
echo "GLEE-RESPONSE-END nonce=$GLEE_NONCE answers=$n"
"#;

const APP: &str = "\
def first(text):
    return eval(text)

def second(a, b):
    return a / b

def third(path):
    return open(path).read()

def fourth():
    return 4

def fifth():
    while True:
        pass
";

fn json(output: &Output) -> Value {
    serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output}"))
}

fn connect(sandbox: &Sandbox, name: &str, role: &str, command: &str) {
    let connected = sandbox.glee(&[
        "connect",
        name,
        "--role",
        role,
        "--name",
        name,
        "--command",
        command,
    ]);
    assert_eq!(connected.code, 0, "{connected}");
}

fn with_agents() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox
        .git_init()
        .write("app.py", APP)
        .program("claude", CLAUDE)
        .script("bob.sh", BOB)
        .script("pen.sh", PEN);
    sandbox.git(&["add", "."]);
    sandbox.git(&["commit", "-q", "-m", "The program"]);
    connect(&sandbox, "ada", "reviewer", "claude");
    connect(&sandbox, "bob", "reviewer", "./bob.sh");
    connect(&sandbox, "pen", "coder", "./pen.sh");
    connect(&sandbox, "jo", "judge", "claude");
    sandbox
}

fn reviewed() -> Sandbox {
    let sandbox = with_agents();
    let review = sandbox.glee(&["review", "app.py", "--arbitrate", "--on-dispute", "judge"]);
    assert_eq!(
        review.code, 3,
        "the fifth finding waits for a person: {review}"
    );
    sandbox
}

fn stats(sandbox: &Sandbox) -> Value {
    json(&sandbox.glee(&["stats", "--json"]))
}

fn named<'a>(stats: &'a Value, list: &str, name: &str) -> &'a Value {
    let rows = stats[list]
        .as_array()
        .unwrap_or_else(|| panic!("{list}: {stats:#}"));
    rows.iter()
        .find(|row| row["name"] == name)
        .unwrap_or_else(|| panic!("{name}: {stats:#}"))
}

/// The shares as `count/of`, in the order of the text.
fn shares(row: &Value) -> String {
    let keys = [
        "alone",
        "disputed",
        "upheld",
        "dismissed",
        "overturned",
        "agreed_with_person",
        "confirmed_by_audit",
        "fixed",
        "reverted",
    ];
    let share = |key: &str| format!("{}/{}", row[key]["count"], row[key]["of"]);
    format!(
        "{} raised, {} held: {}",
        row["raised"],
        row["held"],
        keys.map(share).join(" ")
    )
}

#[test]
fn every_number_is_the_one_counted_by_hand() {
    let sandbox = reviewed();
    let found = stats(&sandbox);
    // F1 evaluates (both, fixed), F2 divides (dismissed), F3 leaks (enforced, fixed), F4 rename, F5 never ends (bob, held).
    assert_eq!(
        shares(&found["all"]),
        "5 raised, 1 held: 4/5 3/5 1/2 1/2 0/2 0/0 0/0 2/5 0/2",
        "{found:#}"
    );
    assert_eq!(
        shares(named(&found, "reviewers", "ada")),
        "4 raised, 0 held: 3/4 2/4 1/2 1/2 0/2 0/0 0/0 2/4 0/2"
    );
    assert_eq!(
        shares(named(&found, "reviewers", "bob")),
        "2 raised, 1 held: 1/2 1/2 0/0 0/0 0/0 0/0 0/0 1/2 0/1"
    );
    assert_eq!(
        shares(named(&found, "judges", "jo")),
        "3 raised, 1 held: 3/3 3/3 1/2 1/2 0/2 0/0 0/0 1/3 0/1"
    );
    assert_eq!(
        shares(named(&found, "models", "opus-reviewer")),
        shares(named(&found, "reviewers", "ada"))
    );
    assert_eq!(
        shares(named(&found, "judge_models", "opus-judge")),
        shares(named(&found, "judges", "jo"))
    );
    assert_eq!(
        shares(named(&found, "categories", "bug")),
        shares(&found["all"])
    );
    let pair = &found["reviewer_agreement"][0];
    assert_eq!(
        (&pair["between"][0], &pair["between"][1]),
        (&Value::from("ada"), &Value::from("bob"))
    );
    assert_eq!(
        (&pair["agreed"]["count"], &pair["agreed"]["of"]),
        (&Value::from(1), &Value::from(5))
    );
    let low = found["all"]["upheld"]["low"].as_f64().expect("a bound");
    assert!(
        (low - 0.0945).abs() < 1e-4,
        "Wilson's lower bound of 1 of 2: {low}"
    );

    // Every call is in the events; a call of ada or jo costs 25 cents and reads 1,000 tokens.
    let events = sandbox
        .glee(&["runs", "show", "last", "--format", "jsonl"])
        .stdout;
    let calls = |agent: &str| {
        let events = events
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).expect("an event"));
        events
            .filter(|event| event["event"] == "call_finished" && event["call"]["agent"] == agent)
            .count() as u64
    };
    assert!(
        calls("ada") >= 2 && calls("bob") >= 2 && calls("jo") == 1,
        "{events}"
    );
    for (list, name) in [("reviewers", "ada"), ("judges", "jo")] {
        let row = named(&found, list, name);
        assert_eq!(row["calls"], calls(name));
        assert_eq!(
            row["usd"].as_f64(),
            Some(0.25 * calls(name) as f64),
            "{row:#}"
        );
        assert_eq!(row["usd_per_upheld"], row["usd"], "one finding was upheld");
        assert_eq!(
            (row["input_tokens"].as_u64(), row["output_tokens"].as_u64()),
            (Some(1000 * calls(name)), Some(50 * calls(name)))
        );
    }
    let bob = named(&found, "reviewers", "bob");
    assert_eq!(
        (&bob["calls"], &bob["unpriced_calls"]),
        (&Value::from(calls("bob")), &Value::from(calls("bob")))
    );
    assert!(
        bob["usd"].is_null() && bob["usd_per_upheld"].is_null(),
        "an unknown cost is not zero: {bob:#}"
    );
    let all = calls("ada") + calls("bob") + calls("jo") + calls("pen");
    assert_eq!(found["all"]["calls"], all, "the coder is a part of it");
    let by_role = json(&sandbox.glee(&["stats", "--by", "role", "--json"]));
    let sums = by_role["calls"].as_array().expect("a list");
    let counts = sums
        .iter()
        .map(|sum| (sum["name"].clone(), sum["calls"].clone()));
    assert_eq!(
        counts.collect::<Vec<_>>(),
        [
            ("coder".into(), calls("pen").into()),
            ("judge".into(), calls("jo").into()),
            ("reviewer".into(), (calls("ada") + calls("bob")).into()),
        ]
    );

    // Only what is asked for, and only what is recent.
    let judges = json(&sandbox.glee(&["stats", "--by", "judge", "--json"]));
    assert!(
        judges["judges"].is_array() && judges["reviewers"].is_null(),
        "{judges:#}"
    );
    let never = json(&sandbox.glee(&["stats", "--since", "2999-01-01", "--json"]));
    assert_eq!(
        (&never["all"]["raised"], &never["all"]["calls"]),
        (&Value::from(0), &Value::from(0))
    );
    assert_eq!(
        shares(&json(&sandbox.glee(&["stats", "--since", "1d", "--json"]))["all"]),
        shares(&found["all"])
    );
}

fn events(sandbox: &Sandbox, kind: &str) -> Vec<Value> {
    let shown = sandbox
        .glee(&["runs", "show", "last", "--format", "jsonl"])
        .stdout;
    let events = shown
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("an event"));
    events.filter(|event| event["event"] == kind).collect()
}

/// Reviews the tree again, and checks that no reviewer is called.
fn review_again(sandbox: &Sandbox) {
    let review = sandbox.glee(&["review", "app.py"]);
    assert_eq!(review.code, 1, "{review}");
    assert_eq!(
        events(sandbox, "call_finished"),
        [] as [Value; 0],
        "both answers are reused"
    );
}

#[test]
fn a_finding_of_a_reused_answer_counts_once_over_its_runs() {
    let sandbox = with_agents();
    let review = sandbox.glee(&["review", "app.py"]);
    assert_eq!(review.code, 1, "{review}");
    let first = stats(&sandbox);
    assert_eq!(
        shares(&first["all"]),
        "5 raised, 0 held: 4/5 0/5 0/0 0/0 0/0 0/0 0/0 0/5 0/0",
        "{first:#}"
    );
    review_again(&sandbox);
    let merged = events(&sandbox, "findings_merged");
    let ids: Vec<&Value> = merged[0]["findings"]
        .as_array()
        .expect("findings")
        .iter()
        .map(|finding| &finding["id"])
        .collect();
    assert_eq!(
        ids,
        ["F1", "F2", "F3", "F4", "F5"],
        "they keep their numbers"
    );
    assert_eq!(
        stats(&sandbox),
        first,
        "a reused answer adds neither findings nor calls"
    );
    review_again(&sandbox);
    assert_eq!(stats(&sandbox), first);

    // The fourth run takes the findings further: the numbers are those of one run with a coder and a judge.
    let settled = sandbox.glee(&["review", "app.py", "--arbitrate", "--on-dispute", "judge"]);
    assert_eq!(settled.code, 3, "{settled}");
    assert_eq!(events(&sandbox, "answers_reused").len(), 2);
    let found = stats(&sandbox);
    assert_eq!(
        shares(&found["all"]),
        "5 raised, 1 held: 4/5 3/5 1/2 1/2 0/2 0/0 0/0 2/5 0/2",
        "{found:#}"
    );
    assert_eq!(
        shares(named(&found, "reviewers", "ada")),
        "4 raised, 0 held: 3/4 2/4 1/2 1/2 0/2 0/0 0/0 2/4 0/2"
    );
    assert_eq!(
        shares(named(&found, "reviewers", "bob")),
        "2 raised, 1 held: 1/2 1/2 0/0 0/0 0/0 0/0 0/0 1/2 0/1"
    );
    assert_eq!(
        shares(named(&found, "judges", "jo")),
        "3 raised, 1 held: 3/3 3/3 1/2 1/2 0/2 0/0 0/0 1/3 0/1"
    );
    assert_eq!(
        shares(named(&found, "models", "opus-reviewer")),
        shares(named(&found, "reviewers", "ada"))
    );
    assert_eq!(found["reviewer_agreement"], first["reviewer_agreement"]);
    assert_eq!(sandbox.glee(&["disputes", "verify"]).code, 0);
}

#[test]
fn a_new_reviewer_of_old_findings_counts_and_a_fix_does_not_raise_again() {
    let sandbox = with_agents();
    assert_eq!(sandbox.glee(&["disconnect", "bob"]).code, 0);
    assert_eq!(sandbox.glee(&["review", "app.py"]).code, 1);
    let alone = stats(&sandbox);
    assert_eq!(
        shares(&alone["all"]),
        "4 raised, 0 held: 0/0 0/4 0/0 0/0 0/0 0/0 0/0 0/4 0/0",
        "{alone:#}"
    );
    // Ada's answer is reused. Bob raises ada's first finding, and a finding that ada did not raise.
    connect(&sandbox, "bob", "reviewer", "./bob.sh");
    assert_eq!(sandbox.glee(&["review", "app.py"]).code, 1);
    assert_eq!(
        (
            events(&sandbox, "answers_reused").len(),
            events(&sandbox, "call_finished").len()
        ),
        (1, 1)
    );
    let both = stats(&sandbox);
    assert_eq!(
        shares(&both["all"]),
        "5 raised, 0 held: 4/5 0/5 0/0 0/0 0/0 0/0 0/0 0/5 0/0",
        "{both:#}"
    );
    assert_eq!(
        shares(named(&both, "reviewers", "ada")),
        "4 raised, 0 held: 3/4 0/4 0/0 0/0 0/0 0/0 0/0 0/4 0/0"
    );
    assert_eq!(
        shares(named(&both, "reviewers", "bob")),
        "2 raised, 0 held: 1/2 0/2 0/0 0/0 0/0 0/0 0/0 0/2 0/0"
    );
    review_again(&sandbox);
    assert_eq!(stats(&sandbox), both);
    // The last run goes on with `glee fix`.
    let fixed = sandbox.glee(&["fix", "F1"]);
    assert_eq!(
        fixed.code, 1,
        "three mandatory findings are still open: {fixed}"
    );
    let found = stats(&sandbox);
    assert_eq!(
        shares(&found["all"]),
        "5 raised, 0 held: 4/5 0/5 0/0 0/0 0/0 0/0 0/0 1/5 0/1",
        "{found:#}"
    );
    assert_eq!(sandbox.glee(&["disputes", "verify"]).code, 0);
}

/// Raises a finding for each line with `BUG`, in the part of the file that it is asked about.
const LENS: &str = r#"#!/bin/sh
awk -v nonce="$GLEE_NONCE" '
  /^<<<GLEE-DATA/ { path = ""; if (match($0, / (path|diff)=[^ ]+/)) path = substr($0, RSTART + 6, RLENGTH - 6); next }
  /^>>>GLEE-DATA-END/ { path = "" }
  path == "" || /^:-/ { next }
  /^:@@ -/ { at = substr($3, 2) + 0; next }
  /^[0-9]+ [|]/ { at = $1 }
  /BUG[0-9]+/ {
    bug = $0; sub(/.*BUG/, "BUG", bug); sub(/[^A-Z0-9].*/, "", bug)
    print "[MUST] " path ":" at " Remove " bug; n++
  }
  { at++ }
  END { print "GLEE-REVIEW-END nonce=" nonce " findings=" n + 0 }
'
"#;

#[test]
fn a_finding_on_a_line_that_moved_counts_once() {
    let sandbox = Sandbox::new();
    sandbox
        .git_init()
        .program("lens", LENS)
        .write(".gitignore", ".glee/\n");
    connect(&sandbox, "lens", "reviewer", "lens");
    let function = |number: u32, bug: &str| {
        format!(
            "def step_{number}(value):\n    value = value * {number}\n    return eval(value){bug}\n\n"
        )
    };
    let mut functions: Vec<String> = (0..20).map(|number| function(number, "")).collect();
    (functions[3], functions[12]) = (function(3, "  # BUG1"), function(12, "  # BUG2"));
    sandbox.write("steps.py", functions.concat());
    assert_eq!(sandbox.glee(&["review", "steps.py"]).code, 1);
    assert_eq!(stats(&sandbox)["all"]["raised"], 2);
    // New lines move both findings, and one of them has a new finding.
    functions.insert(1, function(30, "  # BUG3"));
    sandbox.write("steps.py", functions.concat());
    assert_eq!(sandbox.glee(&["review", "steps.py"]).code, 1);
    let reused = events(&sandbox, "answers_reused");
    assert_eq!(
        reused[0]["from"][0]["in_part"][0], "steps.py",
        "{reused:#?}"
    );
    assert_eq!(
        events(&sandbox, "findings_merged")[0]["findings"]
            .as_array()
            .map(Vec::len),
        Some(3)
    );
    assert_eq!(stats(&sandbox)["all"]["raised"], 3);
    // The third run reuses the second, in which two findings were already repetitions.
    assert_eq!(sandbox.glee(&["review", "steps.py"]).code, 1);
    assert_eq!(stats(&sandbox)["all"]["raised"], 3);
    assert_eq!(sandbox.glee(&["disputes", "verify"]).code, 0);
}

#[test]
fn a_person_that_rules_otherwise_overturns_the_judge() {
    let sandbox = reviewed();
    let disputes = json(&sandbox.glee(&["disputes", "--json"]));
    let number = |title: &str| {
        let rows = disputes
            .as_array()
            .or(disputes["disputes"].as_array())
            .expect("a list");
        let row = rows.iter().find(|row| {
            row["title"]
                .as_str()
                .is_some_and(|text| text.contains(title))
        });
        row.unwrap_or_else(|| panic!("{title}: {disputes:#}"))["number"].to_string()
    };
    let (divides, leaks, ends) = (number("divides"), number("leaks"), number("never ends"));
    let run = |args: &[&str]| {
        let output = sandbox.glee(args);
        assert_eq!(output.code, 0, "{args:?} {output}");
    };
    // Reopened: no decision any more. Then the person rules against the judge.
    run(&["disputes", "reopen", &divides]);
    assert_eq!(
        shares(&stats(&sandbox)["all"]),
        "5 raised, 2 held: 4/5 3/5 1/1 0/1 0/2 0/0 0/0 2/5 0/2"
    );
    run(&["disputes", "resolve", &divides, "enforce", "--by", "Test"]);
    assert_eq!(
        shares(&stats(&sandbox)["all"]),
        "5 raised, 1 held: 4/5 3/5 2/2 0/2 1/2 0/1 0/0 2/5 0/2"
    );
    // The person agrees with the other ruling: an accepted risk is a real finding.
    run(&["disputes", "reopen", &leaks]);
    run(&[
        "disputes",
        "resolve",
        &leaks,
        "dismiss",
        "--by",
        "Test",
        "--as",
        "accepted-risk",
    ]);
    assert_eq!(
        shares(&stats(&sandbox)["all"]),
        "5 raised, 1 held: 4/5 3/5 2/2 0/2 1/2 1/2 0/0 2/5 0/2"
    );
    // What is discarded is not judged; what the judge escalated is no decision that a person could overturn.
    run(&["disputes", "resolve", &ends, "discard", "--by", "Test"]);
    assert_eq!(
        shares(&stats(&sandbox)["all"]),
        "5 raised, 1 held: 4/5 3/5 2/2 0/2 1/2 1/2 0/0 2/5 0/2"
    );
    run(&["disputes", "reopen", &ends]);
    run(&["disputes", "resolve", &ends, "dismiss", "--by", "Test"]);
    let found = stats(&sandbox);
    assert_eq!(
        shares(&found["all"]),
        "5 raised, 0 held: 4/5 3/5 2/3 1/3 1/2 1/2 0/0 2/5 0/2"
    );
    assert_eq!(
        shares(named(&found, "judges", "jo")),
        "3 raised, 1 held: 3/3 3/3 1/2 1/2 1/2 1/2 0/0 1/3 0/1"
    );
    assert_eq!(
        shares(named(&found, "reviewers", "bob")),
        "2 raised, 0 held: 1/2 1/2 0/1 1/1 0/0 0/0 0/0 1/2 0/1"
    );
    // The change is undone, and then restored.
    run(&["runs", "undo", "last"]);
    assert_eq!(
        shares(&stats(&sandbox)["all"]),
        "5 raised, 0 held: 4/5 3/5 2/3 1/3 1/2 1/2 0/0 0/5 2/2"
    );
    run(&["runs", "undo", "last", "--redo"]);
    assert_eq!(
        shares(&stats(&sandbox)["all"]),
        "5 raised, 0 held: 4/5 3/5 2/3 1/3 1/2 1/2 0/0 2/5 0/2"
    );
    run(&["disputes", "verify"]);
}

#[test]
fn another_judge_audits_a_sample_of_dismissals() {
    let sandbox = reviewed();
    let none = sandbox.glee(&["stats", "audit", "--judge", "jo"]);
    assert_eq!(none.code, 0, "{none}");
    assert_eq!(
        none.stdout,
        "The history has no dismissal by a judge other than jo that can be audited.\n"
    );
    let unknown = sandbox.glee(&["stats", "audit", "--judge", "ada"]);
    assert_eq!(unknown.code, 2, "{unknown}");
    assert!(
        unknown.stderr.contains("no judge has the name `ada`"),
        "{unknown}"
    );

    connect(&sandbox, "kim", "judge", "claude");
    let before = stats(&sandbox);
    let dry = sandbox.glee(&[
        "stats",
        "audit",
        "--judge",
        "kim",
        "--dry-run",
        "--seed",
        "7",
    ]);
    assert_eq!(dry.code, 0, "{dry}");
    assert!(
        dry.stdout
            .contains("Audit of 1 of 1 dismissal by kim, seed 7"),
        "{dry}"
    );
    assert!(dry.stdout.contains("No agent was called"), "{dry}");
    assert_eq!(stats(&sandbox), before, "a dry run records nothing");

    // Kim sees no ruling of jo's: it would escalate.
    let audited = sandbox.glee(&["stats", "audit", "--judge", "kim", "--seed", "7", "--json"]);
    assert_eq!(audited.code, 0, "{audited}");
    let audit = json(&audited);
    assert_eq!(
        (&audit["population"], &audit["seed"], &audit["calls"]),
        (&1.into(), &7.into(), &1.into())
    );
    assert_eq!(
        audit["sample"][0]["ruling"]["ruling"], "ENFORCE",
        "{audit:#}"
    );
    assert_eq!(
        (&audit["sample"][0]["agrees"], &audit["agreed"]["of"]),
        (&Value::Bool(false), &1.into())
    );

    let found = stats(&sandbox);
    assert_eq!(
        shares(&found["all"]),
        "5 raised, 1 held: 4/5 3/5 1/2 1/2 0/2 0/0 0/1 2/5 0/2",
        "no ruling changed"
    );
    assert_eq!(
        shares(named(&found, "judges", "jo")),
        "3 raised, 1 held: 3/3 3/3 1/2 1/2 0/2 0/0 0/1 1/3 0/1"
    );
    assert_eq!(
        found["all"]["calls"].as_u64(),
        before["all"]["calls"].as_u64().map(|calls| calls + 1),
        "the call of the audit is one of all calls"
    );
    // A dismissal that expired binds nobody, and an audit leaves it out.
    assert_eq!(
        sandbox
            .glee(&["config", "set", "--user", "rulings.max_age.refuted", "1s"])
            .code,
        0
    );
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    let expired = sandbox.glee(&["stats", "audit", "--judge", "kim", "--dry-run"]);
    assert!(
        expired.stdout.starts_with(
            "The history has no dismissal by a judge other than kim that can be audited."
        ),
        "{expired}"
    );
    assert_eq!(
        sandbox
            .glee(&["config", "unset", "--user", "rulings.max_age.refuted"])
            .code,
        0
    );
    let pair = &found["judge_agreement"][0];
    assert_eq!(
        (
            &pair["between"][1],
            &pair["agreed"]["of"],
            &pair["agreed"]["count"]
        ),
        (&"kim".into(), &1.into(), &0.into())
    );
    assert_eq!(sandbox.glee(&["disputes", "verify"]).code, 0);
    let text = sandbox.glee(&["stats", "--by", "judge"]).stdout;
    assert!(text.contains("audit agreed   0 of 1"), "{text}");

    // The transcripts of the audit are deleted with those of old runs; what was said remains.
    let pruned = sandbox.glee(&["runs", "prune", "--before", "2099-01-01", "--dry-run"]);
    assert_eq!(
        pruned
            .stdout
            .lines()
            .filter(|line| line.starts_with("1 stage or audit run: "))
            .count(),
        1,
        "{pruned}"
    );

    // The budget of calls holds, and the seed repeats the sample.
    let none_left = sandbox.glee(&["config", "set", "--user", "budget.calls", "0"]);
    let over = sandbox.glee(&["stats", "audit", "--judge", "kim", "--seed", "7"]);
    assert!(none_left.code != 0 || over.code == 75, "{none_left} {over}");
}

#[test]
fn the_table_is_short_and_the_page_is_complete() {
    let sandbox = reviewed();
    let table = sandbox.glee(&["stats"]);
    assert_eq!(table.code, 0, "{table}");
    assert!(table.stdout.lines().count() < 24, "{table}");
    for fact in [
        "5 findings: 2 fixed",
        "1 upheld, 1 dismissed, 1 undecided",
        "  ada",
        "  jo",
        "1 of 2",
    ] {
        assert!(table.stdout.contains(fact), "{fact}: {table}");
    }
    let all = sandbox.glee(&["stats", "-v"]).stdout;
    assert!(
        all.contains("Reviewer ada") && all.contains("Model of judges opus-judge"),
        "{all}"
    );
    let page = sandbox.glee(&["stats", "--html", "stats.html"]);
    assert_eq!((page.code, page.stdout.as_str()), (0, ""), "{page}");
    let html = sandbox.read("stats.html");
    assert!(
        html.contains("Content-Security-Policy")
            && !html.contains("src=")
            && !html.contains("href=\"http")
    );
    for name in ["ada", "bob", "jo", "opus-judge"] {
        assert!(
            html.contains(&format!("<th scope=\"row\">{name}</th>")),
            "{name}"
        );
    }
    let refused = sandbox.glee(&["stats", "--html", "missing/stats.html"]);
    assert_eq!(refused.code, 2, "{refused}");
    assert!(
        refused.stderr.contains("create the folder `missing`"),
        "{refused}"
    );
    assert_eq!(
        sandbox.glee(&["stats", "--html", "a.html", "--json"]).code,
        2
    );
}

#[test]
fn an_audit_without_a_judge_says_how_to_connect_one() {
    let sandbox = Sandbox::new();
    sandbox.git_init().script("bob.sh", BOB);
    connect(&sandbox, "bob", "reviewer", "./bob.sh");
    let refused = sandbox.glee(&["stats", "audit"]);
    assert_eq!(refused.code, 2, "{refused}");
    assert!(
        refused
            .stderr
            .contains("`glee connect <agent> --role judge`"),
        "{refused}"
    );
    assert!(
        !refused.stderr.contains("on-dispute"),
        "an audit settles no dispute: {refused}"
    );
}

#[test]
fn nothing_is_recorded_yet() {
    let sandbox = Sandbox::new();
    sandbox.git_init();
    let empty = sandbox.glee(&["stats"]);
    assert_eq!(
        (empty.code, empty.stdout.as_str()),
        (
            0,
            "No finding is recorded. Start a review with `glee review`.\n"
        )
    );
    assert_eq!(
        json(&sandbox.glee(&["stats", "--json"]))["all"]["raised"],
        0
    );
    let wrong = sandbox.glee(&["stats", "--since", "never"]);
    assert_eq!(wrong.code, 2, "{wrong}");
    assert!(wrong.stderr.contains("give a date"), "{wrong}");
}
