//! Signals, locks, disks, databases, terminals and missing programs.

use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::coders::files;
use crate::agent::Step;
use crate::runner::Cases;
use crate::scene::{CODE, DONE, Kind, OBJECTION, REVIEW, RULING, Scene, emit, essence, fix};
use crate::support::Output;

const ARGS: [&str; 6] = [
    "review",
    "app.py",
    "--arbitrate",
    "--format",
    "jsonl",
    "--no-input",
];

pub(crate) fn add(cases: &mut Cases) {
    signals(cases);
    locks(cases);
    disks(cases);
    databases(cases);
    programs(cases);
    streams(cases);
}

/// Waits until Glee has printed this number of events.
fn told(glee: &mut Child, events: usize) -> BufReader<std::process::ChildStdout> {
    let mut stdout = BufReader::new(glee.stdout.take().expect("its output is piped"));
    for _ in 0..events {
        stdout
            .read_line(&mut String::new())
            .expect("it can be read");
    }
    stdout
}

fn signals(cases: &mut Cases) {
    const ROW: &str = "INT, TERM, HUP, twice, STOP and CONT";
    /// The number of events before an agent of each role is running.
    const PHASES: [(&str, usize); 3] = [("rev", 2), ("fix", 6), ("jud", 11)];
    let pid = |glee: &Child| Pid::from_raw(glee.id().cast_signed());
    for kind in Kind::ALL {
        for (agent, events) in PHASES {
            for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
                for twice in [false, true] {
                    let name = format!(
                        "{} {signal}{} while {agent} works",
                        kind.word(),
                        if twice { " twice" } else { "" }
                    );
                    cases.add(ROW, name, move || {
                        let mut scene = Scene::new(kind);
                        let (task, answer) = match agent {
                            "rev" => ("review", REVIEW),
                            "fix" => ("respond", OBJECTION),
                            _ => ("judge", RULING),
                        };
                        scene
                            .play(agent, task, [Step::Ignore, Step::Sleep(600_000)])
                            .set("limits: {kill_grace: 1s}");
                        let mut glee = scene.ready().start(&ARGS);
                        let mut stdout = told(&mut glee, events);
                        std::thread::sleep(Duration::from_millis(100));
                        let asked = Instant::now();
                        kill(pid(&glee), signal).expect("it is ours");
                        if twice {
                            std::thread::sleep(Duration::from_millis(100));
                            let _ = kill(pid(&glee), signal);
                        }
                        drop(stdout.read_to_end(&mut Vec::new()));
                        let status = glee.wait().expect("it is ours");
                        let bound = if twice { 900 } else { 6_000 };
                        assert!(
                            asked.elapsed() < Duration::from_millis(bound),
                            "{:?}",
                            asked.elapsed()
                        );
                        assert_eq!(status.code(), Some(128 + signal as i32), "{status}");
                        scene.all_dead(Duration::from_secs(5));
                        scene.play(agent, task, [emit(answer)]).ready();
                        let output =
                            scene.glee(&["runs", "resume", "--format", "json", "--no-input"]);
                        assert_eq!(output.code, 0, "{output}");
                        scene.nothing_repeated();
                    });
                }
            }
        }
        cases.add(
            ROW,
            format!("{} stopped and continued", kind.word()),
            move || {
                let mut scene = Scene::new(kind);
                scene
                    .play("rev", "review", [Step::Sleep(800), emit(REVIEW)])
                    .set("limits: {call_timeout: 2s}");
                let mut glee = scene.ready().start(&ARGS);
                let mut stdout = told(&mut glee, 2);
                kill(pid(&glee), Signal::SIGSTOP).expect("it is ours");
                std::thread::sleep(Duration::from_secs(3));
                kill(pid(&glee), Signal::SIGCONT).expect("it is ours");
                drop(stdout.read_to_end(&mut Vec::new()));
                // Time during which Glee is suspended does not count.
                assert_eq!(glee.wait().expect("it is ours").code(), Some(0));
            },
        );
    }
}

