//! A target in which there is nothing to read ends with exit code 0 and says so in every format. A target that nobody
//! could read does not.

use crate::review::json;
use crate::support::repository::{EVIL, GOOD, ok, repository, sh};
use crate::support::{Output, Sandbox};

/// Fails if it is called.
const NEVER: &str = "#!/bin/sh\ntouch \"$HOME/called\"\nexit 1\n";

/// Shell lines in a repository with `app.py`, and the arguments of `glee review`.
const EMPTY: [(&str, &str); 14] = [
    ("", ""),
    ("", "--staged"),
    ("", "--base main"),
    ("git commit -q --allow-empty -m empty", "--commit HEAD"),
    ("", "HEAD..HEAD"),
    ("echo 1 > Cargo.lock", ""),
    (
        "echo 1 > Cargo.lock; git add .; git commit -qm lock",
        "--commit HEAD",
    ),
    (
        "head -c 900 /bin/sh > logo.png; git add .; git commit -qm logo",
        "HEAD^..HEAD",
    ),
    ("head -c 900 /bin/sh > logo.png", "logo.png"),
    ("mkdir docs", "docs"),
    ("git diff > none.diff", "--diff none.diff"),
    ("echo 'y = 2' > y.py; echo y.py > .git/info/exclude", ""),
    (
        "git switch -qc other HEAD; echo 1 > n.txt; git add .; git commit -qm n; git switch -q main; \
         git cherry-pick other > cherry; rm cherry",
        "--base other",
    ),
    ("mkfifo pipe", "pipe"),
];

fn project(reviewer: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.git_init();
    sandbox.write("app.py", GOOD);
    ok(&sandbox, "git add -A; git commit -qm app");
    sandbox.connect("lens", "reviewer", reviewer, &["--user"]);
    sandbox
}

fn review(sandbox: &Sandbox, args: &str) -> Output {
    let args: Vec<&str> = ["review"]
        .into_iter()
        .chain(args.split_whitespace())
        .collect();
    sandbox.glee(&args)
}

#[test]
fn nothing_to_review_is_clean_and_no_agent_is_asked() {
    for (prepare, args) in EMPTY {
        let sandbox = project(NEVER);
        ok(&sandbox, prepare);
        let output = review(&sandbox, args);
        assert_eq!(output.code, 0, "{prepare}; {args}: {output}");
        assert!(
            output.stdout.starts_with("✓ Nothing to review"),
            "{prepare}; {args}: {output}"
        );
        assert!(!sandbox.home().join("called").exists(), "{prepare}; {args}");
        let fix = review(&sandbox, &format!("{args} --arbitrate --quiet"));
        assert_eq!(fix.code, 0, "no coder is needed: {fix}");
    }
}

