//! Tests that `glee runs undo` lists its effects in advance, asks in doubt, and says how to take it back.

use crate::support::Sandbox;
use crate::support::pty::Pty;

const REVIEWER: &str = r#"#!/bin/sh
cat >/dev/null
if [ "$GLEE_TASK" = recheck ]; then
  for id in $GLEE_FINDINGS; do echo "[$id] RESOLVED: gone"; done
  echo "GLEE-RECHECK-END nonce=$GLEE_NONCE answers=1"
  exit 0
fi
echo "[MUST] plain.py:1 Rename it"
echo "GLEE-REVIEW-END nonce=$GLEE_NONCE findings=1"
"#;

/// Changes three files, creates one and removes one.
const CODER: &str = r#"#!/bin/sh
cat >/dev/null
sed -i 's/one/two/' plain.py merged.py clash.py; echo made >made.py; rm removed.py
echo "[$GLEE_FINDINGS] IMPLEMENTED: renamed"
echo "GLEE-RESPONSE-END nonce=$GLEE_NONCE answers=1"
"#;

const TEXT: &str = "one\n2\n3\n4\n5\n6\n7\n8\n";

/// A run whose coder changed five files. Then the user changed two of these files.
fn coded() -> Sandbox {
    let mut sandbox = Sandbox::new();
    sandbox.env("TERM", "xterm-256color").git_init();
    for name in ["plain.py", "merged.py", "clash.py", "removed.py"] {
        sandbox.write(name, TEXT);
    }
    for (name, role, text) in [("lens", "reviewer", REVIEWER), ("pen", "coder", CODER)] {
        sandbox.program(name, text);
        let connected = sandbox.glee(&[
            "connect",
            name,
            "--role",
            role,
            "--name",
            name,
            "--command",
            name,
        ]);
        assert_eq!(connected.code, 0, "{connected}");
    }
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "Begin"]);
    let reviewed = sandbox.glee(&["review", "plain.py", "--fix"]);
    assert_eq!(reviewed.code, 0, "{reviewed}");
    sandbox.write("merged.py", TEXT.replace("one", "two").replace('8', "mine"));
    sandbox.write("clash.py", TEXT.replace("one", "mine"));
    sandbox
}

fn tree(sandbox: &Sandbox) -> String {
    let names = ["plain.py", "merged.py", "clash.py", "made.py", "removed.py"];
    let first = |name: &&str| match sandbox.exists(name) {
        true => format!(
            "{name} {}\n",
            sandbox.read(name).lines().collect::<Vec<_>>().join(" ")
        ),
        false => format!("{name} -\n"),
    };
    names.iter().map(first).collect()
}

