//! What the hook `pre-commit` reviews, and when it stops a commit.

use std::time::{Duration, Instant};

use super::{EVIL, GOOD, ok, repository, sh};
use crate::support::Sandbox;

/// Whether the hook found `eval`.
fn finds(output: &crate::support::Output) -> bool {
    output.to_string().contains("eval")
}

#[test]
fn the_mode_warn_prints_and_lets_the_commit_go_on_and_the_mode_block_refuses_it() {
    let sandbox = repository();
    sandbox.write("sub/app.py", EVIL);
    ok(&sandbox, "glee hook install pre-commit");
    let warned = ok(&sandbox, "cd sub && git add app.py && git commit -m evil");
    assert!(
        finds(&warned) && warned.stderr.contains("the commit goes on"),
        "{warned}"
    );
    ok(&sandbox, "glee hook install pre-commit --mode block");
    sandbox.write("more.py", EVIL);
    let refused = sh(&sandbox, "git add more.py; cd sub; git commit -m more");
    assert_eq!(refused.code, 1, "{refused}");
    assert!(
        finds(&refused)
            && refused
                .stderr
                .contains("skip the hook once: git commit --no-verify"),
        "{refused}"
    );
    assert!(
        refused.to_string().contains("glee review --fix --staged"),
        "the next step: {refused}"
    );
    ok(&sandbox, "git commit -q --no-verify -m more");
    sandbox.write("more.py", GOOD);
    ok(&sandbox, "git commit -qam better");
}

#[test]
fn only_what_is_committed_is_reviewed() {
    for (prepare, commit, is_refused) in [
        (
            "echo '# x' >> app.py; git add app.py; cp evil app.py",
            "git commit -m x",
            false,
        ),
        (
            "echo '# x' >> app.py; git add app.py; cp evil app.py",
            "git commit -am x",
            true,
        ),
        (
            "cp evil other.py; git add other.py; echo '# x' >> app.py",
            "git commit -m x app.py",
            false,
        ),
        (
            "echo '# x' > other.py; git add other.py; cp evil app.py",
            "git commit -m x app.py",
            true,
        ),
        ("cp evil app.py", "printf 'y\\n' | git commit -m x -p", true),
        (
            "cp evil app.py; git add app.py; rm app.py",
            "git commit -m x",
            true,
        ),
        ("cp /bin/true tool; git add tool", "git commit -m x", false),
    ] {
        let sandbox = repository();
        sandbox.write("evil", EVIL);
        ok(&sandbox, "glee hook install pre-commit --mode block");
        let output = sh(&sandbox, &format!("{prepare}; {commit}"));
        assert_eq!(
            (output.code != 0, finds(&output)),
            (is_refused, is_refused),
            "{prepare}; {commit}: {output}"
        );
    }
}

#[test]
fn the_first_commit_is_reviewed() {
    let sandbox = Sandbox::new();
    sandbox.git(&["init", "-q", "-b", "main"]);
    sandbox.write(".glee/config.yml", super::CONFIG);
    sandbox.write("app.py", EVIL);
    let glee = assert_cmd::cargo::cargo_bin!("glee").display();
    sandbox.program("glee", &format!("#!/bin/sh\nexec '{glee}' \"$@\"\n"));
    ok(
        &sandbox,
        "glee hook install pre-commit --mode block && git add -A",
    );
    let refused = sh(&sandbox, "git commit -m first");
    assert!(refused.code != 0 && finds(&refused), "{refused}");
}

#[test]
fn nothing_is_reviewed_during_other_operations() {
    let sandbox = repository();
    sandbox.write("app.py", EVIL);
    ok(
        &sandbox,
        "git switch -qc other; git commit -qam evil; git tag evil; git switch -q main",
    );
    sandbox.write("app.py", "def run(text):\n    return 1\n");
    ok(
        &sandbox,
        "git commit -qam one; git tag start; glee hook install pre-commit --mode block",
    );
    for (begin, end, operation) in [
        ("git merge -q other", "git commit -q --no-edit", "merge"),
        (
            "git cherry-pick other",
            "git commit -q --no-edit",
            "cherry-pick",
        ),
        (
            "git rebase -q main other",
            "git commit -qm rebased && git rebase --continue",
            "rebase",
        ),
    ] {
        assert_ne!(sh(&sandbox, begin).code, 0, "{begin} has a conflict");
        sandbox.write("app.py", EVIL);
        let ended = ok(&sandbox, &format!("git add app.py; {end}"));
        assert!(
            ended
                .stderr
                .contains(&format!("nothing during a {operation}")),
            "{ended}"
        );
        sh(
            &sandbox,
            "git switch -qf main; git reset -q --hard start; git branch -qf other evil",
        );
    }
}

#[test]
fn a_missing_program_and_a_failed_review_block_no_commit_in_the_mode_warn() {
    let sandbox = repository();
    ok(&sandbox, "glee hook install pre-commit --mode block");
    sandbox.write("app.py", EVIL);
    let missing = ok(&sandbox, "PATH=/usr/bin:/bin git commit -am x");
    let lines: Vec<&str> = missing
        .stderr
        .lines()
        .filter(|line| line.contains("glee"))
        .collect();
    assert_eq!(lines.len(), 1, "{missing}");
    assert!(lines[0].contains("not on the PATH"), "{missing}");

    ok(&sandbox, "glee hook install pre-commit");
    sandbox.write(".glee/config.yml", "version: 1\n");
    // A staged change of the configuration does not apply to its own review, so the change is committed first.
    ok(&sandbox, "git commit -q --no-verify -m config .glee");
    let failed = ok(&sandbox, "echo '# x' >> app.py; git commit -am y");
    assert!(
        failed.stderr.contains("no agent has the role") && failed.stderr.contains("goes on"),
        "{failed}"
    );
    ok(&sandbox, "glee hook install pre-commit --mode block");
    let refused = sh(&sandbox, "echo '# x' >> app.py; git commit -am z");
    assert_ne!(refused.code, 0, "a failed review is no approval: {refused}");
}

#[test]
fn a_hook_ends_at_its_time_limit_and_asks_nothing() {
    let sandbox = repository();
    sandbox.program("slow", "#!/bin/sh\nsleep 120\n");
    ok(
        &sandbox,
        "glee connect slow --role reviewer --name slow --command slow --user",
    );
    sandbox.write(".glee/config.yml", "version: 1\n");
    sandbox.write("app.py", EVIL);
    ok(&sandbox, "glee hook install pre-commit --timeout 2s");
    let began = Instant::now();
    let output = ok(&sandbox, "git commit -am x");
    assert!(
        began.elapsed() < Duration::from_secs(30),
        "{:?}",
        began.elapsed()
    );
    assert!(output.stderr.contains("the commit goes on"), "{output}");
    for wrong in ["0s", "soon", ""] {
        assert_eq!(
            sandbox
                .glee(&["hook", "install", "pre-commit", "--timeout", wrong])
                .code,
            2,
            "{wrong}"
        );
    }
}
