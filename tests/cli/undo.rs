//! Tests that `glee runs undo` lists its effects in advance, asks in doubt, and says how to take it back.

use crate::dialog::Pty;
use crate::support::Sandbox;

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
