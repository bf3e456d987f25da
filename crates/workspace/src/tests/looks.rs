//! The differences between two fingerprints of a tree.

use super::*;

/// The differences after a change, one line each.
fn after(tree: &Tree, act: impl FnOnce()) -> Vec<String> {
    let workspace = tree.open();
    let before = workspace.fingerprint(None).unwrap();
    act();
    let after = workspace.fingerprint(Some(&before)).unwrap();
    workspace
        .differences(&before, &after)
        .unwrap()
        .iter()
        .map(ToString::to_string)
        .collect()
}

/// Clean, dirty, untracked and ignored files, and a link.
fn tree() -> Tree {
    let tree = Tree::git();
    tree.write("clean", "clean\n");
    tree.write("dirty", "as committed\n");
    tree.write(".gitignore", "ignored\n.env\n");
    std::os::unix::fs::symlink("clean", tree.root().join("link")).unwrap();
    tree.commit("begin");
    tree.write("dirty", "as edited\n");
    tree.write("untracked", "new\n");
    tree.write("ignored", "ignored\n");
    tree.write(".env", "A=b\n");
    tree
}

const NOTHING: [&str; 0] = [];

#[test]
fn files_of_every_kind() {
    let tree = tree();
    let root = tree.root();
    assert_eq!(after(&tree, || {}), NOTHING);
    assert_eq!(
        after(&tree, || tree.write("clean", "Clean\n")),
        ["changed `clean`"]
    );
    assert_eq!(
        after(&tree, || tree.write("dirty", "as Edited\n")),
        ["changed `dirty`"]
    );
    assert_eq!(
        after(&tree, || tree.write("untracked", "neW\n")),
        ["changed `untracked`"]
    );
    assert_eq!(after(&tree, || tree.write("ignored", "other\n")), NOTHING);
    assert_eq!(
        after(&tree, || tree.write(".env", "A=c\n")),
        ["changed `.env`"]
    );
    assert_eq!(
        after(&tree, || tree.write("another", "")),
        ["created `another`"]
    );
    assert_eq!(
        after(&tree, || tree.remove("untracked")),
        ["removed `untracked`"]
    );
    assert_eq!(
        after(&tree, || {
            tree.remove("link");
            std::os::unix::fs::symlink("dirty", root.join("link")).unwrap();
        }),
        ["changed `link`"]
    );
    assert_eq!(
        after(&tree, || {
            tree.remove("clean");
            std::os::unix::fs::symlink("dirty", root.join("clean")).unwrap();
        }),
        ["changed `clean`"]
    );
}

#[test]
fn the_same_content_written_again_is_no_difference() {
    let tree = tree();
    assert_eq!(
        after(&tree, || {
            ["clean", "dirty"]
                .iter()
                .zip(["Clean", "as edited\n"])
                .for_each(|(f, t)| tree.write(f, t))
        }),
        ["changed `clean`"]
    );
    assert_eq!(
        after(&tree, || {
            tree.write("dirty", "something else\n");
            tree.write("dirty", "as edited\n");
            tree.write("untracked", "new\n");
        }),
        NOTHING
    );
}

#[test]
fn a_write_that_sets_the_times_back_is_found() {
    let tree = tree();
    let path = tree.root().join("clean");
    assert_eq!(
        after(&tree, || {
            let modified = std::fs::metadata(&path).unwrap().modified().unwrap();
            tree.write("clean", "cleaN\n");
            std::fs::File::options()
                .write(true)
                .open(&path)
                .unwrap()
                .set_modified(modified)
                .unwrap();
        }),
        ["changed `clean`"]
    );
}

#[test]
fn permissions() {
    use std::os::unix::fs::PermissionsExt as _;
    let tree = tree();
    let set = |mode| {
        std::fs::set_permissions(
            tree.root().join("clean"),
            std::fs::Permissions::from_mode(mode),
        )
        .unwrap();
    };
    assert_eq!(
        after(&tree, || set(0o755)),
        ["changed the permissions of `clean`"]
    );
    assert_eq!(
        after(&tree, || set(0o700)),
        ["changed the permissions of `clean`"]
    );
}

