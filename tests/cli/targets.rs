//! Which code a review reads: submodules, other repositories in the tree, branches on branches, deleted files, and the
//! run's own output.

use crate::review::json;
use crate::support::Sandbox;
use crate::support::repository::{GOOD, ok, sh};

const CLEAN: &str =
    "#!/bin/sh\ncat > /dev/null\necho \"GLEE-REVIEW-END nonce=$GLEE_NONCE findings=0\"\n";

fn project(reviewer: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.git_init();
    sandbox.write("app.py", GOOD);
    ok(&sandbox, "git add -A; git commit -qm app");
    sandbox.connect("lens", "reviewer", reviewer, &["--user"]);
    sandbox
}

/// The reviewed files, and the skipped files with the reasons.
fn covered(sandbox: &Sandbox, args: &[&str]) -> (Vec<String>, Vec<String>) {
    let output = sandbox.glee(&[&["review", "--format", "json"], args].concat());
    assert_eq!(output.code, 0, "{args:?}: {output}");
    let proof = json(&output.stdout)["proof"].clone();
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let items = |name: &str| proof[name].as_array().cloned().unwrap_or_default();
    let files = items("covered")
        .iter()
        .map(|it| text(&it["file"]))
        .collect();
    let skipped = items("skipped");
    let skipped = skipped
        .iter()
        .map(|it| format!("{} {}", text(&it["file"]), text(&it["reason"])));
    (files, skipped.collect())
}

