//! The steps of `action.yml` for a target, one at a time. `pull_requests` runs whole jobs for a request.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::job::{Job, action};
use super::{EVIL, GOOD, ok, repository};
use crate::support::Sandbox;

/// A repository with a commit that adds `eval`.
fn change() -> Sandbox {
    let sandbox = repository();
    // A rustup of the machine would download a toolchain into the empty home.
    sandbox.program("rustc", "#!/bin/sh\necho rustc 1.95.0\n");
    sandbox.write("app.py", EVIL);
    ok(&sandbox, "git commit -qam evil");
    sandbox
}

#[test]
fn a_job_installs_reviews_and_decides() {
    let sandbox = change();
    for (mode, code) in [("warn", 0), ("enforce", 1)] {
        let given = [
            ("mode", mode),
            ("target", "HEAD~1..HEAD"),
            ("glee", "glee"),
            ("budget", "3"),
            ("args", "--quick\n\n--full"),
        ];
        let mut job = Job::new(&sandbox, &given);
        assert_eq!(job.step("Check the inputs").0, 0);
        assert_eq!(job.step("Install the program").0, 0);
        assert_eq!(job.output("install.outputs.is-new"), "false");
        let (reviewed, printed) = job.step("Review");
        assert_eq!(
            (reviewed, job.output("review.outputs.exit-code")),
            (0, "1"),
            "{printed}"
        );
        assert!(
            printed.contains("::error") || printed.contains("::warning"),
            "annotations: {printed}"
        );
        assert_eq!(job.output("review.outputs.has-sarif"), "true");
        let report = fs::read_to_string(job.output("setup.outputs.report")).expect("the report");
        let report: Value = serde_json::from_str(&report).expect("JSON");
        assert_eq!(report["exit"], "findings_open");
        assert!(
            Path::new(job.output("setup.outputs.state"))
                .join("repos")
                .is_dir(),
            "the history is cached"
        );
        let summary = fs::read_to_string(sandbox.home().join("summary")).expect("the summary");
        assert!(summary.contains("app.py"), "{summary}");
        let (decided, printed) = job.step("Decide");
        assert_eq!(decided, code, "{printed}");
        assert!(printed.contains("mandatory findings are open"), "{printed}");
    }
    let mut clean = Job::new(
        &sandbox,
        &[
            ("mode", "enforce"),
            ("target", "HEAD~1..HEAD"),
            ("glee", "glee"),
        ],
    );
    sandbox.write("app.py", GOOD);
    ok(&sandbox, "git commit -qam better");
    for step in [
        "Check the inputs",
        "Install the program",
        "Review",
        "Decide",
    ] {
        let (code, printed) = clean.step(step);
        assert_eq!(code, 0, "{step}: {printed}");
    }
}

#[test]
fn the_program_is_compiled_once_for_each_version() {
    let sandbox = change();
    let glee = assert_cmd::cargo::cargo_bin!("glee").display();
    // Stands for the compilation, which takes minutes, and installs the program that is under test.
    sandbox.program(
        "cargo",
        &format!(
            "#!/bin/sh\n[ \"$*\" = \"install --locked --path . --root $ROOT\" ] && [ -f Cargo.lock ] || exit 9\n\
             mkdir -p \"$ROOT/bin\" && ln -s '{glee}' \"$ROOT/bin/glee\"\n"
        ),
    );
    let mut job = Job::new(&sandbox, &[("target", "HEAD~1..HEAD")]);
    job.step("Check the inputs");
    let key = job.output("setup.outputs.program-key").to_owned();
    assert!(key.starts_with("glee-program-Linux-X64-"), "{key}");
    for is_new in ["true", "false"] {
        let (code, printed) = job.step("Install the program");
        assert_eq!(
            (code, job.output("install.outputs.is-new")),
            (0, is_new),
            "{printed}"
        );
    }
    assert_eq!(job.step("Review").0, 0);
    assert_eq!(job.output("review.outputs.exit-code"), "1");
    job.step("Check the inputs");
    assert_eq!(job.output("setup.outputs.program-key"), key);

    let mut without = Job::new(&sandbox, &[("target", "HEAD"), ("glee", "no-such-program")]);
    without.step("Check the inputs");
    let (code, printed) = without.step("Install the program");
    assert!(
        code == 2 && printed.contains("names no program"),
        "{printed}"
    );
    // A review that did not start fails no job in the mode `warn`.
    assert_eq!(without.step("Decide").0, 0);
    without
        .values
        .insert("inputs.mode".to_owned(), "enforce".to_owned());
    assert_eq!(without.step("Decide").0, 4);
}

#[test]
fn inputs_are_checked_and_never_become_commands() {
    let sandbox = change();
    let hostile = "$(touch pwned)`touch pwned`;touch pwned";
    for (inputs, is_valid) in [
        (vec![("pull-request", "7")], true),
        (vec![("pull-request", "")], false),
        (vec![("pull-request", hostile)], false),
        (vec![("pull-request", "7"), ("mode", "block")], false),
        (vec![("target", hostile)], true),
    ] {
        let mut job = Job::new(&sandbox, &inputs);
        assert_eq!(job.step("Check the inputs").0 == 0, is_valid, "{inputs:?}");
    }
    let mut job = Job::new(
        &sandbox,
        &[
            ("target", hostile),
            ("args", hostile),
            ("glee", "glee"),
            ("budget", hostile),
        ],
    );
    job.step("Check the inputs");
    job.step("Install the program");
    job.step("Review");
    assert_eq!(job.output("review.outputs.exit-code"), "2");
    assert!(!sandbox.exists("pwned"));
    let sha = "1".repeat(40);
    fs::write(
        sandbox.home().join("event.json"),
        format!("{{\"pull_request\":{{\"head\":{{\"sha\":\"{sha}\"}}}}}}"),
    )
    .expect("a file");
    let mut job = Job::new(&sandbox, &[("pull-request", "7")]);
    job.step("Check the inputs");
    assert_eq!(job.output("setup.outputs.sarif-ref"), "refs/pull/7/head");
    assert_eq!(job.output("setup.outputs.sarif-sha"), sha);
    assert_eq!(
        job.output("setup.outputs.history-key"),
        "glee-history-7-11-2"
    );
    // No expression is part of a script.
    for step in action()["runs"]["steps"].as_array().expect("steps") {
        assert!(
            !step["run"].as_str().unwrap_or_default().contains("${{"),
            "{step}"
        );
    }
}
