//! Tests `glee review` with shell scripts as agents, as in the README.

use std::fs;
use std::path::Path;

use crate::support::Sandbox;

/// Raises a mandatory finding for each `eval(`, and an optional one for each `TODO`, in `app.py`.
const REVIEWER: &str = r#"#!/bin/sh
if [ "$GLEE_TASK" = recheck ]; then
  n=0
  for id in $GLEE_FINDINGS; do echo "[$id] RESOLVED: the call is gone"; n=$((n + 1)); done
  echo "GLEE-RECHECK-END nonce=$GLEE_NONCE answers=$n"
  exit 0
fi
cat > /dev/null
n=0
for place in $(grep -n 'eval(' app.py | cut -d: -f1); do
  echo "[MUST] app.py:$place Do not evaluate text from outside"; n=$((n + 1))
done
for place in $(grep -n 'TODO' app.py | cut -d: -f1); do
  echo "[LOW] app.py:$place Finish this"; n=$((n + 1))
done
echo "GLEE-REVIEW-END nonce=$GLEE_NONCE findings=$n"
"#;

/// Replaces `eval(` by `int(` in `load`, objects in `render`, `scale` and `trace` until a ruling, discards the
/// rest.
const CODER: &str = r#"#!/bin/sh
prompt=$(cat)
n=0
for id in $GLEE_FINDINGS; do
  n=$((n + 1))
  case $id in
    F1) sed -i 's/return eval(text)/return int(text)/' app.py; echo "[$id] IMPLEMENTED: int reads the number" ;;
    F2) if printf '%s' "$prompt" | grep -q 'ruled so'; then
          sed -i 's/eval(template)/str(template)/' app.py; echo "[$id] IMPLEMENTED: as ruled"
        else
          echo "[$id] DISAGREE: the template is ours"; echo "  Evidence: app.py:1"
        fi ;;
    F3) echo "[$id] DISAGREE: checked before"; echo "  Evidence: app.py:9 checks it" ;;
    F4) echo "[$id] DISAGREE: hard to say" ;;
    *)  echo "[$id] DISCARDED: later" ;;
  esac
done
echo "GLEE-RESPONSE-END nonce=$GLEE_NONCE answers=$n"
"#;

/// Enforces the first of three disputes, dismisses the second with a citation, escalates the third.
const JUDGE: &str = r#"#!/bin/sh
prompt=$(cat)
case $((GLEE_DISPUTE % 3)) in
  1) word=ENFORCE; why="it is ruled so" ;;
  2) word=DISMISS; why="app.py:9 checks it" ;;
  0) word=ESCALATE; why="cannot tell" ;;
esac
echo "$why"
echo "GLEE-RULING nonce=$GLEE_NONCE dispute=$GLEE_DISPUTE ruling=$word"
"#;

const APP: &str = "\
def load(text):
    return eval(text)


def render(template):
    return eval(template)


def scale(factor):  # factor is checked by the caller
    return eval(factor)


def trace(expression):
    return eval(expression)  # TODO: log it
";

pub(crate) fn project() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.git_init();
    sandbox.write("app.py", APP);
    sandbox.git(&["add", "app.py"]);
    sandbox.git(&["commit", "-q", "-m", "Add the app"]);
    for (name, role, text) in [
        ("lens", "reviewer", REVIEWER),
        ("pen", "coder", CODER),
        ("scales", "judge", JUDGE),
    ] {
        sandbox.script(format!("{name}.sh"), text);
        let command = format!("./{name}.sh");
        let connected = sandbox.glee(&[
            "connect",
            name,
            "--role",
            role,
            "--name",
            name,
            "--command",
            &command,
        ]);
        assert_eq!(connected.code, 0, "{connected}");
    }
    sandbox
}

pub(crate) fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The states of the findings, by id.
fn states(outcome: &serde_json::Value) -> Vec<String> {
    let findings = outcome["findings"].as_array().expect("findings are a list");
    findings
        .iter()
        .map(|f| {
            format!(
                "{} {}",
                f["id"].as_str().unwrap_or("?"),
                f["state"].as_str().unwrap_or("?")
            )
        })
        .collect()
}