fn locks(cases: &mut Cases) {
    const ROW: &str = "runs that want the same tree";
    for kind in Kind::ALL {
        for others in [1, 20] {
            cases.add(
                ROW,
                format!(
                    "{} one and {others} others, then the holder is killed",
                    kind.word()
                ),
                move || {
                    let mut scene = Scene::new(kind);
                    scene.play("fix", "respond", [Step::Sleep(600_000)]);
                    let mut holder = scene.ready().start(&ARGS);
                    let stdout = told(&mut holder, 6);
                    std::thread::scope(|scope| {
                        for _ in 0..others {
                            scope.spawn(|| {
                                let output = scene.glee(&ARGS);
                                assert_eq!(output.code, 6, "{output}");
                                let pid = format!("process {}", holder.id());
                                assert!(output.stderr.contains(&pid), "{output}");
                            });
                        }
                    });
                    let output =
                        scene.glee(&["review", "app.py", "--format", "json", "--no-input"]);
                    assert_eq!(output.code, 1, "{output}");
                    drop(stdout);
                    holder.kill().expect("it is ours");
                    holder.wait().expect("it is ours");
                    scene.all_dead(Duration::from_secs(5));
                    scene.play("fix", "respond", [emit(OBJECTION)]);
                    let output = scene.arbitrate();
                    assert_eq!(output.code, 0, "{output}");
                },
            );
        }
    }
}

/// Runs Glee with a limit on file sizes, in blocks of 512 bytes.
fn with_room(scene: &Scene, blocks: u32) -> Output {
    let glee = scene.ready().command(&[
        "review",
        "app.py",
        "--arbitrate",
        "--format",
        "json",
        "--no-input",
    ]);
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
    let mut shell = std::process::Command::new("/bin/sh");
    shell
        .args(["-c", &script, "sh"])
        .arg(glee.get_program())
        .args(glee.get_args());
    shell.env_clear().current_dir(scene.root());
    for (name, value) in glee.get_envs() {
        if let Some(value) = value {
            shell.env(name, value);
        }
    }
    let output = shell.stdin(Stdio::null()).output().expect("a shell");
    Output {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

type Prepare = fn(&mut Scene);

fn disks(cases: &mut Cases) {
    const ROW: &str = "disks that are full";
    for kind in Kind::ALL {
        for blocks in [
            0, 1, 2, 4, 8, 16, 24, 32, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 400,
        ] {
            cases.add(
                ROW,
                format!("{} no file beyond {blocks} blocks", kind.word()),
                move || {
                    let mut scene = Scene::fixing(kind);
                    scene.write("large.py", "x = 1\n".repeat(9_000));
                    scene.play(
                        "fix",
                        "respond",
                        [
                            fix(),
                            Step::Replace("large.py".into(), "1".into(), "2".into()),
                            emit(DONE),
                        ],
                    );
                    let before = files(&scene.root());
                    let output = with_room(&scene, blocks);
                    if files(&scene.root()) == before {
                        assert_ne!(output.code, 0, "{output}");
                        assert_ne!(output.code, 101, "{output}");
                        return;
                    }
                    // The changes of a started coder can be undone.
                    let undone = scene.glee(&["runs", "undo"]);
                    assert_eq!(undone.code, 0, "{undone}\nafter {output}");
                    assert_eq!(files(&scene.root()), before);
                },
            );
        }
    }
    const PLACES: &str = "places that cannot be written";
    let places: [(&str, Prepare); 6] = [
        ("the state folder is a file", |scene| {
            std::fs::remove_dir_all(scene.state()).expect("it is there");
            std::fs::write(scene.state(), "x").expect("a written file");
        }),
        ("the state folder lies below a file", |scene| {
            std::fs::write(scene.home().join("file"), "x").expect("a written file");
            let state = scene.home().join("file/state").display().to_string();
            scene.env("GLEE_STATE_DIR", state);
        }),
        ("the state folder lies in /proc", |scene| {
            scene.env("GLEE_STATE_DIR", "/proc/glee");
        }),
        ("the state folder lies in the tree", |scene| {
            let inside = scene.root().join("state").display().to_string();
            scene.env("GLEE_STATE_DIR", inside);
        }),
        ("the state folder is a dangling link", |scene| {
            std::fs::remove_dir_all(scene.state()).expect("it is there");
            std::os::unix::fs::symlink("/nowhere/at/all", scene.state()).expect("a link");
        }),
        ("the history is a folder", |scene| {
            std::fs::create_dir(scene.home().join("history.db")).expect("a folder");
            let path = scene.home().join("history.db").display().to_string();
            scene.env("HISTORY", path);
        }),
    ];
    for (place, make) in places {
        for kind in Kind::ALL {
            cases.add(PLACES, format!("{} {place}", kind.word()), move || {
                let mut scene = Scene::fixing(kind);
                make(&mut scene);
                let history = scene.home().join("history.db");
                let history_text = history.display().to_string();
                let mut args = ARGS.to_vec();
                if history.exists() {
                    args.extend(["--history", &history_text]);
                }
                let before = files(&scene.root());
                let output = scene.ready().glee(&args);
                assert!([2, 7].contains(&output.code), "{output}");
                assert_eq!(files(&scene.root()), before);
            });
        }
    }
}

fn database(scene: &Scene) -> std::path::PathBuf {
    let mut folders = vec![scene.state()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "db") {
                return path;
            }
        }
    }
    panic!("no database in {}", scene.state().display())
}

