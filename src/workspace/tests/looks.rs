//! What two looks at a tree tell of what happened between them.

use super::*;

/// What differs after something was done, one line each.
fn after(tree: &Tree, act: impl FnOnce()) -> Vec<String> {
    let workspace = tree.open();
    let before = workspace.look(None).unwrap();
    act();
    let after = workspace.look(Some(&before)).unwrap();
    workspace.differences(&before, &after).unwrap().iter().map(ToString::to_string).collect()
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
    assert_eq!(after(&tree, || tree.write("clean", "Clean\n")), ["changed `clean`"]);
    assert_eq!(after(&tree, || tree.write("dirty", "as Edited\n")), ["changed `dirty`"]);
    assert_eq!(after(&tree, || tree.write("untracked", "neW\n")), ["changed `untracked`"]);
    assert_eq!(after(&tree, || tree.write("ignored", "other\n")), NOTHING);
    assert_eq!(after(&tree, || tree.write(".env", "A=c\n")), ["changed `.env`"]);
    assert_eq!(after(&tree, || tree.write("another", "")), ["created `another`"]);
    assert_eq!(after(&tree, || tree.remove("untracked")), ["removed `untracked`"]);
    let swapped = || {
        tree.remove("link");
        std::os::unix::fs::symlink("dirty", root.join("link")).unwrap();
    };
    assert_eq!(after(&tree, swapped), ["changed `link`"]);
    let linked = || {
        tree.remove("clean");
        std::os::unix::fs::symlink("dirty", root.join("clean")).unwrap();
    };
    assert_eq!(after(&tree, linked), ["changed `clean`"]);
}

#[test]
fn the_same_content_written_again_is_no_difference() {
    let tree = tree();
    let act = || ["clean", "dirty"].iter().zip(["Clean", "as edited\n"]).for_each(|(f, t)| tree.write(f, t));
    assert_eq!(after(&tree, act), ["changed `clean`"]);
    let again = || {
        tree.write("dirty", "something else\n");
        tree.write("dirty", "as edited\n");
        tree.write("untracked", "new\n");
    };
    assert_eq!(after(&tree, again), NOTHING);
}

#[test]
fn a_write_that_sets_the_times_back_is_found() {
    let tree = tree();
    let path = tree.root().join("clean");
    let act = || {
        let modified = std::fs::metadata(&path).unwrap().modified().unwrap();
        tree.write("clean", "cleaN\n");
        std::fs::File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
    };
    assert_eq!(after(&tree, act), ["changed `clean`"]);
}

