//! Runs in the background: the detached process or the process that starts it is killed, at fixed times and at random.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::kills::{fastrand, kills, unbroken, whole};
use crate::runner::Cases;
use crate::scene::{Adapter, CODE, Kind, Scene, essence};

/// Who is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Victim {
    Detached,
    Starter,
}

/// The processes of detached runs of this scene.
fn detached(scene: &Scene) -> Vec<i32> {
    let root = scene.root().display().to_string();
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").expect("/proc is readable").flatten() {
        let line = fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default();
        let is_own = line.contains("\0--detached\0") && line.contains(&root);
        let name = entry.file_name().to_string_lossy().parse();
        if let (true, Ok(process)) = (is_own, name) {
            found.push(process);
        }
    }
    found
}

fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < deadline, "never: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn kill(process: i32) {
    let pid = nix::unistd::Pid::from_raw(process);
    // It may have ended already.
    let _ = nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL);
}

fn runs(scene: &Scene) -> Vec<Value> {
    let listed = scene.glee(&["runs", "--json"]);
    serde_json::from_str(&listed.stdout).unwrap_or_else(|error| panic!("{error}: {listed}"))
}

/// Starts a detached run, kills the victim after `after`, and requires that the run ends as if nothing had happened: a
/// killed run says so and is resumed, a run without its starter goes on, and there is one run at most.
fn killed(kind: Kind, victim: Victim, after: Duration, expected: &Value) {
    let scene = whole(kind, Adapter::Text);
    let root = scene.root().display().to_string();
    let args = [
        "-C",
        &root,
        "review",
        "app.py",
        "--arbitrate",
        "--no-input",
        "--detach",
    ];
    let mut starter = scene.ready().start(&args);
    match victim {
        Victim::Starter => {
            std::thread::sleep(after);
            drop(starter.kill());
            drop(starter.wait());
            until("it ends by itself", || detached(&scene).is_empty());
        }
        Victim::Detached => {
            let status = starter.wait().expect("it is ours");
            assert!(status.success(), "{status}");
            std::thread::sleep(after);
            detached(&scene).into_iter().for_each(kill);
            until("it is dead", || detached(&scene).is_empty());
        }
    }
    scene.all_dead(Duration::from_secs(5));
    assert_eq!(scene.read("app.py"), CODE);
    let runs = runs(&scene);
    if runs.is_empty() {
        assert_eq!(victim, Victim::Starter, "a started run is recorded");
        return;
    }
    assert_eq!(runs.len(), 1, "{runs:?}");
    let waited = scene.glee(&["runs", "wait", "--timeout", "30s", "--format", "json"]);
    let ended = match (victim, waited.code) {
        (Victim::Detached, 137) => {
            assert!(waited.stderr.contains("glee runs resume"), "{waited}");
            scene.glee(&["runs", "resume", "--format", "json", "--no-input"])
        }
        _ => waited,
    };
    assert_eq!(essence(&ended), *expected, "{ended}");
    scene.nothing_repeated();
}

pub(crate) fn add(cases: &mut Cases) {
    const ROW: &str = "SIGKILL of a detached run or of its starter";
    for kind in Kind::ALL {
        for victim in [Victim::Detached, Victim::Starter] {
            for millis in (0..600).step_by(40) {
                let name = format!("{victim:?} {} after {millis} ms", kind.word());
                cases.add(ROW, name, move || {
                    let expected = unbroken(kind);
                    killed(kind, victim, Duration::from_millis(millis), &expected);
                });
            }
        }
    }
    cases.heavy(ROW, "at random times", || {
        let mut random = fastrand(u64::from(std::process::id()) + 1);
        let expected = Kind::ALL.map(unbroken);
        for run in 0..kills() {
            let kind = Kind::ALL[run % 2];
            let victim = [Victim::Detached, Victim::Starter][run / 2 % 2];
            let after = Duration::from_millis(random() % 600);
            killed(
                kind,
                victim,
                after,
                &expected[usize::from(kind == Kind::Git)],
            );
        }
    });
    cases.add(
        "SIGKILL of a detached run that waits",
        "is resumed, and the one that works ends",
        killed_while_it_waits,
    );
}

fn killed_while_it_waits() {
    let scene = whole(Kind::Git, Adapter::Text);
    let root = scene.root().display().to_string();
    let start = |target: &str| {
        let args = ["-C", &root, "review", target, "--no-input", "--detach"];
        let started = scene.ready().glee(&args);
        assert_eq!(started.code, 0, "{started}");
    };
    let before = detached(&scene);
    assert!(before.is_empty());
    start("app.py");
    let first = detached(&scene);
    start(".");
    let second: Vec<i32> = detached(&scene)
        .into_iter()
        .filter(|process| !first.contains(process))
        .collect();
    second.into_iter().for_each(kill);
    until("both have ended", || detached(&scene).is_empty());
    scene.all_dead(Duration::from_secs(5));
    let runs = runs(&scene);
    assert_eq!(runs.len(), 2, "{runs:?}");
    let newest = runs[0]["run"].as_str().expect("an id");
    let oldest = runs[1]["run"].as_str().expect("an id");
    assert_eq!(scene.glee(&["runs", "wait", oldest]).code, 1);
    let resumed = scene.glee(&["runs", "resume", newest, "--no-input"]);
    assert_eq!(resumed.code, 1, "{resumed}");
    start(".");
    assert_eq!(scene.glee(&["runs", "wait", "--timeout", "30s"]).code, 1);
}