#[test]
fn the_whole_job_with_three_scripts() {
    let sandbox = project();
    let first = sandbox.glee(&["review", "app.py", "--arbitrate", "--format", "json"]);
    assert_eq!(first.code, 3, "{first}");
    let outcome = json(&first.stdout);
    assert_eq!(
        states(&outcome),
        [
            "F1 resolved",
            "F2 resolved",
            "F3 dismissed",
            "F4 disputed",
            "F5 discarded"
        ]
    );
    assert_eq!(outcome["exit"], "dispute_open");
    assert!(
        first.stderr.contains("default"),
        "the default taken is said: {first}"
    );
    let fixed = APP
        .replace("eval(text)", "int(text)")
        .replace("eval(template)", "str(template)");
    assert_eq!(sandbox.read("app.py"), fixed);

    let listed = sandbox.glee(&["disputes", "--recent", "10"]);
    assert_eq!(listed.code, 0, "{listed}");
    for word in ["ENFORCE", "DISMISS", "open"] {
        assert!(listed.stdout.contains(word), "{word}: {listed}");
    }

    // Ruled disputes are not judged again, and pending ones are not opened twice.
    let again = sandbox.glee(&["review", "app.py", "--arbitrate", "--format", "json"]);
    assert_eq!(again.code, 3, "{again}");
    let outcome = json(&again.stdout);
    assert_eq!(
        states(&outcome),
        ["F3 already_ruled", "F4 disputed", "F5 discarded"]
    );
    let waiting = outcome["disputes"].as_array().expect("disputes are a list");
    assert_eq!(
        waiting
            .iter()
            .map(|dispute| &dispute["number"])
            .collect::<Vec<_>>(),
        [3]
    );

    // A person decides, the run is resumed, and the changes can be undone.
    let resolved = sandbox.glee(&[
        "disputes",
        "resolve",
        "3",
        "dismiss",
        "--by",
        "Test",
        "--reason",
        "only in tests",
    ]);
    assert_eq!(resolved.code, 0, "{resolved}");
    let last = sandbox.glee(&["review", "app.py", "--arbitrate", "--format", "json"]);
    assert_eq!(last.code, 0, "{last}");
    let undone = sandbox.glee(&["runs", "undo", outcome_run(&first.stdout).as_str()]);
    assert_eq!(undone.code, 0, "{undone}");
    assert_eq!(sandbox.read("app.py"), APP);
    assert_eq!(sandbox.glee(&["disputes", "verify"]).code, 0);
}

/// The prompts of all calls of the last run, by file name.
fn prompts(sandbox: &Sandbox) -> Vec<(String, String)> {
    fn below(folder: &Path, found: &mut Vec<(String, String)>) {
        for path in fs::read_dir(folder)
            .expect("a folder")
            .map(|entry| entry.expect("an entry").path())
        {
            let name = path
                .file_name()
                .expect("a name")
                .to_string_lossy()
                .into_owned();
            if path.is_dir() {
                below(&path, found);
            } else if name.ends_with(".prompt") {
                found.push((name, fs::read_to_string(path).expect("a prompt")));
            }
        }
    }
    let mut found = Vec::new();
    below(&sandbox.state(), &mut found);
    found.sort();
    found
}

/// The length of the common prefix of two texts, in percent of the longer one.
fn common(a: &str, b: &str) -> usize {
    let same = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    100 * same / a.len().max(b.len())
}

#[test]
fn prompts_about_the_same_code_begin_alike() {
    let sandbox = project();
    let long: String = (0..400)
        .map(|n| format!("def step_{n}(value):\n    return value + {n}\n"))
        .collect();
    sandbox.write("app.py", format!("{APP}{long}"));
    // The first answer has no closing line, which causes a retry.
    let careless = "#!/bin/sh\nif grep -q 'You are asked again'; then ./lens.sh; else echo '[LOW] app.py:1 A'; fi\n";
    sandbox.script("careless.sh", careless);
    for (name, more) in [
        (
            "careless",
            [
                "reviewer",
                "--focus",
                "security",
                "--command",
                "./careless.sh",
            ],
        ),
        (
            "iron",
            ["judge", "--model", "iron", "--command", "./scales.sh"],
        ),
        (
            "gold",
            ["judge", "--model", "gold", "--command", "./scales.sh"],
        ),
    ] {
        let connect = ["connect", name, "--name", name, "--role"];
        let connected = sandbox.glee(&[&connect[..], &more[..]].concat());
        assert_eq!(connected.code, 0, "{connected}");
    }
    let panel = [
        "config",
        "set",
        "review.judge.panel",
        "[scales, iron, gold]",
    ];
    let set = sandbox.glee(&panel);
    assert_eq!(set.code, 0, "{set}");
    let reviewed = sandbox.glee(&["review", "app.py", "--arbitrate"]);
    assert_eq!(reviewed.code, 3, "{reviewed}");
    let kept = prompts(&sandbox);
    let of = |part: &str| {
        kept.iter()
            .filter(|(name, _)| name.contains(part))
            .map(|(_, text)| text)
            .collect::<Vec<_>>()
    };
    let names: Vec<&String> = kept.iter().map(|(name, _)| name).collect();
    // Each dispute is about a block of its own, so its code begins alike only for the judges of its panel.
    for part in ["review", "judge-1", "judge-2", "judge-3"] {
        let same = of(part);
        assert_eq!(same.len(), 3, "{names:?}");
        for pair in same.windows(2) {
            let share = common(pair[0], pair[1]);
            assert!(share >= 90, "{part}: {share}");
        }
    }
}

