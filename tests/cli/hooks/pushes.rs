//! What the hook `pre-push` reviews.

use super::{EVIL, GOOD, ok, repository, sh, with_remote};
use crate::support::Sandbox;

/// Commits a file on the current branch.
fn commit(sandbox: &Sandbox, file: &str, text: &str) {
    sandbox.write(file, text);
    ok(
        sandbox,
        &format!("git add '{file}' && git commit -qm 'Change {file}'"),
    );
}

/// Pushes, and returns the ranges that were reviewed, as subjects of their commits.
fn reviewed(sandbox: &Sandbox, push: &str) -> Vec<String> {
    let runs = |sandbox: &Sandbox| -> serde_json::Value {
        serde_json::from_str(&ok(sandbox, "glee runs --json").stdout).expect("JSON")
    };
    let count = |runs: &serde_json::Value| runs.as_array().map_or(0, Vec::len);
    let before = count(&runs(sandbox));
    let output = sh(sandbox, push);
    assert_eq!(output.code, 0, "{push}: {output}");
    let after = runs(sandbox);
    let new = after
        .as_array()
        .into_iter()
        .flatten()
        .take(count(&after) - before);
    let mut subjects: Vec<String> = new
        .map(|run| {
            let range = run["target"].as_str().expect("a run has a target");
            sandbox
                .git(&["log", "--reverse", "--format=%s", range])
                .trim()
                .replace('\n', ", ")
        })
        .collect();
    subjects.sort();
    subjects
}

#[test]
fn the_new_commits_of_each_branch_are_reviewed() {
    let sandbox = with_remote();
    ok(&sandbox, "glee hook install pre-push");
    let none: [&str; 0] = [];
    commit(&sandbox, "a.py", GOOD);
    assert_eq!(
        reviewed(&sandbox, "git push -q origin main"),
        ["Change a.py"]
    );
    assert_eq!(
        reviewed(&sandbox, "git push -q origin main"),
        none,
        "nothing new"
    );
    // A new branch: since it left the default branch.
    ok(&sandbox, "git switch -qc topic");
    commit(&sandbox, "b.py", GOOD);
    commit(&sandbox, "c.py", GOOD);
    assert_eq!(
        reviewed(&sandbox, "git push -q origin topic"),
        ["Change b.py, Change c.py"]
    );
    commit(&sandbox, "d.py", GOOD);
    assert_eq!(
        reviewed(&sandbox, "git push -q origin topic:topic topic:copy"),
        ["Change b.py, Change c.py, Change d.py", "Change d.py"]
    );
    assert_eq!(
        reviewed(&sandbox, "git push -q origin topic:again topic:again2"),
        ["Change b.py, Change c.py, Change d.py"]
    );
    // A rebased branch: what the default branch has is left out.
    ok(&sandbox, "git switch -q main");
    commit(&sandbox, "m.py", GOOD);
    assert_eq!(
        reviewed(&sandbox, "git push -q origin main"),
        ["Change m.py"]
    );
    ok(
        &sandbox,
        "git switch -q topic; git rebase -q main; git commit -q --amend -m 'Change d.py again'",
    );
    assert_eq!(
        reviewed(&sandbox, "git push -q --force origin topic"),
        ["Change b.py, Change c.py, Change d.py again"]
    );
    // Deletions and tags.
    assert_eq!(reviewed(&sandbox, "git push -q origin :copy"), none);
    assert_eq!(
        reviewed(
            &sandbox,
            "git tag v1; git tag -a -m v2 v2; git push -q origin v1 v2"
        ),
        none
    );
    // From a subfolder, and to the address of the remote.
    commit(&sandbox, "sub/e.py", GOOD);
    assert_eq!(
        reviewed(&sandbox, "cd sub && git push -q origin topic"),
        ["Change sub/e.py"]
    );
    commit(&sandbox, "sub/f.py", GOOD);
    assert_eq!(
        reviewed(&sandbox, "git push -q ../origin.git topic"),
        ["Change sub/f.py"]
    );
}

#[test]
fn changes_for_a_branch_are_reviewed_and_other_refs_are_named() {
    let sandbox = with_remote();
    ok(&sandbox, "glee hook install pre-push");
    commit(&sandbox, "a.py", GOOD);
    for target in ["refs/for/main", "refs/for/main%wip", "refs/for/main/topic"] {
        assert_eq!(
            reviewed(&sandbox, &format!("git push -q origin HEAD:{target}")),
            ["Change a.py"],
            "{target}"
        );
        ok(
            &sandbox,
            "git -C ../origin.git for-each-ref --format='delete %(refname)' refs/for | git -C ../origin.git update-ref --stdin",
        );
    }
    let other = ok(&sandbox, "git push origin HEAD:refs/reviews/1");
    assert!(
        other.stderr.contains("`refs/reviews/1` is not a branch"),
        "{other}"
    );
    commit(&sandbox, "b.py", EVIL);
    ok(&sandbox, "glee hook install pre-push --mode block");
    let refused = sh(&sandbox, "git push origin HEAD:refs/for/main");
    assert!(
        refused.code != 0 && refused.to_string().contains("eval"),
        "{refused}"
    );
}

#[test]
fn a_push_with_open_findings_is_refused_in_the_mode_block() {
    let sandbox = with_remote();
    ok(&sandbox, "glee hook install pre-push --mode block");
    commit(&sandbox, "a.py", EVIL);
    // What is pushed is reviewed, and not the work tree.
    sandbox.write("a.py", GOOD);
    let refused = sh(&sandbox, "git push origin main");
    assert!(
        refused.code != 0 && refused.to_string().contains("eval"),
        "{refused}"
    );
    assert_ne!(
        ok(&sandbox, "git ls-remote origin main")
            .stdout
            .split('\t')
            .next(),
        Some(head(&sandbox).as_str())
    );
    ok(&sandbox, "git commit -qam better; git push -q origin main");
    commit(&sandbox, "a.py", EVIL);
    ok(&sandbox, "git push -q --no-verify origin main");
}

fn head(sandbox: &Sandbox) -> String {
    sandbox.git(&["rev-parse", "HEAD"]).trim().to_owned()
}

#[test]
fn a_remote_without_branches_has_no_base() {
    let sandbox = repository();
    ok(
        &sandbox,
        "git init -q --bare ../new.git; git remote add new ../new.git; glee hook install pre-push",
    );
    let output = ok(&sandbox, "git push new main");
    assert!(
        output.stderr.contains("there is no base to compare with"),
        "{output}"
    );
}

#[test]
fn input_that_is_not_gits_is_refused() {
    let sandbox = with_remote();
    for line in [
        "main",
        "refs/heads/main HEAD refs/heads/main HEAD",
        "a b c d e",
    ] {
        let output = sandbox.glee_with(
            &["hook", "run", "pre-push", "--mode", "block", "origin"],
            line,
        );
        assert_eq!(output.code, 2, "{line}: {output}");
    }
    assert_eq!(
        sandbox
            .glee_with(&["hook", "run", "pre-push", "origin"], "main")
            .code,
        0,
        "the mode is `warn`"
    );
}
