//! Every target, in every state a repository can be in.

use super::*;

#[test]
fn uncommitted_is_staged_unstaged_and_untracked() {
    let tree = Tree::git();
    tree.write("a.rs", "1\n2\n3\n");
    tree.write("b.rs", "1\n2\n3\n");
    tree.write("c.rs", "1\n");
    tree.write("gone.rs", "1\n");
    tree.write("kept.rs", "1\n");
    tree.write(".gitignore", "*.log\n");
    tree.commit("one");
    tree.write("a.rs", "1\nX\n3\n");
    tree.write("b.rs", "1\n2\n3\n4\n");
    tree.run(&["add", "b.rs"]);
    tree.write("b.rs", "0\n1\n2\n3\n4\n");
    tree.write("new/d.rs", "1\n2\n");
    tree.write("x.log", "1\n");
    tree.write("Cargo.lock", "1\n");
    tree.remove("gone.rs");
    tree.run(&["rm", "-q", "--cached", "kept.rs"]);
    tree.write("kept.rs", "1\n2\n");
    tree.write("later.rs", "1\n");
    tree.run(&["add", "--intent-to-add", "later.rs"]);
    let target = tree.select(TargetSpec::Uncommitted);
    assert_eq!(
        shape(&target),
        [
            ("a.rs", vec![(2, 2)]),
            ("b.rs", vec![(1, 1), (5, 5)]),
            ("gone.rs", vec![]),
            ("kept.rs", vec![(2, 2)]),
            ("later.rs", vec![(1, 1)]),
            ("new/d.rs", vec![(1, 2)]),
        ]
    );
    assert_eq!(skips(&target), [("Cargo.lock", SkipReason::Generated)]);
    assert!(
        diff_of(&target, "gone.rs")
            .starts_with("deleted file mode 100644\n--- a/gone.rs\n+++ /dev/null\n@@ -1")
    );
    assert_eq!(
        diff_of(&target, "a.rs"),
        "--- a/a.rs\n+++ b/a.rs\n@@ -1,3 +1,3 @@\n 1\n-2\n+X\n 3\n"
    );
    assert_eq!(
        diff_of(&target, "new/d.rs"),
        "--- /dev/null\n+++ b/new/d.rs\n@@ -0,0 +1,2 @@\n+1\n+2\n"
    );
    assert_eq!(target.description, "uncommitted changes");
    assert_eq!(target.commit, Some(tree.head()));
    assert!(target.tree.starts_with("blake3:"));
    let coverage = [
        cover("a.rs", 1),
        cover("b.rs", 2),
        cover("gone.rs", target.files[2].deleted_lines()),
        cover("kept.rs", 1),
        cover("later.rs", 1),
        cover("new/d.rs", 2),
    ];
    assert!(target.files[2].deleted_lines() > 0);
    assert_eq!(target.coverage(), [coverage.to_vec()]);
}

#[test]
fn a_touched_file_and_a_changed_mode_are_no_change() {
    let tree = Tree::git();
    tree.write("a.rs", "1\n");
    tree.commit("one");
    tree.write("a.rs", "1\n");
    assert_eq!(tree.skipped(TargetSpec::Uncommitted), []);
}

#[test]
fn before_the_first_commit_everything_is_uncommitted() {
    let tree = Tree::git();
    tree.write("staged.rs", "1\n");
    tree.run(&["add", "-A"]);
    tree.write("new.rs", "1\n");
    let target = tree.select(TargetSpec::Uncommitted);
    assert_eq!(
        shape(&target),
        [("new.rs", vec![(1, 1)]), ("staged.rs", vec![(1, 1)])]
    );
    assert_eq!(target.commit, None);
    assert_eq!(names(&tree.select(TargetSpec::Staged)), ["staged.rs"]);
    assert_eq!(
        tree.refuse(TargetSpec::Base("main".to_owned())),
        "the repository has no commit yet"
    );
    assert_eq!(
        tree.refuse(TargetSpec::Commit("HEAD".to_owned())),
        "the repository has no commit yet"
    );
}

