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

/// Stands for pip: installs the program under test as the package of this version if it is in the index.
fn package_index(sandbox: &Sandbox, has_package: bool) {
    let glee = assert_cmd::cargo::cargo_bin!("glee").display();
    let version = env!("CARGO_PKG_VERSION");
    let machine = std::env::var("PATH").expect("a PATH");
    sandbox.program(
        "python3",
        &format!(
            "#!/bin/sh\ncase \"$*\" in\n\
             *' pip install '*) ;;\n\
             *) PATH='{machine}' exec python3 \"$@\" ;;\n\
             esac\n\
             case \"$*\" in\n\
             '-I -m pip '*' --only-binary :all: '*\" --target $ROOT glee-review=={version}\") {has_package} ;;\n\
             *) exit 9 ;;\n\
             esac || {{ echo 'ERROR: No matching distribution found for glee-review'; exit 1; }}\n\
             mkdir -p \"$ROOT/bin\" && ln -s '{glee}' \"$ROOT/bin/glee\"\n"
        ),
    );
}

#[test]
fn the_package_of_the_actions_version_is_installed_and_nothing_compiled() {
    let sandbox = change();
    sandbox.program("cargo", "#!/bin/sh\nexit 9\n");
    package_index(&sandbox, true);
    for compile in ["false", "true"] {
        let mut job = Job::new(
            &sandbox,
            &[("target", "HEAD~1..HEAD"), ("compile", compile)],
        );
        job.step("Check the inputs");
        for _ in 0..2 {
            let (code, printed) = job.step("Install the program");
            assert_eq!(code, 0, "{printed}");
            assert_eq!(job.output("install.outputs.is-new"), "false");
        }
        assert_eq!(job.step("Review").0, 0);
        assert_eq!(job.output("review.outputs.exit-code"), "1");
    }

    package_index(&sandbox, false);
    let mut job = Job::new(&sandbox, &[("target", "HEAD~1..HEAD")]);
    job.step("Check the inputs");
    let (code, printed) = job.step("Install the program");
    assert_eq!(code, 2, "{printed}");
    assert!(
        printed.contains("No matching distribution") && printed.contains("`compile: true`"),
        "{printed}"
    );
}

#[test]
fn the_program_is_compiled_once_for_each_version_where_asked_and_no_package_exists() {
    let sandbox = change();
    package_index(&sandbox, false);
    let glee = assert_cmd::cargo::cargo_bin!("glee").display();
    // Stands for the compilation, which takes minutes, and installs the program that is under test.
    sandbox.program(
        "cargo",
        &format!(
            "#!/bin/sh\n[ \"$*\" = \"install --locked --path . --root $ROOT\" ] && [ -f Cargo.lock ] || exit 9\n\
             mkdir -p \"$ROOT/bin\" && ln -s '{glee}' \"$ROOT/bin/glee\"\n"
        ),
    );
    let inputs = [("target", "HEAD~1..HEAD"), ("compile", "true")];
    let mut job = Job::new(&sandbox, &inputs);
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
        "glee-history-request-7-11-2"
    );
    // No expression is part of a script.
    for step in action()["runs"]["steps"].as_array().expect("steps") {
        assert!(
            !step["run"].as_str().unwrap_or_default().contains("${{"),
            "{step}"
        );
    }
}

/// The entry of the cache that a job restores, and the entry that the job saves. Each row of `kept` is a key in the cache.
fn histories(sandbox: &Sandbox, contexts: &[(&str, &str)], event: &Value) -> (String, Vec<String>) {
    fs::write(sandbox.home().join("event.json"), event.to_string()).expect("a file");
    let number = event["pull_request"]["number"].as_u64();
    let number = number.map(|number| number.to_string()).unwrap_or_default();
    let inputs = [("target", "HEAD"), ("pull-request", number.as_str())];
    let mut job = Job::of_event(sandbox, contexts, &inputs);
    let (code, printed) = job.step("Check the inputs");
    assert_eq!(code, 0, "{printed}");
    let steps = action()["runs"]["steps"].as_array().cloned();
    let restore = steps.expect("steps").into_iter();
    let restore = restore.filter(|step| step["name"] == "Restore the history");
    let keys: Vec<String> = restore
        .flat_map(|step| {
            let keys = step["with"]["restore-keys"].as_str().expect("keys");
            keys.lines()
                .map(|key| job.text(key).trim().to_owned())
                .filter(|key| !key.is_empty())
                .collect::<Vec<_>>()
        })
        .collect();
    (job.output("setup.outputs.history-key").to_owned(), keys)
}

/// With `pull_request_target`, all requests share one scope of the cache.
#[test]
fn the_history_of_a_request_is_its_own_or_that_of_the_base_branch() {
    let sandbox = change();
    let request = |number: u64, base: &str| serde_json::json!({"pull_request": {"number": number, "base": {"ref": base}}});
    let of_request = [("github.event_name", "pull_request_target")];
    let push = |branch| [("github.event_name", "push"), ("github.ref_name", branch)];
    let none = serde_json::json!({});
    let saved = |contexts: &[(&str, &str)], event: &Value| histories(&sandbox, contexts, event).0;
    let everything = [
        saved(&of_request, &request(7, "main")),
        saved(&of_request, &request(8, "main")),
        saved(&of_request, &request(71, "main")),
        saved(&of_request, &none),
        saved(&[("github.event_name", "issue_comment")], &none),
        saved(&[("github.event_name", "workflow_run")], &none),
        saved(&push("main"), &none),
        saved(&push("main-7"), &none),
        saved(&push("7"), &none),
        saved(&[("github.ref_type", "tag")], &none),
    ];
    // The name of a row, the contexts of the job, its event, and the entries of `everything` that it restores.
    type Row<'a> = (&'a str, &'a [(&'a str, &'a str)], Value, &'a [usize]);
    let rows: [Row<'_>; 8] = [
        ("a request", &of_request, request(7, "main"), &[0, 6]),
        ("another request", &of_request, request(8, "main"), &[1, 6]),
        (
            "a request to another branch",
            &of_request,
            request(71, "main-7"),
            &[2, 7],
        ),
        (
            "a request to a branch without a history",
            &of_request,
            request(9, "next"),
            &[],
        ),
        ("a push", &push("main"), none.clone(), &[6]),
        (
            "a schedule",
            &[("github.event_name", "schedule")],
            none.clone(),
            &[6],
        ),
        (
            "a merge queue",
            &[("github.event_name", "merge_group")],
            serde_json::json!({"merge_group": {"base_ref": "refs/heads/main"}}),
            &[6],
        ),
        (
            "a branch that is named like a request",
            &push("request-7"),
            none.clone(),
            &[],
        ),
    ];
    for (name, contexts, event, expected) in rows {
        let contexts = [contexts, &[("github.run_id", "99")]].concat();
        let (_, keys) = histories(&sandbox, &contexts, &event);
        let is_restored = |saved: &&String| keys.iter().any(|key| saved.starts_with(key));
        let restored: Vec<&String> = everything.iter().filter(is_restored).collect();
        let expected: Vec<&String> = expected.iter().map(|at| &everything[*at]).collect();
        assert_eq!(restored, expected, "{name}: {keys:?}");
    }
    for stranger in &everything[..6] {
        assert!(!stranger.starts_with("glee-history-branch-"), "{stranger}");
    }
}
