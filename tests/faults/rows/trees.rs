//! Trees and names of all kinds: the run succeeds or is clearly refused, and the repository is unchanged.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use super::coders::{assert_same, files};
use crate::runner::Cases;
use crate::scene::{CODE, DONE, Kind, RESOLVED, REVIEW, Scene, emit, fix, run};

pub(super) fn repository(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).into_iter().flatten().flatten() {
            let path = entry.path();
            let name = path
                .strip_prefix(folder)
                .expect("the path is inside the folder")
                .display()
                .to_string();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(path),
                _ => drop(found.insert(name, std::fs::read(&path).unwrap_or_default())),
            }
        }
    }
    found
}

/// Constructors of trees, and whether each can be reviewed.
type Make = fn(&Scene);

fn kinds() -> Vec<(&'static str, Make, bool)> {
    vec![
        (
            "a folder outside git",
            |scene| std::fs::remove_dir_all(scene.root().join(".git")).expect("it is there"),
            true,
        ),
        (
            "a bare repository",
            |scene| {
                scene.git(&["config", "core.bare", "true"]);
            },
            false,
        ),
        (
            "an unborn branch",
            |scene| {
                std::fs::remove_dir_all(scene.root().join(".git")).expect("it is there");
                scene.git(&["init", "-q"]);
            },
            true,
        ),
        (
            "a detached HEAD",
            |scene| {
                scene.git(&["checkout", "-q", "--detach"]);
            },
            true,
        ),
        (
            "a shallow clone",
            |scene| {
                let head = scene.git(&["rev-parse", "HEAD"]);
                std::fs::write(scene.root().join(".git/shallow"), head).expect("a written file");
            },
            true,
        ),
        (
            "a merge in progress",
            |scene| {
                scene.git(&["checkout", "-q", "-b", "one"]);
                scene.write("both", "one\n");
                scene.git(&["add", "-A"]);
                scene.git(&["commit", "-qm", "one"]);
                scene.git(&["checkout", "-q", "-b", "two", "main"]);
                scene.write("both", "two\n");
                scene.git(&["add", "-A"]);
                scene.git(&["commit", "-qm", "two"]);
                let script = "git merge -q one > /dev/null 2>&1 || true";
                let status = scene.shell(script);
                assert!(status, "{script}");
            },
            true,
        ),
        (
            "an index.lock",
            |scene| {
                std::fs::write(scene.root().join(".git/index.lock"), "").expect("a written file");
            },
            true,
        ),
        (
            "a submodule",
            |scene| {
                scene.git(&["init", "-q", "inner"]);
                scene.write("inner/x.py", "x\n");
                scene.git(&["-C", "inner", "add", "-A"]);
                scene.git(&["-C", "inner", "commit", "-qm", "x"]);
                scene.git(&[
                    "-c",
                    "protocol.file.allow=always",
                    "submodule",
                    "--quiet",
                    "add",
                    "./inner",
                    "inner",
                ]);
                scene.git(&["commit", "-qm", "Add a submodule"]);
            },
            true,
        ),
        (
            "a repository within",
            |scene| {
                scene.git(&["init", "-q", "inner"]);
                scene.write("inner/x.py", "x\n");
            },
            true,
        ),
        (
            "assume-unchanged files",
            |scene| {
                scene.git(&["update-index", "--assume-unchanged", "app.py"]);
            },
            true,
        ),
        (
            "skip-worktree files",
            |scene| {
                scene.git(&["update-index", "--skip-worktree", "app.py"]);
            },
            true,
        ),
        (
            "intent to add",
            |scene| {
                scene.write("intended", "x\n");
                scene.git(&["add", "-N", "intended"]);
            },
            true,
        ),
        (
            "converted line ends",
            |scene| {
                scene.git(&["config", "core.autocrlf", "true"]);
                scene.write("crlf", "a\r\nb\r\n");
                scene.git(&["add", "crlf"]);
            },
            true,
        ),
        (
            "a clean filter that marks",
            |scene| {
                scene.git(&["config", "filter.evil.clean", "touch ran; cat"]);
                scene.git(&["config", "filter.evil.smudge", "touch ran; cat"]);
                scene.write(".gitattributes", "*.py filter=evil\n");
            },
            true,
        ),
        (
            "an external diff that marks",
            |scene| {
                scene.git(&["config", "diff.external", "touch ran;"]);
            },
            true,
        ),
        (
            "a monitor that marks",
            |scene| {
                scene.git(&["config", "core.fsmonitor", "touch ran; false"]);
            },
            true,
        ),
        (
            "hooks that mark",
            |scene| {
                for hook in [
                    "pre-commit",
                    "post-checkout",
                    "post-index-change",
                    "reference-transaction",
                ] {
                    scene.script(
                        format!(".git/hooks/{hook}"),
                        "#!/bin/sh\ntouch \"$GIT_DIR/../ran\" ran\n",
                    );
                }
            },
            true,
        ),
        (
            "FIFOs and sockets",
            |scene| {
                assert!(scene.shell("mkfifo pipe && mkdir sub && mkfifo sub/pipe"));
                drop(std::os::unix::net::UnixListener::bind(
                    scene.root().join("socket"),
                ));
            },
            true,
        ),
        (
            "loops of links",
            |scene| {
                assert!(scene.shell("ln -s . loop; ln -s a b; ln -s b a; mkdir d; ln -s .. d/up"));
            },
            true,
        ),
        (
            "a link to the whole disk",
            |scene| assert!(scene.shell("ln -s / root")),
            true,
        ),
        (
            "a sparse 2 GB file",
            |scene| assert!(scene.shell("truncate -s 2G large; echo large > .gitignore")),
            true,
        ),
        (
            "an empty folder and a deep one",
            |scene| {
                assert!(scene.shell(
                    "mkdir empty; p=; for i in $(seq 60); do p=$p/ddddd; done; mkdir -p .$p && echo x > .$p/x"
                ));
            },
            true,
        ),
    ]
}