#[test]
fn staged_is_what_the_index_holds() {
    let tree = Tree::git();
    tree.write("a.rs", "1\n2\n");
    tree.commit("one");
    tree.write("a.rs", "1\nstaged\n");
    tree.run(&["add", "a.rs"]);
    let id = tree.run(&["write-tree"]);
    tree.write("a.rs", "worktree\n");
    tree.write("b.rs", "untracked\n");
    tree.write("later.rs", "only its name is in the index\n");
    tree.run(&["add", "--intent-to-add", "later.rs"]);
    let target = tree.select(TargetSpec::Staged);
    assert_eq!(shape(&target), [("a.rs", vec![(2, 2)])]);
    assert_eq!(target.files[0].text, "1\nstaged\n");
    assert_eq!(target.tree, id.trim());
}

#[test]
fn base_is_everything_since_the_common_ancestor() {
    let tree = Tree::git();
    tree.write("a.rs", "1\n");
    tree.commit("one");
    tree.run(&["checkout", "-q", "-b", "work"]);
    tree.write("b.rs", "1\n");
    tree.commit("two");
    tree.run(&["checkout", "-q", "main"]);
    tree.write("c.rs", "1\n");
    tree.commit("three");
    tree.run(&["checkout", "-q", "work"]);
    tree.write("a.rs", "1\n2\n");
    let target = tree.select(TargetSpec::Base("main".to_owned()));
    assert_eq!(
        shape(&target),
        [("a.rs", vec![(2, 2)]), ("b.rs", vec![(1, 1)])]
    );
    assert_eq!(target.description, "changes since main");
    assert_eq!(target.commit, Some(tree.head()));
    tree.run(&["checkout", "-q", "--orphan", "alone"]);
    tree.commit("four");
    let text = tree.refuse(TargetSpec::Base("main".to_owned()));
    assert!(text.ends_with("have no common ancestor"), "{text}");
}

#[test]
fn a_commit_is_compared_with_its_first_parent() {
    let tree = Tree::git();
    tree.write("a.rs", "1\n");
    tree.commit("one");
    let first = tree.head();
    tree.run(&["checkout", "-q", "-b", "side"]);
    tree.write("side.rs", "1\n");
    tree.commit("side");
    tree.run(&["checkout", "-q", "main"]);
    tree.write("main.rs", "1\n");
    tree.commit("two");
    tree.run(&["merge", "-q", "--no-edit", "side"]);
    tree.write("a.rs", "not committed\n");
    tree.run(&["checkout", "-q", "--detach"]);
    let root = tree.select(TargetSpec::Commit(first.clone()));
    assert_eq!(shape(&root), [("a.rs", vec![(1, 1)])]);
    assert_eq!(root.files[0].text, "1\n");
    assert_eq!(
        (root.commit, root.tree),
        (
            Some(first.clone()),
            tree.run(&["rev-parse", &format!("{first}^{{tree}}")])
                .trim()
                .to_owned()
        )
    );
    assert_eq!(
        names(&tree.select(TargetSpec::Commit("HEAD".to_owned()))),
        ["side.rs"]
    );
    assert_eq!(names(&tree.select(TargetSpec::Uncommitted)), ["a.rs"]);
}

#[test]
fn the_end_of_a_shallow_history_is_no_first_commit() {
    let tree = Tree::git();
    tree.write("a.rs", "1\n");
    tree.commit("one");
    tree.write("a.rs", "2\n");
    tree.commit("two");
    let clone = Tree::plain();
    let url = format!("file://{}", tree.root().display());
    clone.run(&["clone", "-q", "--depth=1", &url, "."]);
    let text = clone.refuse(TargetSpec::Commit("HEAD".to_owned()));
    assert!(text.ends_with("is missing: the clone is shallow"), "{text}");
}

#[test]
fn ranges_follow_git_diff() {
    let tree = Tree::git();
    tree.write("a.rs", "1\n");
    tree.commit("one");
    tree.run(&["branch", "base"]);
    tree.run(&["checkout", "-q", "-b", "work"]);
    tree.write("work.rs", "1\n");
    tree.commit("two");
    tree.run(&["checkout", "-q", "main"]);
    tree.write("main.rs", "another\n");
    tree.commit("three");
    let range = |text: &str| tree.select(TargetSpec::Range(text.to_owned()));
    assert_eq!(names(&range("base..work")), ["work.rs"]);
    assert_eq!(names(&range("base..")), ["main.rs"]);
    let two = range("main..work");
    assert_eq!(
        (names(&two), skips(&two)),
        (vec!["main.rs", "work.rs"], vec![])
    );
    let three = range("main...work");
    assert_eq!((names(&three), skips(&three)), (vec!["work.rs"], vec![]));
    assert_eq!(three.tree, tree.run(&["rev-parse", "work^{tree}"]).trim());
    assert_eq!(three.description, "main...work");
}

