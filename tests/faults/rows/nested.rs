//! Submodules and nested repositories: changes in them are recorded, undone and detected as elsewhere.

use std::path::Path;

use super::coders::{assert_same, files};
use crate::agent::Step;
use crate::runner::Cases;
use crate::scene::{DONE, Kind, OBJECTION, RESOLVED, REVIEW, RULING, Scene, emit, outcome, run};

/// Ways to make the folder `inner` a repository.
type Make = fn(&Scene);

const IDENTITY: &str =
    "-c user.name=x -c user.email=x@x -c protocol.file.allow=always -c init.defaultBranch=main";

/// Runs a shell script in which `g` is git.
fn shell(scene: &Scene, script: &str) {
    let script = format!("set -e; g() {{ git {IDENTITY} \"$@\"; }}; {script}");
    assert!(scene.shell(&script), "{script}");
}

/// Commits files in a repository and leaves it with further edits.
const FILL: &str = "printf 'a = 1\\nmd5\\n' > x.py; mkdir sub; echo b > sub/b.py; echo '*.log' > .gitignore; \
                    echo kept > kept.log; g add -A; g add -f kept.log; g commit -qm inner; \
                    echo '# mine, uncommitted' >> x.py; echo mine > new.py; chmod 600 new.py; ln -s x.py link";

fn kinds() -> Vec<(&'static str, Kind, Make)> {
    vec![
        ("a submodule", Kind::Git, |scene| {
            shell(
                scene,
                &format!(
                    "g init -q ../origin; cd ../origin; g commit -q --allow-empty -m o; cd ../project; \
                     g submodule --quiet add ../origin inner; g commit -qm sub; cd inner; {FILL}"
                ),
            );
        }),
        ("a submodule in a submodule", Kind::Git, |scene| {
            shell(
                scene,
                &format!(
                    "g init -q ../deep; cd ../deep; g commit -q --allow-empty -m o; cd ..; g init -q origin; \
                     cd origin; g submodule --quiet add ../deep vendored; g commit -qm s; cd ../project; \
                     g submodule --quiet add ../origin inner; g submodule --quiet update --init --recursive; \
                     g commit -qm sub; cd inner; {FILL}; cd vendored; {FILL}"
                ),
            );
        }),
        ("an untracked repository", Kind::Git, |scene| {
            shell(scene, &format!("g init -q inner; cd inner; {FILL}"));
        }),
        ("one without a commit", Kind::Git, |scene| {
            shell(
                scene,
                "g init -q inner; cd inner; printf 'a\\nmd5\\n' > x.py; mkdir sub; echo b > sub/b.py; echo n > new.py",
            );
        }),
        ("one of SHA-256", Kind::Git, |scene| {
            shell(
                scene,
                &format!("g init -q --object-format=sha256 inner; cd inner; {FILL}"),
            );
        }),
        ("a linked work tree", Kind::Git, |scene| {
            shell(scene, &format!("g worktree add -q inner; cd inner; {FILL}"));
        }),
        ("one whose git folder lies elsewhere", Kind::Git, |scene| {
            shell(
                scene,
                &format!("g init -q --separate-git-dir ../elsewhere inner; cd inner; {FILL}"),
            );
        }),
        ("one in a folder outside git", Kind::Plain, |scene| {
            shell(scene, &format!("g init -q inner; cd inner; {FILL}"));
        }),
        ("several in a folder outside git", Kind::Plain, |scene| {
            shell(
                scene,
                &format!(
                    "g init -q inner; (cd inner; {FILL}; g init -q third; cd third; {FILL}); \
                     g init -q other; cd other; {FILL}"
                ),
            );
        }),
    ]
}

