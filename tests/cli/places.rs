//! Tests findings with several places: from the reviewer's answer to the re-check and the next review.

use serde_json::Value;

use crate::review::json;
use crate::support::Sandbox;

/// Raises one finding about all files that use md5.
const REVIEWER: &str = r#"#!/bin/sh
cat > "$HOME/prompt"
n=0
if [ "$GLEE_TASK" = recheck ]; then
  cp "$HOME/prompt" "$HOME/recheck"
  for id in $GLEE_FINDINGS; do echo "[$id] RESOLVED: replaced"; n=$((n + 1)); done
  echo "GLEE-RECHECK-END nonce=$GLEE_NONCE answers=$n"
  exit
fi
echo asked >> "$HOME/asked"
places=$(grep -n md5 a.py b.py c.py | sed 's/\(.*:[0-9]*\):.*/\1/' | paste -sd, | sed 's/,/, /g')
if [ -n "$places" ]; then
  echo "[MUST] $places md5 is broken; replace it everywhere (ghost.py:3)"
  n=1
fi
echo "GLEE-REVIEW-END nonce=$GLEE_NONCE findings=$n"
"#;

/// Replaces md5 in the files that are named in the file `todo`.
const CODER: &str = r#"#!/bin/sh
cat > "$HOME/coder"
n=0
for file in $(cat "$HOME/todo"); do sed -i s/md5/sha256/ "$file"; done
for id in $GLEE_FINDINGS; do echo "[$id] IMPLEMENTED: replaced"; n=$((n + 1)); done
echo "GLEE-RESPONSE-END nonce=$GLEE_NONCE answers=$n"
"#;

fn project() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox
        .program("lens", REVIEWER)
        .program("pen", CODER)
        .git_init();
    sandbox.write(".gitignore", ".glee/\n.gitignore\n");
    for file in ["a.py", "b.py", "c.py"] {
        sandbox.write(file, "import hashlib\n\nh = md5(x)\n");
    }
    sandbox.git(&["add", "-A"]);
    for (name, role) in [("lens", "reviewer"), ("pen", "coder")] {
        let args = ["connect", name, "--role", role, "--command", name];
        let connected = sandbox.glee(&[&args[..], &["--name", name]].concat());
        assert_eq!(connected.code, 0, "{connected}");
    }
    let set = sandbox.glee(&["config", "set", "--user", "sandbox", "off"]);
    assert_eq!(set.code, 0, "{set}");
    sandbox
}

fn places(finding: &Value) -> Vec<String> {
    let shown = |place: &Value| {
        let file = place["file"].as_str().unwrap_or_default();
        format!("{file}:{}", place["line"])
    };
    let further = finding["places"].as_array().into_iter().flatten();
    std::iter::once(shown(finding))
        .chain(further.map(shown))
        .collect()
}

fn todo(sandbox: &Sandbox, files: &str) {
    sandbox.write(sandbox.home().join("todo"), files);
}

#[test]
fn a_finding_with_three_places_is_fixed_when_each_of_them_changed() {
    let sandbox = project();
    todo(&sandbox, "a.py");
    let fixed = sandbox.glee(&["review", "--fix", "--format", "json"]);
    assert_eq!(fixed.code, 1, "{fixed}");
    let outcome = json(&fixed.stdout);
    assert_eq!(
        outcome["findings"].as_array().map(Vec::len),
        Some(1),
        "{fixed}"
    );
    let finding = &outcome["findings"][0];
    assert_eq!(places(finding), ["a.py:3", "b.py:3", "c.py:3"]);
    assert_eq!(finding["state"], "claimed", "{fixed}");
    let unchanged = finding["unchanged"].as_array().expect("places");
    let unchanged: Vec<&Value> = unchanged.iter().map(|place| &place["file"]).collect();
    assert_eq!(unchanged, ["b.py", "c.py"]);
    let prompt = std::fs::read_to_string(sandbox.home().join("coder")).expect("a prompt");
    assert!(
        prompt.contains("a.py:3, b.py:3, c.py:3 md5 is broken"),
        "{prompt}"
    );
    let shown = sandbox.glee(&["show", "F1"]);
    let words: Vec<&str> = shown.stdout.split_whitespace().collect();
    let text = words.join(" ");
    assert!(text.contains("b.py:3 and c.py:3 are unchanged"), "{shown}");
    assert!(text.contains("also at"), "{shown}");

    todo(&sandbox, "b.py c.py");
    let fixed = sandbox.glee(&["fix", "F1", "--format", "json"]);
    assert_eq!(fixed.code, 0, "{fixed}");
    assert_eq!(json(&fixed.stdout)["findings"][0]["state"], "resolved");
    let recheck = std::fs::read_to_string(sandbox.home().join("recheck")).expect("a prompt");
    for file in ["a.py", "b.py", "c.py"] {
        assert!(
            recheck.contains(&format!("+++ b/{file}")),
            "{file}: {recheck}"
        );
    }
}

