//! Agents that exit, hang, fork or flood.

use std::time::{Duration, Instant};

use crate::agent::{Step, Whom};
use crate::runner::Cases;
use crate::scene::{Adapter, DONE, Kind, OBJECTION, REVIEW, RULING, Scene, emit, failed, outcome};

/// The roles: name of the agent, its task and a good answer.
pub(crate) const PARTS: [(&str, &str, &str); 3] = [
    ("rev", "review", REVIEW),
    ("fix", "respond", OBJECTION),
    ("jud", "judge", RULING),
];

/// A scene with one agent's steps replaced.
fn with(adapter: Adapter, agent: &str, task: &str, steps: Vec<Step>) -> Scene {
    let mut scene = Scene::new(Kind::Plain).through(adapter);
    scene.play(agent, task, steps);
    scene
}

pub(crate) fn add(cases: &mut Cases) {
    codes(cases);
    hangs(cases);
    families(cases);
    floods(cases);
    inputs(cases);
}

/// Asserts that a run with a failed agent does not end with 0, and that the failure contains the reason.
fn concluded_nothing(scene: &Scene, agent: &str, why: &str) {
    let output = scene.arbitrate();
    scene.all_dead(Duration::from_secs(5));
    let error = failed(&output, agent);
    assert!(error.contains(why), "{error} does not say {why:?}");
}

fn codes(cases: &mut Cases) {
    const ROW: &str = "exit codes and signals";
    for adapter in Adapter::ALL {
        for (agent, task, good) in PARTS {
            for code in [1, 2, 3, 64, 77, 126, 127, 130, 137, 143, 255] {
                for said in ["", "no luck\n", "first\nthe key is missing\n"] {
                    let name = format!("{} {agent} exits {code} saying {said:?}", adapter.word());
                    cases.add(ROW, name, move || {
                        let steps = vec![emit(good), Step::Mutter(said.into()), Step::Exit(code)];
                        let scene = with(adapter, agent, task, steps);
                        concluded_nothing(
                            &scene,
                            agent,
                            said.lines().last().unwrap_or(&format!("{code}")),
                        );
                    });
                }
            }
            for signal in [1, 2, 4, 6, 8, 9, 11, 15] {
                let name = format!("{} {agent} dies of signal {signal}", adapter.word());
                cases.add(ROW, name, move || {
                    let steps = vec![
                        emit(good),
                        Step::Kill(Whom::Itself, signal),
                        Step::Sleep(60_000),
                    ];
                    let scene = with(adapter, agent, task, steps);
                    concluded_nothing(&scene, agent, &format!("signal {signal}"));
                });
            }
        }
        for code in [1, 137] {
            cases.add(
                ROW,
                format!(
                    "{} another reviewer's result is kept at {code}",
                    adapter.word()
                ),
                move || {
                    let mut scene = with(adapter, "rev", "review", vec![Step::Exit(code)]);
                    scene.second_reviewer();
                    let output = scene.review();
                    failed(&output, "rev");
                    assert_eq!(
                        outcome(&output)["findings"].as_array().map(Vec::len),
                        Some(1),
                        "{output}"
                    );
                },
            );
        }
    }
}

type Shape = fn() -> Vec<Step>;

fn hangs(cases: &mut Cases) {
    const ROW: &str = "hangs and stalls";
    let sleep = || Step::Sleep(600_000);
    let shapes: [(&str, Shape); 5] = [
        ("hangs at once", || vec![]),
        ("hangs after a byte", || vec![emit("x")]),
        ("drips", || {
            (0..60).flat_map(|_| [emit("."), Step::Sleep(50)]).collect()
        }),
        ("ignores TERM", || vec![Step::Ignore]),
        ("closes its output", || vec![Step::Close(1), Step::Close(2)]),
    ];
    for adapter in Adapter::ALL {
        for (agent, task, _) in PARTS {
            for (shape, steps) in shapes {
                for total in ["300ms", "700ms"] {
                    cases.add(
                        ROW,
                        format!("{} {agent} {shape}, cap {total}", adapter.word()),
                        move || {
                            let mut steps = steps();
                            steps.push(sleep());
                            let mut scene = with(adapter, agent, task, steps);
                            scene.set(&format!(
                                "limits: {{call_timeout: {total}, kill_grace: 300ms}}"
                            ));
                            concluded_nothing(&scene, agent, "did not end within");
                        },
                    );
                }
            }
            cases.add(
                ROW,
                format!("{} {agent} stalls and recovers", adapter.word()),
                move || {
                    let mut scene = with(adapter, agent, task, vec![]);
                    let answer = PARTS
                        .iter()
                        .find(|part| part.0 == agent)
                        .map_or(REVIEW, |part| part.2);
                    let (head, tail) = answer.split_at(10);
                    scene.play(agent, task, vec![emit(head), Step::Sleep(400), emit(tail)]);
                    let output = scene.arbitrate();
                    assert_eq!(output.code, 0, "{output}");
                },
            );
        }
    }
}

