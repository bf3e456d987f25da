//! Writes by reviewers and judges, and by users.

use std::time::Duration;

use super::clean::shaped;
use crate::agent::Step;
use crate::runner::Cases;
use crate::scene::{
    Adapter, CODE, Kind, REVIEW, RULING, Scene, emit, has_namespaces, outcome, run,
};

/// Clean, dirty, untracked and ignored files.
fn furnished() -> Scene {
    let scene = Scene::new(Kind::Git);
    scene
        .write("clean", "clean\n")
        .write("dirty", "as committed\n")
        .write(".gitignore", "ignored\n.env\n");
    scene.git(&["add", "-A"]);
    scene.git(&["commit", "-q", "-m", "Furnish"]);
    scene
        .write("dirty", "as edited\n")
        .write("untracked", "untracked\n")
        .write("ignored", "ignored\n");
    scene.write(".env", "A=b\n");
    scene
}

/// Writes of a reader, and whether the comparison detects them (ignored files are left to the sandbox).
fn deeds() -> Vec<(&'static str, Vec<Step>, bool)> {
    let write = |path: &str| Step::Write(path.into(), "written\n".into());
    vec![
        ("writes a clean file", vec![write("clean")], true),
        ("writes a dirty file", vec![write("dirty")], true),
        ("writes an untracked file", vec![write("untracked")], true),
        ("writes an ignored file", vec![write("ignored")], false),
        ("writes the ignored .env", vec![write(".env")], true),
        ("writes the code under review", vec![write("app.py")], true),
        ("creates a file", vec![write("new")], true),
        (
            "creates a file in a new folder",
            vec![Step::Folder("a/b".into()), write("a/b/new")],
            true,
        ),
        (
            "creates settings for agents",
            vec![
                Step::Folder(".claude".into()),
                write(".claude/settings.json"),
            ],
            true,
        ),
        ("removes a file", vec![Step::Remove("clean".into())], true),
        (
            "swaps a file for a link",
            vec![Step::Link("clean".into(), "/etc/passwd".into())],
            true,
        ),
        (
            "changes permissions",
            vec![Step::Mode("clean".into(), 0o777)],
            true,
        ),
        (
            "changes permissions of the code",
            vec![Step::Mode("app.py".into(), 0o600)],
            true,
        ),
        (
            "changes the index",
            vec![run(&["git", "add", "untracked"])],
            true,
        ),
        (
            "removes from the index",
            vec![run(&["git", "rm", "-q", "--cached", "clean"])],
            true,
        ),
        (
            "commits",
            vec![run(&[
                "git",
                "-c",
                "user.name=x",
                "-c",
                "user.email=x",
                "commit",
                "-qam",
                "x",
            ])],
            true,
        ),
        (
            "makes a branch",
            vec![run(&["git", "branch", "evil"])],
            true,
        ),
        (
            "switches the branch",
            vec![run(&["git", "checkout", "-q", "-b", "evil"])],
            true,
        ),
        ("stashes", vec![run(&["git", "stash", "-q"])], true),
        ("resets", vec![run(&["git", "reset", "-q", "--hard"])], true),
        ("cleans", vec![run(&["git", "clean", "-fdxq"])], true),
        (
            "writes a hook",
            vec![
                Step::Folder(".git/hooks".into()),
                write(".git/hooks/pre-commit"),
            ],
            true,
        ),
        (
            "writes the configuration",
            vec![run(&["git", "config", "core.pager", "evil"])],
            true,
        ),
        (
            "writes attributes",
            vec![
                Step::Folder(".git/info".into()),
                write(".git/info/attributes"),
            ],
            true,
        ),
        ("removes .git", vec![Step::Remove(".git".into())], true),
        (
            "has a child that writes",
            vec![
                Step::Fork(vec![Step::Setsid, write("clean")]),
                Step::Sleep(200),
            ],
            true,
        ),
    ]
}

pub(crate) fn add(cases: &mut Cases) {
    readers(cases);
    users(cases);
}