#[test]
fn every_format_says_so() {
    let sandbox = project(NEVER);
    sandbox.write("Cargo.lock", "1\n");
    let of = |format: &str| {
        let output = review(&sandbox, &format!("--format {format}"));
        assert_eq!(output.code, 0, "{format}: {output}");
        output.stdout
    };
    let outcome = json(&of("json"));
    assert_eq!(outcome["exit"], "clean");
    assert_eq!(outcome["proof"]["covered"], serde_json::json!([]));
    assert_eq!(outcome["proof"]["skipped"][0]["file"], "Cargo.lock");
    for format in ["sarif", "sarif-github"] {
        let log = json(&of(format));
        let run = &log["runs"][0];
        assert_eq!(run["results"], serde_json::json!([]), "{log:#}");
        assert_eq!(run["invocations"][0]["exitCode"], 0, "{log:#}");
        assert_eq!(
            run["invocations"][0]["executionSuccessful"], true,
            "{log:#}"
        );
    }
    for format in ["markdown", "html", "github"] {
        assert!(of(format).contains("Nothing to review"), "{format}");
    }
    assert!(of("junit").contains("failures=\"0\" errors=\"0\""));
    assert_eq!(json(&of("gitlab")), serde_json::json!([]));
    assert_eq!(of("rdjsonl"), "");
    let files = review(
        &sandbox,
        "--format sarif=../x.sarif --format junit=../x.xml",
    );
    assert_eq!(files.code, 0, "{files}");
    assert!(sandbox.exists("../x.sarif") && sandbox.exists("../x.xml"));
    let runs = sandbox.glee(&["runs"]).stdout;
    assert!(runs.contains("nothing to review"), "{runs}");
    insta::assert_snapshot!(review(&sandbox, "").stable(), @r"
    exit: 0
    --- stdout
    ✓ Nothing to review in uncommitted changes: Cargo.lock (generated)

    Next
      glee review .  review the whole project
    ");
}

#[test]
fn what_had_something_to_read_and_was_not_read_is_not_nothing() {
    for (prepare, args) in [
        ("yes 'x = 1' | head -c 2000000 > big.py", "big.py"),
        ("printf '\\001\\002\\003\\004\\005\\006' > hidden.py", ""),
        (
            "git switch -qc side; echo a > app.py; git commit -qam a; git switch -q main; echo b > app.py; git commit -qam b; \
          git merge -q side || true",
            "--staged",
        ),
    ] {
        let sandbox = project(NEVER);
        sh(&sandbox, prepare);
        let output = review(&sandbox, args);
        assert_eq!(output.code, 4, "{prepare}; {args}: {output}");
        assert!(
            !output.to_string().contains("Nothing to review"),
            "{output}"
        );
        let noted = review(&sandbox, &format!("{args} --dry-run"));
        assert_eq!(noted.code, 0, "{noted}");
    }
    let sandbox = project(NEVER);
    sandbox.write("Cargo.lock", "1\n");
    assert_eq!(
        sandbox
            .glee(&["config", "set", "--user", "review.skipped", "fail"])
            .code,
        0
    );
    assert_eq!(review(&sandbox, "").code, 4, "`review.skipped: fail`");
    let missing = review(&sandbox, "no-such-file.py");
    assert_eq!(missing.code, 2, "{missing}");
}

#[test]
fn documents_that_no_reviewer_reads_are_nothing_to_review() {
    for (file, is_document) in [
        ("README.md", true),
        ("docs/a.rst", true),
        ("notes.txt", true),
        ("LICENSE", true),
        ("a.rb", false),
        ("ci.yml", false),
        ("requirements.txt", false),
        ("AGENTS.md", false),
        (".github/copilot-instructions.md", false),
    ] {
        let sandbox = repository();
        sandbox.write(file, "text\n");
        let output = review(&sandbox, "");
        assert_eq!(
            output.code,
            if is_document { 0 } else { 4 },
            "{file}: {output}"
        );
        sandbox.write("b.py", EVIL);
        assert_eq!(review(&sandbox, "").code, 1, "{file}");
    }
    let sandbox = repository();
    sandbox.write("README.md", "text\n");
    insta::assert_snapshot!(review(&sandbox, "").stable(), @r"
    exit: 0
    --- stdout
    ✓ Nothing to review in uncommitted changes: README.md (a document that no reviewer reads)

    Next
      glee review .  review the whole project
    ");
    sandbox.connect("lens", "reviewer", NEVER, &["--user"]);
    assert_eq!(
        review(&sandbox, "").code,
        4,
        "this reviewer reads documents"
    );
}

#[test]
fn a_hook_lets_a_commit_without_code_pass() {
    let sandbox = repository();
    ok(&sandbox, "glee hook install pre-commit --mode block");
    for prepare in [
        "echo text > README.md",
        "echo 1 > Cargo.lock",
        "head -c 900 /bin/sh > logo.png",
    ] {
        let commit = ok(
            &sandbox,
            &format!("{prepare}; git add -A; git commit -qm x"),
        );
        assert!(commit.to_string().contains("Nothing to review"), "{commit}");
    }
}
