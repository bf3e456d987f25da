//! Tests runs in a worktree of their own: `--worktree`, `glee runs apply` and `glee runs drop`.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::detached::{processes, until};
use crate::review::json;
use crate::support::{Output, Sandbox};

/// Raises a finding for each file with `old`, and says of each change that it is right.
const LENS: &str = r#"#!/bin/sh
cat > /dev/null
n=0
if [ "$GLEE_TASK" = recheck ]; then
  for id in $GLEE_FINDINGS; do echo "[$id] RESOLVED: gone"; n=$((n + 1)); done
  echo "GLEE-RECHECK-END nonce=$GLEE_NONCE answers=$n"
  exit 0
fi
for file in *.py; do
  if grep -q '^old' "$file"; then echo "[MUST] $file:1 Rename it"; n=$((n + 1)); fi
done
echo "GLEE-REVIEW-END nonce=$GLEE_NONCE findings=$n"
"#;

/// Changes the files with `old`, creates one and removes one, and writes down where.
const PEN: &str = r#"#!/bin/sh
cat > /dev/null
pwd > "$(dirname "$0")/place"
sed -i 's/^old/new/' *.py
echo made > made.py
rm -f gone.py
n=0
for id in $GLEE_FINDINGS; do echo "[$id] IMPLEMENTED: renamed"; n=$((n + 1)); done
echo "GLEE-RESPONSE-END nonce=$GLEE_NONCE answers=$n"
"#;

const TEXT: &str = "old\n2\n3\n4\n5\n6\n7\n8\n";

/// A repository with a committed file, a staged one, an edited one, and an ignored one.
fn project() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.git_init();
    sandbox.connect("lens", "reviewer", LENS, &["--user"]);
    sandbox.connect("pen", "coder", PEN, &["--user"]);
    sandbox.write(".gitignore", "ignored\n");
    sandbox.write("a.py", "new\n").write("gone.py", "1\n");
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "Add"]);
    sandbox.write("a.py", TEXT);
    sandbox.write("b.py", TEXT);
    sandbox.git(&["add", "b.py"]);
    sandbox.write("ignored", "mine\n");
    sandbox
}

fn reviewed(sandbox: &Sandbox) -> (String, Output) {
    let reviewed = sandbox.glee(&["review", "--fix", "--worktree", "--format", "json"]);
    let run = json(&reviewed.stdout)["run"]
        .as_str()
        .expect("an id")
        .to_owned();
    (run, reviewed)
}

/// What a person sees: the files, and what git says about them.
fn state(sandbox: &Sandbox) -> String {
    let listed = Command::new("sh")
        .current_dir(sandbox.root())
        .args([
            "-c",
            "for f in $(ls); do echo \"$f $(tr '\\n' ' ' < $f)\"; done",
        ])
        .output()
        .expect("sh is installed");
    let status = sandbox.git(&["status", "--porcelain=v1", "--branch"]);
    String::from_utf8_lossy(&listed.stdout).into_owned() + &status
}

fn worktrees(sandbox: &Sandbox) -> Vec<PathBuf> {
    let listed = sandbox.git(&["worktree", "list", "--porcelain"]);
    let places = listed
        .lines()
        .filter_map(|line| line.strip_prefix("worktree "));
    let places: Vec<PathBuf> = places.skip(1).map(PathBuf::from).collect();
    let kept = fs::read_dir(sandbox.state().join("worktrees"));
    let kept = kept.map_or(0, Iterator::count);
    assert_eq!(kept, places.len(), "{listed}");
    places
}