/// Edits of a coder in `inner`, with a file that then differs.
fn deeds() -> Vec<(&'static str, &'static str, &'static str)> {
    vec![
        (
            "edits and deletes",
            "printf 'a = 1\\nsha256\\n' > inner/x.py; rm inner/new.py",
            "inner/new.py",
        ),
        (
            "creates files",
            "mkdir inner/made; echo x > inner/made/y.py; echo z > inner/z.py",
            "inner/made/y.py",
        ),
        (
            "changes permissions",
            "chmod 755 inner/new.py",
            "inner/new.py",
        ),
        (
            "puts a link in a folder's place",
            "rm -r inner/sub; ln -s / inner/sub",
            "inner/sub/b.py",
        ),
        (
            "removes everything but its repository",
            "cd inner; rm -rf -- *",
            "inner/x.py",
        ),
        ("removes the folder", "rm -rf inner", "inner/x.py"),
        (
            "commits",
            "cd inner; echo more >> x.py; g add -A; g commit -qm mine",
            "inner/x.py",
        ),
        (
            "removes its `.git`",
            "rm -rf inner/.git; echo gone > inner/x.py",
            "inner/x.py",
        ),
        (
            "cleans",
            "cd inner; g clean -fdxq; g reset -q --hard || true",
            "inner/new.py",
        ),
    ]
}

/// The files of a tree without nested repositories.
fn own_files(root: &Path) -> std::collections::BTreeMap<Vec<u8>, (u32, Vec<u8>)> {
    let mut found = files(root);
    found.retain(|name, _| !name.split(|byte| *byte == b'/').any(|part| part == b".git"));
    found
}

pub(crate) fn add(cases: &mut Cases) {
    coders(cases);
    readers(cases);
    bounds(cases);
}

fn coders(cases: &mut Cases) {
    const ROW: &str = "coders in nested repositories";
    for (shape, kind, make) in kinds() {
        for (deed, script, differs) in deeds() {
            cases.add(ROW, format!("{shape}: {deed}"), move || {
                let mut scene = Scene::new(kind);
                make(&scene);
                let before = own_files(&scene.root());
                let script = format!("g() {{ git {IDENTITY} \"$@\"; }}; {script}");
                scene.play(
                    "rev",
                    "review",
                    [emit(&REVIEW.replace("app.py", "inner/x.py"))],
                );
                scene.play("rev", "recheck", [emit(RESOLVED)]);
                scene.play("fix", "respond", [run(&["sh", "-c", &script]), emit(DONE)]);
                let args = ["review", "inner", "--fix", "--format", "json", "--no-input"];
                let output = scene.ready().glee(&args);
                assert!([0, 1].contains(&output.code), "{output}");
                let outcome = outcome(&output);
                let changes = outcome["changes"].as_array().cloned().unwrap_or_default();
                assert!(
                    changes.iter().any(|change| change["file"] == differs),
                    "{differs}: {output}"
                );
                if deed == "commits" {
                    assert!(
                        outcome["notices"].to_string().contains("refs/heads/"),
                        "{output}"
                    );
                }
                let shown = scene.glee(&["runs", "diff"]);
                assert!(shown.code == 0 && shown.stdout.contains(differs), "{shown}");
                let undone = scene.glee(&["runs", "undo"]);
                assert_eq!(undone.code, 0, "{undone}");
                assert_same(&before, &own_files(&scene.root()));
            });
        }
    }
}

/// Writes of a read-only agent in `inner`.
fn reads() -> Vec<(&'static str, Vec<Step>)> {
    let write = |path: &str| Step::Write(path.into(), "written\n".into());
    let commit = [
        "-c",
        "user.name=x",
        "-c",
        "user.email=x@x",
        "commit",
        "-q",
        "--allow-empty",
        "-m",
        "x",
    ];
    vec![
        ("writes a dirty file", vec![write("inner/x.py")]),
        ("writes a clean file", vec![write("inner/sub/b.py")]),
        ("writes an untracked file", vec![write("inner/new.py")]),
        ("creates a file", vec![write("inner/made.py")]),
        ("removes a file", vec![Step::Remove("inner/new.py".into())]),
        (
            "commits",
            vec![run(&[["git", "-C", "inner"].as_slice(), &commit].concat())],
        ),
        (
            "stages",
            vec![run(&["git", "-C", "inner", "add", "new.py"])],
        ),
        (
            "writes a setting",
            vec![run(&["git", "-C", "inner", "config", "core.pager", "evil"])],
        ),
        (
            "makes another repository",
            vec![run(&["git", "init", "-q", "inner/another"])],
        ),
    ]
}

