//! Many findings, and signals while Glee is computing.

use std::os::unix::process::ExitStatusExt as _;
use std::process::Child;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::runner::Cases;
use crate::scene::{Kind, Scene, emit, outcome};

/// A timeout for work that is linear in the number of findings, in a debug build on a busy machine.
const LONG: Duration = Duration::from_secs(240);

/// One second plus a margin for a busy machine.
const SECOND: Duration = Duration::from_millis(2500);

pub(crate) fn add(cases: &mut Cases) {
    many(cases);
    signals(cases);
    others(cases);
}

/// A distribution of findings: the file, its text, and the line of each finding.
type Shape = (
    &'static str,
    &'static str,
    fn(usize) -> String,
    fn(usize) -> String,
);

const SHAPES: [Shape; 6] = [
    (
        "a function each",
        "app.py",
        |n| format!("def f{n}(x):\n    return md5(x, {n})\n\n"),
        |n| format!("app.py:{} Replace the weak hash {n}", 3 * n + 2),
    ),
    (
        "one function",
        "app.py",
        |n| {
            if n == 0 {
                "def f():\n    a0 = 1\n".into()
            } else {
                format!("    a{n} = {n}\n")
            }
        },
        |n| format!("app.py:{} Name the value `a{n}`", n + 2),
    ),
    (
        "a file and no line",
        "app.py",
        |n| format!("v{n} = {n}\n"),
        |n| format!("app.py Explain the value v{n} better"),
    ),
    (
        "no place at all",
        "app.py",
        |n| format!("v{n} = {n}\n"),
        |n| format!("Matter number {n} is not documented"),
    ),
    (
        "paragraphs of an unknown language",
        "app.zz",
        |n| format!("part {n}\n  of it\n\n"),
        |n| format!("app.zz:{} Say more about part {n}", 3 * n + 1),
    ),
    (
        "one line",
        "app.js",
        |n| format!("f({n});"),
        |n| format!("app.js:1 Check the argument {n}"),
    ),
];

/// A tree with this number of places, a reviewer with a finding for each, and a coder that objects to all.
fn crowded((_, file, text, finding): Shape, count: usize) -> Scene {
    let mut scene = Scene::new(Kind::Git);
    scene.write(file, (0..count).map(text).collect::<String>());
    let raised: String = (0..count)
        .map(|n| format!("[MUST] {}\n", finding(n)))
        .collect();
    scene.play(
        "rev",
        "review",
        [
            emit(&raised),
            emit(&format!(
                "GLEE-REVIEW-END nonce={{nonce}} findings={count}\n"
            )),
        ],
    );
    // The number after merging, which is the number of questions.
    let objections: String = (1..=count)
        .map(|n| format!("[F{n}] DISAGREE: it is meant so, see app.py:2\n"))
        .collect();
    scene.play(
        "fix",
        "respond",
        [
            emit(&objections),
            emit(&format!(
                "GLEE-RESPONSE-END nonce={{nonce}} answers={count}\n"
            )),
        ],
    );
    scene
}

fn many(cases: &mut Cases) {
    const ROW: &str = "a thousand findings and disputes";
    for shape in SHAPES {
        for (route, count) in [("discard", 1_000), ("judge", 40)] {
            cases.add(ROW, format!("{}, {route}", shape.0), move || {
                let scene = crowded(shape, count);
                let started = Instant::now();
                let args = [
                    "review",
                    shape.1,
                    "--arbitrate",
                    "--on-dispute",
                    route,
                    "--no-input",
                    "--format",
                    "json",
                ];
                let output = scene.ready().glee(&args);
                let left = outcome(&output);
                let findings = left["findings"].as_array().map_or(0, Vec::len);
                let disputes = left["disputes"].as_array().map_or(0, Vec::len);
                assert!(
                    findings > 0 && disputes == findings,
                    "{findings} findings, {disputes} disputes: {}",
                    output.code
                );
                assert!(
                    left["disputes"]
                        .as_array()
                        .into_iter()
                        .flatten()
                        .all(|dispute| !dispute["disposition"].is_null())
                );
                for args in [
                    &["runs", "show"][..],
                    &["runs", "replay"],
                    &["disputes"],
                    &["disputes", "verify"],
                    &["runs"],
                ] {
                    let shown = scene.glee(args);
                    assert_eq!(shown.code, 0, "{args:?}: {shown}");
                }
                // A repeated finding is recognised if it has a place. A ruling binds it, and a dispute that the route
                // discarded is carried on.
                let again = outcome(&scene.glee(&args));
                let placed = !shape.0.contains("no ");
                let carried = if route == "discard" { disputes } else { 0 };
                let again = again["disputes"].as_array().map_or(0, Vec::len);
                assert!(!placed || again == carried, "{route}: {again}");
                assert!(started.elapsed() < LONG, "{:?}", started.elapsed());
            });
        }
    }
}

