//! Whole jobs that use `action.yml` for a pull request: the scripts run against the double, on the base as after
//! `pull_request_target`, or on the change as after `pull_request`.

use std::fs;
use std::path::Path;

use rstest::rstest;
use serde_json::Value;

use super::super::code;
use super::super::double::HostDouble as _;
use super::super::scene::Scene;
use super::GitHub;
use crate::hooks::job::Job;

const CONFIG: &str =
    "version: 1\nagents:\n  - {name: rules, command: 'builtin:rules', role: reviewer}\n";

/// The base connects the embedded reviewer, and the workflow checks it out.
fn scene() -> Scene {
    let scene = Scene::new(&GitHub);
    scene.author(&["checkout", "-q", "main"]);
    scene.write(".glee/config.yml", CONFIG);
    scene.commit("Connect a reviewer");
    let bare = scene.sandbox.home().join("host.git").display().to_string();
    scene.author(&["push", "-q", &bare, "main"]);
    scene.author(&["checkout", "-q", "change"]);
    scene.author(&["reset", "-q", "--hard", "main"]);
    scene.sandbox.git(&["pull", "-q"]);
    fs::remove_file(scene.sandbox.user_config())
        .expect("the runner has no configuration of a user");
    let glee = assert_cmd::cargo::cargo_bin!("glee").display();
    scene
        .sandbox
        .program("glee", &format!("#!/bin/sh\nexec '{glee}' \"$@\"\n"));
    // A rustup of the machine would download a toolchain into the empty home.
    scene
        .sandbox
        .program("rustc", "#!/bin/sh\necho rustc 1.95.0\n");
    scene
}

fn job<'a>(scene: &'a Scene, run: &str, inputs: &[(&str, &str)]) -> Job<'a> {
    let head = scene.double.state().head();
    let event = serde_json::json!({ "pull_request": { "number": 7, "head": { "sha": head } } });
    fs::write(scene.sandbox.home().join("event.json"), event.to_string()).expect("a file");
    let _ = fs::remove_file(scene.sandbox.home().join("summary"));
    let contexts = [
        ("github.token", GitHub.token()),
        ("github.event.pull_request.number", "7"),
        ("github.run_id", run),
    ];
    Job::of_event(
        &scene.sandbox,
        &contexts,
        &[&[("glee", "glee")], inputs].concat(),
    )
}

fn json(path: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(path).expect("a file")).expect("JSON")
}

fn summary(scene: &Scene) -> String {
    fs::read_to_string(scene.sandbox.home().join("summary")).unwrap_or_default()
}

#[test]
fn a_request_is_reviewed_published_and_decided() {
    let scene = scene();
    scene.write("a.py", &code("first"));
    scene.write("b.py", &code("second"));
    scene.commit("Change");
    scene.push();
    let mut first = job(&scene, "11", &[]);
    let (exit, log) = first.run();
    assert_eq!(exit, 0, "warn never fails: {log}");
    assert_eq!(
        first.output("review.outputs.exit-code"),
        "0",
        "`pr.mode` is `warn`: {log}"
    );
    assert!(log.contains("::error file=a.py,line=2"), "{log}");
    assert!(summary(&scene).contains("a.py"), "{}", summary(&scene));
    {
        let state = scene.double.state();
        assert_eq!((state.threads.len(), state.comments.len()), (2, 1), "{log}");
        assert_eq!(
            state.checks[0],
            [state.head(), "neutral".to_owned(), "glee".to_owned()]
        );
    }
    let report = json(first.output("setup.outputs.report"));
    assert_eq!(
        report["findings"].as_array().map(Vec::len),
        Some(2),
        "{report:#}"
    );
    let upload = &first.uploads[0];
    assert_eq!(
        (upload["ref"].as_str(), upload["sha"].as_str()),
        ("refs/pull/7/head", &*scene.double.state().head())
    );
    let sarif = json(&upload["sarif_file"]);
    let results = sarif["runs"][0]["results"].as_array().expect("results");
    let uri = |result: &Value| {
        result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].clone()
    };
    assert_eq!(
        results.iter().map(uri).collect::<Vec<_>>(),
        ["a.py", "b.py"]
    );

    // A new runner restores the history, and reviews only what the next push changes.
    scene.write("c.py", &code("third"));
    scene.commit("Another change");
    scene.push();
    let before = scene.double.state().requests.len();
    let mut second = job(&scene, "12", &[("mode", "enforce")]);
    let (exit, log) = second.run();
    assert_eq!(
        (exit, second.output("review.outputs.exit-code")),
        (1, "1"),
        "{log}"
    );
    let reused = json(second.output("setup.outputs.report"))["proof"]["reused"].clone();
    assert!(
        reused.to_string().contains("a.py") && !reused.to_string().contains("c.py"),
        "{reused:#}"
    );
    let state = scene.double.state();
    assert_eq!((state.threads.len(), state.comments.len()), (3, 1), "{log}");
    assert_eq!(
        state.checks[1],
        [state.head(), "failure".to_owned(), "glee".to_owned()]
    );
    let reviews = state.requests[before..]
        .iter()
        .filter(|line| line.ends_with("/reviews"))
        .count();
    assert_eq!(reviews, 1, "{log}");
}