fn readers(cases: &mut Cases) {
    const ROW: &str = "readers in nested repositories";
    for (agent, task, answer) in [("rev", "review", REVIEW), ("jud", "judge", RULING)] {
        for (shape, kind, make) in kinds() {
            if shape == "one without a commit" {
                continue;
            }
            for (deed, steps) in reads() {
                cases.add(ROW, format!("{agent}, {shape}: {deed}"), move || {
                    let mut scene = Scene::new(kind);
                    make(&scene);
                    let steps = steps.clone().into_iter().chain([emit(answer)]);
                    scene.play(agent, task, steps).env("GLEE_SANDBOX", "off");
                    let output = scene.arbitrate();
                    assert_eq!(output.code, 5, "{output}");
                    assert!(
                        scene
                            .events()
                            .iter()
                            .any(|event| event["event"] == "read_only_violated")
                    );
                });
            }
        }
    }
}

/// More repositories than Glee follows.
fn excesses() -> Vec<(&'static str, Kind, &'static str, &'static str)> {
    let deep = "p=.; for i in 1 2 3 4 5 6 7 8 9; do p=$p/n; g init -q $p; echo x > $p/x.py; done";
    let many = "for i in $(seq 10 75); do g init -q r$i; echo x > r$i/x.py; done";
    let files = "g init -q large; cd large; seq 20001 | xargs touch";
    let bytes = "g init -q large; cd large; for i in 1 2 3; do truncate -s 400M $i; done";
    vec![
        ("too deep", Kind::Git, deep, "n/n/n/n/n/n/n/n/n"),
        ("too deep", Kind::Plain, deep, "n/n/n/n/n/n/n/n/n"),
        ("too many", Kind::Git, many, "r74"),
        ("too many files", Kind::Git, files, "large"),
        ("too many bytes", Kind::Git, bytes, "large"),
    ]
}

fn bounds(cases: &mut Cases) {
    const ROW: &str = "nested repositories beyond the bounds";
    for (excess, kind, script, folder) in excesses() {
        cases.add(
            ROW,
            format!("{excess}, {}: a review says so", kind.word()),
            move || {
                let scene = Scene::new(kind);
                shell(&scene, script);
                let output = scene.review();
                assert_eq!(output.code, 1, "{output}");
                let events = scene.events();
                let place = |wanted: &str| events.iter().position(|event| event["event"] == wanted);
                let (said, asked) = (place("notice"), place("call_started"));
                assert!(
                    said.is_some() && said < asked,
                    "it was not said before anybody was asked: {events:?}"
                );
                let said = outcome(&output)["notices"].to_string();
                assert!(
                    said.contains(folder) && said.contains("not watched"),
                    "{output}"
                );
            },
        );
        cases.add(
            ROW,
            format!("{excess}, {}: no coder begins", kind.word()),
            move || {
                let mut scene = Scene::fixing(kind);
                shell(&scene, script);
                let asked = scene.cache().join("asked").display().to_string();
                scene.play(
                    "rev",
                    "review",
                    [Step::Write(asked.clone(), String::new()), emit(REVIEW)],
                );
                let before = own_files(&scene.root());
                let output = scene.arbitrate();
                assert_eq!((output.code, output.stdout.as_str()), (2, ""), "{output}");
                assert!(
                    output
                        .stderr
                        .contains(&format!("cannot include `{folder}` in the snapshot")),
                    "{output}"
                );
                assert!(!Path::new(&asked).exists(), "somebody was asked");
                assert_same(&before, &own_files(&scene.root()));
                let runs = scene.glee(&["runs", "--format", "json"]);
                assert!(!runs.stdout.contains("\"id\""), "{runs}");
            },
        );
    }
    cases.add(ROW, "an objection is no edit", || {
        let mut scene = Scene::new(Kind::Git);
        shell(
            &scene,
            "for i in $(seq 10 40); do g init -q r$i; echo x > r$i/x.py; done",
        );
        scene.play("fix", "respond", [emit(OBJECTION)]);
        assert_eq!(scene.arbitrate().code, 0);
    });
}