#[test]
fn the_coder_works_beside_the_tree_and_its_changes_are_applied_undone_and_applied_again() {
    let sandbox = project();
    let before = state(&sandbox);
    let (run, outcome) = reviewed(&sandbox);
    assert_eq!(outcome.code, 0, "{outcome}");
    assert_eq!(state(&sandbox), before, "nothing happens to the tree");
    let [place] = &worktrees(&sandbox)[..] else {
        panic!("one worktree");
    };
    let worked = fs::read_to_string(sandbox.root().with_file_name("bin").join("place"));
    assert_eq!(worked.expect("it worked").trim(), place.to_string_lossy());
    let told = &json(&outcome.stdout)["worktree"];
    assert_eq!(told["changes"], "not_applied", "{told}");
    let place_word = sandbox.placeholders(&place.to_string_lossy());
    assert_eq!(told["path"], place_word.as_str(), "{told}");

    for (args, words) in [
        (&["runs"][..], "clean, not applied"),
        (&["runs", "show"], "glee runs apply"),
        (&["runs", "show"], "not in your tree"),
        (&["runs", "show", "--format", "agent"], "> glee runs apply"),
        (&["runs", "show", "--format", "jsonl"], "\"worktree\":\""),
        (&["runs", "diff", "--json"], "\"not_applied\""),
        (&["runs", "undo"], "only in its worktree"),
    ] {
        let shown = sandbox.glee(args);
        assert_eq!(shown.code, 0, "{args:?} {shown}");
        let text = format!("{}{}", shown.stdout, shown.stderr);
        assert!(text.contains(words), "{args:?} {shown}");
    }

    // The user goes on in another part of a file.
    sandbox.write("a.py", TEXT.replace('8', "mine"));
    let applied = sandbox.glee(&["runs", "apply", &run]);
    insta::assert_snapshot!(applied.stable(), @r"
    exit: 0
    --- stdout
    Changes of run [RUN]:
      merge  a.py  your changes are kept
      change  b.py
      remove  gone.py  removed by the coder
      create  made.py
    Applied the coder's changes to 4 files.
    Merged with your changes: 1 file.
    --- stderr
    hint: to take the changes back: `glee runs undo [RUN]`
    ");
    assert_eq!(
        sandbox.read("a.py"),
        TEXT.replace("old", "new").replace('8', "mine")
    );
    assert!(sandbox.exists("made.py") && !sandbox.exists("gone.py"));
    assert!(worktrees(&sandbox).is_empty(), "nothing is left in it");
    let again = sandbox.glee(&["runs", "apply", &run]);
    assert_eq!(
        (again.code, again.stdout.as_str()),
        (0, "Nothing is left to apply there.\n")
    );

    let undone = sandbox.glee(&["runs", "undo", &run]);
    assert_eq!(undone.code, 0, "{undone}");
    assert_eq!(sandbox.read("a.py"), TEXT.replace('8', "mine"));
    assert!(!sandbox.exists("made.py") && sandbox.exists("gone.py"));
    sandbox.write("a.py", TEXT);
    assert_eq!(state(&sandbox), before);
    let once_more = sandbox.glee(&["runs", "apply", &run]);
    assert_eq!(once_more.code, 0, "{once_more}");
    assert_eq!(sandbox.read("a.py"), TEXT.replace("old", "new"));
}

#[test]
fn a_part_is_applied_by_paths_and_findings_and_the_rest_is_dropped() {
    let sandbox = project();
    let (run, outcome) = reviewed(&sandbox);
    let found = json(&outcome.stdout)["findings"].clone();
    let of = |file: &str| {
        let found = found.as_array().expect("a list").iter();
        let mut found = found.filter(|finding| finding["file"] == file);
        found.next().expect("a finding")["id"].clone()
    };
    let finding = of("b.py").as_str().expect("an id").to_owned();
    let nothing = sandbox.glee(&["runs", "apply", &run, "ignored"]);
    assert_eq!(nothing.code, 2, "{nothing}");
    assert!(
        nothing.stderr.contains("changed nothing of `ignored`"),
        "{nothing}"
    );
    let outside = sandbox.glee(&["runs", "apply", &run, "../x"]);
    assert_eq!(outside.code, 2, "{outside}");

    let applied = sandbox.glee(&["runs", "apply", &run, &finding, "made.py"]);
    assert_eq!(applied.code, 0, "{applied}");
    assert!(
        applied.stdout.contains("Only in the worktree: 2 files"),
        "{applied}"
    );
    assert_eq!(sandbox.read("b.py"), TEXT.replace("old", "new"));
    assert_eq!(sandbox.read("a.py"), TEXT);
    assert!(sandbox.exists("made.py") && sandbox.exists("gone.py"));
    assert_eq!(worktrees(&sandbox).len(), 1, "the rest is there");
    assert!(sandbox.glee(&["runs"]).stdout.contains("not applied"));

    let undone = sandbox.glee(&["runs", "undo", &run]);
    assert_eq!(undone.code, 0, "{undone}");
    assert_eq!(sandbox.read("b.py"), TEXT);
    let redone = sandbox.glee(&["runs", "undo", "--redo", &run]);
    assert_eq!(redone.code, 0, "{redone}");
    assert_eq!(sandbox.read("b.py"), TEXT.replace("old", "new"));
    assert_eq!(
        sandbox.read("a.py"),
        TEXT,
        "what was not applied is not redone"
    );

    let dropped = sandbox.glee(&["runs", "drop", &run]);
    assert_eq!(dropped.code, 0, "{dropped}");
    assert!(worktrees(&sandbox).is_empty());
    assert_eq!(sandbox.read("b.py"), TEXT.replace("old", "new"), "it stays");
    for (args, code, words) in [
        (&["runs"][..], 0, "clean, dropped"),
        (&["runs", "apply"], 2, "were dropped"),
        (&["runs", "drop"], 0, ""),
        (&["runs", "resume"], 2, "worktree"),
    ] {
        let shown = sandbox.glee(args);
        assert_eq!(shown.code, code, "{args:?} {shown}");
        assert!(format!("{shown}").contains(words), "{args:?} {shown}");
    }
}

#[test]
fn a_conflict_leaves_every_file_as_it_is() {
    let sandbox = project();
    let (run, _) = reviewed(&sandbox);
    sandbox.write("a.py", TEXT.replace("old", "mine"));
    sandbox.write("made.py", "mine\n");
    let before = state(&sandbox);
    let refused = sandbox.glee(&["runs", "apply", &run]);
    insta::assert_snapshot!(refused.stable(), @r"
    exit: 3
    --- stdout
    Changes of run [RUN]:
      change  b.py
      remove  gone.py  removed by the coder
      keep  a.py  the lines that the coder changed were changed since
      keep  made.py  created by the coder, and also by somebody else
    No file was changed.
    --- stderr
    hint: apply the other files by their paths (`glee runs apply [RUN] PATH`), or take the coder's versions with `glee runs apply [RUN] --force` (copies of yours are kept)
    ");
    assert_eq!(state(&sandbox), before);
    assert_eq!(worktrees(&sandbox).len(), 1);

    let part = sandbox.glee(&["runs", "apply", &run, "b.py"]);
    assert_eq!(part.code, 0, "{part}");
    let forced = sandbox.glee(&["runs", "apply", &run, "--force"]);
    assert_eq!(forced.code, 0, "{forced}");
    assert_eq!(sandbox.read("a.py"), TEXT.replace("old", "new"));
    assert_eq!(sandbox.read("made.py"), "made\n");
    assert!(worktrees(&sandbox).is_empty());
    let undone = sandbox.glee(&["runs", "undo", &run]);
    assert_eq!(undone.code, 0, "{undone}");
}

#[test]
fn what_needs_no_worktree_leaves_none() {
    let sandbox = project();
    for (args, words) in [
        (&["review", "--worktree"][..], "requires a coder"),
        (
            &["review", "--fix", "--worktree", "--staged", "--restage"],
            "cannot be combined with",
        ),
        (&["runs", "apply"], "no runs yet"),
    ] {
        let refused = sandbox.glee(args);
        assert_eq!(refused.code, 2, "{args:?} {refused}");
        assert!(refused.stderr.contains(words), "{args:?} {refused}");
    }
    let planned = sandbox.glee(&["review", "--fix", "--worktree", "--dry-run"]);
    assert_eq!(planned.code, 0, "{planned}");
    assert!(worktrees(&sandbox).is_empty());
    // Nothing to review, and nothing to fix.
    sandbox.write("a.py", "new\n1\n").write("b.py", "new\n");
    let clean = sandbox.glee(&["review", "--fix", "--worktree"]);
    assert_eq!(clean.code, 0, "{clean}");
    assert!(worktrees(&sandbox).is_empty());
    let own = sandbox.glee(&["review", "a.py", "--fix"]);
    assert_eq!(own.code, 0, "{own}");
    for command in ["apply", "drop"] {
        let refused = sandbox.glee(&["runs", command]);
        assert_eq!(refused.code, 2, "{refused}");
        assert!(refused.stderr.contains("not in a worktree"), "{refused}");
    }

    let outside = Sandbox::new();
    outside.connect("lens", "reviewer", LENS, &["--user"]);
    outside.connect("pen", "coder", PEN, &["--user"]);
    outside.write("a.py", TEXT);
    let refused = outside.glee(&["review", "a.py", "--fix", "--worktree"]);
    assert_eq!(refused.code, 2, "{refused}");
    assert!(
        refused.stderr.contains("requires a git repository"),
        "{refused}"
    );
    assert_eq!(refused.stderr.matches("error").count(), 1, "{refused}");
    let fixed = outside.glee(&["review", "a.py", "--fix", "--detach"]);
    assert_eq!(fixed.code, 0, "{fixed}");
    assert_eq!(outside.glee(&["runs", "wait"]).code, 0);
    assert_eq!(outside.read("a.py"), TEXT.replace("old", "new"));
}

#[test]
fn a_detached_fix_works_in_a_worktree_and_verifies_there() {
    let sandbox = project();
    let check = "#!/bin/sh\ncase $PWD in */worktrees/*) grep -q new b.py;; *) false;; esac\n";
    sandbox.script("check.sh", check);
    sandbox.write(".glee/config.yml", "review:\n  verify: [\"./check.sh\"]\n");
    assert_eq!(sandbox.glee(&["trust"]).code, 0);
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "Verify"]);
    let started = sandbox.glee(&["review", "a.py", "b.py", "--fix", "--detach"]);
    assert_eq!(started.code, 0, "{started}");
    let waited = sandbox.glee(&["runs", "wait", "--timeout", "60s"]);
    assert_eq!(waited.code, 0, "{waited}");
    assert_eq!(sandbox.read("b.py"), TEXT);
    assert_eq!(worktrees(&sandbox).len(), 1);
    assert_eq!(sandbox.glee(&["runs", "apply"]).code, 0);
    assert_eq!(sandbox.read("b.py"), TEXT.replace("old", "new"));
    assert!(worktrees(&sandbox).is_empty());

    sandbox.write("b.py", TEXT);
    let here = sandbox.glee(&["review", "b.py", "--fix", "--detach", "--worktree=false"]);
    assert_eq!(here.code, 0, "{here}");
    let waited = sandbox.glee(&["runs", "wait", "--timeout", "60s"]);
    assert_eq!(waited.code, 1, "the check wants a worktree: {waited}");
    assert_eq!(sandbox.read("b.py"), TEXT.replace("old", "new"));
    assert!(worktrees(&sandbox).is_empty());
}