#[test]
fn the_repository() {
    let tree = tree();
    let run = |args: &[&str]| drop(tree.run(args));
    assert_eq!(
        after(&tree, || run(&["branch", "other"])),
        ["created `refs/heads/other`"]
    );
    assert_eq!(
        after(&tree, || run(&["symbolic-ref", "HEAD", "refs/heads/other"])),
        ["changed `HEAD`"]
    );
    assert_eq!(
        after(&tree, || run(&["add", "untracked"])),
        ["changed `the index`"]
    );
    // `git status` that only refreshes times in the index is no change.
    assert_eq!(after(&tree, || run(&["status"])), NOTHING);
    assert_eq!(
        after(&tree, || run(&["commit", "-q", "-m", "more"])),
        ["changed `refs/heads/other`"]
    );
    assert_eq!(
        after(&tree, || run(&["config", "core.pager", "x"])),
        ["changed `.git/config`"]
    );
    assert_eq!(
        after(&tree, || run(&[
            "update-ref",
            "refs/glee/run/x/before",
            "HEAD"
        ])),
        NOTHING
    );
    assert_eq!(
        after(&tree, || {
            std::fs::create_dir_all(tree.root().join(".git/hooks")).unwrap();
            tree.write(".git/hooks/pre-commit", "#!/bin/sh\n");
        }),
        ["created `.git/hooks/pre-commit`"]
    );
    assert_eq!(
        after(&tree, || tree.write(".git/info/attributes", "* text\n")),
        ["created `.git/info/attributes`"]
    );
}

#[test]
fn refs_packed_symbolic_and_of_a_linked_tree() {
    let tree = tree();
    let run = |args: &[&str]| drop(tree.run(args));
    let refs = |folder: &Path| {
        Workspace::discover(folder)
            .unwrap()
            .repository
            .unwrap()
            .refs()
            .unwrap()
            .len()
    };
    run(&["branch", "a/b"]);
    run(&["tag", "-a", "-m", "told", "v1"]);
    run(&[
        "symbolic-ref",
        "refs/remotes/origin/HEAD",
        "refs/remotes/origin/main",
    ]);
    run(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
    assert_eq!(refs(&tree.root()), 5);
    assert_eq!(after(&tree, || run(&["pack-refs", "--all"])), NOTHING);
    assert_eq!(refs(&tree.root()), 5);
    assert_eq!(
        after(&tree, || run(&["branch", "-D", "a/b"])),
        ["removed `refs/heads/a/b`"]
    );
    assert_eq!(
        after(&tree, || run(&[
            "symbolic-ref",
            "refs/remotes/origin/HEAD",
            "refs/heads/main"
        ])),
        ["changed `refs/remotes/origin/HEAD`"]
    );
    let linked = tree.root().with_file_name("linked");
    run(&[
        "worktree",
        "add",
        "-q",
        linked.to_str().unwrap(),
        "-b",
        "other",
    ]);
    git(&linked, &["update-ref", "refs/worktree/own", "HEAD"]);
    assert_eq!((refs(&linked), refs(&tree.root())), (6, 5));
    std::os::unix::fs::symlink("main", tree.root().join(".git/refs/heads/link")).unwrap();
    assert_eq!(
        after(&tree, || run(&["tag", "v2"])),
        ["created `refs/tags/v2`"]
    );
}

#[test]
fn refs_that_are_no_files_are_asked_for() {
    let tree = Tree::plain();
    let made = try_git(
        &tree.root(),
        &["init", "-q", "-b", "main", "--ref-format=reftable"],
    );
    if !made.status.success() {
        // Git has it since 2.45.
        return;
    }
    tree.write("a", "a");
    tree.commit("begin");
    assert_eq!(
        after(&tree, || drop(tree.run(&["branch", "other"]))),
        ["created `refs/heads/other`"]
    );
}

#[test]
fn a_folder_outside_git() {
    let tree = Tree::plain();
    tree.write("a", "a");
    assert_eq!(after(&tree, || tree.write("a", "b")), ["changed `a`"]);
    assert_eq!(after(&tree, || tree.write("b", "b")), ["created `b`"]);
}