#[test]
fn prompts_of_two_rounds_begin_alike_up_to_what_the_coder_changed() {
    let sandbox = project();
    let long: String = (0..400)
        .map(|n| format!("def step_{n}(value):\n    return value + {n}\n"))
        .collect();
    sandbox.write("app.py", format!("{long}{APP}"));
    // Otherwise the second round gets the blocks of the coder's changes.
    for [key, value] in [["review.rounds", "2"], ["review.context", "files"]] {
        assert_eq!(sandbox.glee(&["config", "set", key, value]).code, 0);
    }
    let reviewed = sandbox.glee(&["review", "app.py", "--arbitrate"]);
    assert_eq!(reviewed.code, 3, "{reviewed}");
    let kept = prompts(&sandbox);
    let of = |part: &str| {
        kept.iter()
            .find(|(name, _)| name.contains(part))
            .map(|(_, text)| text.as_str())
    };
    let names: Vec<&String> = kept.iter().map(|(name, _)| name).collect();
    let (Some(first), Some(second)) = (of("review-1-"), of("review-2-")) else {
        panic!("{names:?}")
    };
    assert!(common(first, second) >= 90, "{}", common(first, second));
    // With whole files, different disputes are about the same code, too.
    let judges: Vec<_> = kept
        .iter()
        .filter(|(name, _)| name.contains("judge-"))
        .collect();
    assert!(judges.len() > 1, "{names:?}");
    for pair in judges.windows(2) {
        let share = common(&pair[0].1, &pair[1].1);
        assert!(share >= 90, "{} and {}: {share}", pair[0].0, pair[1].0);
    }
}

pub(crate) fn outcome_run(text: &str) -> String {
    json(text)["run"]
        .as_str()
        .expect("an outcome names its run")
        .to_owned()
}

#[test]
fn a_person_settles_a_dispute_later_and_the_run_is_carried_on() {
    let sandbox = project();
    let first = sandbox.glee(&[
        "review",
        "app.py",
        "--arbitrate",
        "--on-dispute",
        "human",
        "--format",
        "json",
    ]);
    assert_eq!(first.code, 3, "{first}");
    let run = outcome_run(&first.stdout);
    for (number, word) in [("1", "enforce"), ("2", "dismiss"), ("3", "dismiss")] {
        let resolved = sandbox.glee(&[
            "disputes", "resolve", number, word, "--by", "Test", "--reason", "ruled so",
        ]);
        assert_eq!(resolved.code, 0, "{resolved}");
    }
    let carried = sandbox.glee(&["runs", "resume", &run, "--format", "json"]);
    assert_eq!(carried.code, 0, "{carried}");
    assert_eq!(
        states(&json(&carried.stdout)),
        [
            "F1 resolved",
            "F2 resolved",
            "F3 dismissed",
            "F4 dismissed",
            "F5 discarded"
        ]
    );
    assert!(sandbox.read("app.py").contains("str(template)"));
}

#[test]
fn a_review_alone_changes_no_file_and_says_what_it_covered() {
    let sandbox = project();
    sandbox.write("big.bin", b"\0\0\0");
    let output = sandbox.glee(&["review", ".", "--format", "json"]);
    assert_eq!(output.code, 1, "{output}");
    let outcome = json(&output.stdout);
    assert_eq!(sandbox.read("app.py"), APP);
    assert_eq!(outcome["proof"]["reviewers"][0]["status"], "complete");
    let skipped = &outcome["proof"]["skipped"];
    assert_eq!(skipped[0]["file"], "big.bin");
    assert_eq!(skipped[0]["reason"], "binary");
    let covered = outcome["proof"]["covered"]
        .as_array()
        .expect("covered files are a list");
    assert!(
        covered
            .iter()
            .any(|file| file["file"] == "app.py" && file["lines"] == 14),
        "{covered:?}"
    );
}

