//! Nested repositories are recorded, compared and watched like all other files.

use super::*;

/// The ways to create a repository in the folder `inner`.
type Make = (&'static str, fn(&Tree));

/// A repository with a committed, a changed, an untracked, an ignored, and a tracked but ignored file.
fn fill(tree: &Tree, folder: &str) {
    let write = |path: &str, text: &str| tree.write(&format!("{folder}/{path}"), text);
    let inner = tree.root().join(folder);
    write("x.py", "a = 1\n");
    write("sub/clean.py", "b = 2\n");
    write(".gitignore", "*.log\n");
    write("kept.log", "tracked\n");
    git(&inner, &["add", "-A"]);
    git(&inner, &["add", "-f", "kept.log"]);
    git(&inner, &["commit", "-q", "-m", "inner"]);
    write("x.py", "a = 1\nmine\n");
    write("new.py", "c = 3\n");
    write("noise.log", "ignored\n");
}

fn embedded(tree: &Tree, folder: &str, options: &[&str]) {
    std::fs::create_dir_all(tree.root().join(folder)).unwrap();
    git(
        &tree.root().join(folder),
        &[&["init", "-q", "-b", "main"], options].concat(),
    );
}

fn makes() -> Vec<Make> {
    vec![
        ("an untracked repository", |tree| {
            embedded(tree, "inner", &[]);
            fill(tree, "inner");
        }),
        ("one of another object format", |tree| {
            embedded(tree, "inner", &["--object-format=sha256"]);
            fill(tree, "inner");
        }),
        ("one whose folder of git lies elsewhere", |tree| {
            let elsewhere = tree.folder.path().join("elsewhere");
            embedded(
                tree,
                "inner",
                &["--separate-git-dir", elsewhere.to_str().unwrap()],
            );
            fill(tree, "inner");
        }),
        ("one that says it is bare and somewhere else", |tree| {
            embedded(tree, "inner", &[]);
            fill(tree, "inner");
            git(
                &tree.root().join("inner"),
                &["config", "core.worktree", "/"],
            );
        }),
        ("one with a filter", |tree| {
            embedded(tree, "inner", &[]);
            let marker = tree.root().join("../fired");
            let command = format!("sh -c 'touch {}; cat'", marker.display());
            fill(tree, "inner");
            tree.write("inner/.gitattributes", "* filter=evil\n");
            git(
                &tree.root().join("inner"),
                &["config", "filter.evil.clean", &command],
            );
            git(
                &tree.root().join("inner"),
                &["config", "core.fsmonitor", &command],
            );
        }),
    ]
}

fn submodule(tree: &Tree) {
    let origin = tree.folder.path().join("origin");
    std::fs::create_dir_all(&origin).unwrap();
    git(&origin, &["init", "-q", "-b", "main"]);
    std::fs::write(origin.join("x.py"), "a = 0\n").unwrap();
    git(&origin, &["add", "-A"]);
    git(&origin, &["commit", "-q", "-m", "origin"]);
    let place = origin.to_str().unwrap().to_owned();
    tree.run(&[
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        &place,
        "inner",
    ]);
    tree.run(&["commit", "-q", "-m", "sub"]);
    fill(tree, "inner");
}

fn worktree(tree: &Tree) {
    tree.write("a", "a\n");
    tree.commit("a");
    tree.run(&["worktree", "add", "-q", "inner"]);
    fill(tree, "inner");
}

/// A change in the repository, with the paths that differ after it.
type Deed = (&'static str, fn(&Tree), &'static [&'static str]);

const DEEDS: [Deed; 7] = [
    (
        "changes a clean file",
        |tree| tree.write("inner/sub/clean.py", "b = 3\n"),
        &["inner/sub/clean.py"],
    ),
    (
        "changes a dirty file",
        |tree| tree.write("inner/x.py", "a = 2\n"),
        &["inner/x.py"],
    ),
    (
        "changes what is tracked though ignored",
        |tree| tree.write("inner/kept.log", "x\n"),
        &["inner/kept.log"],
    ),
    (
        "removes an untracked file",
        |tree| tree.remove("inner/new.py"),
        &["inner/new.py"],
    ),
    (
        "creates a file",
        |tree| tree.write("inner/sub/b.py", "x\n"),
        &["inner/sub/b.py"],
    ),
    (
        "changes what is ignored",
        |tree| tree.write("inner/noise.log", "x\n"),
        &[],
    ),
    (
        "commits",
        |tree| {
            let quiet = [
                "-c",
                "core.worktree=.",
                "-c",
                "filter.evil.clean=cat",
                "-c",
                "core.fsmonitor=false",
            ];
            let commit = ["commit", "-q", "--allow-empty", "-m", "mine"];
            git(
                &tree.root().join("inner"),
                &[quiet.as_slice(), &commit].concat(),
            );
        },
        &["inner"],
    ),
];

fn changed(tree: &Tree, before: &TreeId) -> Vec<String> {
    let workspace = tree.open();
    let after = workspace.snapshot(&tree.state()).unwrap();
    let changes = workspace.changes(before, &after, &tree.state()).unwrap();
    changes.into_iter().map(|change| change.file).collect()
}

#[test]
fn every_kind_is_recorded_compared_and_watched() {
    let kinds = makes()
        .into_iter()
        .flat_map(|make| [(make, Tree::git as fn() -> Tree), (make, Tree::plain)]);
    let more: [Make; 2] = [("a submodule", submodule), ("a linked work tree", worktree)];
    let all = kinds.chain(more.map(|make| (make, Tree::git as fn() -> Tree)));
    for ((kind, make), new) in all {
        let tree = new();
        tree.write("outer.py", "outer\n");
        make(&tree);
        let begun = tree.open().snapshot(&tree.state()).unwrap();
        for (entry, act, wanted) in DEEDS {
            let case = format!("{kind}, {entry}, {}", tree.open().is_git());
            let workspace = tree.open();
            let before = workspace.snapshot(&tree.state()).unwrap();
            assert_eq!(
                workspace
                    .read_at(&begun, "inner/x.py", &tree.state())
                    .as_deref(),
                Some(b"a = 1\nmine\n".as_slice()),
                "{case}"
            );
            let look = workspace.fingerprint(None).unwrap();
            act(&tree);
            assert_eq!(changed(&tree, &before), wanted, "{case}");
            let seen = workspace.fingerprint(Some(&look)).unwrap();
            let differences = workspace.differences(&look, &seen).unwrap();
            let names: Vec<&str> = differences
                .iter()
                .map(|found| found.name.as_str())
                .collect();
            match entry {
                "commits" if kind == "a linked work tree" => {
                    assert_eq!(names, ["refs/heads/inner"], "{case}")
                }
                "commits" => assert_eq!(names, ["refs/heads/main of inner"], "{case}"),
                _ => assert_eq!(names, wanted, "{case}"),
            }
            assert!(!tree.root().join("../fired").exists(), "{case}");
        }
    }
}

#[test]
fn a_repository_that_comes_goes_or_breaks_takes_no_file_with_it() {
    let log: [Make; 4] = [
        ("its `.git` is removed", |tree| {
            let git = tree.root().join("inner/.git");
            if git.is_dir() {
                std::fs::remove_dir_all(git).unwrap()
            } else {
                std::fs::remove_file(git).unwrap()
            }
        }),
        ("its index is broken", |tree| {
            let git_dir = git(
                &tree.root().join("inner"),
                &["rev-parse", "--absolute-git-dir"],
            );
            std::fs::write(Path::new(git_dir.trim()).join("index"), "no index").unwrap();
        }),
        ("its index is a FIFO", |tree| {
            let git_dir = git(
                &tree.root().join("inner"),
                &["rev-parse", "--absolute-git-dir"],
            );
            let index = Path::new(git_dir.trim()).join("index");
            std::fs::remove_file(&index).unwrap();
            nix::unistd::mkfifo(&index, nix::sys::stat::Mode::S_IRWXU).unwrap();
        }),
        ("its HEAD is broken", |tree| {
            let git_dir = git(
                &tree.root().join("inner"),
                &["rev-parse", "--absolute-git-dir"],
            );
            std::fs::write(Path::new(git_dir.trim()).join("HEAD"), "nothing").unwrap();
        }),
    ];
    for make in [submodule, |tree: &Tree| {
        embedded(tree, "inner", &[]);
        fill(tree, "inner");
    }] {
        for (entry, act) in log {
            let tree = Tree::git();
            make(&tree);
            // Walked by the ignore files, it would be missing.
            git(&tree.root().join("inner"), &["rm", "-q", "-f", "kept.log"]);
            let before = tree.open().snapshot(&tree.state()).unwrap();
            act(&tree);
            tree.write("inner/x.py", "changed\n");
            let mut files = changed(&tree, &before);
            files.retain(|file| file != "inner");
            assert_eq!(files, ["inner/x.py"], "{entry}");
        }
    }
}

#[test]
fn repositories_in_repositories_are_followed_up_to_the_bound() {
    let tree = Tree::git();
    let deep = |depth: usize| vec!["inner"; depth].join("/");
    for depth in 1..=9 {
        embedded(&tree, &deep(depth), &[]);
        tree.write(&format!("{}/x.py", deep(depth)), "x\n");
    }
    let workspace = tree.open();
    let unfollowed = workspace.fingerprint(None).unwrap().unfollowed;
    assert_eq!(
        unfollowed,
        [Unfollowed {
            folder: deep(9),
            bound: Bound::Depth
        }]
    );
    let before = workspace.snapshot(&tree.state()).unwrap();
    tree.write(&format!("{}/x.py", deep(8)), "y\n");
    tree.write(&format!("{}/x.py", deep(9)), "y\n");
    assert_eq!(changed(&tree, &before), [format!("{}/x.py", deep(8))]);
    let error = workspace.keep(&run_id(), &tree.state()).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("cannot include `{}` in the snapshot", deep(9))
    );
}

#[test]
fn too_many_repositories_or_files_are_reported() {
    let tree = Tree::git();
    for number in 0..65 {
        embedded(&tree, &format!("r{number:02}"), &[]);
        tree.write(&format!("r{number:02}/x.py"), "x\n");
    }
    let unfollowed = tree.open().fingerprint(None).unwrap().unfollowed;
    assert_eq!(
        unfollowed,
        [Unfollowed {
            folder: "r64".to_owned(),
            bound: Bound::Repositories
        }]
    );
    let tree = Tree::plain();
    for (folder, files) in [("large", 20_001), ("small", 2)] {
        embedded(&tree, folder, &[]);
        (0..files).for_each(|number| tree.write(&format!("{folder}/{number}"), ""));
    }
    let unfollowed = tree.open().fingerprint(None).unwrap().unfollowed;
    assert_eq!(
        unfollowed,
        [Unfollowed {
            folder: "large".to_owned(),
            bound: Bound::Files
        }]
    );
    let before = tree.open().snapshot(&tree.state()).unwrap();
    tree.write("small/0", "x");
    assert_eq!(changed(&tree, &before), ["small/0"]);
}

#[test]
fn submodules_without_files_and_in_the_place_of_others_stay_as_they_are() {
    let tree = Tree::git();
    submodule(&tree);
    tree.run(&["submodule", "deinit", "-q", "-f", "inner"]);
    let before = tree.open().snapshot(&tree.state()).unwrap();
    assert_eq!(changed(&tree, &before), [""; 0]);
    tree.write("inner/x.py", "x\n");
    assert_eq!(changed(&tree, &before), ["inner", "inner/x.py"]);
    tree.remove("inner/x.py");
    std::fs::remove_dir(tree.root().join("inner")).unwrap();
    assert_eq!(changed(&tree, &before), ["inner"]);
    tree.write("inner", "a file\n");
    assert_eq!(changed(&tree, &before), ["inner"]);
    let workspace = tree.open();
    let now = workspace.snapshot(&tree.state()).unwrap();
    assert_eq!(
        workspace.read_at(&now, "inner", &tree.state()).as_deref(),
        Some(b"a file\n".as_slice())
    );
    tree.remove("inner");
    std::os::unix::fs::symlink("/", tree.root().join("inner")).unwrap();
    let now = workspace.snapshot(&tree.state()).unwrap();
    assert_eq!(
        workspace.read_at(&now, "inner", &tree.state()).as_deref(),
        Some(b"/".as_slice())
    );
}