/// Sends a signal; returns the exit code (128 + signal) and the time until the end.
fn send(mut glee: Child, signal: Signal) -> (Option<i32>, Duration, String) {
    let pid = Pid::from_raw(i32::try_from(glee.id()).expect("a process id"));
    let (mut stdout, mut stderr) = (
        glee.stdout.take().expect("piped"),
        glee.stderr.take().expect("piped"),
    );
    let reading = std::thread::spawn(move || std::io::copy(&mut stdout, &mut std::io::sink()));
    let said = std::thread::spawn(move || std::io::read_to_string(&mut stderr).unwrap_or_default());
    let sent = Instant::now();
    let _ = kill(pid, signal);
    let status = glee.wait().expect("it is ours");
    let took = sent.elapsed();
    drop(reading.join());
    let code = status
        .code()
        .or_else(|| status.signal().map(|signal| 128 + signal));
    (code, took, said.join().unwrap_or_default())
}

fn signals(cases: &mut Cases) {
    const ROW: &str = "signals while Glee works through many findings";
    for (number, signal) in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP]
        .into_iter()
        .enumerate()
    {
        for shape in [SHAPES[0], SHAPES[2], SHAPES[3]] {
            for millis in [500, 1_300] {
                cases.add(
                    ROW,
                    format!("{signal} after {millis} ms, {}", shape.0),
                    move || {
                        let mut scene = crowded(shape, 1_200 + number);
                        scene.set("review: {on_dispute: {default: discard}}");
                        let args = ["review", shape.1, "--arbitrate", "--no-input"];
                        let mut glee = scene.ready().start(&args);
                        std::thread::sleep(Duration::from_millis(millis));
                        if glee.try_wait().expect("it is ours").is_some() {
                            return;
                        }
                        let (code, took, said) = send(glee, signal);
                        assert_eq!(code, Some(128 + signal as i32), "{said}");
                        assert!(took < SECOND, "{took:?}: {said}");
                        scene.all_dead(SECOND);
                        let verified = scene.glee(&["disputes", "verify"]);
                        assert_eq!(verified.code, 0, "{verified}");
                        if said.contains("runs resume") {
                            let carried = scene.glee(&[
                                "runs",
                                "resume",
                                "last",
                                "--no-input",
                                "--format",
                                "json",
                            ]);
                            assert!(
                                outcome(&carried)["findings"]
                                    .as_array()
                                    .is_some_and(|all| !all.is_empty())
                            );
                        }
                    },
                );
            }
        }
    }
}

fn others(cases: &mut Cases) {
    const ROW: &str = "signals to commands that wait for their input";
    let commands: [&[&str]; 8] = [
        &["parse", "FIFO"],
        &["merge", "FIFO"],
        &["merge", "--batch", "FIFO"],
        &["vote", "--batch", "FIFO"],
        &["vote", "FIFO"],
        &["review", "--diff", "FIFO"],
        &["consensus", "ask", "--file", "FIFO"],
        &["watch", "--events", "FIFO"],
    ];
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        for args in commands {
            cases.add(ROW, format!("{signal}, {}", args.join(" ")), move || {
                let scene = Scene::new(Kind::Git);
                let fifo = scene.home().join("fifo");
                nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).expect("a FIFO");
                let fifo = fifo.display().to_string();
                let args: Vec<&str> = args
                    .iter()
                    .map(|arg| if *arg == "FIFO" { fifo.as_str() } else { arg })
                    .collect();
                let glee = scene.ready().start(&args);
                std::thread::sleep(Duration::from_millis(700));
                let (code, took, said) = send(glee, signal);
                assert_eq!(code, Some(128 + signal as i32), "{said}");
                assert!(took < SECOND, "{took:?}: {said}");
            });
        }
    }
}
