//! The scripts of `templates/glee.gitlab-ci.yml`, run as GitLab's runner runs them, against the double.

use std::path::Path;

use serde_json::Value;

use super::super::double::{HostDouble, git};
use super::super::scene::Scene;
use super::super::{SAFE, code, step};
use super::{GitLab, JOB_TOKEN};

fn job() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates/glee.gitlab-ci.yml");
    let text = std::fs::read_to_string(path).expect("the template");
    let whole: Value = serde_yaml::from_str(&text).expect("YAML");
    whole["glee"].clone()
}

/// Replaces `$NAME` at the start.
fn expanded(text: &str, variables: &[(String, String)]) -> String {
    let Some(named) = text.strip_prefix('$') else {
        return text.to_owned();
    };
    let end = named
        .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .unwrap_or(named.len());
    let (name, rest) = named.split_at(end);
    let value = variables
        .iter()
        .find(|(known, _)| known == name)
        .map(|(_, value)| value.as_str());
    format!("{}{rest}", value.unwrap_or_default())
}

/// Runs a pipeline of the merge request for its head commit. Returns the exit code of the job and what it printed.
fn pipeline(scene: &Scene, given: &[(&str, &str)]) -> (i32, String) {
    let (job, root) = (job(), scene.sandbox.root());
    let bare = scene.sandbox.home().join("host.git").display().to_string();
    scene
        .sandbox
        .git(&["fetch", "-q", &bare, GitLab.head_ref()]);
    scene
        .sandbox
        .git(&["checkout", "-q", "-f", "--detach", "FETCH_HEAD"]);
    let base = git(&root, &["merge-base", "HEAD", "origin/main"]);
    let text = |path: &Path| path.display().to_string();
    let own = [
        ("CI", "true".to_owned()),
        ("CI_PROJECT_DIR", text(&root)),
        ("CI_BUILDS_DIR", text(&scene.sandbox.home())),
        ("CI_PROJECT_PATH", "team/shop".to_owned()),
        ("CI_MERGE_REQUEST_PROJECT_PATH", "team/shop".to_owned()),
        ("CI_MERGE_REQUEST_IID", "7".to_owned()),
        ("CI_MERGE_REQUEST_DIFF_BASE_SHA", base.trim().to_owned()),
        ("CI_JOB_TOKEN", JOB_TOKEN.to_owned()),
    ];
    let mut variables: Vec<(String, String)> =
        own.map(|(name, value)| (name.to_owned(), value)).to_vec();
    let in_job = job["variables"].as_object().expect("variables");
    for (name, value) in in_job
        .iter()
        .filter(|(name, _)| given.iter().all(|(other, _)| other != name))
    {
        variables.push((name.clone(), value.as_str().expect("a text").to_owned()));
    }
    variables.extend(
        given
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned())),
    );
    let known = variables.clone();
    let mut shell = scene.sandbox.shell();
    shell.envs(
        variables
            .iter()
            .map(|(name, value)| (name, expanded(value, &known))),
    );
    let lines = ["before_script", "script"]
        .map(|part| job[part].as_array().cloned().expect("lines"))
        .concat();
    let lines: Vec<&str> = lines
        .iter()
        .map(|line| line.as_str().expect("a line"))
        .collect();
    let output = shell
        .args(["-c", "exec sh -ec \"$0\"", &lines.join("\n")])
        .output()
        .expect("a shell starts");
    let printed = [output.stdout, output.stderr].concat();
    (
        output.status.code().unwrap_or(-1),
        String::from_utf8_lossy(&printed).into_owned(),
    )
}

fn scene() -> Scene {
    let scene = Scene::new(&GitLab);
    let glee = assert_cmd::cargo::cargo_bin!("glee").display();
    scene
        .sandbox
        .program("glee", &format!("#!/bin/sh\nexec '{glee}' \"$@\"\n"));
    scene
}

