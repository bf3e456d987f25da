//! Coders that crash or destroy files: undo restores every byte.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::agent::{Step, Whom};
use crate::runner::Cases;
use crate::scene::{Adapter, DONE, Kind, Scene, emit, fix, outcome, run};

/// Each file by its raw name: permissions and bytes, or a link's target.
type Files = BTreeMap<Vec<u8>, (u32, Vec<u8>)>;

/// The files of a tree without `.git` and ignored files.
pub(super) fn files(root: &Path) -> Files {
    let mut found = Files::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let Ok(meta) = std::fs::symlink_metadata(&path) else {
                continue;
            };
            let name = path
                .strip_prefix(root)
                .expect("the path is inside the folder")
                .as_os_str()
                .as_bytes()
                .to_vec();
            if name == b".git" || name.starts_with(b"ignored") || meta.len() > 64 << 20 {
                continue;
            }
            if meta.is_dir() {
                folders.push(path);
            } else if meta.is_symlink() {
                let target = std::fs::read_link(&path)
                    .expect("a link")
                    .as_os_str()
                    .as_bytes()
                    .to_vec();
                found.insert(name, (0o120_000, target));
            } else if !meta.is_file() {
                // Opening a FIFO would block.
                found.insert(name, (0o010_000, Vec::new()));
            } else {
                let mode = meta.permissions().mode() & 0o7777;
                found.insert(name, (mode, std::fs::read(&path).unwrap_or_default()));
            }
        }
    }
    found
}

fn furnished(scene: Scene) -> Scene {
    scene
        .write("b.py", "b\r\n")
        .write("sub/c.py", "c")
        .write("sub/deep/d", [0, 255, 10])
        .write("empty", "");
    scene
        .write(".gitignore", "ignored\n")
        .write("script.sh", "#!/bin/sh\n");
    std::fs::set_permissions(
        scene.root().join("script.sh"),
        std::fs::Permissions::from_mode(0o750),
    )
    .expect("a file");
    std::os::unix::fs::symlink("b.py", scene.root().join("link")).expect("a link");
    if scene.root().join(".git").exists() {
        scene.git(&["add", "-A"]);
        scene.git(&["commit", "-q", "-m", "Furnish"]);
        scene.git(&["branch", "other"]);
    }
    scene
        .write("b.py", "b, edited\r\n")
        .write("untracked", "untracked\n")
        .write("ignored", "ignored\n");
    if scene.root().join(".git").exists() {
        scene.write("staged", "staged\n");
        scene.git(&["add", "staged"]);
    }
    scene
}

fn shell(script: &str) -> Step {
    run(&["sh", "-c", script])
}

fn deeds() -> Vec<(&'static str, bool, Vec<Step>)> {
    let ends = |mut steps: Vec<Step>| {
        steps.push(emit(DONE));
        steps
    };
    let identity = "-c user.name=x -c user.email=x@x";
    let git = |command: &str| ends(vec![fix(), shell(&format!("git {identity} {command}"))]);
    vec![
        (
            "dies after one of three files",
            false,
            vec![fix(), Step::Kill(Whom::Itself, 9)],
        ),
        (
            "exits 1 after one of three files",
            false,
            vec![fix(), Step::Exit(1)],
        ),
        (
            "truncates",
            false,
            ends(vec![
                Step::Write("app.py".into(), String::new()),
                Step::Write("b.py".into(), String::new()),
            ]),
        ),
        (
            "removes everything it sees",
            false,
            ends(vec![shell("rm -rf *")]),
        ),
        (
            "removes a folder",
            false,
            ends(vec![Step::Remove("sub".into()), fix()]),
        ),
        (
            "puts a file in a folder's place",
            false,
            ends(vec![
                Step::Remove("sub".into()),
                Step::Write("sub".into(), "file\n".into()),
            ]),
        ),
        (
            "puts a folder in a file's place",
            false,
            ends(vec![shell("rm b.py; mkdir -p b.py/x; echo y > b.py/x/y")]),
        ),
        (
            "puts a link in a folder's place",
            false,
            ends(vec![shell("rm -rf sub; ln -s /etc sub")]),
        ),
        (
            "puts a link in a file's place",
            false,
            ends(vec![Step::Link("app.py".into(), "/etc/passwd".into())]),
        ),
        (
            "changes all permissions",
            false,
            ends(vec![
                fix(),
                shell("chmod 777 app.py b.py; chmod 600 script.sh"),
            ]),
        ),
        (
            "swaps a link",
            false,
            ends(vec![Step::Link("link".into(), "app.py".into()), fix()]),
        ),
        (
            "converts line ends",
            false,
            ends(vec![shell(
                "sed -i 's/$/\\r/' app.py; sed -i 's/\\r//' b.py",
            )]),
        ),
        (
            "makes many files",
            false,
            ends(vec![
                shell("mkdir new; for i in 1 2 3 4 5 6 7 8 9; do echo $i > new/$i; done"),
                fix(),
            ]),
        ),
        (
            "ignores what was not ignored",
            false,
            ends(vec![shell("echo '*' > .gitignore; rm untracked b.py")]),
        ),
        (
            "writes hidden and odd names",
            false,
            ends(vec![shell(
                "echo x > .hidden; echo x > -n; echo x > ':(glob)*'; rm -- b.py",
            )]),
        ),
        ("resets --hard", true, git("reset -q --hard")),
        ("cleans -fdx", true, git("clean -fdxq")),
        ("stashes", true, git("stash -q -u")),
        ("commits", true, git("commit -qam done")),
        (
            "commits everything",
            true,
            ends(vec![
                fix(),
                shell(&format!("git add -A; git {identity} commit -qm done")),
            ]),
        ),
        ("amends", true, git("commit -q --amend -am done")),
        (
            "switches the branch",
            true,
            ends(vec![shell("git checkout -q -f other"), fix()]),
        ),
        (
            "makes an orphan branch",
            true,
            git("checkout -q --orphan new"),
        ),
        ("deletes a branch", true, git("branch -D other")),
        (
            "drops all refs",
            true,
            ends(vec![
                fix(),
                shell(
                    "for r in $(git for-each-ref --format='%(refname)'); do git update-ref -d $r; done",
                ),
            ]),
        ),
        (
            "collects garbage",
            true,
            ends(vec![
                fix(),
                shell(
                    "git reset -q --hard; git reflog expire --expire=now --all; git gc -q --prune=now",
                ),
            ]),
        ),
        (
            "drops Glee's refs and collects",
            true,
            ends(vec![
                fix(),
                shell(
                    "git for-each-ref --format='delete %(refname)' refs/glee | git update-ref --stdin; git reset -q --hard; git gc -q --prune=now",
                ),
            ]),
        ),
        (
            "removes .git",
            true,
            ends(vec![fix(), Step::Remove(".git".into())]),
        ),
        (
            "removes the objects",
            true,
            ends(vec![fix(), Step::Remove(".git/objects".into())]),
        ),
        (
            "makes .git anew",
            true,
            ends(vec![fix(), shell("rm -rf .git; git init -q; git add -A")]),
        ),
    ]
}

