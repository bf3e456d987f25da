//! Paths that lead out of the tree: in findings, evidence, citations, diffs and on the command line.

use super::{inert, nothing_fired};
use crate::agent::Step;
use crate::runner::Cases;
use crate::scene::{Kind, OBJECTION, REVIEW, RULING, Scene, emit, essence, outcome};

/// The content of files outside the tree, which must not leak.
const SECRET: &str = "CANARY-OF-ANOTHER-TREE";

fn places() -> Vec<&'static str> {
    vec![
        "../outside.py",
        "../../project/../outside.py",
        "./../outside.py",
        "app.py/../../outside.py",
        "sub/../../outside.py",
        "..\\outside.py",
        "sub\\..\\..\\outside.py",
        "BASE/outside.py",
        "//BASE/outside.py",
        "file://BASE/outside.py",
        "C:\\outside.py",
        "\\\\host\\share\\outside.py",
        "link-out",
        "link-folder/outside.py",
        "link-loop/outside.py",
        ".git/config",
        ".GIT/config",
        ".git/../../outside.py",
        "sub/.git/config",
        "/proc/self/environ",
        "/dev/zero",
        "/dev/stdin",
        "pipe",
        "sub",
        ".",
        "~/outside.py",
        "$HOME/outside.py",
        "%2e%2e/outside.py",
        "..%2foutside.py",
        "app.py\u{0}../outside.py",
        "app.py\n../outside.py",
        "\u{ff0e}\u{ff0e}/outside.py",
        "APP.PY",
        "-",
        "--output=canary-option",
        ":(glob)**",
    ]
}

/// A tree with all kinds of paths out of it, and agents that store what they are shown.
fn scene() -> Scene {
    let mut scene = Scene::new(Kind::Git);
    let made = scene.shell(
        "mkdir -p sub/.git; echo 'x' > sub/.git/config; ln -s ../outside.py link-out; ln -s .. link-folder; \
         ln -s link-loop link-loop; mkfifo pipe",
    );
    assert!(made);
    let outside = format!("# {SECRET}\nx = 1\n");
    for place in [
        scene.root().join("../outside.py"),
        scene.home().join("outside.py"),
    ] {
        std::fs::write(place, &outside).expect("a written file");
    }
    scene.git(&["config", "user.signingkey", SECRET]);
    let cache = scene.cache().display().to_string();
    for (agent, task, answer) in [
        ("rev", "review", REVIEW),
        ("fix", "respond", OBJECTION),
        ("jud", "judge", RULING),
    ] {
        scene.play(agent, task, [Step::Obey(cache.clone()), emit(answer)]);
    }
    scene
}

/// Asserts that nothing from outside was shown to an agent, printed or stored.
fn nothing_leaked(scene: &Scene) {
    for folder in [scene.cache(), scene.state()] {
        for file in super::below(folder) {
            let bytes = std::fs::read(&file).unwrap_or_default();
            let found = bytes
                .windows(SECRET.len())
                .any(|window| window == SECRET.as_bytes());
            assert!(!found, "{} holds what lies outside", file.display());
        }
    }
}

pub(crate) fn add(cases: &mut Cases) {
    const ROW: &str = "attack: places that lead out";
    for (number, place) in places().into_iter().enumerate() {
        for carrier in [
            "a finding",
            "a citation",
            ["its evidence", "an objection"][number % 2],
        ] {
            cases.add(ROW, format!("{place:?} in {carrier}"), move || {
                let mut scene = scene();
                let base = scene
                    .root()
                    .parent()
                    .expect("a parent folder")
                    .display()
                    .to_string();
                let (place, cache) = (
                    place.replace("BASE", &base),
                    scene.cache().display().to_string(),
                );
                let (agent, task, answer) = match carrier {
                    "a finding" => (
                        "rev",
                        "review",
                        REVIEW.replace("app.py:2", &format!("{place}:1")),
                    ),
                    "its evidence" => {
                        let more = format!("hash\n  Evidence: {place}:1\n");
                        ("rev", "review", REVIEW.replacen("hash\n", &more, 1))
                    }
                    "an objection" => (
                        "fix",
                        "respond",
                        OBJECTION.replace("app.py:2", &format!("{place}:1")),
                    ),
                    _ => (
                        "jud",
                        "judge",
                        RULING.replace("app.py:2", &format!("{place}:1")),
                    ),
                };
                scene.play(agent, task, [Step::Obey(cache), emit(&answer)]);
                let output = scene.arbitrate();
                inert(&output);
                nothing_fired(&scene);
                nothing_leaked(&scene);
                assert!(
                    !output.stdout.contains(SECRET) && !output.stderr.contains(SECRET),
                    "{output}"
                );
                if carrier == "a citation" {
                    // No file of the tree supports the ruling, so it is invalid.
                    assert_eq!(
                        outcome(&output)["disputes"][0]["disposition"],
                        serde_json::Value::Null,
                        "{output}"
                    );
                    assert_eq!(output.code, 3, "{output}");
                }
                for view in [["disputes", "show", "1"], ["runs", "show", "last"]] {
                    let shown = scene.glee(&view);
                    inert(&shown);
                    assert!(!shown.stdout.contains(SECRET), "{shown}");
                }
            });
        }
        cases.add(ROW, format!("{place:?} on the command line"), move || {
            let scene = scene();
            let base = scene
                .root()
                .parent()
                .expect("a parent folder")
                .display()
                .to_string();
            let place = place.replace("BASE", &base).replace('\0', "");
            let output =
                scene
                    .ready()
                    .glee(&["review", "--no-input", "--format", "json", "--", &place]);
            inert(&output);
            nothing_fired(&scene);
            nothing_leaked(&scene);
            // Where there is nothing to read, nobody is asked.
            assert!(
                output.code == 2
                    || essence(&output)["exit"] != "clean"
                    || outcome(&output)["proof"]["calls"] == 0,
                "{output}"
            );
        });
    }
    const DIFFS: &str = "attack: diffs that lead out";
    for place in places() {
        cases.add(DIFFS, format!("{place:?}"), move || {
            let scene = scene();
            let base = scene
                .root()
                .parent()
                .expect("a parent folder")
                .display()
                .to_string();
            let place = place.replace("BASE", &base);
            let diff =
                format!("--- a/{place}\n+++ b/{place}\n@@ -1,2 +1,2 @@\n-# x\n+# y\n x = 1\n");
            std::fs::write(scene.home().join("x.diff"), diff).expect("a written file");
            let name = scene.home().join("x.diff").display().to_string();
            let output =
                scene
                    .ready()
                    .glee(&["review", "--no-input", "--format", "json", "--diff", &name]);
            inert(&output);
            nothing_fired(&scene);
            nothing_leaked(&scene);
            assert_ne!(output.code, 101, "{output}");
        });
    }
}
