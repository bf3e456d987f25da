//! Tests `review.fix.scope`: edits of the coder in files that no finding names are put back, and the report names them.

use std::collections::{BTreeMap, BTreeSet};

use crate::review::json;
use crate::support::{Output, Sandbox};

/// Raises a finding in `plain.py` that cites `helper.py`, and believes the fix.
const LENS: &str = r#"#!/bin/sh
cat >/dev/null
if [ "$GLEE_TASK" = recheck ]; then
  n=0
  for id in $GLEE_FINDINGS; do echo "[$id] RESOLVED: gone"; n=$((n + 1)); done
  echo "GLEE-RECHECK-END nonce=$GLEE_NONCE answers=$n"
  exit 0
fi
grep -q one plain.py || { echo "GLEE-REVIEW-END nonce=$GLEE_NONCE findings=0"; exit 0; }
printf '{"nonce": "%s", "findings": [{"severity": "high", "file": "plain.py", "line": 1, "title": "Rename it",
  "description": "It is not one", "evidence": ["helper.py:2"]}]}' "$GLEE_NONCE"
"#;

/// Runs the file `edits` beside itself, and says that everything is implemented.
const PEN: &str = r#"#!/bin/sh
cat >/dev/null
sh "${0%/*}/edits"
n=0
for id in $GLEE_FINDINGS; do echo "[$id] IMPLEMENTED: renamed"; n=$((n + 1)); done
echo "GLEE-RESPONSE-END nonce=$GLEE_NONCE answers=$n"
"#;

const TEXT: &str = "one\n2\n3\n";

fn project(scope: &str, edits: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.git_init();
    sandbox.connect("lens", "reviewer", LENS, &[]);
    sandbox.connect("pen", "coder", PEN, &[]);
    let set = sandbox.glee(&["config", "set", "review.fix.scope", scope]);
    assert_eq!(set.code, 0, "{set}");
    for name in ["plain.py", "helper.py", "other.py", "lib/gone.py"] {
        sandbox.write(name, TEXT);
    }
    std::fs::write(sandbox.root().with_file_name("bin").join("edits"), edits).expect("a file");
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "Begin"]);
    sandbox
}

/// The files of the project, without git's own.
fn files(sandbox: &Sandbox) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for path in sandbox.git(&["ls-files", "-co"]).lines() {
        if sandbox.root().join(path).is_file() {
            found.insert(path.to_owned(), sandbox.read(path));
        }
    }
    found
}

/// The files that differ from what they were.
fn changed(sandbox: &Sandbox, before: &BTreeMap<String, String>) -> Vec<String> {
    let now = files(sandbox);
    let paths: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
    let differ = paths
        .into_iter()
        .filter(|path| before.get(*path) != now.get(*path));
    differ.cloned().collect()
}

fn review(sandbox: &Sandbox, more: &[&str]) -> (Output, serde_json::Value) {
    let args = ["review", "plain.py", "--fix", "--format", "json"];
    let output = sandbox.glee(&[&args, more].concat());
    let outcome = json(&output.stdout);
    (output, outcome)
}

fn notices(outcome: &serde_json::Value) -> String {
    outcome["notices"].to_string()
}

/// An edit, the files that it changes, and whether the finding names them.
const EDITS: [(&str, &[&str], bool); 5] = [
    ("sed -i s/one/two/ plain.py\n", &["plain.py"], true),
    ("sed -i s/2/two/ helper.py\n", &["helper.py"], true),
    ("sed -i s/3/three/ other.py\n", &["other.py"], false),
    (
        "rm -r lib; echo made > lib\n",
        &["lib", "lib/gone.py"],
        false,
    ),
    (
        "mkdir -p tests; echo made > tests/test_plain.py\n",
        &["tests/test_plain.py"],
        false,
    ),
];