#[test]
fn fixing_leaves_disputes_open_and_discard_closes_them() {
    let sandbox = project();
    let fixed = sandbox.glee(&["review", "app.py", "--fix", "--format", "json"]);
    assert_eq!(fixed.code, 3, "{fixed}");
    assert_eq!(
        states(&json(&fixed.stdout)),
        [
            "F1 resolved",
            "F2 disputed",
            "F3 disputed",
            "F4 disputed",
            "F5 discarded"
        ]
    );
    let other = project();
    let discarded = other.glee(&[
        "review",
        "app.py",
        "--arbitrate",
        "--on-dispute",
        "discard",
        "--format",
        "json",
    ]);
    assert_eq!(discarded.code, 0, "{discarded}");
    assert_eq!(
        states(&json(&discarded.stdout)),
        [
            "F1 resolved",
            "F2 discarded",
            "F3 discarded",
            "F4 discarded",
            "F5 discarded"
        ]
    );
}

#[test]
fn every_target_is_reviewed() {
    let sandbox = project();
    sandbox.write(
        "app.py",
        format!("{APP}\n\ndef more(x):\n    return eval(x)\n"),
    );
    let targets: &[&[&str]] = &[&[], &["app.py"], &["."], &["--base", "HEAD"]];
    for target in targets {
        let output = sandbox.glee(&[&["review", "--format", "json"], *target].concat());
        assert_eq!(output.code, 1, "{target:?}: {output}");
        assert_eq!(
            states(&json(&output.stdout)).len(),
            6,
            "{target:?}: {output}"
        );
    }
    sandbox.git(&["add", "app.py"]);
    let diff = sandbox.git(&["diff", "--cached"]);
    sandbox.write("change.diff", &diff);
    sandbox.git(&["commit", "-q", "-m", "More"]);
    let targets: &[&[&str]] = &[
        &["--commit", "HEAD"],
        &["HEAD~1..HEAD"],
        &["--base", "HEAD~1"],
        &["--diff", "change.diff"],
    ];
    for target in targets {
        let output = sandbox.glee(&[&["review", "--format", "json"], *target].concat());
        assert_eq!(output.code, 1, "{target:?}: {output}");
    }
    let piped = sandbox.glee_with(&["review", "--diff", "-", "--format", "json"], &diff);
    assert_eq!(piped.code, 1, "{piped}");
    sandbox.write("app.py", APP);
    sandbox.git(&["add", "app.py"]);
    assert_eq!(sandbox.glee(&["review", "--staged"]).code, 1);
}

#[test]
fn a_private_key_is_shown_to_nobody_unless_it_is_allowed() {
    let sandbox = Sandbox::local();
    let line = "MIIEpAIBAAKCAQEA7bq98tXZ0pYg3Rk1WmVnLs5dQ2hTfUeJ4oCxKvB6aPzGyNwD".to_owned();
    let mark = |word: &str| format!("-----{word} RSA PRIVATE KEY-----");
    let key = format!("{}\n{line}\n{line}\n{}\n", mark("BEGIN"), mark("END"));
    sandbox
        .write("deploy/server.pem", &key)
        .write("a.py", "x = 1\n");
    let script = r#"#!/bin/sh
prompt=$(cat)
n=0
say() { echo "[LOW] $1"; n=$((n + 1)); }
case "$prompt" in *"[secret:private-key:"*"Values that look like secrets"*) say "told of a placeholder" ;; esac
case "$prompt" in *MIIEpAIBAAKCAQEA*) say "told the key" ;; esac
echo "GLEE-REVIEW-END nonce=$GLEE_NONCE findings=$n"
"#;
    sandbox.script("reviewer.sh", script);
    sandbox.glee(&[
        "connect",
        "mine",
        "--role",
        "reviewer",
        "--command",
        "./reviewer.sh",
    ]);
    let refused = sandbox.glee(&["review", "a.py", "deploy"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (2, ""));
    assert!(
        refused
            .stderr
            .starts_with("error: `deploy/server.pem:1` contains a private key\nhint: "),
        "{refused}"
    );
    sandbox.write(".gleeignore", "*.pem\n");
    assert_eq!(sandbox.glee(&["review", "a.py", "deploy"]).code, 0);
    sandbox.write(".gleeignore", "");
    sandbox.glee(&[
        "config",
        "set",
        "--user",
        "redaction.block_private_keys",
        "false",
    ]);
    let shown = sandbox.glee(&["review", "a.py", "deploy"]);
    assert!(
        shown.stdout.contains("told of a placeholder") && !shown.stdout.contains("told the key"),
        "{shown}"
    );
}

