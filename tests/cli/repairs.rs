//! Tests `review.verify`: the coder repairs edits that fail, at most twice.

use crate::review::{json, project};
use crate::support::{Output, Sandbox};

/// Replaces `eval`, or its last replacement, by the next word of `words`.
const CODER: &str = r#"#!/bin/sh
prompt=$(cat)
old=$(sed -n '2s/.*return \([a-z]*\)(text)/\1/p' app.py)
new=$(grep -A1 "^$old\$" words | tail -1)
sed -i "2s/$old(/$new(/" app.py
n=0
for id in $GLEE_FINDINGS; do
  n=$((n + 1))
  case $id in
    F1) echo "[$id] IMPLEMENTED: $new reads it" ;;
    F5) echo "[$id] DISCARDED: later" ;;
    *) echo "[$id] DISAGREE: checked before"; echo "  Evidence: app.py:9 checks it" ;;
  esac
done
echo "GLEE-RESPONSE-END nonce=$GLEE_NONCE answers=$n"
"#;

/// Prints the unknown words and fails.
const CHECK: &str = "#!/bin/sh\nword=$(grep -o -f bad app.py) || exit 0\n\
    echo \"names.py:7: $word is not known here\"\nexit 3\n";

/// A project whose coder tries the words of `words`, and whose check rejects those of `bad`.
fn scene(words: &str, bad: &str) -> Sandbox {
    let sandbox = project();
    sandbox.script("pen.sh", CODER).script("check.sh", CHECK);
    sandbox
        .write("words", words.replace(' ', "\n") + "\n")
        .write("bad", bad.replace(' ', "\n") + "\n");
    let path = ".glee/config.yml";
    sandbox.write(
        path,
        format!(
            "{}review:\n  verify: [\"./check.sh\"]\n",
            sandbox.read(path)
        ),
    );
    assert_eq!(sandbox.glee(&["trust"]).code, 0);
    sandbox
}

fn review(sandbox: &Sandbox, more: &[&str]) -> Output {
    let args = [
        "review",
        "app.py",
        "--arbitrate",
        "--on-dispute",
        "discard",
        "--format",
        "json",
    ];
    sandbox.glee(&[&args, more].concat())
}

/// The coder's prompts, in order.
fn prompts(sandbox: &Sandbox) -> Vec<String> {
    fn walk(folder: &std::path::Path, found: &mut Vec<(String, String)>) {
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            let (path, name) = (
                entry.path(),
                entry.file_name().to_string_lossy().into_owned(),
            );
            if path.is_dir() {
                walk(&path, found);
            } else if name.ends_with(".prompt")
                && (name.starts_with("respond") || name.starts_with("repair"))
            {
                found.push((name, std::fs::read_to_string(&path).expect("a prompt")));
            }
        }
    }
    let mut found = Vec::new();
    walk(&sandbox.state(), &mut found);
    found.sort_by_key(|(name, _)| (name.starts_with("repair"), name.clone()));
    found.into_iter().map(|(_, text)| text).collect()
}

#[test]
fn spec_12_a_failing_check_goes_back_to_the_coder_with_its_output() {
    let sandbox = scene("eval int float", "int");
    let output = review(&sandbox, &[]);
    assert_eq!(output.code, 0, "{output}");
    assert!(
        sandbox.read("app.py").contains("float(text)"),
        "{}",
        sandbox.read("app.py")
    );
    let prompts = prompts(&sandbox);
    assert_eq!(prompts.len(), 2, "{prompts:?}");
    assert!(!prompts[0].contains("fails on them now"), "{}", prompts[0]);
    for words in [
        "fails on them now",
        "./check.sh",
        "names.py:7: int is not known here",
    ] {
        assert!(prompts[1].contains(words), "{words}: {}", prompts[1]);
    }
    let outcome = json(&output.stdout);
    assert_eq!(outcome["findings"][0]["state"], "resolved", "{outcome:#}");
    let run = outcome["run"].as_str().expect("an id");
    let again = sandbox.glee(&["runs", "replay", run, "--format", "json"]);
    assert_eq!(
        json(&again.stdout)["findings"],
        outcome["findings"],
        "{again}"
    );
}

#[test]
fn spec_12_the_coder_is_called_again_twice_at_most() {
    let sandbox = scene("eval int float bytes ascii repr", "int float bytes ascii");
    let output = review(&sandbox, &[]);
    assert_eq!(output.code, 1, "{output}");
    assert_eq!(prompts(&sandbox).len(), 3, "the first call and two more");
    let told = json(&output.stdout)["notices"].to_string();
    assert!(
        told.contains("fails on the coder's edits, even after 2 repairs"),
        "{told}"
    );
}

#[test]
fn spec_12_a_coder_that_changes_nothing_is_not_called_again() {
    let sandbox = scene("eval int", "int");
    let output = review(&sandbox, &[]);
    assert_eq!(output.code, 1, "{output}");
    assert_eq!(prompts(&sandbox).len(), 2);
}

#[test]
fn spec_12_a_repair_stays_within_the_budget() {
    let mut sandbox = scene("eval int float", "int");
    sandbox.env("GLEE_BUDGET_CALLS", "2");
    let output = review(&sandbox, &[]);
    assert_eq!(output.code, 75, "{output}");
    assert_eq!(prompts(&sandbox).len(), 1);
}