fn databases(cases: &mut Cases) {
    const ROW: &str = "databases that are damaged";
    for kind in Kind::ALL {
        for place in [
            0_u64, 16, 20, 40, 100, 200, 500, 4_096, 4_100, 5_000, 8_192, 9_000, 12_288, 16_384,
            20_480, 28_672,
        ] {
            for damage in ["flipped", "zeroed", "torn"] {
                cases.add(
                    ROW,
                    format!("{} {damage} at {place}", kind.word()),
                    move || {
                        let scene = Scene::new(kind);
                        assert_eq!(scene.arbitrate().code, 0);
                        let path = database(&scene);
                        let mut bytes = std::fs::read(&path).expect("it is there");
                        let place = usize::try_from(place).unwrap_or(0).min(bytes.len() - 1);
                        match damage {
                            "flipped" => bytes[place] ^= 0x55,
                            "zeroed" => {
                                let end = (place + 512).min(bytes.len());
                                bytes[place..end].fill(0);
                            }
                            _ => bytes.truncate(place),
                        }
                        std::fs::write(&path, &bytes).expect("a written file");
                        for args in [vec!["disputes"], vec!["runs"], vec!["disputes", "verify"]] {
                            let output = scene.glee(&args);
                            assert!([0, 1, 7].contains(&output.code), "{args:?}: {output}");
                        }
                        assert_eq!(
                            std::fs::read(&path).expect("it is there"),
                            bytes,
                            "reading changed it"
                        );
                        let output = scene.arbitrate();
                        // A changed unused byte has no effect; an emptied file is a new history.
                        assert!([0, 7].contains(&output.code), "{output}");
                        if output.code == 7 {
                            let end = (place + 512).min(bytes.len());
                            let now = std::fs::read(&path).expect("it is there");
                            assert!(
                                now.get(place..end) == Some(&bytes[place..end]),
                                "it was overwritten"
                            );
                            assert!(output.stderr.contains("history"), "{output}");
                        }
                    },
                );
            }
        }
    }
    cases.add(ROW, "of a newer version", || {
        let scene = Scene::new(Kind::Plain);
        assert_eq!(scene.arbitrate().code, 0);
        let path = database(&scene);
        let mut bytes = std::fs::read(&path).expect("it is there");
        bytes[60..64].copy_from_slice(&99_u32.to_be_bytes());
        std::fs::write(&path, &bytes).expect("a written file");
        let output = scene.arbitrate();
        assert_eq!(output.code, 7, "{output}");
        assert!(output.stderr.contains("newer version"), "{output}");
        assert_eq!(std::fs::read(&path).expect("it is there"), bytes);
    });
}