#[test]
fn no_file_that_no_finding_names_differs_after_the_run() {
    // Each edit alone, and all but each.
    let alone = (0..EDITS.len()).map(|edit| 1 << edit);
    let rest = (0..EDITS.len()).map(|edit| 0b11111 ^ (1 << edit));
    for (mask, is_apart) in alone.chain(rest).zip([false, true].into_iter().cycle()) {
        let done = EDITS.iter().enumerate();
        let done = done.filter(|(edit, _)| mask & (1 << edit) != 0);
        let done: Vec<_> = done.map(|(_, edit)| *edit).collect();
        let edits: String = done.iter().map(|(text, ..)| *text).collect();
        let sandbox = project("findings", &edits);
        let before = files(&sandbox);
        let more: &[&str] = if is_apart { &["--worktree"] } else { &[] };
        let (output, outcome) = review(&sandbox, more);
        if is_apart {
            assert_eq!(changed(&sandbox, &before), Vec::<String>::new());
            let applied = sandbox.glee(&["runs", "apply"]);
            assert!(applied.code == 0 || edits.lines().count() == 1, "{applied}");
        }
        let paths = |is_named: bool| -> Vec<&str> {
            let of = done.iter().filter(|(_, _, named)| *named == is_named);
            let mut paths: Vec<&str> = of.flat_map(|(_, paths, _)| *paths).copied().collect();
            paths.sort_unstable();
            paths
        };
        assert_eq!(changed(&sandbox, &before), paths(true), "{edits}: {output}");
        let told = format!(
            "they were put back (`review.fix.scope: findings`): {}\"",
            paths(false).join(", ")
        );
        assert_eq!(
            notices(&outcome).contains(&told),
            !paths(false).is_empty(),
            "{told}: {output}"
        );
        // Only a changed block of the finding counts as its fix.
        let is_fixed = mask & 1 != 0;
        let state = if is_fixed { "resolved" } else { "claimed" };
        assert_eq!(outcome["findings"][0]["state"], state, "{edits}: {output}");
        assert_eq!(output.code, i32::from(!is_fixed), "{edits}: {output}");
        let replayed = sandbox.glee(&["runs", "replay"]);
        assert!(
            replayed.stderr.contains("with the same result"),
            "{edits}: {replayed}"
        );
        if is_fixed && !is_apart {
            let fixed = files(&sandbox);
            assert_eq!(sandbox.glee(&["runs", "undo", "--yes"]).code, 0);
            assert_eq!(changed(&sandbox, &before), Vec::<String>::new());
            assert_eq!(sandbox.glee(&["runs", "undo", "--redo"]).code, 0);
            assert_eq!(changed(&sandbox, &fixed), Vec::<String>::new());
        }
    }
}

#[test]
fn the_report_names_what_was_put_back_and_any_leaves_it() {
    let edits: String = EDITS.iter().map(|(text, ..)| *text).collect();
    let sandbox = project("findings", &edits);
    let shown = sandbox.glee(&["review", "plain.py", "--fix"]);
    assert_eq!(shown.code, 0, "{shown}");
    let words = shown.stdout.split_whitespace().collect::<Vec<_>>();
    assert!(
        words
            .join(" ")
            .contains("put back (`review.fix.scope: findings`): lib, lib/gone.py, other.py, tests/test_plain.py"),
        "{shown}"
    );
    assert!(
        shown.stderr.contains("put back, because no finding names"),
        "{shown}"
    );
    let sandbox = project("any", &edits);
    let before = files(&sandbox);
    let (output, outcome) = review(&sandbox, &[]);
    assert_eq!(output.code, 0, "{output}");
    assert_eq!(changed(&sandbox, &before).len(), 6, "{output}");
    assert!(!notices(&outcome).contains("put back"), "{output}");
}

#[test]
fn a_finding_without_a_place_stays_open_when_its_fix_was_put_back() {
    let sandbox = project("findings", "sed -i s/one/two/ plain.py other.py\n");
    let lens = LENS.replace("\"file\": \"plain.py\", \"line\": 1,", "");
    sandbox.program("lens", &lens);
    let (output, outcome) = review(&sandbox, &[]);
    assert_eq!(output.code, 1, "{output}");
    assert_eq!(outcome["findings"][0]["state"], "claimed", "{output}");
    assert_eq!(sandbox.read("plain.py"), TEXT);
}
