//! Extreme sizes of output, lines, trees, screens and disks.

use std::process::{Child, Stdio};
use std::time::Duration;

use super::coders::{assert_same, files};
use super::ends::PARTS;
use crate::agent::Step;
use crate::runner::Cases;
use crate::scene::{DONE, Kind, Scene, emit, fix, outcome};
use crate::support::pty::Pty;

/// The memory limit of Glee in KiB, without the pages of its program file, which are ten times as many in a debug
/// build.
const MEMORY: u64 = 40 << 10;

pub(crate) fn add(cases: &mut Cases) {
    memory(cases);
    trees(cases);
    screens(cases);
    disks(cases);
}

/// Runs Glee; returns its exit code, its output and its peak memory in KiB.
fn watched(scene: &Scene, args: &[&str]) -> (Option<i32>, String, u64) {
    let mut glee: Child = scene.ready().start(args);
    let mut stdout = glee.stdout.take().expect("its output is piped");
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        drop(std::io::Read::read_to_string(&mut stdout, &mut text));
        text
    });
    let status = format!("/proc/{}/status", glee.id());
    let mut most = 0;
    let code = loop {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let own = text.lines().find_map(|line| line.strip_prefix("RssAnon:"));
        let own = own.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
        most = most.max(own.unwrap_or(0));
        if let Some(status) = glee.try_wait().expect("it is ours") {
            break status.code();
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    (code, reader.join().expect("reading does not fail"), most)
}

fn memory(cases: &mut Cases) {
    const ROW: &str = "memory while an agent floods";
    const ARGS: [&str; 6] = [
        "review",
        "app.py",
        "--arbitrate",
        "--no-input",
        "--format",
        "json",
    ];
    let floods = [
        ("1 GB", 1 << 30, 0),
        ("1 GB of lines", 1 << 30, 80),
        ("one line of 100 MB", 100_000_000, 0),
    ];
    for (number, (shape, bytes, line)) in floods.into_iter().enumerate() {
        for (agent, task, good) in PARTS {
            if number < 2 && agent != ["rev", "fix"][number] {
                continue;
            }
            cases.heavy(ROW, format!("{agent} prints {shape}"), move || {
                let mut scene = Scene::new(Kind::Plain);
                scene.play(
                    agent,
                    task,
                    [emit(good), emit("\n"), Step::Spray { bytes, line }],
                );
                let (code, stdout, most) = watched(&scene, &ARGS);
                assert!(
                    most > 0 && most < MEMORY,
                    "{most} KiB, exit {code:?}: {stdout}"
                );
                assert_ne!(code, Some(101), "{stdout}");
                let events = scene.events();
                let call = events.iter().find(|event| {
                    event["event"] == "call_finished" && event["call"]["agent"] == agent
                });
                let transcript = &call.expect("the call exists")["transcript"];
                assert!(
                    transcript["stdout_bytes"].as_u64() > Some(bytes),
                    "{transcript}"
                );
            });
        }
    }
}

fn trees(cases: &mut Cases) {
    const ROW: &str = "trees of 100,000 files";
    for kind in Kind::ALL {
        cases.heavy(
            ROW,
            format!("{}, fixed and undone", kind.word()),
            move || {
                let mut scene = Scene::fixing(kind);
                let files = if kind == Kind::Git { 100_000 } else { 10_000 };
                for number in 0..files {
                    let folder = scene.root().join(format!("f{}", number / 1_000));
                    if number % 1_000 == 0 {
                        std::fs::create_dir(&folder).expect("a fresh folder");
                    }
                    std::fs::write(folder.join(format!("{number}.txt")), "x")
                        .expect("a written file");
                }
                if kind == Kind::Git {
                    scene.git(&["add", "-A"]);
                    scene.git(&["-c", "gc.auto=0", "commit", "-q", "-m", "Many"]);
                }
                let gone = scene.root().join("f7/7000.txt");
                scene.play(
                    "fix",
                    "respond",
                    [fix(), Step::Remove(gone.display().to_string()), emit(DONE)],
                );
                let (code, stdout, _) = watched(
                    &scene,
                    &[
                        "review",
                        "app.py",
                        "--arbitrate",
                        "--no-input",
                        "--format",
                        "json",
                    ],
                );
                assert_eq!(code, Some(0), "{stdout}");
                assert!(!gone.exists());
                let undone = scene.glee(&["runs", "undo"]);
                assert_eq!(undone.code, 0, "{undone}");
                assert!(gone.exists());
            },
        );
    }
}

fn screens(cases: &mut Cases) {
    const ROW: &str = "narrow, dumb and changing terminals";
    for (columns, rows) in [(20, 10), (1, 1), (10, 3), (80, 24), (500, 2)] {
        for term in ["xterm-256color", "dumb", ""] {
            cases.add(
                ROW,
                format!("{columns} columns, TERM={term:?}, resized meanwhile"),
                move || {
                    let mut scene = Scene::fixing(Kind::Plain);
                    scene.env("TERM", term);
                    scene.play(
                        "rev",
                        "review",
                        [Step::Sleep(300), emit(crate::scene::REVIEW)],
                    );
                    let command =
                        scene
                            .ready()
                            .command(&["review", "app.py", "--arbitrate", "--no-input"]);
                    let mut terminal = Pty::spawn(command);
                    for width in [columns, columns + 30, 3, columns] {
                        terminal.resize(width, rows);
                        std::thread::sleep(Duration::from_millis(60));
                    }
                    let (_, shown) = terminal.end_raw();
                    assert!(!shown.contains("panicked"), "{shown}");
                    assert!(shown.contains("app.py"), "{shown:?}");
                    assert!(term != "dumb" || !shown.contains('\u{1b}'), "{shown:?}");
                    let outcome = outcome(&scene.glee(&["runs", "show", "--format", "json"]));
                    assert_eq!(outcome["exit"], "clean", "{shown}");
                },
            );
        }
    }
}

/// Mounts a small file system as the state folder, for one shell and its children.
const SMALL: &str = "mount -t tmpfs -o size=SIZEk tmpfs \"$GLEE_STATE_DIR\" || exit 99; \
    \"$0\" review app.py --arbitrate --no-input > ../home/out 2>&1; echo $? > ../home/code; \
    if cmp -s app.py ../home/app.py; then echo untouched > ../home/undo; else \
    mount -o remount,size=32m \"$GLEE_STATE_DIR\"; \"$0\" runs undo > ../home/undo 2>&1; fi";

fn disks(cases: &mut Cases) {
    const ROW: &str = "state folders on a full disk";
    let probe = std::process::Command::new("unshare")
        .args(["-rm", "true"])
        .stderr(Stdio::null())
        .status();
    if !probe.is_ok_and(|status| status.success()) {
        cases.skip(
            ROW,
            "this system gives nobody a file system of their own (unshare -rm)",
        );
        return;
    }
    for kind in Kind::ALL {
        for size in [4, 16, 64, 128, 200, 256, 320, 384, 512, 1024] {
            cases.add(ROW, format!("{} {size} KiB", kind.word()), move || {
                let scene = Scene::fixing(kind);
                std::fs::copy(scene.root().join("app.py"), scene.home().join("app.py"))
                    .expect("a copy");
                let before = files(&scene.root());
                let glee = scene.ready().command(&[]);
                let mut shell = std::process::Command::new("unshare");
                shell
                    .args(["-rm", "sh", "-c", &SMALL.replace("SIZE", &size.to_string())])
                    .arg(glee.get_program());
                shell
                    .current_dir(scene.root())
                    .env_clear()
                    .stdin(Stdio::null());
                shell.envs(
                    glee.get_envs()
                        .filter_map(|(name, value)| Some((name, value?))),
                );
                assert!(shell.status().expect("it was there").success());
                let read = |name: &str| {
                    std::fs::read_to_string(scene.home().join(name)).unwrap_or_default()
                };
                let (code, out, undo) = (read("code"), read("out"), read("undo"));
                assert!(["0", "4", "7"].contains(&code.trim()), "{code}{out}");
                if undo.trim() == "untouched" {
                    assert_ne!(code.trim(), "0", "{out}");
                }
                assert_same(&before, &files(&scene.root()));
            });
        }
    }
}
