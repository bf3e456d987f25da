//! Runs in the background: the detached process or the process that starts it is killed, at fixed times and at random.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::kills::{fastrand, kills, unbroken, whole};
use crate::agent::Step;
use crate::runner::Cases;
use crate::scene::{Adapter, CODE, DONE, Kind, REVIEW, Scene, emit, essence, fix};

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
    if kind == Kind::Git {
        no_worktree(&scene);
    }
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
        let expected = Kind::ALL.map(unbroken);
        at_random(|run, random| {
            let kind = Kind::ALL[run % 2];
            let victim = [Victim::Detached, Victim::Starter][run / 2 % 2];
            let after = Duration::from_millis(random % 600);
            let expected = &expected[usize::from(kind == Kind::Git)];
            killed(kind, victim, after, expected);
        });
    });
    const APART: &str = "SIGKILL of a run in a worktree, and of an apply";
    for millis in (0..800).step_by(40) {
        cases.add(APART, format!("after {millis} ms"), move || {
            killed_apart(
                Duration::from_millis(millis),
                Duration::from_millis(millis / 4),
            );
        });
    }
    cases.heavy(APART, "at random times", || {
        at_random(|_, random| {
            let after = Duration::from_millis(random % 800);
            killed_apart(after, Duration::from_millis(random / 800 % 200));
        });
    });
    cases.add(
        "SIGKILL of a detached run that waits",
        "is resumed, and the one that works ends",
        killed_while_it_waits,
    );
}

/// Calls `kill` `KILLS` times with random numbers, several at a time: a case waits most of the time.
fn at_random(kill: impl Fn(usize, u64) + Sync) {
    const AT_A_TIME: usize = 4;
    let (kill, all) = (&kill, kills());
    std::thread::scope(|scope| {
        for thread in 0..AT_A_TIME {
            scope.spawn(move || {
                let mut random = fastrand(u64::from(std::process::id()) * 64 + thread as u64);
                for run in (thread..all).step_by(AT_A_TIME) {
                    kill(run, random());
                }
            });
        }
    });
}

/// Asserts that no worktree is left, neither in git nor in the state folder.
fn no_worktree(scene: &Scene) {
    let listed = scene.git(&["worktree", "list", "--porcelain"]);
    assert_eq!(listed.matches("worktree ").count(), 1, "{listed}");
    let left = fs::read_dir(scene.state().join("worktrees"));
    let left: Vec<_> = left.into_iter().flatten().flatten().collect();
    assert!(left.is_empty(), "{left:?}");
}

/// Kills a detached run whose coder works in a worktree, while the user goes on in the tree. The run ends after a resume,
/// or it says that it cannot go on; its changes are applied by a command that is killed too. Nothing is lost or left.
fn killed_apart(after: Duration, in_apply: Duration) {
    let mut scene = Scene::new(Kind::Git);
    let pause = || Step::Sleep(30);
    scene.play("rev", "review", [pause(), emit(REVIEW), pause()]);
    scene.play("fix", "respond", [pause(), fix(), pause(), emit(DONE)]);
    let root = scene.root().display().to_string();
    let args = [
        "-C",
        &root,
        "review",
        "app.py",
        "--fix",
        "--no-input",
        "--detach",
    ];
    let started = scene.ready().glee(&args);
    assert_eq!(started.code, 0, "{started}");
    std::thread::sleep(after);
    detached(&scene).into_iter().for_each(kill);
    until("it is dead", || detached(&scene).is_empty());
    scene.all_dead(Duration::from_secs(5));
    assert_eq!(scene.read("app.py"), CODE);
    let mine = format!("{CODE}\n\ndef mine():\n    return 1\n");
    scene.write("app.py", &mine);

    let runs = runs(&scene);
    assert_eq!(runs.len(), 1, "{runs:?}");
    let mut ended = scene.glee(&["runs", "wait", "--timeout", "30s", "--format", "json"]);
    if ended.code == 137 {
        ended = scene.glee(&["runs", "resume", "--format", "json", "--no-input"]);
    }
    scene.all_dead(Duration::from_secs(5));
    scene.nothing_repeated();
    assert_eq!(scene.read("app.py"), mine);
    if ended.code == 3 {
        // Killed in the call of the coder, after it wrote.
        assert!(ended.stderr.contains("glee runs drop"), "{ended}");
        let dropped = scene.glee(&["runs", "drop"]);
        assert_eq!(dropped.code, 0, "{dropped}");
        assert_eq!(scene.read("app.py"), mine);
        return no_worktree(&scene);
    }
    assert_eq!(ended.code, 0, "{ended}");
    let mut apply = scene.start(&["runs", "apply"]);
    std::thread::sleep(in_apply);
    drop(apply.kill());
    drop(apply.wait());
    let fixed = mine.replace("md5", "sha256");
    let half_way = scene.read("app.py");
    assert!(half_way == mine || half_way == fixed, "{half_way}");
    let applied = scene.glee(&["runs", "apply"]);
    assert_eq!(applied.code, 0, "{applied}");
    assert_eq!(scene.read("app.py"), fixed);
    no_worktree(&scene);
    let undone = scene.glee(&["runs", "undo"]);
    assert_eq!(undone.code, 0, "{undone}");
    assert_eq!(scene.read("app.py"), mine);
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
