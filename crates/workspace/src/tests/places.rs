//! The root of a tree, the place of its history, and the paths that an agent may name.

use super::*;

#[test]
fn discovery_names_the_tree_or_says_why_there_is_none() {
    let bare = tempfile::tempdir().unwrap();
    git(bare.path(), &["init", "-q", "--bare"]);
    assert!(matches!(
        Workspace::discover(bare.path()),
        Err(WorkspaceError::Bare(..))
    ));
    let tree = Tree::git();
    assert!(matches!(
        Workspace::discover(&tree.root().join(".git")),
        Err(WorkspaceError::InsideGit(..))
    ));
    assert!(matches!(
        Workspace::discover(&tree.root().join("nope")),
        Err(WorkspaceError::Unreadable { .. })
    ));
    let plain = Tree::plain();
    plain.write("sub/.glee/config.yml", "");
    plain.write("sub/deep/a.rs", "1\n");
    let workspace = Workspace::discover(&plain.root().join("sub/deep")).unwrap();
    assert_eq!(
        (workspace.root(), workspace.is_git()),
        (plain.root().join("sub").as_path(), false)
    );
    assert_eq!(
        workspace
            .select(&TargetSpec::Staged, &OPTIONS)
            .unwrap_err()
            .to_string(),
        "staged changes can only be reviewed in a git repository"
    );
}

#[test]
fn agents_paths_stay_inside_the_tree() {
    let tree = Tree::git();
    tree.write("src/a.rs", "text");
    std::fs::write(tree.folder.path().join("outside"), "secret").unwrap();
    let link = |target: &str, name: &str| {
        std::os::unix::fs::symlink(target, tree.root().join(name)).unwrap()
    };
    link("../outside", "out");
    link("..", "up");
    link("src/a.rs", "in");
    link(".git/config", "conf");
    nix::unistd::mkfifo(&tree.root().join("fifo"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let workspace = tree.open();
    let good = Some("src/a.rs".to_owned());
    let absolute = tree.root().join("src/a.rs").display().to_string();
    for path in [
        "src/a.rs",
        "./src/./a.rs",
        "src//a.rs",
        "src\\a.rs",
        absolute.as_str(),
    ] {
        assert_eq!(workspace.resolve(path), good, "{path}");
    }
    assert_eq!(workspace.resolve("in").as_deref(), Some("in"));
    let bad = [
        "",
        ".",
        "..",
        "../outside",
        "src/../src/a.rs",
        "/etc/passwd",
        "C:\\a.rs",
        "C:src/a.rs",
        "\\\\host\\a",
        ".git/config",
        ".GIT/config",
        "src",
        "nope",
        "out",
        "up/outside",
        "conf",
        "fifo",
        "src/a.rs\0",
        "src/a.rs/x",
    ];
    for path in bad {
        assert_eq!(workspace.resolve(path), None, "{path}");
        assert_eq!(workspace.read(path), None, "{path}");
    }
    assert_eq!(workspace.read("src/a.rs").as_deref(), Some("text"));
}
