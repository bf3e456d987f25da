//! A repository that tries to make Glee run its programs: reading runs nothing and writes nothing.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;

use super::*;

/// A repository in which every program that git could run leaves a trace, and the folder of traces.
fn trapped() -> (Tree, PathBuf) {
    let tree = Tree::git();
    let traces = tree.folder.path().join("traces");
    std::fs::create_dir_all(&traces).unwrap();
    tree.write("a.rs", "1\n2\n");
    tree.write("b.rs", "1\n2\n");
    tree.commit("one");
    tree.write("b.rs", "1\n3\n");
    tree.commit("two");
    let script = |name: &str| {
        let path = tree.folder.path().join(format!("{name}.sh"));
        std::fs::write(
            &path,
            format!("#!/bin/sh\ntouch {}/{name}\ncat\n", traces.display()),
        )
        .unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path.display().to_string()
    };
    let hooks = tree.root().join(".git/hooks");
    std::fs::create_dir_all(&hooks).unwrap();
    for hook in [
        "reference-transaction",
        "post-index-change",
        "pre-commit",
        "post-checkout",
        "fsmonitor-watchman",
    ] {
        std::fs::copy(script(hook), hooks.join(hook)).unwrap();
    }
    let settings = [
        ("core.fsmonitor", "fsmonitor"),
        ("core.pager", "pager"),
        ("core.editor", "editor"),
        ("core.sshCommand", "ssh"),
        ("diff.external", "external"),
        ("diff.trap.command", "diff-command"),
        ("diff.trap.textconv", "textconv"),
        ("filter.trap.clean", "clean"),
        ("filter.trap.smudge", "smudge"),
        ("filter.trap.process", "process"),
        ("merge.trap.driver", "merge"),
        ("gpg.program", "gpg"),
        ("credential.helper", "credential"),
    ];
    for (key, name) in settings {
        tree.run(&["config", key, &script(name)]);
    }
    tree.run(&["config", "commit.gpgSign", "true"]);
    std::fs::write(
        tree.root().join(".git/info/attributes"),
        "* filter=trap diff=trap merge=trap\n",
    )
    .unwrap();
    (tree, traces)
}

fn listed(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
            } else {
                let bytes = std::fs::read(&path).unwrap();
                found.insert(path, bytes);
            }
        }
    }
    found
}

fn every_target() -> Vec<TargetSpec> {
    vec![
        TargetSpec::Uncommitted,
        TargetSpec::Staged,
        TargetSpec::Base("HEAD^".to_owned()),
        TargetSpec::Commit("HEAD".to_owned()),
        TargetSpec::Range("HEAD^..HEAD".to_owned()),
        TargetSpec::Paths(vec![PathBuf::from(".")]),
        TargetSpec::Diff {
            name: "-".to_owned(),
            text: b"--- a/a.rs\n+++ b/a.rs\n@@ -1 +1 @@\n-1\n+x\n".to_vec(),
        },
    ]
}

#[test]
fn the_traps_work() {
    let (tree, traces) = trapped();
    tree.write("a.rs", "1\n2\n");
    tree.run(&["status"]);
    assert!(!listed(&traces).is_empty());
}

#[test]
fn nothing_of_the_repository_is_run_or_written_by_reading_it() {
    let (tree, traces) = trapped();
    // Written back at once: git's own check would read these through the filter.
    tree.write("a.rs", "1\n2\n");
    tree.write("new.rs", "1\n");
    let before = listed(&tree.root());
    for spec in every_target() {
        // The index has nothing staged.
        let selected = tree.open().select(&spec, &OPTIONS).unwrap();
        assert_eq!(
            selected.files.is_empty(),
            spec == TargetSpec::Staged,
            "{spec:?}"
        );
    }
    let id = tree.open().snapshot(&tree.state()).unwrap();
    tree.open().changes(&id, &id, &tree.state()).unwrap();
    tree.open().read_at(&id, "a.rs", &tree.state()).unwrap();
    drop(tree.open().lock(&tree.state(), &run_id()).unwrap());
    assert_eq!(listed(&tree.root()), before);
    assert_eq!(listed(&traces), BTreeMap::new());
}

#[test]
fn keeping_and_undoing_adds_nothing_to_the_repository_and_runs_nothing() {
    let (tree, traces) = trapped();
    tree.write("a.rs", "changed\n");
    let before = listed(&tree.root());
    let kept = tree.keep();
    assert_eq!(kept.kept_as, format!("kept/{RUN}/before"));
    assert_eq!(listed(&tree.root()), before);
    tree.write("a.rs", "spoiled\n");
    tree.write("created.rs", "x\n");
    let spoiled = listed(&tree.root());
    tree.after_coder_call();
    assert_eq!(listed(&tree.root()), spoiled);
    tree.undo();
    assert_eq!(listed(&tree.root()), before);
    tree.redo();
    assert_eq!(listed(&tree.root()), spoiled);
    assert_eq!(listed(&traces), BTreeMap::new());
}

#[test]
fn the_bytes_kept_are_those_of_the_files_not_of_the_filters() {
    let (tree, _) = trapped();
    std::fs::write(
        tree.root().join(".git/info/attributes"),
        "*.txt text eol=crlf\n",
    )
    .unwrap();
    tree.write("a.txt", "1\n2\r\n");
    let id = tree.open().snapshot(&tree.state()).unwrap();
    assert_eq!(
        tree.open().read_at(&id, "a.txt", &tree.state()).unwrap(),
        b"1\n2\r\n"
    );
}

#[test]
fn names_that_look_like_something_else_round_trip() {
    use std::os::unix::ffi::OsStrExt as _;
    let tree = Tree::git();
    for name in [
        "-rf",
        "--output=x",
        ":(glob)a",
        "new\nline",
        "tab\tq\"",
        " blank ",
        "日本.rs",
        "git~1",
    ] {
        tree.write(name, "1\n");
    }
    tree.write(&format!("{}/x.rs", "d".repeat(200)), "1\n");
    std::fs::write(
        tree.root().join(std::ffi::OsStr::from_bytes(b"\xff.rs")),
        "1\n",
    )
    .unwrap();
    for spec in [
        TargetSpec::Uncommitted,
        TargetSpec::Paths(vec![PathBuf::from(".")]),
    ] {
        let target = tree.select(spec);
        let names: Vec<&str> = target.files.iter().map(|file| file.path.as_str()).collect();
        let long = format!("{}/x.rs", "d".repeat(200));
        let expected = [
            " blank ",
            "--output=x",
            "-rf",
            ":(glob)a",
            "\\377.rs",
            &long,
            "git~1",
            "new\nline",
            "tab\tq\"",
            "日本.rs",
        ];
        assert_eq!(names, expected);
        assert_eq!(skips(&target), []);
    }
    tree.run(&["config", "core.protectNTFS", "false"]);
    tree.commit("one");
    tree.write("new\nline", "2\n");
    assert_eq!(
        shape(&tree.select(TargetSpec::Uncommitted)),
        [("new\nline", vec![(1, 1)])]
    );
    assert_eq!(
        shape(&tree.select(TargetSpec::Base("HEAD".to_owned()))),
        [("new\nline", vec![(1, 1)])]
    );
}
