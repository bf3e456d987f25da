//! Glee killed at every event and at random, and resumed.

use std::io::{BufRead as _, BufReader};
use std::process::Child;
use std::time::Duration;

use serde_json::Value;

use crate::agent::Step;
use crate::runner::Cases;
use crate::scene::{
    Adapter, CODE, DONE, Kind, OBJECTION, REVIEW, RULING, Scene, emit, essence, fix,
};

const ARGS: [&str; 6] = [
    "review",
    "app.py",
    "--arbitrate",
    "--format",
    "jsonl",
    "--no-input",
];
/// An upper bound of events in these runs.
const EVENTS: usize = 26;

/// A run with an enforced dispute, which contains every kind of step.
pub(super) fn whole(kind: Kind, adapter: Adapter) -> Scene {
    let mut scene = Scene::new(kind).through(adapter);
    let slowly = |step: Step| [Step::Sleep(30), step, Step::Sleep(30)];
    scene.play("rev", "review", slowly(emit(REVIEW)));
    scene.play(
        "jud",
        "judge",
        slowly(emit(&RULING.replace("DISMISS", "ENFORCE"))),
    );
    scene.play("fix", "respond", slowly(emit(OBJECTION)));
    scene
}

/// The result of an uninterrupted run.
pub(super) fn unbroken(kind: Kind) -> Value {
    essence(&whole(kind, Adapter::Text).arbitrate())
}

/// Kills Glee some time after it has printed this number of events; returns whether it was still running.
fn kill_after(mut glee: Child, events: usize, more: Duration) -> bool {
    let stdout = glee.stdout.take().expect("its output is piped");
    let told = BufReader::new(stdout).lines().take(events).count();
    std::thread::sleep(more);
    let over = glee.try_wait().expect("it is ours").is_some();
    drop(glee.kill());
    drop(glee.wait());
    told == events && !over
}

/// Resumes the last run; returns its JSON report.
fn carry_on(scene: &Scene) -> crate::support::Output {
    scene.glee(&["runs", "resume", "--format", "json", "--no-input"])
}

pub(crate) fn add(cases: &mut Cases) {
    cases.heavy(
        "kills at random times",
        "resumed to the same end",
        at_random,
    );
    const ROW: &str = "SIGKILL of Glee at each event";
    for kind in Kind::ALL {
        for adapter in Adapter::ALL {
            for events in 1..EVENTS {
                let more = [0, 15][events % 2];
                let name = format!(
                    "{} {} after event {events} and {more} ms",
                    kind.word(),
                    adapter.word()
                );
                cases.add(ROW, name, move || {
                    let scene = whole(kind, adapter);
                    let glee = scene.ready().start(&ARGS);
                    let was_at_work = kill_after(glee, events, Duration::from_millis(more));
                    scene.all_dead(Duration::from_secs(5));
                    assert_eq!(scene.read("app.py"), CODE);
                    if was_at_work {
                        let output = carry_on(&scene);
                        assert_eq!(essence(&output), unbroken(kind), "{output}");
                    }
                    scene.nothing_repeated();
                });
            }
        }
    }
    const CODER: &str = "SIGKILL of Glee while the coder writes";
    for kind in Kind::ALL {
        for adapter in Adapter::ALL {
            for millis in (0..400).step_by(40) {
                cases.add(
                    CODER,
                    format!(
                        "{} {} {millis} ms into its call",
                        kind.word(),
                        adapter.word()
                    ),
                    move || {
                        killed_in_the_coder(kind, adapter, millis);
                    },
                );
            }
        }
    }
}

/// The coder writes three files with pauses, and Glee is killed in between. It only resumes from a tree that it
/// knows.
fn killed_in_the_coder(kind: Kind, adapter: Adapter, millis: u64) {
    let mut scene = Scene::new(kind).through(adapter);
    let write = |name: &str| Step::Write(name.into(), "made\n".into());
    let pause = || Step::Sleep(60);
    scene.play(
        "fix",
        "respond",
        [
            pause(),
            fix(),
            pause(),
            write("b.py"),
            pause(),
            write("c.py"),
            pause(),
            emit(DONE),
        ],
    );
    let glee = scene.ready().start(&ARGS);
    // Events: run, call, call, findings, before-image, call.
    kill_after(glee, 6, Duration::from_millis(millis));
    scene.all_dead(Duration::from_secs(5));
    let touched = scene.read("app.py") != CODE || scene.exists("b.py") || scene.exists("c.py");
    let ended = scene
        .events()
        .iter()
        .any(|event| event["event"] == "run_ended");
    let recorded = scene
        .events()
        .iter()
        .any(|event| event["event"] == "tree_changed");
    if !ended {
        let output = carry_on(&scene);
        match (touched, recorded) {
            (true, false) if output.code == 3 => {
                assert!(
                    output.stderr.contains("the tree has changed since"),
                    "{output}"
                );
            }
            _ => assert_eq!(output.code, 0, "touched {touched}: {output}"),
        }
    }
    scene.nothing_repeated();
    let mut undone = scene.glee(&["runs", "undo"]);
    if undone.code == 3 {
        // The origin of these files is unknown.
        assert!(
            undone.stdout.contains("b.py") && undone.stderr.contains("--remove-new"),
            "{undone}"
        );
        undone = scene.glee(&["runs", "undo", "--remove-new"]);
    }
    assert_eq!(undone.code, 0, "{undone}");
    assert_eq!(scene.read("app.py"), CODE);
    assert!(!scene.exists("b.py") && !scene.exists("c.py"), "{undone}");
}

/// How often Glee is killed at random.
pub(super) fn kills() -> usize {
    std::env::var("KILLS").map_or(100, |kills| kills.parse().expect("a number"))
}

/// Kills and resumes Glee at random times, `KILLS` times in all.
fn at_random() {
    let kills = kills();
    let mut random = fastrand(std::process::id().into());
    let expected = Kind::ALL.map(unbroken);
    let mut done = 0;
    for run in 0.. {
        if done >= kills {
            return;
        }
        let kind = Kind::ALL[run % Kind::ALL.len()];
        let scene = whole(kind, Adapter::ALL[run % Adapter::ALL.len()]);
        let mut glee = scene.ready().start(&ARGS);
        loop {
            std::thread::sleep(Duration::from_millis(random() % 350));
            let over = glee.try_wait().expect("it is ours").is_some();
            drop(glee.kill());
            drop(glee.wait());
            scene.all_dead(Duration::from_secs(5));
            assert_eq!(scene.read("app.py"), CODE);
            if over {
                break;
            }
            done += 1;
            let shown = scene.glee(&["runs", "show", "last", "--format", "jsonl"]);
            let args: &[&str] = if shown.code == 0 {
                &["runs", "resume", "--format", "jsonl", "--no-input"]
            } else {
                &ARGS
            };
            glee = scene.start(args);
        }
        scene.nothing_repeated();
        let output = scene.glee(&["runs", "show", "last", "--format", "json"]);
        assert_eq!(
            essence(&output),
            expected[usize::from(kind == Kind::Git)],
            "{output}"
        );
    }
}

/// A xorshift generator.
pub(super) fn fastrand(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    }
}
