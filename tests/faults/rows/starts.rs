//! The environment Glee is started with, and the processes it starts: signals, limits, killed supervisors.

use std::process::{Command, Stdio};
use std::time::Duration;

use crate::agent::{Step, Whom};
use crate::runner::Cases;
use crate::scene::{Kind, REVIEW, Scene, emit, failed};
use crate::support::Output;

pub(crate) fn add(cases: &mut Cases) {
    supervisors(cases);
    signals(cases);
    limits(cases);
}

fn supervisors(cases: &mut Cases) {
    const ROW: &str = "supervisors that are killed";
    for kind in Kind::ALL {
        for (name, before) in [
            ("alone", vec![]),
            ("with a child", vec![Step::Fork(vec![Step::Sleep(60_000)])]),
            (
                "with a child of its own session",
                vec![Step::Fork(vec![Step::Setsid, Step::Sleep(60_000)])],
            ),
            (
                "with grandchildren that ignore signals",
                vec![Step::Fork(vec![
                    Step::Ignore,
                    Step::Fork(vec![Step::Setsid, Step::Ignore, Step::Sleep(60_000)]),
                ])],
            ),
        ] {
            for signal in [9, 6] {
                let before = before.clone();
                cases.add(
                    ROW,
                    format!("{} {name}, signal {signal}", kind.word()),
                    move || {
                        let mut scene = Scene::new(kind);
                        let end = [
                            Step::Sleep(200),
                            Step::Kill(Whom::Parent, signal),
                            Step::Sleep(60_000),
                        ];
                        scene.play("rev", "review", before.clone().into_iter().chain(end));
                        scene.env("GLEE_SANDBOX", "off");
                        let output = scene.arbitrate();
                        let error = failed(&output, "rev");
                        assert!(error.contains("its processes were ended"), "{error}");
                        scene.all_dead(Duration::ZERO);
                    },
                );
            }
        }
        cases.add(
            ROW,
            format!("{} while another agent works on", kind.word()),
            move || {
                let mut scene = Scene::new(kind);
                scene.second_reviewer();
                scene.play(
                    "rev",
                    "review",
                    [Step::Kill(Whom::Parent, 9), Step::Sleep(60_000)],
                );
                scene.play("other", "review", [Step::Sleep(1_500), emit(REVIEW)]);
                scene.env("GLEE_SANDBOX", "off");
                let output = scene.review();
                failed(&output, "rev");
                assert!(
                    output.stdout.contains("Replace the weak hash"),
                    "the other was ended too: {output}"
                );
                scene.all_dead(Duration::ZERO);
            },
        );
    }
}

/// Runs Glee from a script that receives Glee's command line as arguments.
fn by(scene: &Scene, program: &[&str]) -> Output {
    let inner = scene.ready().command(&[
        "review",
        "app.py",
        "--arbitrate",
        "--format",
        "json",
        "--no-input",
    ]);
    let mut command = Command::new(program[0]);
    command
        .args(&program[1..])
        .arg(inner.get_program())
        .args(inner.get_args())
        .env_clear();
    command.envs(
        inner
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    command
        .current_dir(inner.get_current_dir().expect("it runs in the tree"))
        .stdin(Stdio::null());
    let output = command.output().expect("it runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Output {
        code: output.status.code().unwrap_or(-1),
        stdout: text(&output.stdout),
        stderr: text(&output.stderr),
    }
}

fn signals(cases: &mut Cases) {
    const ROW: &str = "signals that a parent ignores or blocks";
    const PYTHON: &str = "import os, signal, sys\n";
    for kind in Kind::ALL {
        for (name, script) in [
            (
                "ignores CHLD",
                "signal.signal(signal.SIGCHLD, signal.SIG_IGN)",
            ),
            (
                "blocks CHLD",
                "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])",
            ),
            (
                "blocks all",
                "signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32))",
            ),
            (
                "ignores all it can",
                "[signal.signal(s, signal.SIG_IGN) for s in range(1, 32) if s not in (9, 19)]",
            ),
        ] {
            cases.add(ROW, format!("{} {name}", kind.word()), move || {
                let scene = Scene::fixing(kind);
                let script = format!("{PYTHON}{script}\nos.execv(sys.argv[1], sys.argv[1:])");
                let output = by(&scene, &["python3", "-c", &script]);
                assert_eq!(output.code, 0, "{output}");
                assert!(scene.read("app.py").contains("sha256"), "{output}");
            });
        }
    }
}

fn limits(cases: &mut Cases) {
    const ROW: &str = "limits of open files";
    for files in [8, 11, 14, 17, 20, 24, 30, 36, 48] {
        for agents in [1, 2] {
            cases.add(
                ROW,
                format!("{files} files, {agents} reviewers"),
                move || {
                    let mut scene = Scene::new(Kind::Git);
                    if agents == 2 {
                        scene.second_reviewer();
                    }
                    let output = by(
                        &scene,
                        &[
                            "/bin/sh",
                            "-c",
                            &format!("ulimit -n {files}; exec \"$@\""),
                            "sh",
                        ],
                    );
                    let said = format!("{}{}", output.stdout, output.stderr).to_lowercase();
                    assert!(matches!(output.code, 2 | 4 | 7), "{output}");
                    assert!(said.contains("too many open files"), "{output}");
                    assert!(
                        !said.contains("not installed") && !said.contains("install it"),
                        "{output}"
                    );
                    scene.all_dead(Duration::from_secs(2));
                },
            );
        }
    }
    cases.add(ROW, "a low limit that may be raised", || {
        let scene = Scene::fixing(Kind::Git);
        let output = by(
            &scene,
            &["/bin/sh", "-c", "ulimit -S -n 24; exec \"$@\"", "sh"],
        );
        assert_eq!(output.code, 0, "{output}");
    });
}
