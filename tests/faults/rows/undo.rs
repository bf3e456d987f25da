//! Undo and what it leaves unchanged: the user's later edits, ignored files, other repositories.

use std::path::Path;
use std::time::Duration;

use super::coders::{assert_same, files};
use crate::agent::Step;
use crate::runner::Cases;
use crate::scene::{CODE, DONE, Kind, RESOLVED, Scene, emit, fix};

fn fixed() -> String {
    CODE.replace("md5", "sha256")
}

fn shell(script: &str) -> Step {
    crate::scene::run(&["/bin/sh", "-c", script])
}

/// A run whose coder fixed `app.py` and ran this command.
fn coded(kind: Kind, besides: &[Step]) -> Scene {
    let mut scene = Scene::new(kind);
    let steps = std::iter::once(fix())
        .chain(besides.iter().cloned())
        .chain([emit(DONE)]);
    scene.play("fix", "respond", steps.collect::<Vec<_>>());
    let output = scene.arbitrate();
    assert_eq!(output.code, 0, "{output}");
    scene
}

/// A run during which the user saves a file after the coder's edit and before the coder ends.
fn saved_meanwhile(kind: Kind, script: &str) -> Scene {
    let mut scene = Scene::new(kind);
    scene.write("other.py", "x = 1\n");
    let at_work = scene.cache().join("at-work");
    let steps = [
        fix(),
        Step::Write(at_work.display().to_string(), String::new()),
        Step::Sleep(800),
        emit(DONE),
    ];
    scene.play("fix", "respond", steps);
    scene.ready();
    let output = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !at_work.exists() {
                std::thread::sleep(Duration::from_millis(5));
            }
            assert!(scene.shell(script));
        });
        scene.arbitrate()
    });
    assert_eq!(output.code, 0, "{output}");
    scene
}

/// A shell command of the user after the run, and whether it requires git.
type Work = (&'static str, bool, &'static str);

const WORK: [Work; 12] = [
    (
        "ignores more",
        false,
        "printf '.env\\nlocal/\\n' > .gitignore; echo only > .env; mkdir local; echo only > local/db",
    ),
    (
        "ignores everything",
        false,
        "echo '*' > .gitignore; echo only > x; mkdir -p a/b; echo only > a/b/c",
    ),
    (
        "ignores in a folder",
        false,
        "mkdir sub; echo only > sub/data; echo data > sub/.gitignore",
    ),
    (
        "excludes",
        true,
        "echo secret >> .git/info/exclude; echo only > secret",
    ),
    (
        "no longer ignores",
        false,
        "rm -f .gitignore; echo only > b.log",
    ),
    ("edits another file", false, "echo only >> other.py"),
    (
        "makes files and folders",
        false,
        "mkdir -p new/deep; echo only > new/deep/file; ln -s nowhere new/link",
    ),
    ("stages", true, "echo only > staged.py; git add staged.py"),
    (
        "commits",
        true,
        "echo only > more.py; git add -A; git commit -qm more",
    ),
    ("removes", false, "rm other.py"),
    ("renames", false, "mv other.py renamed.py"),
    (
        "makes a file a folder",
        false,
        "rm other.py; mkdir other.py; echo only > other.py/file",
    ),
];