#[test]
fn a_changed_file_among_the_places_is_a_reason_to_ask_again() {
    let sandbox = project();
    let review = || {
        let reviewed = sandbox.glee(&["review", "--format", "json"]);
        assert_eq!(reviewed.code, 1, "{reviewed}");
        let asked = sandbox.home().join("asked");
        let times = std::fs::read_to_string(&asked).unwrap_or_default();
        drop(std::fs::remove_file(asked));
        let outcome = json(&reviewed.stdout);
        (times.lines().count(), places(&outcome["findings"][0]))
    };
    let all = ["a.py:3", "b.py:3", "c.py:3"].map(String::from).to_vec();
    assert_eq!(review(), (1, all.clone()));
    assert_eq!(review(), (0, all));
    sandbox.write("c.py", "h = sha256(x)\n");
    assert_eq!(
        review(),
        (1, vec!["a.py:3".to_owned(), "b.py:3".to_owned()])
    );
}

/// Says what the file `says` contains.
const SAYS: &str = r#"#!/bin/sh
cat > /dev/null
cat "$HOME/says"
echo "GLEE-REVIEW-END nonce=$GLEE_NONCE findings=$(wc -l < "$HOME/says")"
"#;

/// Reviews with one finding at these places. Returns the exit code, the state of the finding, and its relation to an
/// earlier dispute.
fn raise(sandbox: &Sandbox, places: &str) -> (i32, String, Value) {
    let says = format!("[MUST] {places} md5 is broken; replace it with a strong hash\n");
    sandbox.write(sandbox.home().join("says"), says);
    let files = ["a.py", "b.py", "c.py"];
    let reviewed = sandbox.glee(&[&["review"], &files[..], &["--format", "json"]].concat());
    assert!(!reviewed.stdout.is_empty(), "{reviewed}");
    let outcome = json(&reviewed.stdout);
    let finding = &outcome["findings"][0];
    let shown = format!("{} {}", finding["id"], finding["state"]).replace('"', "");
    (reviewed.code, shown, finding["earlier"][0].clone())
}

fn dismissed(places: &str) -> Sandbox {
    let sandbox = project();
    sandbox.program("lens", SAYS);
    let set = sandbox.glee(&["config", "set", "--user", "review.reuse", "false"]);
    assert_eq!(set.code, 0, "{set}");
    assert_eq!(raise(&sandbox, places).1, "F1 open");
    let dismissed = sandbox.glee(&[
        "dismiss",
        "--by",
        "Test",
        "F1",
        "--as",
        "refuted",
        "--reason",
        "a cache key",
    ]);
    assert_eq!(dismissed.code, 0, "{dismissed}");
    sandbox
}

#[test]
fn a_ruling_binds_a_finding_if_it_judged_each_of_its_places() {
    let sandbox = dismissed("a.py:3, b.py:3");
    for places in ["a.py:3, b.py:3", "b.py:3, a.py:3", "b.py:3", "a.py:3"] {
        let bound = (0, "F1 already_ruled".to_owned(), Value::Null);
        assert_eq!(raise(&sandbox, places), bound, "{places}");
    }
    for places in ["a.py:3, b.py:3, c.py:3", "c.py:3, b.py:3"] {
        let (code, shown, earlier) = raise(&sandbox, places);
        assert_eq!((code, shown.as_str()), (1, "F1 open"), "{places}");
        assert_eq!(earlier["relation"], "not_judged", "{places}");
        assert_eq!(earlier["place"]["file"], "c.py", "{places}");
    }
    let shown = sandbox.glee(&["show", "F1"]);
    assert!(
        shown
            .stdout
            .contains("dispute 1 was about this, but not at `c.py:3`"),
        "{shown}"
    );
    assert_eq!(raise(&sandbox, "c.py:3").0, 1);

    // Where the code of one place changed, the finding counts again.
    sandbox.write("b.py", "import hashlib\n\nh = md5(x + salt)\n");
    let (code, shown, earlier) = raise(&sandbox, "a.py:3, b.py:3");
    assert_eq!((code, shown.as_str()), (1, "F1 open"));
    assert_eq!(earlier["relation"], "not_judged");
    assert_eq!(raise(&sandbox, "a.py:3").0, 0);
}

#[test]
fn a_shared_ruling_has_all_places_that_it_judged() {
    let sandbox = dismissed("a.py:3, b.py:3");
    sandbox.write(".gitignore", ".glee/config.yml\n.gitignore\n");
    let shared = sandbox.glee(&["disputes", "share", "--by", "Ada"]);
    assert_eq!(shared.code, 0, "{shared}");
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "Share the ruling"]);
    sandbox.write("a.py", "import hashlib\n\n\nh = md5(x)\n");
    std::fs::remove_dir_all(sandbox.state()).expect("a history");
    assert_eq!(sandbox.glee(&["trust"]).code, 0);
    for places in ["b.py:3, a.py:4", "a.py:4"] {
        let (code, shown, _) = raise(&sandbox, places);
        assert_eq!((code, shown.as_str()), (0, "F1 already_ruled"), "{places}");
    }
    let (code, _, earlier) = raise(&sandbox, "a.py:4, c.py:3");
    assert_eq!((code, &earlier["relation"]), (1, &"not_judged".into()));
    let checked = sandbox.glee(&["disputes", "check"]);
    assert_eq!(checked.code, 0, "{checked}");
}
