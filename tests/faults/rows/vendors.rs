//! The supported programs: their recorded output, replayed through their adapters.

use std::path::{Path, PathBuf};

use super::ends::PARTS;
use crate::agent::Step;
use crate::runner::Cases;
use crate::scene::{Adapter, Kind, Scene, emit, essence, outcome};

const RECORDED: &str = "0123456789abcdef0123456789abcdef";

fn recordings(adapter: Adapter) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/recorded")
        .join(adapter.word());
    let files = std::fs::read_dir(folder)
        .expect("the recordings are there")
        .flatten()
        .map(|entry| entry.path());
    let mut found: Vec<PathBuf> = files
        .filter(|path| path.extension().is_some_and(|end| end == "json"))
        .collect();
    found.sort();
    found
}

/// Replays a recording; the agent reports neither version nor flags.
fn played(record: &Path, nonce: &str) -> Vec<Step> {
    let read = |end: &str| {
        let bytes =
            std::fs::read(record.with_extension(end)).expect("a recording has both streams");
        String::from_utf8_lossy(&bytes).replace(RECORDED, nonce)
    };
    let about: serde_json::Value = serde_json::from_str(&read("json")).expect("JSON");
    let code = about["exit_code"]
        .as_u64()
        .and_then(|code| u8::try_from(code).ok())
        .unwrap_or(143);
    vec![
        Step::Listen,
        Step::Mutter(read("stderr")),
        emit(&read("stdout")),
        Step::Exit(code),
    ]
}

pub(crate) fn add(cases: &mut Cases) {
    const ROW: &str = "known programs that fail";
    const LIMITS: &str = "rate limits in the shapes of each program";
    for adapter in Adapter::PROGRAMS {
        for (number, record) in recordings(adapter).into_iter().enumerate() {
            let name = record
                .file_stem()
                .expect("a recording has a name")
                .to_string_lossy()
                .into_owned();
            let is_limit = name.starts_with("rate-limited") || name == "over-quota";
            // A program that was killed during its own retries reported no reason; another one reports a quota as
            // an error.
            let is_told = is_limit
                && adapter != Adapter::Qwen
                && !(adapter == Adapter::Opencode && name == "over-quota");
            let (agent, task, _) = PARTS[number % 3];
            let said = record.clone();
            let row = if is_told { LIMITS } else { ROW };
            cases.add(
                row,
                format!("{} {agent} {name}", adapter.word()),
                move || {
                    let mut scene = Scene::new(Kind::Plain);
                    scene.speak(agent, adapter).set("limits: {retries: 0}");
                    scene.play(agent, "", [Step::Exit(1)]);
                    // The answer to another call is invalid for this one.
                    scene.play(agent, task, played(&said, RECORDED));
                    let output = scene.arbitrate();
                    // A coder's answer to another call leaves the finding open; others are inconclusive.
                    let ends: &[i32] = match (is_told, is_limit, agent) {
                        (true, ..) => &[75],
                        (false, true, _) => &[4, 75],
                        (false, false, "fix") => &[1, 4],
                        (false, false, _) => &[4],
                    };
                    assert!(ends.contains(&output.code), "{output}");
                    let undecided = essence(&output)["disputes"]
                        .as_array()
                        .is_none_or(|all| all.iter().all(|dispute| dispute[0].is_null()));
                    // An invalid judge decides nothing.
                    assert!(agent != "jud" || undecided, "{output}");
                },
            );
            if is_told {
                cases.add(
                    LIMITS,
                    format!("{} {name}, carried on", adapter.word()),
                    move || {
                        let mut scene = Scene::new(Kind::Plain);
                        scene.speak("rev", adapter).set("limits: {retries: 0}");
                        scene.play("rev", "", [Step::Exit(1)]).play(
                            "rev",
                            "review",
                            played(&record, RECORDED),
                        );
                        let output = scene.review();
                        assert_eq!(output.code, 75, "{output}");
                        let whole = record.with_file_name("reviewer.json");
                        scene
                            .play("rev", "review", played(&whole, "{nonce}"))
                            .ready();
                        let output =
                            scene.glee(&["runs", "resume", "--format", "json", "--no-input"]);
                        // A recorded cool-down is respected.
                        assert!([1, 75].contains(&output.code), "{output}");
                        scene.nothing_repeated();
                    },
                );
            }
        }
        cases.add(
            ROW,
            format!("{} answers in its own form", adapter.word()),
            move || {
                let mut scene = Scene::new(Kind::Plain);
                scene.speak("rev", adapter);
                let record = Path::new(env!("CARGO_MANIFEST_DIR"))
                    .join("tests/recorded")
                    .join(adapter.word());
                scene.play("rev", "", [Step::Exit(1)]);
                scene.play(
                    "rev",
                    "review",
                    played(&record.join("reviewer.json"), "{nonce}"),
                );
                let output = scene.review();
                assert_eq!(output.code, 1, "{output}");
                assert_eq!(
                    outcome(&output)["findings"].as_array().map(Vec::len),
                    Some(1),
                    "{output}"
                );
            },
        );
    }
}