#[test]
fn an_undo_and_a_redo_list_each_file_first_and_say_how_to_take_it_back() {
    let sandbox = coded();
    let before = tree(&sandbox);
    let planned = sandbox.glee(&["runs", "undo", "--dry-run"]);
    insta::assert_snapshot!(planned.stable(), @r"
    exit: 3
    --- stdout
    Undo of run [RUN]:
      remove  made.py  created by the coder
      merge  merged.py  your later changes are kept
      restore  plain.py
      bring back removed.py  removed by the coder
      keep  clash.py  the lines that the coder changed were changed since
    No file was changed: this is a dry run.
    ");
    assert_eq!(tree(&sandbox), before);
    insta::assert_snapshot!(sandbox.glee(&["runs", "undo"]).stable(), @r"
    exit: 3
    --- stdout
    Undo of run [RUN]:
      remove  made.py  created by the coder
      merge  merged.py  your later changes are kept
      restore  plain.py
      bring back removed.py  removed by the coder
      keep  clash.py  the lines that the coder changed were changed since
    Undid the coder's changes in 4 files.
    Merged with later changes: 1 file.
    Kept as it is: 1 file.
    --- stderr
    hint: to discard your changes to these files: `glee runs undo [RUN] --force` (copies are kept); to compare: `glee runs undo [RUN] --to <new folder>`
    hint: to restore the changes: `glee runs undo [RUN] --redo`
    ");
    insta::assert_snapshot!(tree(&sandbox), @r"
    plain.py one 2 3 4 5 6 7 8
    merged.py one 2 3 4 5 6 7 mine
    clash.py mine 2 3 4 5 6 7 8
    made.py -
    removed.py one 2 3 4 5 6 7 8
    ");
    insta::assert_snapshot!(sandbox.glee(&["runs", "undo", "--redo", "--dry-run"]).stable(), @r"
    exit: 0
    --- stdout
    Redo of run [RUN]:
      bring back made.py  created by the coder
      restore  merged.py  the coder's version
      restore  plain.py  the coder's version
      remove  removed.py  removed by the coder
    No file was changed: this is a dry run.
    ");
    insta::assert_snapshot!(sandbox.glee(&["runs", "undo", "--redo"]).stable(), @r"
    exit: 0
    --- stdout
    Redo of run [RUN]:
      bring back made.py  created by the coder
      restore  merged.py  the coder's version
      restore  plain.py  the coder's version
      remove  removed.py  removed by the coder
    Restored the coder's changes in 4 files.
    --- stderr
    hint: to undo the changes again: `glee runs undo [RUN]`
    ");
    assert_eq!(tree(&sandbox), before);
    insta::assert_snapshot!(sandbox.glee(&["runs", "undo", "--force", "--dry-run"]).stable(), @r"
    exit: 0
    --- stdout
    Undo of run [RUN]:
      restore  clash.py  your later changes are discarded; a copy is kept
      remove  made.py  created by the coder
      merge  merged.py  your later changes are kept
      restore  plain.py
      bring back removed.py  removed by the coder
    No file was changed: this is a dry run.
    ");
}

#[test]
fn a_person_is_asked_before_anything_is_changed() {
    let sandbox = coded();
    let before = tree(&sandbox);
    let mut pty = Pty::open(&sandbox, &["runs", "undo"]);
    pty.expect("keep       clash.py")
        .expect("Discard your changes to clash.py?")
        .until_it_reads();
    assert_eq!(tree(&sandbox), before);
    pty.send("\x1b");
    let (code, shown) = pty.end();
    assert!(
        code == 2 && shown.contains("run the command again; no file was changed"),
        "{shown}"
    );
    assert_eq!(tree(&sandbox), before);
    let (code, shown) = Pty::open(&sandbox, &["runs", "undo", "-y"]).end();
    assert_eq!(
        (code, sandbox.read("clash.py")),
        (3, TEXT.replace("one", "mine")),
        "{shown}"
    );
    assert!(!shown.contains("Discard your changes"), "{shown}");
    assert_eq!(sandbox.glee(&["runs", "undo", "--redo"]).code, 0);
    for (key, clash) in [("n", TEXT.replace("one", "mine")), ("y", TEXT.to_owned())] {
        let mut pty = Pty::open(&sandbox, &["runs", "undo"]);
        pty.expect("Discard your changes to clash.py?")
            .until_it_reads()
            .send(key);
        let (code, shown) = pty.end();
        assert_eq!(
            (code, sandbox.read("clash.py")),
            (if key == "n" { 3 } else { 0 }, clash),
            "{shown}"
        );
        assert!(shown.contains("--redo"), "{shown}");
        assert_eq!(sandbox.read("plain.py"), TEXT);
    }
}

#[test]
fn a_file_that_git_has_not_merged_is_kept() {
    for begin in [
        "git rebase -q other",
        "git merge -q other",
        "git cherry-pick other",
    ] {
        let sandbox = coded();
        let git = |line: &str| {
            let done = sandbox.shell().args(["-c", line]).output();
            done.expect("a shell starts").status.success()
        };
        let prepare = "git branch -q other; git add -A; git commit -qm coded; git switch -q other; \
                       sed -i 's/8/theirs/' clash.py; sed -i 's/one/ours/; s/8/theirs/' merged.py; git commit -qam theirs; \
                       git switch -q main";
        assert!(git(prepare) && !git(begin), "{begin} has a conflict");
        let conflict = sandbox.read("merged.py");
        assert!(conflict.contains("<<<<<<<"), "{conflict}");
        let undone = sandbox.glee(&["runs", "undo", "--force"]);
        assert_eq!(undone.code, 3, "{undone}");
        assert!(undone.stdout.contains("has a conflict of git"), "{undone}");
        assert_eq!(sandbox.read("merged.py"), conflict, "{begin}");
        assert!(
            sandbox.read("plain.py").starts_with("one"),
            "other files are undone"
        );
    }
}
/// Changes 150 files.
const MANY: &str = r#"#!/bin/sh
cat >/dev/null
if [ "$GLEE_TASK" = respond ]; then for i in $(seq 150); do echo coder >d/f$i; done; fi
echo "[$GLEE_FINDINGS] IMPLEMENTED: done"
echo "GLEE-RESPONSE-END nonce=$GLEE_NONCE answers=1"
"#;

/// The entries of `folder` and its subfolders whose name shows that Glee made them.
fn of_glee(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    walkdir(folder)
        .into_iter()
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(".glee-") || name.starts_with("glee-")
        })
        .collect()
}

fn walkdir(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        found.push(entry.path());
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            found.extend(walkdir(&entry.path()));
        }
    }
    found
}

#[test]
fn a_killed_undo_leaves_nothing_of_glee_in_the_tree() {
    // The last rows have the new versions on another file system than the tree, where the machine has one.
    for (is_git, elsewhere) in [(true, false), (false, false), (false, true), (true, true)] {
        let other = tempfile::tempdir_in("/dev/shm").expect("a folder in memory");
        let mut sandbox = Sandbox::new();
        if elsewhere {
            sandbox.env("GLEE_STATE_DIR", other.path().display().to_string());
        }
        if is_git && elsewhere {
            let git = other.path().join("git").display().to_string();
            sandbox.git(&["init", "-q", "-b", "main", "--separate-git-dir", &git]);
        } else if is_git {
            sandbox.git_init();
        }
        for i in 1..=150 {
            sandbox.write(format!("d/f{i}"), format!("{i}\n"));
        }
        sandbox.write("plain.py", TEXT);
        if is_git {
            sandbox.git(&["add", "-A"]);
            sandbox.git(&["commit", "-q", "-m", "Begin"]);
        }
        sandbox.connect("lens", "reviewer", REVIEWER, &[]);
        sandbox.connect("pen", "coder", MANY, &[]);
        sandbox.glee(&["review", "plain.py", "--fix", "--no-input"]);
        assert_eq!(sandbox.read("d/f7"), "coder\n");
        for kill in 0..6_u64 {
            let mut undo = sandbox
                .command(&["runs", "undo", "--yes"])
                .stdout(std::process::Stdio::null())
                .stderr(std::process::Stdio::null())
                .spawn()
                .expect("the binary runs");
            std::thread::sleep(std::time::Duration::from_millis(60 + 50 * kill));
            drop(undo.kill());
            undo.wait().expect("it ends");
            if is_git {
                let staged = sandbox.git(&["add", "-A", "--dry-run"]);
                assert!(!staged.contains("glee-"), "{staged}");
            }
            if !elsewhere {
                assert!(of_glee(&sandbox.root().join("d")).is_empty());
            }
            let again = sandbox.glee(&["runs", "undo", "--yes"]);
            assert_eq!(again.code, 0, "{again}");
            assert!(of_glee(&sandbox.root()).is_empty());
            assert_eq!(sandbox.read("d/f7"), "7\n");
            let redone = sandbox.glee(&["runs", "undo", "--redo", "--yes"]);
            assert_eq!(redone.code, 0, "{redone}");
        }
    }
}

#[test]
fn a_tree_that_is_locked_by_anyone_is_edited_by_nobody_else() {
    let sandbox = coded();
    let held = std::fs::File::open(sandbox.root()).expect("the tree");
    held.try_lock().expect("it is free");
    let before = tree(&sandbox);
    for args in [
        &["review", "plain.py", "--fix"][..],
        &["runs", "undo", "--yes"],
        &["runs", "undo", "--redo"],
    ] {
        let refused = sandbox.glee(args);
        assert_eq!(refused.code, 6, "{refused}");
        assert_eq!(tree(&sandbox), before);
    }
    let reviewed = sandbox.glee(&["review", "plain.py", "--dry-run"]);
    assert_eq!(reviewed.code, 0, "{reviewed}");
    drop(held);
    let undone = sandbox.glee(&["runs", "undo", "--yes"]);
    assert_eq!(undone.code, 3, "{undone}");
}

#[test]
fn a_fix_that_was_undone_counts_as_no_fix() {
    let sandbox = coded();
    let counted = |expected: [u64; 2], listed: &str| {
        let shown = sandbox.glee(&["findings", "--all"]);
        assert!(shown.stdout.contains(listed), "{listed}: {shown}");
        let statistics = sandbox.glee(&["stats", "--json"]);
        let all = serde_json::from_str::<serde_json::Value>(&statistics.stdout).expect("JSON");
        let count = |name: &str| all["all"][name]["count"].as_u64();
        let [fixed, reverted] = expected.map(Some);
        assert_eq!(
            (count("fixed"), count("reverted")),
            (fixed, reverted),
            "{listed}: {statistics}"
        );
    };
    counted([1, 0], "fixed");
    sandbox.glee(&["runs", "undo", "--yes", "--force"]);
    counted([0, 1], "fix undone");
    let open = sandbox.glee(&["findings"]);
    assert!(open.stdout.contains("1 open finding"), "{open}");
    let report = sandbox.glee(&["runs", "show"]);
    assert!(
        report.stdout.contains("1 finding: 1 fix undone"),
        "{report}"
    );
    assert!(
        !report.stdout.contains("Nothing mandatory is open"),
        "{report}"
    );
    sandbox.write("plain.py", TEXT.replace("one", "three"));
    counted([0, 1], "code changed");
}

#[test]
fn an_undo_takes_the_last_run_that_changed_something_and_single_files() {
    let sandbox = coded();
    // A review after the fix changes nothing.
    let again = sandbox.glee(&["review", "plain.py"]);
    assert_eq!(again.code, 1, "{again}");
    let fixed = sandbox.glee(&["runs", "--json"]).stdout;
    let runs: serde_json::Value = serde_json::from_str(&fixed).expect("JSON");
    let fixed = runs["runs"].as_array().or(runs.as_array()).expect("a list");
    let fixed = fixed.last().expect("the first run")["run"].as_str();
    let fixed = fixed.expect("an id").to_owned();
    let report = sandbox.glee(&["runs", "show", &fixed]).stdout;
    let words = report.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("no finding names: clash.py, made.py, merged.py, removed.py"),
        "{report}"
    );

    let one = sandbox.glee(&["runs", "undo", "removed.py", "--yes"]);
    assert_eq!(one.code, 0, "{one}");
    assert_eq!(sandbox.read("removed.py"), TEXT);
    assert_eq!(sandbox.read("made.py"), "made\n");
    assert!(
        !sandbox
            .glee(&["findings", "--all"])
            .stdout
            .contains("fix undone")
    );

    let of_finding = sandbox.glee(&["runs", "undo", "F1", "--yes"]);
    assert_eq!(of_finding.code, 0, "{of_finding}");
    assert_eq!(sandbox.read("plain.py"), TEXT);
    assert!(sandbox.exists("made.py"));
    for (args, words) in [
        (
            &["runs", "undo", "nothing.py"][..],
            "the coder changed nothing of `nothing.py`",
        ),
        (&["runs", "undo", "F9"], "F9"),
        (&["runs", "undo", "no-such-run"], "no-such-run"),
    ] {
        let refused = sandbox.glee(args);
        assert_eq!(refused.code, 2, "{refused}");
        assert!(refused.stderr.contains(words), "{refused}");
    }
    let redone = sandbox.glee(&["runs", "undo", "--redo", "removed.py"]);
    assert_eq!(redone.code, 0, "{redone}");
    assert!(!sandbox.exists("removed.py"));
    assert_eq!(sandbox.read("plain.py"), TEXT);
}