/// Processes that try to keep running.
fn families(cases: &mut Cases) {
    const ROW: &str = "forks, sessions, daemons";
    let stay = || Step::Sleep(600_000);
    let daemon = move || vec![Step::Setsid, Step::Ignore, stay()];
    let shapes: Vec<(&str, Vec<Step>)> = vec![
        ("forks", vec![Step::Fork(vec![stay()])]),
        ("forks a session", vec![Step::Fork(daemon())]),
        (
            "orphans a session",
            vec![Step::Fork(vec![Step::Fork(daemon())])],
        ),
        (
            "three generations",
            vec![Step::Fork(vec![
                Step::Setsid,
                Step::Fork(vec![Step::Fork(daemon()), stay()]),
                stay(),
            ])],
        ),
        (
            "holds the pipe",
            vec![Step::Fork(daemon()), Step::Fork(daemon())],
        ),
        (
            "twenty forks",
            (0..20).map(|_| Step::Fork(daemon())).collect(),
        ),
    ];
    for adapter in Adapter::ALL {
        for (agent, task, good) in PARTS {
            for (shape, steps) in &shapes {
                for ending in ["answers", "fails", "hangs"] {
                    let mut steps = steps.clone();
                    steps.push(Step::Sleep(50));
                    cases.add(
                        ROW,
                        format!("{} {agent} {shape} and {ending}", adapter.word()),
                        move || {
                            let mut steps = steps.clone();
                            match ending {
                                "answers" => steps.push(emit(good)),
                                "fails" => steps.push(Step::Exit(3)),
                                _ => steps.push(Step::Sleep(600_000)),
                            }
                            let mut scene = with(adapter, agent, task, steps);
                            scene.set("limits: {call_timeout: 1500ms, kill_grace: 200ms}");
                            let output = scene.arbitrate();
                            assert_eq!(scene.alive(), Vec::<String>::new(), "{output}");
                            assert_eq!(
                                output.code,
                                if ending == "answers" { 0 } else { 4 },
                                "{output}"
                            );
                        },
                    );
                }
            }
        }
    }
    cases.add(ROW, "two hundred forks", move || {
        let mut steps: Vec<Step> = (0..200)
            .map(|_| Step::Fork(vec![Step::Setsid, Step::Sleep(600_000)]))
            .collect();
        steps.push(emit(REVIEW));
        let scene = with(Adapter::Text, "rev", "review", steps);
        let output = scene.review();
        assert_eq!(scene.alive(), Vec::<String>::new(), "{output}");
        assert_eq!(output.code, 1, "{output}");
    });
    for whom in [Whom::Parent, Whom::Grandparent] {
        for signal in [9, 15, 19] {
            cases.add(
                ROW,
                format!("kills its {whom:?} with {signal}"),
                move || {
                    let steps = vec![
                        Step::Fork(vec![Step::Setsid, Step::Sleep(600_000)]),
                        Step::Kill(whom, signal),
                        emit(REVIEW),
                    ];
                    let mut scene = with(Adapter::Text, "rev", "review", steps);
                    scene.set("limits: {call_timeout: 2s, kill_grace: 200ms}");
                    let output = scene.review();
                    scene.all_dead(Duration::from_secs(5));
                    // The sandbox blocks the signal; otherwise the output never counts as a review.
                    assert!([1, 4].contains(&output.code), "{output}");
                },
            );
        }
    }
}