fn readers(cases: &mut Cases) {
    const ROW: &str = "readers that write";
    for (agent, task, answer) in [("rev", "review", REVIEW), ("jud", "judge", RULING)] {
        for (deed, steps, is_found) in deeds() {
            for (adapter, sandbox) in [
                (Adapter::Text, "auto"),
                (Adapter::Text, "off"),
                (Adapter::Codex, "auto"),
            ] {
                if adapter == Adapter::Codex && agent == "jud" {
                    continue;
                }
                let steps = steps.clone();
                cases.add(
                    ROW,
                    format!("{agent} {deed}, {}, sandbox {sandbox}", adapter.word()),
                    move || {
                        let mut scene = furnished();
                        let mut steps = steps.clone();
                        steps.push(said(adapter, answer));
                        scene
                            .speak(agent, adapter)
                            .play(agent, task, steps)
                            .env("GLEE_SANDBOX", sandbox);
                        let before = bytes(&scene);
                        let output = scene.arbitrate();
                        let after = bytes(&scene);
                        let permissions = deed.starts_with("changes permissions");
                        // Only mounts confine Codex, and only mounts prevent changes of permissions.
                        let is_held = if adapter == Adapter::Codex || permissions {
                            has_namespaces()
                        } else {
                            true
                        };
                        if sandbox == "auto" && is_held {
                            assert_eq!(before, after, "it was not held: {output}");
                            assert_eq!(output.code, 0, "{output}");
                        } else if is_found {
                            assert_eq!(output.code, 5, "{output}");
                            let events = scene.events();
                            assert!(
                                events
                                    .iter()
                                    .any(|event| event["event"] == "read_only_violated")
                            );
                            let outcome = outcome(&output);
                            let said = outcome["failures"][0]["error"].as_str().unwrap_or_default();
                            assert!(said.contains("its answer is discarded"), "{output}");
                            // Its answer is discarded.
                            if agent == "rev" {
                                assert_eq!(outcome["findings"], serde_json::json!([]), "{output}");
                            } else {
                                assert!(
                                    outcome["disputes"][0]["disposition"].is_null(),
                                    "{output}"
                                );
                            }
                        }
                    },
                );
            }
        }
    }
    cases.add(ROW, "required where it holds", || {
        let mut scene = furnished();
        scene.env("GLEE_SANDBOX", "required");
        assert_eq!(scene.arbitrate().code, 0);
    });
}

fn users(cases: &mut Cases) {
    const ROW: &str = "the user saves meanwhile";
    for (agent, task, answer, adapter) in [
        ("rev", "review", REVIEW, Adapter::Text),
        ("rev", "review", REVIEW, Adapter::Codex),
        ("jud", "judge", RULING, Adapter::Text),
    ] {
        for deed in ["saves", "deletes", "creates", "commits", "switches"] {
            cases.add(
                ROW,
                format!("the user {deed} while {agent} works, {}", adapter.word()),
                move || {
                    let mut scene = furnished();
                    if adapter == Adapter::Codex && !has_namespaces() {
                        return;
                    }
                    let flag = scene.cache().join("at-work");
                    let flag_text = flag.display().to_string();
                    let steps = [
                        Step::Write(flag_text, String::new()),
                        Step::Sleep(600),
                        said(adapter, answer),
                    ];
                    scene.speak(agent, adapter).play(agent, task, steps);
                    scene.ready();
                    let edited = format!("# mine\n{CODE}");
                    let output = std::thread::scope(|scope| {
                        scope.spawn(|| {
                            while !flag.exists() {
                                std::thread::sleep(Duration::from_millis(5));
                            }
                            match deed {
                                "saves" => drop(scene.write("app.py", &edited)),
                                "deletes" => std::fs::remove_file(scene.root().join("app.py"))
                                    .expect("it is there"),
                                "creates" => drop(scene.write("mine.py", "mine\n")),
                                "commits" => drop(scene.git(&["commit", "-qam", "mine"])),
                                _ => drop(scene.git(&["checkout", "-q", "-b", "mine"])),
                            }
                        });
                        scene.arbitrate()
                    });
                    assert_ne!(output.code, 5, "{output}");
                    let notices = outcome(&output)["notices"].to_string();
                    let stale = matches!(deed, "saves" | "deletes");
                    assert_eq!(notices.contains("may be stale"), stale, "{output}");
                    // The user's edits remain.
                    match deed {
                        "saves" => assert_eq!(scene.read("app.py"), edited),
                        "deletes" => assert!(!scene.exists("app.py")),
                        _ => assert_eq!(scene.read("app.py"), CODE),
                    }
                },
            );
        }
    }
}

/// An answer in the output format of the adapter.
fn said(adapter: Adapter, answer: &str) -> Step {
    if adapter == Adapter::Text {
        emit(answer)
    } else {
        shaped(adapter, answer)
    }
}

/// All files of the tree, and of the repository except its objects.
fn bytes(scene: &Scene) -> std::collections::BTreeMap<String, Vec<u8>> {
    let mut found = std::collections::BTreeMap::new();
    let mut folders = vec![scene.root()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let name = path.display().to_string();
            let own = name.contains(".git/objects")
                || name.contains(".git/refs/glee")
                || name.contains(".git/logs");
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(path),
                Ok(kind) if kind.is_file() && !own => {
                    drop(found.insert(name, std::fs::read(&path).unwrap_or_default()))
                }
                _ => {}
            }
        }
    }
    found
}