#[test]
fn what_cannot_be_reviewed_is_one_clear_error() {
    let sandbox = project();
    let written = || std::fs::read_dir(sandbox.state()).map(Iterator::count).ok();
    let before = written();
    let rows: &[(&[&str], &str)] = &[
        (&["review", "nowhere.py"], "nowhere.py"),
        (&["review", "--base", "no-such-branch"], "no-such-branch"),
        (&["review", "--diff", "nowhere.diff"], "nowhere.diff"),
        (&["review", "app.py", "--reviewer", "nobody"], "nobody"),
        (&["review", "app.py", "--rounds", "0"], "--rounds"),
        (&["review", "app.py", "--on-dispute", "coin"], "coin"),
        (&["review", "--base", "--output=x"], "--output"),
        (&["runs", "show", "ffffffff"], "no runs yet"),
        (&["-C", "no-such-folder", "review"], "no-such-folder"),
    ];
    for (args, named) in rows {
        let output = sandbox.glee(args);
        assert_eq!(output.code, 2, "{args:?}: {output}");
        assert_eq!(output.stdout, "", "{args:?}");
        assert!(output.stderr.starts_with("error: "), "{args:?}: {output}");
        assert!(output.stderr.contains(named), "{args:?}: {output}");
        assert_eq!(
            output.stderr.matches("error: ").count(),
            1,
            "one error: {output}"
        );
    }
    assert!(!sandbox.exists("x"));
    assert_eq!(written(), before, "nothing was written");
}

#[test]
fn a_missing_role_names_the_command_that_connects_one() {
    let sandbox = project();
    let rows = [
        ("scales", "judge", "--arbitrate"),
        ("pen", "coder", "--fix"),
        ("lens", "reviewer", "--dry-run"),
    ];
    for (name, role, flag) in rows {
        assert_eq!(sandbox.glee(&["disconnect", name]).code, 0);
        let output = sandbox.glee(&["review", "app.py", flag]);
        assert_eq!(output.code, 2, "{output}");
        assert!(
            output
                .stderr
                .contains(&format!("no agent has the role `{role}`")),
            "{output}"
        );
        assert!(
            output
                .stderr
                .contains(&format!("glee connect <agent> --role {role}")),
            "{output}"
        );
    }
    assert_eq!(sandbox.read("app.py"), APP);
}

#[test]
fn a_program_that_is_missing_is_found_out_before_anybody_is_asked() {
    let sandbox = project();
    std::fs::remove_file(sandbox.root().join("scales.sh")).expect("the judge was there");
    sandbox.script("lens.sh", "#!/bin/sh\ntouch asked\n");
    assert_eq!(sandbox.glee(&["trust"]).code, 0);
    let output = sandbox.glee(&["review", "app.py", "--arbitrate"]);
    assert_eq!(output.code, 2, "{output}");
    assert!(output.stderr.contains("scales"), "{output}");
    assert!(!sandbox.exists("asked"));
}

#[test]
fn a_history_that_a_coder_could_rewrite_is_refused() {
    let mut sandbox = project();
    let inside = sandbox.root().join("kept").display().to_string();
    let history = format!("{inside}/history.db");
    let named = sandbox.glee(&["review", "app.py", "--history", &history]);
    sandbox.env("GLEE_STATE_DIR", inside);
    for output in [
        named,
        sandbox.glee(&["review", "app.py", "--trust", "blake3:0"]),
    ] {
        assert_eq!(output.code, 2, "{output}");
    }
    assert!(!sandbox.exists("kept"));
}

