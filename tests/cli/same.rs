//! Tests that findings of several reviewers that may be the same are asked about once, by whole runs.

use serde_json::Value;

use crate::review::json;
use crate::support::{Output, Sandbox};

const SHOP: &str = "\
import hashlib
import subprocess


def login(db, name, password):
    row = db.execute(\"select * from users where name = '\" + name + \"'\").fetchone()
    digest = hashlib.md5(password.encode()).hexdigest()
    return row is not None and row[1] == digest


def archive(path):
    subprocess.run(\"tar czf backup.tgz \" + path, shell=True)
";

/// Six findings about four defects: the query (two reviewers), the digest (two), the comparison, the shell.
const SAID: [(&str, &str); 3] = [
    (
        "one",
        "[MUST] shop.py:6 SQL injection through the name (confidence 90, security)\n\
         [MUST] shop.py:7 Passwords need a slow salted hash (confidence 80, security)\n",
    ),
    (
        "two",
        "[MUST] shop.py:6 User input is concatenated into a query (confidence 85, security)\n\
         [MUST] shop.py:12 The path reaches a shell (confidence 90, security)\n",
    ),
    (
        "thr",
        "[MUST] shop.py:7 MD5 is broken for credentials (confidence 85, security)\n\
         [MUST] shop.py:8 Digests are compared in variable time (confidence 60, security)\n",
    ),
];

/// Prints the file of its name, and checks that a change left nothing of the old code.
const REVIEWER: &str = r#"#!/bin/sh
cat > /dev/null
if [ "$GLEE_TASK" = recheck ]; then
  n=0
  for id in $GLEE_FINDINGS; do n=$((n + 1)); echo "[$id] RESOLVED: gone"; done
  echo "GLEE-RECHECK-END nonce=$GLEE_NONCE answers=$n"
  exit
fi
cat "$0.txt"
echo "GLEE-REVIEW-END nonce=$GLEE_NONCE findings=$(grep -c '^\[' "$0.txt")"
"#;

/// Answers truthfully: two findings are the same if they are about the same line.
const AGGREGATOR: &str = r#"#!/usr/bin/env python3
import os, re, sys
prompt = sys.stdin.read()
line = dict(re.findall(r"^Finding (\d+):\n<<<.*\n: \S+?:(\d+)", prompt, re.M))
pairs = re.findall(r"^- (P\d+): findings (\d+) and (\d+)$", prompt, re.M)
for id, one, other in pairs:
    print(f"[{id}] {'SAME' if line[one] == line[other] else 'DIFFERENT'}: by the line")
print(f"GLEE-SAME-END nonce={os.environ['GLEE_NONCE']} answers={len(pairs)}")
"#;

const CODER: &str = r#"#!/bin/sh
cat > /dev/null
sed -i 's/execute(.*)\.fetch/execute(QUERY, [name]).fetch/; s/hashlib.md5(password/slow_hash(password/' shop.py
sed -i 's/row\[1\] == digest/equal(row[1], digest)/; s/"tar czf backup.tgz " + path, shell=True/TAR + [path]/' shop.py
n=0
for id in $GLEE_FINDINGS; do n=$((n + 1)); echo "[$id] IMPLEMENTED: done"; done
echo "GLEE-RESPONSE-END nonce=$GLEE_NONCE answers=$n"
"#;

fn project() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.git_init().write("shop.py", SHOP);
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "Write the shop"]);
    for (name, answer) in SAID {
        sandbox.connect(name, "reviewer", REVIEWER, &[]);
        sandbox.write(format!("../bin/{name}.txt"), answer);
    }
    sandbox.connect("agg", "aggregator", AGGREGATOR, &[]);
    sandbox
}

fn review(sandbox: &Sandbox, more: &[&str]) -> (Output, Value) {
    let args = [
        &["review", "shop.py", "--no-input", "--format", "json"],
        more,
    ]
    .concat();
    let output = sandbox.glee(&args);
    let outcome = json(&output.stdout);
    (output, outcome)
}

/// The numbers of the groups, in the order of the findings.
fn groups(outcome: &Value) -> Vec<String> {
    let findings = outcome["findings"].as_array().expect("findings");
    let mut groups: Vec<String> = findings
        .iter()
        .map(|finding| finding["id"].as_str().expect("an id"))
        .map(|id| id.trim_end_matches(char::is_alphabetic).to_owned())
        .collect();
    groups.dedup();
    groups
}