pub(crate) fn add(cases: &mut Cases) {
    const ROW: &str = "coders that destroy";
    for (deed, in_git, steps) in deeds() {
        for kind in Kind::ALL {
            if in_git && kind == Kind::Plain {
                continue;
            }
            for adapter in Adapter::ALL {
                let steps = steps.clone();
                cases.add(
                    ROW,
                    format!("{} {} {deed}", kind.word(), adapter.word()),
                    move || {
                        let mut scene = furnished(Scene::new(kind)).through(adapter);
                        scene.play("fix", "respond", steps.clone());
                        let before = files(&scene.root());
                        let output = scene.arbitrate();
                        assert_ne!(output.code, 7, "{output}");
                        let copy = scene.home().join("copy");
                        let place = copy.display().to_string();
                        for code in [0, 2] {
                            let restored = scene.glee(&["runs", "undo", "--to", &place]);
                            assert_eq!(restored.code, code, "{restored}");
                            assert_same(&before, &files(&copy));
                        }
                        let undone = scene.glee(&["runs", "undo"]);
                        assert_eq!(undone.code, 0, "{undone}\nafter {output}");
                        assert_same(&before, &files(&scene.root()));
                    },
                );
            }
        }
    }
    const TOLD: &str = "what a coder does beyond code";
    let told: [(&str, &str, &str); 10] = [
        (
            "makes a branch",
            "git branch evil",
            "created `refs/heads/evil`",
        ),
        (
            "commits",
            "git -c user.name=x -c user.email=x@x commit -qam x",
            "moved `refs/heads/main`",
        ),
        ("switches", "git checkout -q -b evil", "switched HEAD"),
        ("stages", "git add app.py", "changed the index"),
        (
            "writes a hook",
            "mkdir -p .git/hooks; echo x > .git/hooks/pre-commit",
            "created `.git/hooks/pre-commit`",
        ),
        (
            "sets a setting",
            "git config core.pager evil",
            "changed `.git/config`",
        ),
        (
            "writes settings of agents",
            "mkdir .claude; echo {} > .claude/settings.json",
            "`.claude/settings.json`, which controls the tools",
        ),
        (
            "writes CI",
            "mkdir -p .github/workflows; echo x > .github/workflows/x.yml",
            "which the continuous integration runs",
        ),
        (
            "writes Glee's settings",
            "mkdir -p .glee; echo 'version: 1' > .glee/config.yml",
            "which controls Glee",
        ),
        (
            "writes attributes",
            "echo '* text' > .gitattributes",
            "which controls git",
        ),
    ];
    for (deed, script, expected) in told {
        cases.add(TOLD, deed, move || {
            let mut scene = Scene::fixing(Kind::Git);
            scene.play("fix", "respond", [fix(), shell(script), emit(DONE)]);
            let output = scene.arbitrate();
            let notices = outcome(&output)["notices"].to_string();
            assert!(
                notices.contains(expected),
                "{notices} does not tell {expected:?}: {output}"
            );
        });
    }
}

pub(super) fn assert_same(before: &Files, after: &Files) {
    let name = |name: &Vec<u8>| String::from_utf8_lossy(name).into_owned();
    for (path, old) in before {
        let new = after.get(path);
        assert_eq!(new, Some(old), "`{}` is not as it was", name(path));
    }
    for path in after.keys() {
        assert!(before.contains_key(path), "`{}` was left", name(path));
    }
}