fn programs(cases: &mut Cases) {
    const ROW: &str = "programs that are not there";
    for (role, name) in [("reviewer", "rev"), ("coder", "fix"), ("judge", "jud")] {
        for (shape, command) in [
            ("missing", "no-such-program-at-all"),
            ("a missing path", "/nowhere/agent"),
            ("not executable", "HOME/plain"),
            ("a folder", "HOME/folder"),
            ("empty", ""),
            ("inside the tree, by its name", "shadow"),
        ] {
            cases.add(ROW, format!("{role} {shape}"), move || {
                let mut scene = Scene::new(Kind::Plain);
                std::fs::write(scene.home().join("plain"), "#!/bin/sh\n").expect("a written file");
                std::fs::create_dir(scene.home().join("folder")).expect("a folder");
                scene.script("shadow", "#!/bin/sh\ntouch ran\n");
                let path = format!("{}:.:/usr/bin:/bin", scene.root().display());
                scene.env("PATH", path);
                scene.ready();
                let command = command.replace("HOME", &scene.home().display().to_string());
                let config = std::fs::read_to_string(scene.user_config()).expect("it was written");
                let lines =
                    config
                        .lines()
                        .map(|line| match line.contains(&format!("name: {name},")) {
                            true => format!(
                                "  - {{name: {name}, command: [{command:?}], role: {role}}}\n"
                            ),
                            false => format!("{line}\n"),
                        });
                std::fs::write(scene.user_config(), lines.collect::<String>())
                    .expect("a written file");
                let output = scene.glee(&ARGS);
                assert_eq!((output.code, output.stdout.as_str()), (2, ""), "{output}");
                assert!(!scene.exists("ran"));
                if shape == "missing" {
                    let message = format!("`{command}` was not found in any folder of PATH");
                    assert!(output.stderr.contains(&message), "{output}");
                }
            });
        }
        for (shape, bytes) in [
            ("no program at all", b"just text\n".to_vec()),
            (
                "of another machine",
                [
                    b"\x7fELF\x02\x01\x01".as_slice(),
                    &[0; 9],
                    &[2, 0, 0xf3, 0],
                    &[0; 100],
                ]
                .concat(),
            ),
            ("of a missing interpreter", b"#!/nowhere/sh\n".to_vec()),
            ("empty", Vec::new()),
        ] {
            cases.add(ROW, format!("{role} {shape}"), move || {
                let mut scene = Scene::new(Kind::Plain);
                let program = scene.home().join("program");
                std::fs::write(&program, &bytes).expect("a written file");
                std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755))
                    .expect("a file");
                scene.set("").ready();
                let config = std::fs::read_to_string(scene.user_config()).expect("it was written");
                let lines =
                    config
                        .lines()
                        .map(|line| match line.contains(&format!("name: {name},")) {
                            true => format!(
                                "  - {{name: {name}, command: [{program:?}], role: {role}}}\n"
                            ),
                            false => format!("{line}\n"),
                        });
                std::fs::write(scene.user_config(), lines.collect::<String>())
                    .expect("a written file");
                let output = scene.glee(&ARGS);
                assert_eq!((output.code, output.stdout.as_str()), (2, ""), "{output}");
                assert_eq!(scene.read("app.py"), CODE);
            });
        }
    }
}

fn streams(cases: &mut Cases) {
    const ROW: &str = "terminals and streams";
    for format in ["text", "json", "jsonl"] {
        for (shape, redirection) in [
            ("stdin closed", "<&-"),
            ("stdout closed", ">&-"),
            ("stderr closed", "2>&-"),
            ("all closed", "<&- >&- 2>&-"),
            ("stdout full", "> /dev/full"),
            ("stderr full", "2> /dev/full"),
            ("a reader that leaves", "| head -c 1"),
            ("a reader that never reads", "| :"),
        ] {
            for term in ["dumb", "xterm-256color", ""] {
                cases.add(ROW, format!("{format} {shape} TERM={term:?}"), move || {
                    let mut scene = Scene::new(Kind::Plain);
                    scene.env("TERM", term);
                    let glee = scene.ready().command(&[
                        "review",
                        "app.py",
                        "--arbitrate",
                        "--format",
                        format,
                    ]);
                    let program = glee.get_program().to_string_lossy().into_owned();
                    let words: Vec<_> = glee
                        .get_args()
                        .map(|word| word.to_string_lossy().into_owned())
                        .collect();
                    let line = format!("'{program}' {} {redirection}", words.join(" "));
                    let mut shell = std::process::Command::new("/bin/sh");
                    shell
                        .args(["-c", &line])
                        .env_clear()
                        .current_dir(scene.root());
                    for (name, value) in glee.get_envs() {
                        if let Some(value) = value {
                            shell.env(name, value);
                        }
                    }
                    let output = shell.stdin(Stdio::null()).output().expect("a shell");
                    let stderr = String::from_utf8_lossy(&output.stderr);
                    assert!(!stderr.contains("panicked"), "{stderr}");
                    assert!(!stderr.contains('\u{1b}'), "{stderr:?}");
                    assert_ne!(output.status.code(), Some(101), "{stderr}");
                    scene.all_dead(Duration::from_secs(5));
                    // The lost output can be read later.
                    let again = scene.glee(&["runs", "show", "--format", "json"]);
                    assert_eq!(essence(&again)["exit"], "clean", "{again}");
                });
            }
        }
    }
}
