//! Tests runs in the background: `--detach`, `glee runs wait`, `glee runs stop` and the hook `post-commit`.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::review::json;
use crate::support::{Output, Sandbox};

/// Waits until the file `go` is beside it, and raises a finding for each file with `md5`.
const LENS: &str = r#"#!/bin/sh
bin=$(dirname "$0")
cat > /dev/null
while [ -d "$bin" ] && [ ! -e "$bin/go" ]; do sleep 0.02; done
n=0
for file in *.py; do
  if grep -q md5 "$file"; then echo "[MUST] $file:1 Do not hash passwords with md5"; n=$((n + 1)); fi
done
echo "GLEE-REVIEW-END nonce=$GLEE_NONCE findings=$n"
"#;

/// A repository with a reviewer that answers only after [`go`].
fn project() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.git_init();
    sandbox.connect("lens", "reviewer", LENS, &["--user"]);
    sandbox.write("a.py", "a = md5(x)\n");
    sandbox
}

fn bin(sandbox: &Sandbox) -> PathBuf {
    sandbox.root().with_file_name("bin")
}

fn go(sandbox: &Sandbox) {
    fs::write(bin(sandbox).join("go"), "").expect("a written file");
}

/// Starts a detached run and returns its short id.
fn detached(sandbox: &Sandbox, args: &[&str]) -> String {
    let began = Instant::now();
    let started = sandbox.glee(&[args, &["--detach"]].concat());
    assert_eq!(started.code, 0, "{started}");
    assert!(began.elapsed() < Duration::from_secs(20), "it waited");
    let (_, rest) = started.stdout.split_once("Run ").expect("the id of a run");
    rest[..8].to_owned()
}

/// The processes whose command line contains `word`.
pub(crate) fn processes(word: &str) -> Vec<i32> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").expect("/proc is readable").flatten() {
        let line = fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default();
        let name = entry.file_name().to_string_lossy().parse();
        if let (true, Ok(process)) = (line.contains(word), name) {
            found.push(process);
        }
    }
    found
}

pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !holds() {
        assert!(Instant::now() < deadline, "never: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The processes of the reviewer.
fn asked(sandbox: &Sandbox) -> Vec<i32> {
    processes(&bin(sandbox).join("lens").display().to_string())
}

fn until_asked(sandbox: &Sandbox) {
    until("the reviewer is asked", || !asked(sandbox).is_empty());
}

fn full_id(sandbox: &Sandbox, run: &str) -> String {
    let rows = json(&sandbox.glee(&["runs", "--json"]).stdout);
    let rows = rows.as_array().expect("a list");
    let ids = rows.iter().filter_map(|row| row["run"].as_str());
    let mut ids = ids.filter(|id| id.ends_with(run));
    ids.next().expect("the run is listed").to_owned()
}

fn ended(sandbox: &Sandbox, run: &str) -> String {
    let listed = sandbox.glee(&["runs"]).stdout;
    let row = listed.lines().find(|line| line.starts_with(run));
    row.expect("the run is listed").to_owned()
}

fn wait(sandbox: &Sandbox, run: &str) -> Output {
    sandbox.glee(&["runs", "wait", run, "--timeout", "60s"])
}

#[test]
fn a_detached_review_is_waited_for_and_ends_as_it_would_have() {
    let sandbox = project();
    let run = detached(&sandbox, &["review", "--format", "json=out.json"]);
    assert!(ended(&sandbox, &run).contains("  works  "), "{run}");
    let early = sandbox.glee(&["runs", "wait", &run, "--timeout", "300ms"]);
    assert_eq!(early.code, 124, "{early}");
    assert_eq!(early.stdout, "", "{early}");
    assert!(early.stderr.contains("still works"), "{early}");
    let twice = sandbox.glee(&["runs", "resume", &run]);
    assert_eq!(twice.code, 6, "{twice}");
    assert!(twice.stderr.contains("glee runs stop"), "{twice}");

    go(&sandbox);
    let waited = wait(&sandbox, &run);
    assert_eq!(waited.code, 1, "{waited}");
    let shown = sandbox.glee(&["runs", "show", &run]);
    assert_eq!(waited.stdout, shown.stdout);
    assert!(waited.stdout.contains("Do not hash passwords"), "{waited}");
    until("the report is written", || sandbox.exists("out.json"));
    let agent = sandbox.glee(&["runs", "wait", &run, "--format", "agent"]);
    assert_eq!((agent.code, agent.stderr.as_str()), (1, ""), "{agent}");
    assert!(sandbox.glee(&["findings"]).stdout.contains("a.py:1"));
    let again = sandbox.glee(&["runs", "stop", &run]);
    assert_eq!(again.code, 2, "{again}");
    assert!(again.stderr.contains("has ended"), "{again}");
}

#[test]
fn the_start_is_told_in_each_form() {
    let sandbox = project();
    go(&sandbox);
    let of = |args: &[&str]| {
        let started = sandbox.glee(&[&["review", "--detach"], args].concat());
        assert_eq!(started.code, 0, "{started}");
        let waited = sandbox.glee(&["runs", "wait", "--format", "agent"]);
        assert_eq!(waited.code, 1, "{waited}");
        started
    };
    let object = json(&of(&["--json"]).stdout);
    let id = object["run"].as_str().expect("an id");
    assert!(
        id.ends_with(
            ended(&sandbox, &id[28..])
                .split(' ')
                .next()
                .expect("a word")
        )
    );
    let agent = of(&["--format", "agent"]);
    assert_eq!(agent.stderr, "", "{agent}");
    assert!(agent.stdout.contains("\n> glee runs wait "), "{agent}");
    let quiet = of(&["--quiet"]);
    assert_eq!(
        (quiet.stdout.len(), quiet.stderr.as_str()),
        (9, ""),
        "{quiet}"
    );
    let text = of(&[]);
    assert_eq!(text.stdout.lines().count(), 1, "{text}");
}

#[test]
fn what_cannot_start_is_told_at_once_and_leaves_nothing() {
    let mut sandbox = project();
    let runs = |sandbox: &Sandbox| sandbox.glee(&["runs", "--json"]).stdout;
    for (args, code, why) in [
        (&["review", "none.py"][..], 2, "no file or folder `none.py`"),
        (&["review", "--dry-run"], 2, "--dry-run"),
        (&["review", "--web"], 2, "glee runs show --web"),
        (&["review", "--format", "sarif"], 2, "sarif=FILE"),
        (&["review", "--with", "nobody"], 2, "nobody"),
        (&["answer", "F1", "implemented"], 2, "there is no run"),
    ] {
        let refused = sandbox.glee(&[args, &["--detach"]].concat());
        assert_eq!(refused.code, code, "{args:?} {refused}");
        assert_eq!(refused.stdout, "", "{args:?} {refused}");
        assert!(refused.stderr.contains(why), "{args:?} {refused}");
        assert_eq!(refused.stderr.matches("error").count(), 1, "{refused}");
    }
    assert_eq!(runs(&sandbox), "[]\n");
    let kept = Command::new("find")
        .arg(sandbox.state())
        .args(["-path", "*/runs/*"])
        .output();
    assert!(kept.expect("find is installed").stdout.is_empty());

    go(&sandbox);
    let run = detached(&sandbox, &["review"]);
    assert_eq!(wait(&sandbox, &run).code, 1);
    let id = full_id(&sandbox, &run);
    let before = runs(&sandbox);
    let again = sandbox.glee(&["--detached", &id, "review"]);
    assert_eq!(again.code, 2, "{again}");
    assert!(again.stderr.contains("recorded already"), "{again}");
    assert_eq!(sandbox.glee(&["--detached", "../x", "review"]).code, 2);
    assert_eq!(runs(&sandbox), before);

    sandbox.write(".glee/config.yml", "notify: {command: [./x]}\n");
    sandbox.env("CI", "");
    let untrusted = sandbox.glee(&["review", "--detach"]);
    assert_eq!(untrusted.code, 8, "{untrusted}");
}

#[test]
fn a_stopped_run_ends_its_agents_and_can_be_resumed() {
    let sandbox = project();
    let run = detached(&sandbox, &["review"]);
    until_asked(&sandbox);
    let stopped = sandbox.glee(&["runs", "stop", &run]);
    assert_eq!(stopped.code, 0, "{stopped}");
    assert_eq!(asked(&sandbox), [0; 0], "the agent has ended");
    assert!(ended(&sandbox, &run).contains("interrupted"));
    let waited = wait(&sandbox, &run);
    assert_eq!(waited.code, 143, "{waited}");
    assert!(waited.stderr.contains("glee runs resume"), "{waited}");
    let again = sandbox.glee(&["runs", "stop", &run]);
    assert_eq!(again.code, 2, "{again}");
    assert!(again.stderr.contains("was interrupted"), "{again}");
    go(&sandbox);
    let resumed = sandbox.glee(&["runs", "resume", &run]);
    assert_eq!(resumed.code, 1, "{resumed}");
    assert_eq!(wait(&sandbox, &run).code, 1);
}

#[test]
fn a_run_of_another_terminal_is_stopped_too() {
    let sandbox = project();
    let mut other = sandbox
        .command(&["review"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary runs");
    until_asked(&sandbox);
    let stopped = sandbox.glee(&["runs", "stop"]);
    assert_eq!(stopped.code, 0, "{stopped}");
    assert_eq!(other.wait().expect("it ends").code(), Some(143));
    assert_eq!(wait(&sandbox, "last").code, 143);
}

#[test]
fn a_killed_run_is_not_waited_for() {
    let sandbox = project();
    let run = detached(&sandbox, &["review"]);
    until_asked(&sandbox);
    let id = full_id(&sandbox, &run);
    let word = format!("--detached\0{id}");
    let [process] = processes(&word)[..] else {
        panic!("one process works on {id}");
    };
    let killed = Command::new("kill")
        .args(["-9", &process.to_string()])
        .status();
    assert!(killed.expect("kill is installed").success());
    let waited = sandbox.glee(&["runs", "wait", &run]);
    assert_eq!(waited.code, 137, "{waited}");
    assert!(waited.stderr.contains("was killed"), "{waited}");
    assert!(waited.stderr.contains("glee runs resume"), "{waited}");
    until("the agent has ended", || asked(&sandbox).is_empty());
    go(&sandbox);
    assert_eq!(sandbox.glee(&["runs", "resume", &run]).code, 1);
}

#[test]
fn one_detached_run_works_at_a_time_and_a_newer_one_supersedes_one_that_waits() {
    let sandbox = project();
    let first = detached(&sandbox, &["review", "a.py"]);
    until_asked(&sandbox);
    let older = detached(&sandbox, &["review", "--base", "HEAD"]);
    let other = detached(&sandbox, &["review", "a.py", "--focus", "speed"]);
    sandbox.write("b.py", "b = md5(x)\n");
    let newer = sandbox.glee(&["review", "--base", "HEAD", "--detach"]);
    assert!(
        newer.stderr.contains(&format!("run {older} has not begun")),
        "{newer}"
    );
    let superseded = wait(&sandbox, &older);
    assert_eq!(superseded.code, 130, "{superseded}");
    assert!(
        superseded.stdout.contains("superseded by run"),
        "{superseded}"
    );
    let early = sandbox.glee(&["runs", "wait", "--timeout", "1s"]);
    assert_eq!(early.code, 124, "the first one works: {early}");
    go(&sandbox);
    for run in [&first, &other, &"last".to_owned()] {
        assert_eq!(wait(&sandbox, run).code, 1);
    }
    assert!(sandbox.glee(&["findings"]).stdout.contains("b.py:1"));
}

#[test]
fn an_answer_is_checked_in_the_background() {
    let sandbox = project();
    go(&sandbox);
    assert_eq!(sandbox.glee(&["review"]).code, 1);
    let run = detached(&sandbox, &["answer", "F1", "implemented"]);
    let claimed = wait(&sandbox, &run);
    assert_eq!(claimed.code, 1, "{claimed}");
    assert!(claimed.stdout.contains("= claimed: "), "{claimed}");
}

#[test]
fn a_patch_comes_from_standard_input() {
    let sandbox = project();
    go(&sandbox);
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "Add"]);
    let patch = sandbox.git(&["show", "HEAD"]);
    let started = sandbox.glee_with(&["review", "--diff", "-", "--detach"], &patch);
    assert_eq!(started.code, 0, "{started}");
    assert_eq!(wait(&sandbox, "last").code, 1);
}

#[test]
fn a_commit_does_not_wait_for_the_hook_and_no_commit_is_left_out() {
    let sandbox = project();
    let glee = assert_cmd::cargo::cargo_bin!("glee").display();
    sandbox.program("glee", &format!("#!/bin/sh\nexec '{glee}' \"$@\"\n"));
    let refused = sandbox.glee(&["hook", "install", "post-commit", "--mode", "block"]);
    assert_eq!(refused.code, 2, "{refused}");
    let installed = sandbox.glee(&["hook", "install", "post-commit", "--timeout", "5m"]);
    assert_eq!(installed.code, 0, "{installed}");
    let commit = |name: &str| {
        sandbox.write(name, "key = md5(x)\n");
        sandbox.git(&["add", "-A"]);
        sandbox.git(&["commit", "-q", "-m", name]);
    };
    commit("one.py");
    until_asked(&sandbox);
    commit("two.py");
    commit("three.py");
    let rows = json(&sandbox.glee(&["runs", "--json"]).stdout);
    let works = |row: &&serde_json::Value| row["works"] == true;
    let rows = rows.as_array().expect("a list");
    assert_eq!(rows.len(), 3, "{rows:?}");
    until("the second one is superseded", || {
        let rows = json(&sandbox.glee(&["runs", "--json"]).stdout);
        rows.as_array()
            .expect("a list")
            .iter()
            .filter(works)
            .count()
            == 2
    });
    go(&sandbox);
    assert_eq!(wait(&sandbox, "last").code, 1);
    let found = sandbox.glee(&["findings"]).stdout;
    for name in ["one.py:1", "two.py:1", "three.py:1"] {
        assert!(found.contains(name), "{found}");
    }
    let target = json(&sandbox.glee(&["runs", "--json"]).stdout)[0]["target"].to_string();
    let first = sandbox.git(&["rev-parse", "HEAD~2"]);
    assert!(target.contains(first.trim()), "{target}");
}