/// The purposes and the sizes of the prompts of all calls of the last run.
fn calls(sandbox: &Sandbox) -> Vec<(String, u64)> {
    let shown = sandbox.glee(&["runs", "show", "last", "--format", "jsonl"]);
    let events = shown.stdout.lines().map(json);
    events
        .filter(|event| event["event"] == "call_started")
        .map(|event| {
            let purpose = event["call"]["purpose"].as_str().unwrap_or_default();
            (
                purpose.to_owned(),
                event["prompt_bytes"].as_u64().unwrap_or_default(),
            )
        })
        .collect()
}

#[test]
fn three_reviewers_and_six_findings_need_one_call_for_four_groups_that_close_on_their_own() {
    let sandbox = project();
    sandbox.connect("pen", "coder", CODER, &[]);
    let (output, outcome) = review(&sandbox, &["--fix"]);
    assert_eq!(groups(&outcome), ["F1", "F2", "F3", "F4"], "{output}");
    assert_eq!(output.code, 0, "{output}");
    let mut asked = calls(&sandbox);
    asked.retain(|(purpose, _)| purpose == "same");
    assert!(
        asked.len() == 1 && asked[0].1 < 6000,
        "one short call: {asked:?}"
    );
    let shown = sandbox.glee(&["show", "F1"]);
    assert!(shown.stdout.contains("says agg: by the line"), "{shown}");
    let page = sandbox.glee(&["runs", "show", "last", "--calls"]);
    assert!(
        page.stdout.contains("compar") && page.stdout.contains("agg"),
        "{page}"
    );
    let stats = json(&sandbox.glee(&["stats", "--json"]).stdout);
    let comparisons = stats["comparisons"].as_array().expect("a list");
    assert_eq!(comparisons.len(), 1, "{stats:#}");
    assert_eq!(
        (&comparisons[0]["name"], &comparisons[0]["calls"]),
        (&"agg".into(), &1.into())
    );
    let table = sandbox.glee(&["stats"]);
    let line = "; 1 call to compare findings";
    assert!(table.stdout.contains(line), "{table}");

    // The same texts about the same code are neither reviewed nor compared again.
    sandbox.git(&["checkout", "-q", "--", "shop.py"]);
    let (output, outcome) = review(&sandbox, &[]);
    assert_eq!((groups(&outcome).len(), output.code), (4, 1), "{output}");
    assert_eq!(calls(&sandbox), []);
}

#[test]
fn an_aggregator_that_fails_changes_neither_the_findings_nor_the_exit_code() {
    let sandbox = project();
    sandbox.program(
        "agg",
        "#!/bin/sh\necho 'rate limit reached: 429' >&2\nexit 1\n",
    );
    let (output, outcome) = review(&sandbox, &[]);
    assert_eq!(output.code, 1, "{output}");
    let findings = outcome["findings"].as_array().expect("findings");
    assert_eq!(findings.len(), 6, "{output}");
    assert!(
        findings.iter().any(|finding| finding["may_be"].is_array()),
        "{output}"
    );
    let notices = outcome["notices"].to_string();
    assert!(
        notices.contains("`agg` did not compare findings"),
        "{notices}"
    );
    let shown = sandbox.glee(&["runs", "show", "last"]);
    assert!(shown.stdout.contains("may be the same as F"), "{shown}");

    std::fs::remove_file(sandbox.root().with_file_name("bin").join("agg")).expect("a program");
    let (output, _) = review(&sandbox, &["--full"]);
    assert_eq!(output.code, 1, "a missing program is no error: {output}");
}

#[test]
fn the_plan_says_that_one_call_may_be_made_and_the_key_turns_it_off() {
    let sandbox = project();
    let plan = sandbox.glee(&["review", "shop.py", "--dry-run"]);
    let line = "at most 1 call to agg about findings that may be the same";
    assert!(plan.stdout.contains(line), "{plan}");
    let plan = sandbox.glee(&["review", "shop.py", "--dry-run", "--debate"]);
    let line = "at most 2 calls to agg about findings that may be the same";
    assert!(plan.stdout.contains(line), "{plan}");
    let set = sandbox.glee(&["config", "set", "review.compare", "off"]);
    assert_eq!(set.code, 0, "{set}");
    let plan = sandbox.glee(&["review", "shop.py", "--dry-run"]);
    assert!(!plan.stdout.contains("about findings"), "{plan}");
    let (output, outcome) = review(&sandbox, &[]);
    assert_eq!(
        outcome["findings"].as_array().map(Vec::len),
        Some(6),
        "{output}"
    );
    assert!(
        calls(&sandbox).iter().all(|(purpose, _)| purpose != "same"),
        "{output}"
    );
}