#[test]
fn a_job_with_a_token_publishes_and_keeps_its_history() {
    let scene = scene();
    step(&scene, 1);
    for _ in 0..2 {
        let (exit, printed) = pipeline(&scene, &[]);
        assert_eq!(exit, 0, "{printed}");
        assert!(printed.contains("Published on"), "{printed}");
        assert_eq!(scene.double.state().threads.len(), 2, "{printed}");
    }
    let read = |name: &str| scene.sandbox.read(name);
    assert!(read("glee-quality.json").contains("a.py") && read("glee.xml").contains("a.py"));
    assert!(
        scene.sandbox.exists(".glee-cache/state/repos"),
        "the history is in the cache"
    );
    let (exit, printed) = pipeline(&scene, &[("GLEE_MODE", "enforce")]);
    assert_eq!(exit, 1, "{printed}");
    scene.write("a.py", SAFE);
    scene.write("b.py", SAFE);
    scene.commit("Fix");
    scene.push();
    let (exit, printed) = pipeline(&scene, &[("GLEE_MODE", "enforce")]);
    assert_eq!(exit, 0, "{printed}");
    assert!(
        scene
            .double
            .state()
            .threads
            .iter()
            .all(|thread| thread.is_resolved),
        "{:#?}",
        scene.conversation()
    );
}

#[test]
fn a_job_without_a_token_reports_by_widgets() {
    let scene = scene();
    scene.write("a.py", &code("first"));
    scene.commit("Change");
    scene.push();
    let (exit, printed) = pipeline(&scene, &[("GITLAB_TOKEN", "")]);
    assert_eq!(
        exit, 1,
        "GitLab permits this failure in the mode `warn`: {printed}"
    );
    assert!(
        scene.sandbox.read("glee-quality.json").contains("a.py"),
        "{printed}"
    );
    assert!(scene.double.state().requests.is_empty(), "{printed}");
}

#[test]
fn a_job_installs_the_pinned_package_and_compiles_only_where_asked() {
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(job()["variables"]["CI_GLEE_VERSION"], version);
    let glee = assert_cmd::cargo::cargo_bin!("glee").display();
    let install = format!(
        "mkdir -p \"$CI_GLEE_ROOT/bin\" && printf '#!/bin/sh\\nexec {glee} \"$@\"\\n' >\"$CI_GLEE_ROOT/bin/glee\" \
         && chmod +x \"$CI_GLEE_ROOT/bin/glee\""
    );
    for (has_package, compile, exit) in
        [(true, "false", 0), (false, "true", 0), (false, "false", 1)]
    {
        let scene = Scene::new(&GitLab);
        step(&scene, 1);
        let program = |name: &str, args: &str, command: &str| {
            let script =
                format!("#!/bin/sh\ncase \"$*\" in {args}) {command} ;; *) exit 9 ;; esac\n");
            scene.sandbox.program(name, &script);
        };
        let pip = if has_package { &install } else { "exit 1" };
        program(
            "python3",
            &format!("*' pip install '*' glee-review=={version}'"),
            pip,
        );
        program("cargo", &format!("*' glee-review@{version} '*"), &install);
        let (code, printed) = pipeline(&scene, &[("CI_GLEE_COMPILE", compile)]);
        assert_eq!(code, exit, "{has_package} {compile}: {printed}");
        assert_eq!(printed.contains("Published on"), exit == 0, "{printed}");
    }
}

/// GitLab expands the variables of a key, and shares an entry between all jobs with the same key.
#[test]
fn requests_share_the_program_and_never_a_history() {
    let job = job();
    let caches = job["cache"].as_array().expect("caches");
    for cache in caches {
        let paths = cache["paths"].to_string();
        let key = cache["key"].as_str().expect("a key");
        assert_eq!(
            key.contains("$CI_MERGE_REQUEST_IID"),
            paths.contains("state"),
            "{cache}"
        );
        assert!(cache["fallback_keys"].is_null(), "{cache}");
    }
}

#[test]
fn a_change_does_not_bring_the_program_that_reviews_it() {
    let scene = scene();
    scene.write(".glee-cache/bin/glee", "#!/bin/sh\nexit 0\n");
    scene.commit("Bring a program");
    scene.push();
    let (exit, printed) = pipeline(&scene, &[]);
    assert_eq!(exit, 2, "{printed}");
    assert!(printed.contains("files in .glee-cache"), "{printed}");
}