#[test]
fn a_dry_run_shows_the_plan_and_asks_nobody() {
    let sandbox = project();
    sandbox.script("lens.sh", "#!/bin/sh\ntouch asked\n");
    assert_eq!(sandbox.glee(&["trust"]).code, 0);
    let output = sandbox.glee(&["review", "app.py", "--arbitrate", "--dry-run"]);
    assert_eq!(output.code, 0, "{output}");
    for word in ["app.py", "lens", "pen", "scales", "1 shard", "KiB"] {
        assert!(output.stdout.contains(word), "{word}: {output}");
    }
    assert!(!sandbox.exists("asked"));
    insta::assert_snapshot!(sandbox.glee(&["runs"]).stdout, @"No runs yet. Start a run with `glee review`.");
}

#[test]
fn a_reviewer_that_fails_or_says_nothing_is_never_a_clean_review() {
    let sandbox = project();
    for (text, word) in [
        ("#!/bin/sh\necho LGTM\n", "not reviewed"),
        ("#!/bin/sh\nexit 7\n", "7"),
        ("#!/bin/sh\necho '[LOW] app.py:1 x'\n", "incomplete"),
    ] {
        sandbox.script("lens.sh", text);
        assert_eq!(sandbox.glee(&["trust"]).code, 0);
        let output = sandbox.glee(&["review", "app.py"]);
        assert_eq!(output.code, 4, "{output}");
        assert!(
            output.stdout.to_lowercase().contains(word),
            "{word}: {output}"
        );
    }
}

#[test]
fn events_are_printed_as_they_happen_and_can_be_read_again() {
    let sandbox = project();
    let output = sandbox.glee(&["review", "app.py", "--format", "jsonl"]);
    assert_eq!(output.code, 1, "{output}");
    let kinds: Vec<String> = output
        .stdout
        .lines()
        .map(|line| json(line)["event"].as_str().unwrap_or("?").to_owned())
        .collect();
    assert_eq!(
        kinds,
        [
            "run_started",
            "call_started",
            "call_finished",
            "files_reviewed",
            "findings_merged",
            "run_ended"
        ]
    );
    let again = sandbox.glee(&["runs", "show", "--format", "jsonl"]);
    assert_eq!(again.stdout, output.stdout);
}

#[test]
fn large_targets_are_split_and_jobs_bound_the_agents_at_work() {
    let sandbox = project();
    for number in 0..6 {
        sandbox.write(format!("part{number}/code.py"), "x = 1\n".repeat(500));
    }
    sandbox.script(
        "lens.sh",
        "#!/bin/sh\ncat > /dev/null\nmkdir busy 2>/dev/null || touch overlap\nsleep 0.05\nrmdir busy\n\
         echo \"GLEE-REVIEW-END nonce=$GLEE_NONCE findings=0\"\n",
    );
    assert_eq!(
        sandbox
            .glee(&["config", "set", "review.max_shard_size", "4KiB"])
            .code,
        0
    );
    assert_eq!(sandbox.glee(&["trust"]).code, 0);
    let output = sandbox.glee(&[
        "review", "part0", "part1", "part2", "part3", "--jobs", "1", "--format", "json",
    ]);
    assert_eq!(output.code, 0, "{output}");
    assert!(!sandbox.exists("overlap"), "one agent at a time");
    let events = sandbox.glee(&["runs", "show", "--format", "jsonl"]).stdout;
    assert_eq!(
        events
            .lines()
            .filter(|line| json(line)["event"] == "call_started")
            .count(),
        4,
        "{events}"
    );
}

#[test]
fn a_failing_verification_keeps_the_run_from_ending_clean() {
    let sandbox = project();
    sandbox.write("check.py", "");
    sandbox.script(
        "check.sh",
        "#!/bin/sh\ngrep -q 'int(text)' app.py && { echo 'no ints here' >&2; exit 1; }\nexit 0\n",
    );
    let path = ".glee/config.yml";
    sandbox.write(
        path,
        format!(
            "{}review:\n  verify: [\"./check.sh\"]\n",
            sandbox.read(path)
        ),
    );
    let refused = sandbox.glee(&["review", "app.py", "--fix"]);
    assert_eq!(refused.code, 8, "{refused}");
    assert_eq!(sandbox.glee(&["trust"]).code, 0);
    let output = sandbox.glee(&["review", "app.py", "--arbitrate", "--on-dispute", "discard"]);
    assert_eq!(output.code, 1, "{output}");
    assert!(output.stdout.contains("check.sh"), "{output}");
}