#[test]
fn permissions() {
    use std::os::unix::fs::PermissionsExt as _;
    let tree = tree();
    let set = |mode| {
        std::fs::set_permissions(tree.root().join("clean"), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    assert_eq!(after(&tree, || set(0o755)), ["changed the permissions of `clean`"]);
    assert_eq!(after(&tree, || set(0o700)), ["changed the permissions of `clean`"]);
}

#[test]
fn the_repository() {
    let tree = tree();
    let run = |args: &[&str]| drop(tree.run(args));
    assert_eq!(after(&tree, || run(&["branch", "other"])), ["created `refs/heads/other`"]);
    assert_eq!(after(&tree, || run(&["symbolic-ref", "HEAD", "refs/heads/other"])), ["changed `HEAD`"]);
    assert_eq!(after(&tree, || run(&["add", "untracked"])), ["changed `the index`"]);
    // A status that only refreshes what the index remembers of times is none.
    assert_eq!(after(&tree, || run(&["status"])), NOTHING);
    assert_eq!(after(&tree, || run(&["commit", "-q", "-m", "more"])), ["changed `refs/heads/other`"]);
    assert_eq!(after(&tree, || run(&["config", "core.pager", "x"])), ["changed `.git/config`"]);
    assert_eq!(after(&tree, || run(&["update-ref", "refs/glee/run/x/before", "HEAD"])), NOTHING);
    let hook = || {
        std::fs::create_dir_all(tree.root().join(".git/hooks")).unwrap();
        tree.write(".git/hooks/pre-commit", "#!/bin/sh\n");
    };
    assert_eq!(after(&tree, hook), ["created `.git/hooks/pre-commit`"]);
    assert_eq!(after(&tree, || tree.write(".git/info/attributes", "* text\n")), ["created `.git/info/attributes`"]);
}

/// The refs as the files have them, and as git lists them.
fn refs_of(folder: &Path) -> (Option<Vec<String>>, Vec<String>) {
    let workspace = Workspace::discover(folder).unwrap();
    let repository = workspace.repository.as_ref().unwrap();
    let listed = git(&workspace.root, &["for-each-ref", "--format=%(refname)"]);
    (repository.refs_in_files().map(|refs| refs.into_keys().collect()), listed.lines().map(str::to_owned).collect())
}

#[test]
fn refs_are_read_as_git_lists_them() {
    let tree = tree();
    let run = |args: &[&str]| drop(tree.run(args));
    let same = |folder: &Path| {
        let (read, listed) = refs_of(folder);
        assert_eq!(read.as_ref(), Some(&listed));
        listed.len()
    };
    run(&["branch", "a/b"]);
    run(&["tag", "-a", "-m", "told", "v1"]);
    run(&["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main"]);
    run(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
    assert_eq!(same(&tree.root()), 5);
    assert_eq!(after(&tree, || run(&["pack-refs", "--all"])), NOTHING);
    assert_eq!(same(&tree.root()), 5);
    assert_eq!(after(&tree, || run(&["branch", "-D", "a/b"])), ["removed `refs/heads/a/b`"]);
    assert_eq!(
        after(&tree, || run(&["symbolic-ref", "refs/remotes/origin/HEAD", "refs/heads/main"])),
        ["changed `refs/remotes/origin/HEAD`"]
    );
    let linked = tree.root().with_file_name("linked");
    run(&["worktree", "add", "-q", linked.to_str().unwrap(), "-b", "other"]);
    git(&linked, &["update-ref", "refs/worktree/own", "HEAD"]);
    assert_eq!((same(&linked), same(&tree.root())), (6, 5));
    // What is not as git writes it, git shall explain.
    std::os::unix::fs::symlink("main", tree.root().join(".git/refs/heads/link")).unwrap();
    assert_eq!(refs_of(&tree.root()).0, None);
    assert_eq!(after(&tree, || run(&["tag", "v2"])), ["created `refs/tags/v2`"]);
}

#[test]
fn refs_that_are_no_files_are_asked_for() {
    let tree = Tree::plain();
    let made = try_git(&tree.root(), &["init", "-q", "-b", "main", "--ref-format=reftable"]);
    if !made.status.success() {
        // Git has it since 2.45.
        return;
    }
    tree.write("a", "a");
    tree.commit("begin");
    assert_eq!(refs_of(&tree.root()), (None, vec!["refs/heads/main".to_owned()]));
    assert_eq!(after(&tree, || drop(tree.run(&["branch", "other"]))), ["created `refs/heads/other`"]);
}

#[test]
fn what_was_listed_ahead_is_what_is_there() {
    let unborn = Tree::git();
    unborn.write("untracked", "new");
    let mut folders = vec![unborn.root()];
    let tree = tree();
    tree.write("a/b/c", "c");
    let linked = tree.root().with_file_name("linked");
    tree.run(&["worktree", "add", "-q", linked.to_str().unwrap()]);
    folders.extend([tree.root(), tree.root().join("a/b"), linked]);
    for folder in folders {
        let (ahead, usual) = (Workspace::discover_to_look(&folder).unwrap(), Workspace::discover(&folder).unwrap());
        for _ in 0..2 {
            let (ahead, usual) = (ahead.look(None).unwrap(), usual.look(None).unwrap());
            assert_eq!(format!("{ahead:?}"), format!("{usual:?}"), "{}", folder.display());
        }
    }
}

#[test]
fn a_folder_outside_git() {
    let tree = Tree::plain();
    tree.write("a", "a");
    assert_eq!(after(&tree, || tree.write("a", "b")), ["changed `a`"]);
    assert_eq!(after(&tree, || tree.write("b", "b")), ["created `b`"]);
}