#[test]
fn a_renamed_file_is_compared_with_what_it_was() {
    let tree = Tree::git();
    let text: String = (1..=20).map(|line| format!("line {line}\n")).collect();
    tree.write("old.rs", &text);
    tree.commit("one");
    tree.run(&["mv", "old.rs", "new.rs"]);
    tree.write("new.rs", text.replace("line 7\n", "seven\n"));
    let target = tree.select(TargetSpec::Uncommitted);
    assert_eq!(shape(&target), [("new.rs", vec![(7, 7)])]);
    assert!(
        diff_of(&target, "new.rs").starts_with("--- a/old.rs\n+++ b/new.rs\n@@ -4,7 +4,7 @@\n")
    );
    assert_eq!(skips(&target), []);
}

#[test]
fn bad_revisions_are_refused_and_options_are_no_revisions() {
    let tree = Tree::git();
    tree.write("a.rs", "1\n");
    tree.commit("one");
    for revision in [
        "nope",
        "--output=x",
        "-x",
        "",
        "HEAD^{tree}",
        "a\nb",
        "HEAD:a.rs",
    ] {
        let expected = format!("there is no commit `{revision}`");
        assert_eq!(
            tree.refuse(TargetSpec::Commit(revision.to_owned())),
            expected
        );
        assert_eq!(tree.refuse(TargetSpec::Base(revision.to_owned())), expected);
    }
    assert_eq!(
        tree.refuse(TargetSpec::Range("--output=x..HEAD".to_owned())),
        "there is no commit `--output=x`"
    );
    assert_eq!(
        tree.refuse(TargetSpec::Range("HEAD".to_owned())),
        "there is no commit `HEAD`"
    );
    assert!(!tree.root().join("x").exists());
}

#[test]
fn paths_are_whole_files_met_in_folders_or_named() {
    for tree in [Tree::git(), Tree::plain()] {
        tree.write("src/a.rs", "1\n2\n");
        tree.write("src/deep/b.py", "1\n");
        tree.write("src/.hidden/c.rs", "1\n");
        tree.write("src/ignored.rs", "1\n");
        tree.write("src/unwanted.rs", "1\n");
        tree.write("src/Cargo.lock", "1\n");
        tree.write("src/big.rs", "x".repeat(20_000));
        tree.write("src/picture.png", b"\x89PNG\0");
        tree.write(".gitignore", "ignored.rs\n");
        tree.write(".gleeignore", "unwanted.rs\n");
        let target = tree.select(paths(&["src"]));
        assert_eq!(
            shape(&target),
            [("src/a.rs", vec![]), ("src/deep/b.py", vec![])]
        );
        assert_eq!(
            skips(&target),
            [
                ("src/Cargo.lock", SkipReason::Generated),
                ("src/big.rs", SkipReason::Oversized),
                ("src/picture.png", SkipReason::Binary),
            ]
        );
        assert_eq!(
            target.coverage(),
            [vec![cover("src/a.rs", 2), cover("src/deep/b.py", 1)]]
        );
        assert_eq!(target.description, "src");
        let named = tree.select(paths(&[
            "src/ignored.rs",
            "src/unwanted.rs",
            "src/Cargo.lock",
            "src/.hidden",
            "src/a.rs",
        ]));
        assert_eq!(
            names(&named),
            [
                "src/.hidden/c.rs",
                "src/Cargo.lock",
                "src/a.rs",
                "src/ignored.rs",
                "src/unwanted.rs"
            ]
        );
        assert_eq!(
            tree.skipped(paths(&["src/big.rs", "src/picture.png"])),
            [
                ("src/big.rs".to_owned(), SkipReason::Oversized),
                ("src/picture.png".to_owned(), SkipReason::Binary)
            ]
        );
    }
}