fn strings(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Adds the submodule `lib`, and in it the submodule `lib/deep`.
fn with_submodules(sandbox: &Sandbox) {
    ok(
        sandbox,
        "export GIT_ALLOW_PROTOCOL=file; \
         for name in deep lib; do git init -q -b main ../$name; echo 'a = 1' > ../$name/a.py; \
           printf 'made.py linguist-generated\\n' > ../$name/.gitattributes; echo 'm = 1' > ../$name/made.py; \
           git -C ../$name add -A; git -C ../$name commit -qm one; done; \
         git -C ../lib submodule --quiet add ../deep deep; git -C ../lib commit -qm deep; \
         git submodule --quiet add ../lib lib; git submodule --quiet update --init --recursive; git commit -qm lib",
    );
}

#[test]
fn edits_in_submodules_are_reviewed() {
    let sandbox = project(CLEAN);
    with_submodules(&sandbox);
    let nothing = sandbox.glee(&["review"]);
    assert!(nothing.stdout.contains("Nothing to review"), "{nothing}");
    for (edit, files) in [
        ("echo 'b = 2' >> lib/a.py", vec!["lib/a.py"]),
        (
            "echo 'n = 1' > lib/new.py; git -C lib add new.py",
            vec!["lib/new.py"],
        ),
        ("git -C lib rm -q a.py", vec!["lib/a.py"]),
        ("git -C lib mv a.py b.py", vec!["lib/b.py"]),
        ("echo 'd = 2' >> lib/deep/a.py", vec!["lib/deep/a.py"]),
        (
            "git -C lib commit -q --allow-empty -m two; echo 'b = 2' >> lib/a.py",
            vec!["lib", "lib/a.py"],
        ),
        (
            "echo 'b = 2' >> lib/a.py; echo 'c = 3' >> app.py",
            vec!["app.py", "lib/a.py"],
        ),
    ] {
        let sandbox = sandbox.copy();
        ok(&sandbox, edit);
        for args in [&[][..], &["--base", "HEAD"]] {
            assert_eq!(
                covered(&sandbox, args).0,
                strings(&files),
                "{edit} {args:?}"
            );
        }
    }
    ok(
        &sandbox,
        "echo 'm = 2' >> lib/made.py; echo lib/a.py > .gleeignore; git add .gleeignore; git commit -qm x; echo 'b = 2' >> lib/a.py",
    );
    assert_eq!(
        covered(&sandbox, &[]),
        (
            vec![],
            strings(&["lib/a.py ignored", "lib/made.py generated"])
        )
    );
    ok(&sandbox, "rm .gleeignore; git commit -qam x");
    let reader = CLEAN.replace("cat > /dev/null", "grep 'b = 2' > /dev/null || exit 1");
    sandbox.program("lens", &reader);
    assert_eq!(covered(&sandbox, &["--full"]).0, strings(&["lib/a.py"]));
}

#[test]
fn other_repositories_and_work_trees_are_named_and_left_out() {
    let sandbox = project(CLEAN);
    ok(
        &sandbox,
        "for n in 1 2; do git worktree add -q .claude/worktrees/w$n -b w$n; echo 'evil()' >> .claude/worktrees/w$n/app.py; done; \
         git init -q vendor/other; echo 'x = 1' > vendor/other/x.py; echo 'mine = 1' > mine.py",
    );
    let others = strings(&[
        ".claude/worktrees/w1 repository",
        ".claude/worktrees/w2 repository",
        "vendor/other repository",
    ]);
    for args in [&[][..], &["--base", "HEAD"]] {
        assert_eq!(
            covered(&sandbox, args),
            (strings(&["mine.py"]), others.clone())
        );
    }
    let (files, skipped) = covered(&sandbox, &["."]);
    assert_eq!(files, strings(&["app.py", "mine.py"]));
    assert_eq!(skipped, strings(&["vendor/other repository"]));
    assert_eq!(
        covered(&sandbox, &["vendor/other"]).0,
        strings(&["vendor/other/x.py"])
    );
    let shown = sandbox.glee(&["review"]).stdout;
    assert!(
        shown.contains("vendor/other (another repository or work tree)"),
        "{shown}"
    );
    ok(&sandbox, "rm mine.py");
    let nothing = sandbox.glee(&["review"]);
    assert_eq!(nothing.code, 0, "{nothing}");
    assert!(nothing.stdout.contains("Nothing to review"), "{nothing}");
}

#[test]
fn a_branch_on_a_branch_is_told_the_nearer_base() {
    for (prepare, base, nearer) in [
        (
            "git switch -qc parent; commit; git switch -qc child; commit",
            "main",
            Some("parent"),
        ),
        (
            "git switch -qc one; commit; git switch -qc two; commit; git switch -qc child; commit",
            "main",
            Some("two"),
        ),
        (
            "git switch -qc parent; commit; git switch -qc child --track parent 2> ../log; commit; git switch -q parent; \
             commit; git switch -q child",
            "main",
            Some("parent"),
        ),
        (
            "git switch -qc parent; commit; git push -q ../origin.git parent; git remote add origin ../origin.git; \
             git fetch -q origin; git switch -qc child origin/parent; git branch -qD parent; commit",
            "main",
            Some("origin/parent"),
        ),
        ("git switch -qc child; commit", "main", None),
        (
            "git switch -qc parent; commit; git switch -qc child; commit",
            "parent",
            None,
        ),
        (
            "git switch -qc child; commit; git branch later",
            "main",
            None,
        ),
        (
            "git switch -qc side; commit; git switch -q main; git switch -qc child; commit; git merge -q --no-edit side; commit",
            "main",
            None,
        ),
        (
            "git switch -qc child; commit; git push -q ../origin.git child; git remote add origin ../origin.git; \
             git fetch -q origin; git branch -q -u origin/child; commit",
            "main",
            None,
        ),
    ] {
        let sandbox = project(CLEAN);
        let commit = "n=0; commit() { n=$((n + 1)); echo \"n = $n\" > $(git branch --show-current)$n.py; git add -A; \
                      git commit -qm $n; }; git init -q --bare ../origin.git; ";
        ok(&sandbox, &format!("{commit}{prepare}"));
        let output = sandbox.glee(&["review", "--base", base]);
        assert_eq!(output.code, 0, "{prepare}: {output}");
        let notes: Vec<&str> = output
            .stderr
            .lines()
            .filter(|line| line.contains("lies between"))
            .collect();
        match nearer {
            None => assert_eq!(notes, [""; 0], "{prepare}"),
            Some(nearer) => {
                assert_eq!(notes.len(), 1, "{prepare}: {output}");
                assert!(
                    notes[0].contains(&format!("`--base {nearer}`")),
                    "{prepare}: {output}"
                );
            }
        }
    }
}

#[test]
fn a_change_that_the_base_has_too_is_no_difference() {
    let sandbox = project(CLEAN);
    ok(
        &sandbox,
        "git switch -qc topic; echo 'a = 1' > a.py; git add .; git commit -qm a; git switch -q main; \
         git cherry-pick topic > ../log; git commit -q --amend -m 'Picked'; git switch -q topic",
    );
    let output = sandbox.glee(&["review", "--base", "main"]);
    assert!(output.stdout.contains("Nothing to review"), "{output}");
    sandbox.write("b.py", GOOD);
    assert_eq!(covered(&sandbox, &["--base", "main"]).0, strings(&["b.py"]));
    sandbox.write("a.py", GOOD);
    assert_eq!(
        covered(&sandbox, &["--base", "main"]).0,
        strings(&["a.py", "b.py"])
    );
    ok(&sandbox, "rm a.py b.py");
    assert_eq!(
        covered(&sandbox, &["--base", "main"]).0,
        strings(&[]),
        "deleted, as at the fork"
    );
}

const DELETED: &str = "#!/bin/sh\ncat > /dev/null\necho '[MUST] app.py:2 The only check is deleted'\n\
                       echo \"GLEE-REVIEW-END nonce=$GLEE_NONCE findings=1\"\n";

#[test]
fn a_finding_about_a_deleted_file_shows_the_deleted_line() {
    for (delete, args) in [
        ("git rm -q app.py", &["review"][..]),
        ("rm app.py", &["review"]),
        (
            "git rm -q app.py; git commit -qm x",
            &["review", "--base", "HEAD^"],
        ),
        (
            "git rm -q app.py; git commit -qm x",
            &["review", "--commit", "HEAD"],
        ),
    ] {
        let sandbox = project(DELETED);
        ok(&sandbox, delete);
        let shown = sandbox.glee(args);
        assert_eq!(shown.code, 1, "{delete}: {shown}");
        assert!(
            shown.stdout.contains("2 |     return len(text)"),
            "{delete}: {shown}"
        );
        for (format, place) in [
            ("sarif", "\"startLine\": 2"),
            ("sarif-github", "\"startLine\": 2"),
            ("rdjsonl", "\"line\":2"),
            ("gitlab", "\"begin\": 2"),
            ("junit", "app.py:2"),
            ("markdown", "app.py"),
            ("html", "return"),
        ] {
            let report = sandbox.glee(&["runs", "show", "--format", format]);
            assert!(report.stdout.contains(place), "{format}: {report}");
            assert!(!report.stderr.contains("omits"), "{format}: {report}");
        }
    }
}

#[test]
fn the_output_of_the_run_in_the_tree_is_no_change_of_the_reviewer() {
    let sandbox = project(CLEAN);
    assert_eq!(
        sandbox
            .glee(&["config", "set", "--user", "sandbox", "off"])
            .code,
        0
    );
    let glee = assert_cmd::cargo::cargo_bin!("glee").display().to_string();
    sandbox.write("app.py", "x = 1\n");
    for redirect in [
        "> o 2>&1",
        "2> e",
        "> o 2> e",
        "> app.py.log 2>&1",
        ">> o 2>> o",
    ] {
        let output = sh(
            &sandbox,
            &format!(
                "'{glee}' review app.py -v --full {redirect}; code=$?; cat o e *.log 2> /dev/null; exit $code"
            ),
        );
        assert_eq!(output.code, 0, "{redirect}: {output}");
    }
    let writes = CLEAN.replace("echo", "echo >> o; echo");
    sandbox.program("lens", &writes);
    let other = sh(&sandbox, &format!("'{glee}' review app.py --full > p 2>&1"));
    assert_eq!(
        other.code,
        5,
        "another file is a change: {}",
        sandbox.read("p")
    );
}

#[test]
fn secrets_that_agents_do_not_get_are_counted() {
    let token = |digit: char| {
        format!(
            "ghp_{}",
            digit.to_string().repeat(3) + "abcdefghijABCDEFGHIJ0123456789abc"
        )
    };
    let sandbox = project(CLEAN);
    for (text, note) in [
        (format!("A = '{}'\n", token('1')), Some("1 secret withheld")),
        (
            format!("A = '{}'\nB = '{}'\n", token('1'), token('2')),
            Some("2 secrets withheld"),
        ),
        (
            format!("A = '{0}'\nB = '{0}'\n", token('1')),
            Some("1 secret withheld"),
        ),
        ("A = 1\n".to_owned(), None),
    ] {
        sandbox.write("app.py", &text);
        let output = sandbox.glee(&["review"]);
        assert_eq!(output.code, 0, "{output}");
        let notes: Vec<&str> = output
            .stdout
            .lines()
            .filter(|line| line.contains("withheld"))
            .collect();
        match note {
            Some(note) => assert!(
                notes.len() == 1 && notes[0].contains(note),
                "{text}: {output}"
            ),
            None => assert_eq!(notes, [""; 0], "{output}"),
        }
    }
}

#[test]
fn a_branch_that_only_the_remote_has_is_suggested_with_its_remote() {
    let sandbox = project(CLEAN);
    sandbox.git(&["update-ref", "refs/remotes/origin/trunk", "HEAD"]);
    let refused = sandbox.glee(&["review", "--base", "trunk"]);
    assert_eq!(refused.code, 2, "{refused}");
    assert!(
        refused
            .stderr
            .contains("use an existing branch (`origin/trunk`, `main`)"),
        "{refused}"
    );
}

#[test]
fn a_branch_of_the_remote_that_the_clone_lacks_is_fetched_as_the_hint_says() {
    let sandbox = project(CLEAN);
    sandbox.git(&["remote", "add", "origin", "."]);
    sandbox.git(&["branch", "topic/1"]);
    let review = || sandbox.glee(&["review", "--base", "origin/topic/1"]);
    let refused = review();
    assert_eq!(refused.code, 2, "{refused}");
    let fetch = ["fetch", "origin", "topic/1:refs/remotes/origin/topic/1"];
    let hint = format!("hint: fetch it (`git {}`), or use", fetch.join(" "));
    assert!(refused.stderr.contains(&hint), "{refused}");
    sandbox.git(&fetch);
    assert_eq!(review().code, 0);
    for no_branch in ["origin/main~9", "origin/", "origin/-x", "other/main"] {
        let bad = sandbox.glee(&["review", "--base", no_branch]);
        assert_eq!(bad.code, 2, "{bad}");
        assert!(!bad.stderr.contains("fetch"), "{bad}");
    }
}