pub(crate) fn add(cases: &mut Cases) {
    const LATER: &str = "undo leaves later work alone";
    for (work, in_git, script) in WORK {
        for kind in Kind::ALL
            .into_iter()
            .filter(|kind| !in_git || *kind == Kind::Git)
        {
            cases.add(
                LATER,
                format!("{} the user {work}", kind.word()),
                move || {
                    let scene = Scene::fixing(kind);
                    scene.write("other.py", "x = 1\n");
                    scene.write("a.log", "only\n");
                    scene.write(".gitignore", "*.log\n");
                    let output = scene.arbitrate();
                    assert_eq!(output.code, 0, "{output}");
                    assert!(scene.shell(script));
                    let mut expected = files(&scene.root());
                    let coders = expected.get_mut(b"app.py".as_slice()).expect("it is there");
                    coders.1 = CODE.as_bytes().to_vec();
                    for words in [&["runs", "undo"][..], &["runs", "undo"]] {
                        let undone = scene.glee(words);
                        assert_eq!(undone.code, 0, "{undone}");
                        assert_same(&expected, &files(&scene.root()));
                    }
                    let redone = scene.glee(&["runs", "undo", "--redo"]);
                    assert_eq!(redone.code, 0, "{redone}");
                    assert_eq!(scene.read("app.py"), fixed());
                },
            );
        }
    }
    const MEANWHILE: &str = "the user saves while the coder works";
    for (work, script) in [
        ("edits another file", "echo mine >> other.py"),
        ("edits the same file", "echo '# mine' >> app.py"),
        ("makes a file", "echo mine > mine.py"),
    ] {
        for kind in Kind::ALL {
            cases.add(
                MEANWHILE,
                format!("{} {work}: counted as the coder's, and kept", kind.word()),
                move || {
                    let scene = saved_meanwhile(kind, script);
                    let with_mine = files(&scene.root());
                    let undone = scene.glee(&["runs", "undo"]);
                    assert_eq!(undone.code, 0, "{undone}");
                    assert_eq!(
                        (scene.read("app.py"), scene.read("other.py")),
                        (CODE.to_owned(), "x = 1\n".to_owned())
                    );
                    assert!(!scene.exists("mine.py"));
                    let redone = scene.glee(&["runs", "undo", "--redo"]);
                    assert_eq!(redone.code, 0, "{redone}");
                    assert_same(&with_mine, &files(&scene.root()));
                },
            );
        }
    }
    const SAME: &str = "undo of a file that was changed since";
    for kind in Kind::ALL {
        cases.add(
            SAME,
            format!("{} elsewhere in it: merged", kind.word()),
            move || {
                let scene = coded(kind, &[]);
                scene.write("app.py", fixed() + "# mine\n");
                let undone = scene.glee(&["runs", "undo"]);
                assert_eq!(undone.code, 0, "{undone}");
                assert!(
                    undone.stdout.contains("Merged with later changes: 1 file."),
                    "{undone}"
                );
                assert_eq!(scene.read("app.py"), format!("{CODE}# mine\n"));
                let redone = scene.glee(&["runs", "undo", "--redo"]);
                assert_eq!(
                    (redone.code, scene.read("app.py")),
                    (0, fixed() + "# mine\n"),
                    "{redone}"
                );
            },
        );
        cases.add(
            SAME,
            format!("{} in the same line: listed", kind.word()),
            move || {
                let scene = coded(kind, &[Step::Write("made.py".into(), "made\n".into())]);
                let mine = CODE.replace("md5", "blake3");
                scene.write("app.py", &mine);
                scene.write("made.py", "made, and mine\n");
                for _ in 0..2 {
                    let undone = scene.glee(&["runs", "undo"]);
                    assert_eq!(undone.code, 3, "{undone}");
                    let keeps =
                        |line: &str| undone.stdout.lines().any(|found| found.starts_with(line));
                    assert!(
                        keeps("  keep       app.py") && keeps("  keep       made.py"),
                        "{undone}"
                    );
                    assert!(undone.stderr.contains("--force"), "{undone}");
                    assert_eq!(
                        (scene.read("app.py"), scene.read("made.py")),
                        (mine.clone(), "made, and mine\n".into())
                    );
                }
                let undone = scene.glee(&["runs", "undo", "--force"]);
                assert_eq!(
                    (undone.code, scene.read("app.py"), scene.exists("made.py")),
                    (0, CODE.into(), false),
                    "{undone}"
                );
                let redone = scene.glee(&["runs", "undo", "--redo"]);
                assert_eq!((redone.code, scene.read("app.py")), (0, mine), "{redone}");
                assert_eq!(scene.read("made.py"), "made, and mine\n");
            },
        );
        cases.add(
            SAME,
            format!("{} removed: listed", kind.word()),
            move || {
                let scene = coded(kind, &[]);
                std::fs::remove_file(scene.root().join("app.py")).expect("it is there");
                let undone = scene.glee(&["runs", "undo"]);
                assert_eq!(
                    (undone.code, scene.exists("app.py")),
                    (3, false),
                    "{undone}"
                );
            },
        );
        cases.add(
            SAME,
            format!("{} in a second run: each is undone by itself", kind.word()),
            move || {
                let mut scene = coded(kind, &[]);
                scene.write("app.py", scene.read("app.py") + "# mine\n");
                scene.play(
                    "fix",
                    "respond",
                    [
                        Step::Replace("app.py".into(), "def load".into(), "def read".into()),
                        emit(&DONE.replace("F1", "F2")),
                    ],
                );
                scene.play(
                    "rev",
                    "review",
                    [emit(
                        "[MUST] app.py:5 Rename it\nGLEE-REVIEW-END nonce={nonce} findings=1\n",
                    )],
                );
                let recheck = RESOLVED.replace("F1", "F2");
                scene.play("rev", "recheck", [emit(&recheck)]);
                assert_eq!(scene.arbitrate().code, 0);
                let rows: serde_json::Value =
                    serde_json::from_str(&scene.glee(&["runs", "--json"]).stdout)
                        .expect("a list of runs");
                let first = rows[1]["run"].as_str().expect("the first run").to_owned();
                let undone = scene.glee(&["runs", "undo", &first]);
                assert_eq!(undone.code, 0, "{undone}");
                assert_eq!(
                    scene.read("app.py"),
                    CODE.replace("def load", "def read") + "# mine\n"
                );
            },
        );
    }
    const IGNORED: &str = "undo and ignore files of the coder's";
    let hides: [(&str, bool, &str); 5] = [
        (
            "in .gitignore",
            false,
            "echo bad > left.py; echo left.py > .gitignore",
        ),
        (
            "with its folder",
            false,
            "mkdir left; echo bad > left/left.py; echo left/ > .gitignore",
        ),
        (
            "by a rule of its own folder",
            false,
            "mkdir left; echo bad > left/left.py; echo '*' > left/.gitignore",
        ),
        (
            "in .git/info/exclude",
            true,
            "echo bad > left.py; echo left.py >> .git/info/exclude",
        ),
        (
            "everything",
            false,
            "echo bad > left.py; echo '*' > .gitignore",
        ),
    ];
    for (name, in_git, script) in hides {
        for kind in Kind::ALL
            .into_iter()
            .filter(|kind| !in_git || *kind == Kind::Git)
        {
            cases.add(
                IGNORED,
                format!("{} hides a file {name}", kind.word()),
                move || {
                    let mut scene = Scene::new(kind);
                    scene.play("fix", "respond", [fix(), shell(script), emit(DONE)]);
                    let before = files(&scene.root());
                    let output = scene.arbitrate();
                    assert!(
                        crate::scene::outcome(&output)["changes"]
                            .to_string()
                            .contains("left.py"),
                        "{output}"
                    );
                    for said in ["Undid", "Nothing is left"] {
                        let undone = scene.glee(&["runs", "undo"]);
                        assert!(undone.code == 0 && undone.stdout.contains(said), "{undone}");
                        assert_same(&before, &files(&scene.root()));
                    }
                },
            );
        }
    }
    for kind in Kind::ALL {
        cases.add(
            IGNORED,
            format!("{} shows what was ignored", kind.word()),
            move || {
                let mut scene = Scene::new(kind);
                scene.write(".gitignore", ".env\nlocal/\n");
                scene.write(".env", "the only copy\n");
                scene.write("local/data", "the only copy\n");
                scene.play(
                    "fix",
                    "respond",
                    [fix(), shell("rm .gitignore"), emit(DONE)],
                );
                let before = files(&scene.root());
                assert_eq!(scene.arbitrate().code, 0);
                let undone = scene.glee(&["runs", "undo"]);
                assert_eq!(undone.code, 0, "{undone}");
                assert_same(&before, &files(&scene.root()));
            },
        );
    }
    const PLACE: &str = "undo and the place of the tree";
    for kind in Kind::ALL {
        cases.add(PLACE, format!("{} moved", kind.word()), move || {
            let scene = coded(kind, &[]);
            let moved = scene.home().join("moved");
            std::fs::rename(scene.root(), &moved).expect("it can be moved");
            let undone = scene
                .command(&["runs", "undo"])
                .current_dir(&moved)
                .output()
                .expect("the binary runs");
            assert_eq!(
                undone.status.code(),
                Some(0),
                "{}",
                String::from_utf8_lossy(&undone.stderr)
            );
            assert_eq!(
                std::fs::read_to_string(moved.join("app.py")).expect("it is there"),
                CODE
            );
        });
        for (name, script) in [
            ("empty", "true"),
            ("with the same file", "cp ../home/app.py app.py"),
            (
                "with a commit",
                "git init -q; cp ../home/app.py app.py; git add -A; git commit -qm other",
            ),
        ] {
            cases.add(
                PLACE,
                format!("{} another one at its place, {name}", kind.word()),
                move || {
                    let scene = coded(kind, &[]);
                    std::fs::write(scene.home().join("app.py"), fixed()).expect("a file");
                    std::fs::rename(scene.root(), scene.home().join("away"))
                        .expect("it can be moved");
                    std::fs::create_dir(scene.root()).expect("a folder");
                    let script = script.replace("../home", &scene.home().display().to_string());
                    assert!(scene.shell(&script));
                    let before = files(&scene.root());
                    for words in [
                        &["runs", "undo"][..],
                        &["runs", "undo", "--force"],
                        &["runs", "undo", "--redo"],
                    ] {
                        let undone = scene.glee(words);
                        assert_eq!(undone.code, 2, "{undone}");
                        assert!(undone.stderr.contains("hint: "), "{undone}");
                    }
                    assert_same(&before, &files(&scene.root()));
                },
            );
        }
    }
    cases.add(PLACE, "git in another work tree of the repository", || {
        let scene = coded(Kind::Git, &[]);
        let other = scene.home().join("other").display().to_string();
        assert!(scene.shell(&format!(
            "git commit -qam fixed; git worktree add -q {other}"
        )));
        let undone = scene.glee(&["-C", &other, "runs", "undo"]);
        assert_eq!(undone.code, 2, "{undone}");
        assert!(
            undone.stderr.contains("run the command in the work tree"),
            "{undone}"
        );
    });
    private(cases);
}