fn floods(cases: &mut Cases) {
    const ROW: &str = "floods and odd bytes";
    for (agent, task, good) in PARTS {
        for (shape, bytes, line) in [
            ("20 MB in one line", 20_000_000, 0),
            ("20 MB in short lines", 20_000_000, 20),
            ("a million lines", 2_000_000, 2),
        ] {
            for before in [true, false] {
                cases.add(
                    ROW,
                    format!(
                        "{agent} {shape}, {}",
                        if before {
                            "then answers"
                        } else {
                            "after answering"
                        }
                    ),
                    move || {
                        let flood = Step::Spray { bytes, line };
                        let steps = if before {
                            vec![flood, emit("\n"), emit(good)]
                        } else {
                            vec![emit(good), flood]
                        };
                        let mut scene = with(Adapter::Text, agent, task, steps);
                        scene.set("limits: {max_output_size: 1MiB}");
                        let output = scene.arbitrate();
                        // The closing line is beyond the size limit, or other text follows it.
                        let kept = !before && task != "judge";
                        assert_eq!(output.code == 0, kept, "{output}");
                        let finished = scene.events().into_iter().find(|event| {
                            event["event"] == "call_finished" && event["call"]["agent"] == agent
                        });
                        let transcript = &finished.expect("the call exists")["transcript"];
                        assert!(
                            transcript["stdout_bytes"].as_u64() > Some(bytes),
                            "{transcript}"
                        );
                        assert_eq!(transcript["stdout_hash"].as_str().map(str::len), Some(64));
                    },
                );
            }
        }
        // A NUL, invalid UTF-8, a split character, CRLF, a BOM, an escape sequence.
        for bytes in [
            "00",
            "ff",
            "c3",
            "e282",
            "0d0a",
            "efbbbf",
            "1b5b324a",
            "1b5d303b780700",
            "c29b324a",
            "e280ae",
        ] {
            let adapter = Adapter::ALL[usize::from(bytes.len() == 2)];
            cases.add(
                ROW,
                format!("{} {agent} begins with {bytes}", adapter.word()),
                move || {
                    let scene = with(
                        adapter,
                        agent,
                        task,
                        vec![Step::Bytes(bytes.into()), emit("\n"), emit(good)],
                    );
                    let output = scene.arbitrate();
                    assert_eq!(output.code, 0, "{output}");
                    assert!(
                        !output.stderr.contains('\u{1b}') && !output.stderr.contains('\u{9b}'),
                        "{output}"
                    );
                },
            );
        }
    }
}

fn inputs(cases: &mut Cases) {
    const ROW: &str = "standard input and terminal";
    for adapter in Adapter::ALL {
        for (agent, task, good) in PARTS {
            let shapes: [(&str, Vec<Step>); 5] = [
                ("closes stdin at once", vec![Step::Close(0)]),
                ("never reads", vec![]),
                ("reads late", vec![Step::Sleep(200), Step::Listen]),
                ("opens the terminal", vec![Step::Terminal]),
                ("closes stderr", vec![Step::Close(2), Step::Listen]),
            ];
            for (shape, steps) in shapes {
                cases.add(
                    ROW,
                    format!("{} {agent} {shape}", adapter.word()),
                    move || {
                        let mut steps = steps.clone();
                        steps.push(emit(good));
                        let scene = with(adapter, agent, task, steps);
                        scene.write(
                            "app.py",
                            format!("{}\"{}\"\n", crate::scene::CODE, "x".repeat(90_000)),
                        );
                        let started = Instant::now();
                        let output = scene.arbitrate();
                        assert_eq!(output.code, 0, "{output}");
                        assert!(started.elapsed() < Duration::from_secs(20));
                    },
                );
            }
        }
    }
    cases.add(ROW, "a coder that implements", || {
        let mut scene = Scene::fixing(Kind::Git);
        scene.play(
            "fix",
            "respond",
            [Step::Close(0), crate::scene::fix(), emit(DONE)],
        );
        assert_eq!(scene.arbitrate().code, 0);
    });
}
