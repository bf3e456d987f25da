//! A history inside the tree, where the coder of the run could rewrite it, is refused under any path.

use std::process::Stdio;

use super::below;
use crate::runner::Cases;
use crate::scene::{Kind, Scene};
use crate::support::Output;

/// Paths into the tree; `BASE` is the folder around the tree.
fn inside() -> Vec<&'static str> {
    vec![
        "h.db",
        "./h.db",
        "sub/h.db",
        "sub/../h.db",
        "none/../h.db",
        "none/deep/h.db",
        "../project/h.db",
        "BASE/project/h.db",
        "BASE/./project//sub/./h.db",
        "BASE/none/../project/h.db",
        "../into/h.db",
        "../dangling/h.db",
        "../dangling-file.db",
        "away/h.db",
        "away-file.db",
        "sub/up/project/h.db",
        ".git/h.db",
        ".git/objects/h.db",
        "inner/h.db",
        "inner/.git/h.db",
        ".glee/h.db",
        "file:h.db",
        "file:h.db?mode=rwc",
        "sqlite:h.db",
        "sqlite://h.db",
        ":memory:",
        ".",
    ]
}

/// Paths outside the tree.
const OUTSIDE: [&str; 5] = [
    "../h.db",
    "BASE/h.db",
    "../none/h.db",
    "sub/../../h.db",
    "../project-of-another/h.db",
];

fn scene(kind: Kind) -> Scene {
    let scene = Scene::fixing(kind);
    assert!(scene.shell(
        "mkdir -p sub .glee ../out ../project-of-another; git init -q inner; ln -s project/sub ../into; \
         ln -s project/none ../dangling; ln -s project/none.db ../dangling-file.db; ln -s ../out away; \
         ln -s ../out/h.db away-file.db; ln -s ../.. sub/up"
    ));
    scene
}

fn run(scene: &Scene, folder: &str, args: &[&str], history: &str) -> Output {
    let base = scene.root().join("..").canonicalize().expect("it is there");
    let history = history.replace("BASE", &base.display().to_string());
    let mut command = scene
        .ready()
        .command(&[args, &["--history", &history]].concat());
    let output = command
        .current_dir(scene.root().join(folder))
        .stdin(Stdio::null())
        .output()
        .expect("it runs");
    Output {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Asserts that no history and no transcript was written to the tree or the targets of its links.
fn nothing_kept(scene: &Scene) {
    let base = scene.root().join("..").canonicalize().expect("it is there");
    let kept: Vec<_> = ["project", "out"]
        .into_iter()
        .flat_map(|folder| below(base.join(folder)))
        .filter(|path| {
            let name = path.to_string_lossy();
            name.contains(".db") && !path.is_symlink() || name.contains("/runs/")
        })
        .collect();
    assert!(kept.is_empty(), "{kept:?}");
}

pub(crate) fn add(cases: &mut Cases) {
    const ROW: &str = "a history inside the tree";
    let review: &[&str] = &["review", "app.py", "--fix", "--no-input"];
    for kind in Kind::ALL {
        for name in inside() {
            cases.add(ROW, format!("{}: {name:?}", kind.word()), move || {
                let scene = scene(kind);
                let output = run(&scene, ".", review, name);
                assert_eq!((output.code, output.stdout.as_str()), (2, ""), "{output}");
                assert!(
                    output.stderr.contains("is inside the reviewed tree"),
                    "{output}"
                );
                nothing_kept(&scene);
            });
        }
    }
    for (folder, args, history) in [
        ("sub", &["review", "../app.py", "--fix"][..], "h.db"),
        ("sub", &["review", "../app.py", "--fix"], "../h.db"),
        (
            "..",
            &["-C", "project", "review", "app.py", "--fix"],
            "h.db",
        ),
        (
            "..",
            &["-C", "project/sub", "review", "../app.py", "--fix"],
            "h.db",
        ),
        ("../out", &["-C", "../project", "review", "app.py"], "h.db"),
        (".", &["review", "app.py", "--arbitrate"], "h.db"),
        (".", &["watch"], "h.db"),
    ] {
        cases.add(ROW, format!("{args:?} in {folder}, {history}"), move || {
            let scene = scene(Kind::Git);
            let output = run(&scene, folder, args, history);
            assert_eq!(output.code, 2, "{output}");
            assert!(
                output.stderr.contains("is inside the reviewed tree"),
                "{output}"
            );
            nothing_kept(&scene);
        });
    }
    for folder in [
        "kept",
        "./kept",
        "sub/../kept",
        "none/../kept",
        "../into/kept",
        "../dangling",
        "away/kept",
    ] {
        cases.add(ROW, format!("GLEE_STATE_DIR={folder}"), move || {
            let mut scene = scene(Kind::Git);
            scene.env("GLEE_STATE_DIR", folder);
            let output = scene.ready().glee(review);
            assert_eq!((output.code, output.stdout.as_str()), (2, ""), "{output}");
            assert!(!scene.exists("kept") && !scene.exists("none"), "{output}");
            nothing_kept(&scene);
        });
    }
    cases.add(ROW, "a dispute is not resolved in one", || {
        let scene = Scene::new(Kind::Git);
        let review = [
            "review",
            "app.py",
            "--arbitrate",
            "--on-dispute",
            "human",
            "--no-input",
        ];
        let output = run(&scene, ".", &review, "../h.db");
        assert_eq!(output.code, 3, "{output}");
        assert!(scene.shell("cp ../h.db* ."));
        let before = std::fs::read(scene.root().join("h.db")).expect("a copy");
        for history in ["h.db", "./h.db", "../project/h.db"] {
            let output = run(
                &scene,
                ".",
                &[
                    "disputes", "resolve", "1", "dismiss", "--by", "Test", "--reason", "x",
                ],
                history,
            );
            assert_eq!(output.code, 2, "{output}");
            assert!(
                output.stderr.contains("is inside the reviewed tree"),
                "{output}"
            );
            assert_eq!(
                std::fs::read(scene.root().join("h.db")).expect("it is there"),
                before
            );
        }
    });
    cases.add(
        ROW,
        "of a linked work tree, in the folder of its repository",
        || {
            let scene = scene(Kind::Git);
            scene.git(&["worktree", "add", "-q", "../linked"]);
            for history in [
                "../project/.git/h.db",
                "../project/.git/worktrees/linked/h.db",
            ] {
                let output = run(&scene, "../linked", &["review", "app.py", "--fix"], history);
                assert_eq!(output.code, 2, "{output}");
            }
            nothing_kept(&scene);
        },
    );
    for kind in Kind::ALL {
        for name in OUTSIDE {
            cases.add(
                ROW,
                format!("{}: {name} lies outside", kind.word()),
                move || {
                    let scene = scene(kind);
                    let output = run(
                        &scene,
                        ".",
                        &["review", "app.py", "--fix", "--no-input"],
                        name,
                    );
                    assert_eq!(output.code, 0, "{output}");
                    nothing_kept(&scene);
                },
            );
        }
    }
}