#[test]
fn paths_outside_missing_or_of_the_repository_are_refused() {
    let tree = Tree::git();
    tree.write("a.rs", "1\n");
    std::fs::write(tree.folder.path().join("outside.rs"), "1\n").unwrap();
    assert_eq!(
        tree.refuse(paths(&["a.rs", "nope.rs"])),
        "there is no file or folder `nope.rs`"
    );
    let root = tree.root();
    assert_eq!(
        tree.refuse(paths(&["../outside.rs"])),
        format!("`../outside.rs` is outside the tree `{}`", root.display())
    );
    assert_eq!(
        tree.refuse(paths(&[".git/config"])),
        "`.git/config` is inside a `.git` folder"
    );
    std::os::unix::fs::symlink("../outside.rs", root.join("out")).unwrap();
    assert_eq!(
        tree.refuse(paths(&["out"])),
        format!("`out` is outside the tree `{}`", root.display())
    );
}

#[test]
fn paths_count_from_where_the_user_stands_and_changes_from_the_top() {
    let tree = Tree::git();
    tree.write("a.rs", "1\n");
    tree.write("sub/b.rs", "1\n");
    let workspace = Workspace::discover(&tree.root().join("sub")).unwrap();
    assert_eq!(workspace.root(), tree.root());
    let select = |spec| workspace.select(&spec, &OPTIONS).unwrap();
    assert_eq!(names(&select(paths(&["b.rs"]))), ["sub/b.rs"]);
    assert_eq!(names(&select(paths(&["."]))), ["sub/b.rs"]);
    assert_eq!(names(&select(paths(&["../a.rs"]))), ["a.rs"]);
    assert_eq!(
        names(&select(TargetSpec::Uncommitted)),
        ["a.rs", "sub/b.rs"]
    );
}