#[test]
fn what_a_killed_run_left_is_resumed_or_cleared() {
    let sandbox = project();
    sandbox.program("lens", "#!/bin/sh\ncat > /dev/null\nexec sleep 60\n");
    let mut glee = sandbox
        .command(&["review", "--fix", "--worktree"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary runs");
    let reviewer = sandbox.root().with_file_name("bin").join("lens");
    let reviewer = reviewer.display().to_string();
    until("the reviewer is asked", || !processes(&reviewer).is_empty());
    glee.kill().expect("it runs");
    glee.wait().expect("it is ours");
    assert_eq!(worktrees(&sandbox).len(), 1);
    sandbox.program("lens", LENS);
    let (run, next) = reviewed(&sandbox);
    assert_eq!(next.code, 0, "{next}");
    let left = worktrees(&sandbox);
    assert_eq!(left.len(), 1, "the next run clears it");
    assert!(left[0].ends_with(&run), "{left:?}");
    let killed = json(&sandbox.glee(&["runs", "--json"]).stdout)[1]["run"].clone();
    let killed = killed.as_str().expect("an id");
    let resumed = sandbox.glee(&["runs", "resume", killed]);
    assert_eq!(resumed.code, 0, "{resumed}");
    assert_eq!(worktrees(&sandbox).len(), 2);
    for run in [killed, &run] {
        assert_eq!(sandbox.glee(&["runs", "drop", run]).code, 0);
    }
    assert!(worktrees(&sandbox).is_empty());
    assert_eq!(sandbox.read("a.py"), TEXT);
}