#[test]
fn the_exit_policy_is_that_of_the_configuration_of_the_base() {
    let scene = scene();
    scene.author(&["checkout", "-q", "main"]);
    scene.write(
        ".glee/config.yml",
        &format!("{CONFIG}pr:\n  mode: enforce\n"),
    );
    scene.commit("Enforce");
    let bare = scene.sandbox.home().join("host.git").display().to_string();
    scene.author(&["push", "-q", &bare, "main"]);
    scene.author(&["checkout", "-q", "change"]);
    scene.author(&["reset", "-q", "--hard", "main"]);
    scene.sandbox.git(&["pull", "-q"]);
    // The change tries to change the policy.
    scene.write(".glee/config.yml", &format!("{CONFIG}pr:\n  mode: warn\n"));
    scene.write("a.py", &code("first"));
    scene.commit("Change");
    scene.push();
    for (mode, expected) in [("warn", 0), ("enforce", 1)] {
        let mut job = job(&scene, "11", &[("mode", mode)]);
        let (exit, log) = job.run();
        assert_eq!(
            (exit, job.output("review.outputs.exit-code")),
            (expected, "1"),
            "{mode}: {log}"
        );
        assert!(log.contains("mandatory findings are open"), "{log}");
    }
    assert!(
        scene
            .double
            .state()
            .checks
            .iter()
            .all(|check| check[1] == "failure")
    );
}

#[test]
fn a_job_in_the_mode_warn_never_fails() {
    let scene = scene();
    scene.write("a.py", &code("first"));
    scene.commit("Change");
    scene.push();
    let unknown: &[(&str, &str)] = &[("glee", "no-such-program")];
    let refused: &[(&str, &str)] = &[("args", "--no-such-option")];
    let over: &[(&str, &str)] = &[("timeout", "1ms")];
    for (number, inputs) in [&[], unknown, refused, over].into_iter().enumerate() {
        scene.double.state().expires_at = (number == 0).then_some(1);
        for mode in ["warn", "enforce"] {
            let mut job = job(&scene, "11", &[inputs, &[("mode", mode)]].concat());
            let (exit, log) = job.run();
            assert_eq!(exit != 0, mode == "enforce", "{inputs:?}, {mode}: {log}");
            assert!(
                log.contains("title=Glee") || log.contains("error:"),
                "{log}"
            );
            assert!(!log.contains(GitHub.token()), "{log}");
        }
    }
    assert!(scene.double.state().threads.is_empty());
}

/// Files whose code runs when a job is careless, each of which leaves the file `pwned`.
fn set_traps(scene: &Scene) {
    let home = scene.sandbox.home();
    let command = format!("touch '{}'", home.join("pwned").display());
    let python = format!(
        "open({:?}, 'w')\n",
        home.join("pwned").display().to_string()
    );
    for name in [
        "json.py",
        "re.py",
        "sitecustomize.py",
        "conftest.py",
        "setup.py",
    ] {
        scene.write(name, &python);
    }
    for name in [
        "glee",
        "git",
        "bash",
        "python3",
        "bin/glee",
        ".githooks/post-checkout",
        ".envrc",
        ".bashrc",
    ] {
        scene.write(name, &format!("#!/bin/sh\n{command}\n"));
        let path = home.join("author").join(name);
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(path, mode).expect("an executable file");
    }
    scene.write("Makefile", &format!("all:\n\t{command}\n"));
    scene.write(
        "package.json",
        &format!("{{\"scripts\": {{\"postinstall\": {command:?}}}}}"),
    );
    scene.write(
        "build.rs",
        "fn main() { std::fs::write(\"pwned\", \"\").unwrap() }\n",
    );
    scene.write(
        ".cargo/config.toml",
        "[build]\nrustc-wrapper = \"./glee\"\n",
    );
    scene.write(".gitattributes", "*.py filter=evil diff=evil\n");
    let agents = format!(
        "version: 1\nagents:\n  - {{name: evil, command: [sh, -c, \"{command}\"], role: reviewer}}\nreview:\n  verify: [\"{command}\"]\n"
    );
    scene.write(".glee/config.yml", &agents);
    scene.write("a.py", &code("first"));
    scene.commit("Traps");
    scene.push();
}

#[rstest]
#[case::base(false)]
#[case::change(true)]
fn a_fork_with_a_token_that_reads_runs_nothing_and_gets_annotations(
    #[case] is_change_checked_out: bool,
) {
    let scene = scene();
    set_traps(&scene);
    if is_change_checked_out {
        let bare = scene.sandbox.home().join("host.git").display().to_string();
        scene
            .sandbox
            .git(&["fetch", "-q", &bare, "refs/pull/7/head"]);
        scene
            .sandbox
            .git(&["checkout", "-q", "--detach", "FETCH_HEAD"]);
    }
    scene.double.state().is_read_only = true;
    let mut job = job(&scene, "11", &[]);
    job.may_upload = false;
    let (exit, log) = job.run();
    assert_eq!(
        (exit, job.output("review.outputs.exit-code")),
        (0, "0"),
        "{log}"
    );
    assert!(log.contains("::error file=a.py,line=2"), "{log}");
    assert!(log.contains("not allowed to write"), "{log}");
    assert!(summary(&scene).contains("a.py"), "{}", summary(&scene));
    assert_eq!(
        job.uploads.len(),
        1,
        "the upload is tried, and its failure fails nothing"
    );
    let state = scene.double.state();
    assert!(state.threads.is_empty() && state.comments.is_empty() && state.checks.is_empty());
    assert!(
        !scene.sandbox.home().join("pwned").exists() && !scene.sandbox.exists("pwned"),
        "{log}"
    );
    assert!(
        !Path::new(job.output("setup.outputs.root"))
            .join("pwned")
            .exists()
    );
}