/// The state is readable by its owner only, and the repository is unchanged.
fn private(cases: &mut Cases) {
    const ROW: &str = "what is kept is private";
    for kind in Kind::ALL {
        for umask in ["000", "022", "077"] {
            cases.add(ROW, format!("{} with the umask {umask}", kind.word()), move || {
                let scene = coded(kind, &[Step::Write("made.py".into(), "made\n".into())]);
                scene.write("private.txt", "PRIVATE\n");
                assert!(scene.shell("chmod 600 private.txt"));
                let glee = env!("CARGO_BIN_EXE_glee");
                let script = "umask \"$1\"; shift; glee=\"$1\"; shift; \"$glee\" review app.py --arbitrate --no-input -q > /dev/null \
                              2>&1; \"$glee\" runs undo > /dev/null 2>&1; \"$glee\" runs undo --redo > /dev/null 2>&1; true";
                scene.write("app.py", CODE);
                let mut command = std::process::Command::new("/bin/sh");
                let model = scene.command(&[]);
                command.args(["-c", script, "sh", umask, glee]).current_dir(scene.root()).env_clear();
                command.envs(model.get_envs().filter_map(|(name, value)| Some((name, value?))));
                command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
                assert!(command.status().expect("a shell").success());
                assert!(closed(&scene.state()) > 20, "a run leaves more than that");
            });
        }
        cases.add(
            ROW,
            format!("{} and the repository gets nothing", kind.word()),
            move || {
                let mut scene = Scene::new(kind);
                scene.write("private.txt", "PRIVATE\n");
                scene.play("fix", "respond", [fix(), emit(DONE)]);
                let git = scene.root().join(".git");
                let listed = || super::trees::repository(&git);
                let before = (kind == Kind::Git).then(listed);
                assert_eq!(scene.arbitrate().code, 0);
                assert_eq!(scene.glee(&["runs", "undo"]).code, 0);
                assert_eq!((kind == Kind::Git).then(listed), before);
                assert!(
                    kind == Kind::Plain || scene.git(&["for-each-ref", "refs/glee"]).is_empty()
                );
            },
        );
    }
}

/// Asserts that only the owner can access the content of a folder; returns its size. A file with several links is
/// an object of the user's repository.
fn closed(folder: &Path) -> usize {
    use std::os::unix::fs::MetadataExt as _;
    let mut count = 0;
    let mut waiting = vec![folder.to_owned()];
    while let Some(path) = waiting.pop() {
        let meta = path.symlink_metadata().expect("it is there");
        let is_linked = meta.is_file() && meta.nlink() > 1;
        assert!(
            is_linked || meta.mode() & 0o077 == 0,
            "{:o} {}",
            meta.mode(),
            path.display()
        );
        count += 1;
        if meta.is_dir() {
            waiting.extend(
                std::fs::read_dir(&path)
                    .expect("a folder")
                    .map(|entry| entry.expect("an entry").path()),
            );
        }
    }
    count
}