fn names() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("not UTF-8", b"caf\xe9.py".to_vec()),
        ("all high bytes", (0x80..=0xff).collect()),
        ("a newline", b"two\nlines.py".to_vec()),
        ("a tab and a quote", b"a\t\"b\".py".to_vec()),
        ("a leading dash", b"--output=x".to_vec()),
        ("an option of rm", b"-rf".to_vec()),
        ("a pathspec", b":(glob)**".to_vec()),
        ("an exclusion", b":!app.py".to_vec()),
        ("blanks", b" a  b ".to_vec()),
        ("a backslash", b"a\\b.py".to_vec()),
        ("a star", b"*".to_vec()),
        ("a comment", b"#hash".to_vec()),
        ("an escape sequence", b"\x1b[2Jclear.py".to_vec()),
        ("bidirectional text", "\u{202e}yp.txt".as_bytes().to_vec()),
        ("very long", vec![b'n'; 255]),
        ("a reserved name", b"CON".to_vec()),
        ("composed and decomposed", "e\u{301}.py".as_bytes().to_vec()),
    ]
}

pub(crate) fn add(cases: &mut Cases) {
    const TREES: &str = "trees of every kind";
    for (kind, make, works) in kinds() {
        for implements in [true, false] {
            cases.add(
                TREES,
                format!(
                    "{kind}, {}",
                    if implements {
                        "implemented"
                    } else {
                        "disputed"
                    }
                ),
                move || {
                    let scene = if implements {
                        Scene::fixing(Kind::Git)
                    } else {
                        Scene::new(Kind::Git)
                    };
                    make(&scene);
                    let git = scene.root().join(".git");
                    let repository = |git: &Path| {
                        let mut found = repository(git);
                        // Before the first commit, this file identifies the history.
                        assert!(found.remove("glee-id").is_none() || kind == "an unborn branch");
                        found
                    };
                    let (before, parts) = (files(&scene.root()), repository(&git));
                    let output = scene.arbitrate();
                    if !works {
                        assert_eq!((output.code, output.stdout.as_str()), (2, ""), "{output}");
                        assert!(output.stderr.lines().count() <= 2, "{output}");
                        return;
                    }
                    assert_eq!(output.code, 0, "{output}");
                    assert_eq!(repository(&git), parts, "the repository was changed");
                    let undone = scene.glee(&["runs", "undo"]);
                    assert_eq!(undone.code, 0, "{undone}");
                    assert_same(&before, &files(&scene.root()));
                    assert_eq!(
                        repository(&git),
                        parts,
                        "the repository was changed by the undo"
                    );
                    assert!(!scene.exists("ran"));
                },
            );
        }
    }
    const NAMES: &str = "names of every kind";
    for (shape, name) in names() {
        for kind in Kind::ALL {
            let name = name.clone();
            cases.add(NAMES, format!("{} {shape}", kind.word()), move || {
                let mut scene = Scene::new(kind);
                let root = scene.root();
                let path = root.join(OsStr::from_bytes(&name));
                let inner = root.join("folder");
                std::fs::create_dir(&inner).expect("a folder");
                for path in [&path, &inner.join(OsStr::from_bytes(&name))] {
                    std::fs::write(path, CODE).expect("a written file");
                }
                if kind == Kind::Git {
                    scene.git(&["add", "-A"]);
                }
                std::fs::write(&path, format!("{CODE}# more\n")).expect("a written file");
                let before = files(&root);
                let destroy = run(&[
                    "sh",
                    "-c",
                    "for f in * folder/*; do [ -f \"$f\" ] && echo gone > \"./$f\"; done; rm -f -- *.py",
                ]);
                scene.play("fix", "respond", [destroy, emit(DONE)]);
                scene.play("rev", "recheck", [emit(RESOLVED)]);
                let output = scene.ready().glee(&["review", ".", "--arbitrate", "--format", "json", "--no-input"]);
                assert!([0, 1].contains(&output.code), "{output}");
                assert_ne!(files(&root), before);
                let shown = scene.glee(&["runs", "diff"]);
                assert_eq!(shown.code, 0, "{shown}");
                assert!(!shown.stdout.contains('\u{1b}') && !shown.stdout.contains('\u{202e}'), "{shown}");
                let undone = scene.glee(&["runs", "undo"]);
                assert_eq!(undone.code, 0, "{undone}");
                assert_same(&before, &files(&root));
            });
        }
    }
    const PLACES: &str = "places that findings name";
    for place in [
        "../outside.py:1",
        "/etc/passwd:1",
        "C:\\Windows\\win.ini:1",
        ".git/config:1",
        "a/../../b:1",
        "app.py/../../x:1",
        "link-out:1",
        "pipe:1",
        "/dev/zero:1",
        "app.py:0",
        "app.py:999999",
        "nothing.py:1",
        "-:1",
        ".:1",
        "sub:1",
        "~/x:1",
    ] {
        cases.add(PLACES, place, move || {
            let mut scene = Scene::new(Kind::Git);
            assert!(scene.shell("ln -s /etc/passwd link-out; mkfifo pipe; mkdir sub"));
            std::fs::write(scene.root().join("../outside.py"), "CANARY\n").expect("a written file");
            let text = REVIEW.replace("app.py:2", place);
            scene.play("rev", "review", [emit(&text)]);
            scene.play("fix", "respond", [fix(), emit(DONE)]);
            let output = scene.arbitrate();
            assert!([0, 1, 3, 4].contains(&output.code), "{output}");
            assert!(
                !output.stdout.contains("CANARY") && !output.stdout.contains("root:x"),
                "{output}"
            );
            let shown = scene.glee(&["runs", "show"]);
            assert!(
                !shown.stdout.contains("CANARY") && !shown.stdout.contains("root:x"),
                "{shown}"
            );
        });
    }
    const REVISIONS: &str = "revisions and paths that look like options";
    for words in [
        vec!["--base", "--output=x"],
        vec!["--base=--output=x"],
        vec!["--commit=--output=x"],
        vec!["--base=-x"],
        vec!["--base=HEAD..\nx"],
        vec!["--commit="],
        vec!["--base=:/x"],
        vec!["--commit=@{-1}"],
        vec!["--", "--output=x"],
        vec!["--", "-x"],
        vec!["../.."],
        vec!["/etc"],
        vec![".git"],
        vec!["--diff=/dev/full"],
        vec!["x..--output=y"],
    ] {
        cases.add(REVISIONS, words.join(" "), move || {
            let scene = Scene::new(Kind::Git);
            let mut args = vec!["review", "--format", "json", "--no-input"];
            args.extend(&words);
            let before = files(&scene.root());
            let output = scene.ready().glee(&args);
            assert_eq!((output.code, output.stdout.as_str()), (2, ""), "{output}");
            assert_same(&before, &files(&scene.root()));
        });
    }
}