#[test]
fn what_is_no_text_file_is_listed_and_never_opened() {
    let tree = Tree::git();
    tree.write("a.rs", "1\n");
    tree.write("link_target.rs", "1\n");
    nix::unistd::mkfifo(&tree.root().join("fifo"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    std::os::unix::fs::symlink("loop", tree.root().join("loop")).unwrap();
    std::os::unix::fs::symlink(".", tree.root().join("self")).unwrap();
    let expected = vec![
        ("fifo", SkipReason::NotAFile),
        ("loop", SkipReason::NotAFile),
        ("self", SkipReason::NotAFile),
    ];
    assert_eq!(skips(&tree.select(paths(&["."]))), expected);
    let uncommitted = tree.select(TargetSpec::Uncommitted);
    // git lists no FIFO as untracked; of a link its target is reviewed.
    assert_eq!(skips(&uncommitted), []);
    assert_eq!(
        names(&uncommitted),
        ["a.rs", "link_target.rs", "loop", "self"]
    );
    assert_eq!(uncommitted.files[2].text, "loop");
    assert_eq!(
        tree.skipped(paths(&["fifo"])),
        [("fifo".to_owned(), SkipReason::NotAFile)]
    );
}

#[test]
fn gleeignore_and_attributes_hold_for_changes_too() {
    let tree = Tree::git();
    tree.write(".gleeignore", "vendor/\n");
    tree.write(
        ".gitattributes",
        "made.rs linguist-generated\nyarn.lock -linguist-generated\n",
    );
    tree.commit("one");
    tree.write("vendor/a.rs", "1\n");
    tree.write("made.rs", "1\n");
    tree.write("yarn.lock", "1\n");
    tree.run(&["add", "-A"]);
    for spec in [TargetSpec::Uncommitted, TargetSpec::Staged] {
        let target = tree.select(spec);
        assert_eq!(names(&target), ["yarn.lock"]);
        assert_eq!(
            skips(&target),
            [
                ("made.rs", SkipReason::Generated),
                ("vendor/a.rs", SkipReason::Ignored)
            ]
        );
    }
}

#[test]
fn line_ends_that_git_converts_are_no_change() {
    let tree = Tree::git();
    tree.run(&["config", "core.autocrlf", "true"]);
    tree.write("a.rs", "1\r\n2\r\n");
    tree.write("b.rs", "1\r\n2\r\n");
    tree.commit("one");
    tree.write("a.rs", "1\r\n2\r\n");
    tree.write("b.rs", "1\r\n3\r\n");
    let target = tree.select(TargetSpec::Uncommitted);
    assert_eq!(shape(&target), [("b.rs", vec![(2, 2)])]);
    assert_eq!(target.files[0].text, "1\r\n3\r\n");
    tree.run(&["config", "core.autocrlf", "false"]);
    assert_eq!(
        names(&tree.select(TargetSpec::Uncommitted)),
        ["a.rs", "b.rs"]
    );
}

#[test]
fn a_merge_in_progress_and_a_foreign_lock_do_not_matter() {
    let tree = Tree::git();
    tree.write("a.rs", "1\n2\n3\n");
    tree.commit("one");
    tree.run(&["checkout", "-q", "-b", "side"]);
    tree.write("a.rs", "1\nside\n3\n");
    tree.commit("side");
    tree.run(&["checkout", "-q", "main"]);
    tree.write("a.rs", "1\nmain\n3\n");
    tree.commit("main");
    let merge = try_git(&tree.root(), &["merge", "-q", "side"]);
    assert_eq!(
        merge.status.code(),
        Some(1),
        "{}",
        String::from_utf8_lossy(&merge.stderr)
    );
    tree.write(".git/index.lock", "");
    let target = tree.select(TargetSpec::Uncommitted);
    assert_eq!(shape(&target), [("a.rs", vec![(2, 2), (4, 6)])]);
    assert_eq!(
        tree.skipped(TargetSpec::Staged),
        [("a.rs".to_owned(), SkipReason::Unreadable)]
    );
    let id = tree.open().snapshot(&tree.state()).unwrap();
    assert!(
        tree.open()
            .read_at(&id, "a.rs", &tree.state())
            .unwrap()
            .starts_with(b"1\n<<<<<<<")
    );
}

#[test]
fn a_linked_worktree_shares_the_history_and_has_its_own_tree() {
    let tree = Tree::git();
    tree.write("a.rs", "1\n");
    tree.commit("one");
    tree.run(&["worktree", "add", "-q", "../linked"]);
    let linked = Workspace::discover(&tree.folder.path().join("linked")).unwrap();
    std::fs::write(linked.root().join("b.rs"), "1\n").unwrap();
    let [own, shared] = [&linked, &tree.open()].map(|it| it.history(&tree.state()).unwrap());
    assert_eq!((own.key, own.identity), (shared.key, shared.identity));
    assert_ne!(linked.root(), tree.open().root());
    assert_eq!(
        names(&linked.select(&TargetSpec::Uncommitted, &OPTIONS).unwrap()),
        ["b.rs"]
    );
    let both = (
        tree.open().lock(&tree.state(), &run_id()),
        linked.lock(&tree.state(), &run_id()),
    );
    assert!(both.0.is_ok() && both.1.is_ok());
    linked.keep(&run_id(), &tree.state()).unwrap();
    let error = tree
        .open()
        .undo(&run_id(), &UndoOptions::default(), &tree.state())
        .unwrap_err();
    assert!(matches!(error, WorkspaceError::OtherTree { .. }), "{error}");
}

#[test]
fn submodules_are_noted_in_a_change_and_kept() {
    let inner = Tree::git();
    let tree = Tree::git();
    inner.write("i.rs", "1\n");
    inner.commit("inner");
    let url = inner.root().display().to_string();
    tree.run(&[
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "add",
        "-q",
        &url,
        "sub",
    ]);
    tree.write("a.rs", "1\n");
    tree.write("sub/i.rs", "changed\n");
    let target = tree.select(TargetSpec::Uncommitted);
    assert_eq!(names(&target), [".gitmodules", "a.rs", "sub", "sub/i.rs"]);
    assert_eq!(
        diff_of(&target, "sub/i.rs"),
        "--- a/sub/i.rs\n+++ b/sub/i.rs\n@@ -1 +1 @@\n-1\n+changed\n"
    );
    let commit = format!("Subproject commit {}\n", inner.head());
    assert_eq!(target.files[2].text, commit);
    tree.commit("with a submodule");
    git(
        &tree.root().join("sub"),
        &["checkout", "-q", "--orphan", "other"],
    );
    git(&tree.root().join("sub"), &["commit", "-q", "-m", "moved"]);
    let moved = git(&tree.root().join("sub"), &["rev-parse", "HEAD"]);
    let expected =
        format!("--- a/sub\n+++ b/sub\n@@ -1 +1 @@\n-{commit}+Subproject commit {moved}");
    for spec in [TargetSpec::Uncommitted, TargetSpec::Base("HEAD".to_owned())] {
        let target = tree.select(spec);
        assert_eq!(names(&target), ["sub", "sub/i.rs"]);
        assert_eq!(diff_of(&target, "sub"), expected);
    }
    let recorded = tree.open().snapshot(&tree.state()).unwrap();
    assert_eq!(
        tree.open()
            .read_at(&recorded, "sub/i.rs", &tree.state())
            .as_deref(),
        Some(b"changed\n".as_slice())
    );
}

#[test]
fn what_a_change_does_to_modes_links_and_whole_files_is_shown() {
    let tree = Tree::git();
    tree.write("mode.sh", "echo\n");
    tree.write("both.sh", "echo\n");
    tree.write("gone.rs", "check()\nmore\n");
    tree.write("logo.png", [0, 1, 2]);
    tree.write("swap", "a file\n");
    std::os::unix::fs::symlink("here", tree.root().join("link")).unwrap();
    std::os::unix::fs::symlink("there", tree.root().join("lost")).unwrap();
    tree.commit("one");
    let program = |path: &str| {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(
            tree.root().join(path),
            std::fs::Permissions::from_mode(0o755),
        )
        .unwrap();
    };
    ["mode.sh", "both.sh", "logo.png"]
        .into_iter()
        .for_each(program);
    tree.write("both.sh", "rm -rf\n");
    ["gone.rs", "swap", "link", "lost"]
        .into_iter()
        .for_each(|path| tree.remove(path));
    std::os::unix::fs::symlink("/etc/passwd", tree.root().join("link")).unwrap();
    std::os::unix::fs::symlink("/etc", tree.root().join("swap")).unwrap();
    let modes = |path: &str, old: &str, new: &str| {
        format!("diff --git a/{path} b/{path}\nold mode {old}\nnew mode {new}\n")
    };
    let check = |spec: TargetSpec| {
        let target = tree.select(spec);
        assert_eq!(skips(&target), []);
        assert_eq!(
            names(&target),
            [
                "both.sh", "gone.rs", "link", "logo.png", "lost", "mode.sh", "swap"
            ]
        );
        let edit = "--- a/both.sh\n+++ b/both.sh\n@@ -1 +1 @@\n-echo\n+rm -rf\n";
        assert_eq!(
            diff_of(&target, "both.sh"),
            modes("both.sh", "100644", "100755") + edit
        );
        assert_eq!(
            diff_of(&target, "gone.rs"),
            "deleted file mode 100644\n--- a/gone.rs\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-check()\n-more\n"
        );
        assert_eq!(
            diff_of(&target, "logo.png"),
            modes("logo.png", "100644", "100755")
        );
        assert_eq!(
            diff_of(&target, "mode.sh"),
            modes("mode.sh", "100644", "100755")
        );
        assert!(
            diff_of(&target, "link").contains("-here\n")
                && diff_of(&target, "link").contains("+/etc/passwd\n")
        );
        assert!(diff_of(&target, "lost").starts_with("deleted file mode 120000\n"));
        assert!(diff_of(&target, "swap").starts_with(&modes("swap", "100644", "120000")));
    };
    check(TargetSpec::Uncommitted);
    check(TargetSpec::Base("HEAD".to_owned()));
    tree.run(&["add", "-A"]);
    check(TargetSpec::Staged);
    tree.run(&["commit", "-q", "-m", "two"]);
    check(TargetSpec::Commit("HEAD".to_owned()));
    check(TargetSpec::Range("HEAD^..HEAD".to_owned()));
    tree.run(&["checkout", "-q", "HEAD^"]);
    tree.run(&["config", "core.fileMode", "false"]);
    program("mode.sh");
    assert_eq!(tree.skipped(TargetSpec::Uncommitted), []);
}

#[test]
fn of_many_deleted_files_the_rest_is_named() {
    let tree = Tree::git();
    let text = "0123456789\n".repeat(800);
    (0..70).for_each(|number| tree.write(&format!("f{number:02}.rs"), &text));
    tree.write("large.rs", "0123456789\n".repeat(2_000));
    tree.commit("one");
    tree.run(&["rm", "-q", "-r", "."]);
    let target = tree.select(TargetSpec::Staged);
    assert_eq!(target.files.len(), 71);
    let shown = target
        .files
        .iter()
        .filter(|file| file.diff.as_deref().unwrap().contains("@@"))
        .count();
    assert!((40..70).contains(&shown), "{shown}");
    let large = diff_of(&target, "large.rs");
    assert!(
        large.contains("2000 lines, not shown") && large.len() < 200,
        "{large}"
    );
    assert!(target.shards.len() > 1);
}
