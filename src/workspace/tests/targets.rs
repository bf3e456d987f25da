//! Every target, in every state a repository can be in.

use super::*;

fn diff_of<'a>(target: &'a Target, path: &str) -> &'a str {
    target.files.iter().find(|file| file.path == path).unwrap().diff.as_deref().unwrap()
}

fn paths(paths: &[&str]) -> TargetSpec {
    TargetSpec::Paths(paths.iter().map(PathBuf::from).collect())
}

fn names(target: &Target) -> Vec<&str> {
    target.files.iter().map(|file| file.path.as_str()).collect()
}

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
            ("kept.rs", vec![(2, 2)]),
            ("later.rs", vec![(1, 1)]),
            ("new/d.rs", vec![(1, 2)]),
        ]
    );
    assert_eq!(skips(&target), [("Cargo.lock", SkipReason::Generated), ("gone.rs", SkipReason::Deleted)]);
    assert_eq!(diff_of(&target, "a.rs"), "--- a/a.rs\n+++ b/a.rs\n@@ -1,3 +1,3 @@\n 1\n-2\n+X\n 3\n");
    assert_eq!(diff_of(&target, "new/d.rs"), "--- /dev/null\n+++ b/new/d.rs\n@@ -0,0 +1,2 @@\n+1\n+2\n");
    assert_eq!(target.description, "uncommitted changes");
    assert_eq!(target.commit, Some(tree.head()));
    assert!(target.tree.starts_with("blake3:"));
    let coverage =
        [cover("a.rs", 1), cover("b.rs", 2), cover("kept.rs", 1), cover("later.rs", 1), cover("new/d.rs", 2)];
    assert_eq!(target.coverage(), [coverage.to_vec()]);
}

#[test]
fn a_touched_file_and_a_changed_mode_are_no_change() {
    let tree = Tree::git();
    tree.write("a.rs", "1\n");
    tree.commit("one");
    tree.write("a.rs", "1\n");
    assert_eq!(tree.refuse(TargetSpec::Uncommitted), "nothing to review: uncommitted changes: no files");
    let hint = tree.open().select(&TargetSpec::Uncommitted, &OPTIONS).unwrap_err().hint().unwrap();
    assert!(hint.contains("glee review src/"), "{hint}");
}

#[test]
fn before_the_first_commit_everything_is_uncommitted() {
    let tree = Tree::git();
    tree.write("staged.rs", "1\n");
    tree.run(&["add", "-A"]);
    tree.write("new.rs", "1\n");
    let target = tree.select(TargetSpec::Uncommitted);
    assert_eq!(shape(&target), [("new.rs", vec![(1, 1)]), ("staged.rs", vec![(1, 1)])]);
    assert_eq!(target.commit, None);
    assert_eq!(names(&tree.select(TargetSpec::Staged)), ["staged.rs"]);
    assert_eq!(tree.refuse(TargetSpec::Base("main".to_owned())), "the repository has no commit yet");
    assert_eq!(tree.refuse(TargetSpec::Commit("HEAD".to_owned())), "the repository has no commit yet");
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
    assert_eq!(shape(&target), [("a.rs", vec![(2, 2)]), ("b.rs", vec![(1, 1)])]);
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
        (Some(first.clone()), tree.run(&["rev-parse", &format!("{first}^{{tree}}")]).trim().to_owned())
    );
    assert_eq!(names(&tree.select(TargetSpec::Commit("HEAD".to_owned()))), ["side.rs"]);
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
    assert_eq!((names(&two), skips(&two)), (vec!["work.rs"], vec![("main.rs", SkipReason::Deleted)]));
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
    assert!(diff_of(&target, "new.rs").starts_with("--- a/old.rs\n+++ b/new.rs\n@@ -4,7 +4,7 @@\n"));
    assert_eq!(skips(&target), []);
}

#[test]
fn bad_revisions_are_refused_and_options_are_no_revisions() {
    let tree = Tree::git();
    tree.write("a.rs", "1\n");
    tree.commit("one");
    for revision in ["nope", "--output=x", "-x", "", "HEAD^{tree}", "a\nb", "HEAD:a.rs"] {
        let expected = format!("`{revision}` names no commit");
        assert_eq!(tree.refuse(TargetSpec::Commit(revision.to_owned())), expected);
        assert_eq!(tree.refuse(TargetSpec::Base(revision.to_owned())), expected);
    }
    assert_eq!(tree.refuse(TargetSpec::Range("--output=x..HEAD".to_owned())), "`--output=x` names no commit");
    assert_eq!(tree.refuse(TargetSpec::Range("HEAD".to_owned())), "`HEAD` names no commit");
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
        assert_eq!(shape(&target), [("src/a.rs", vec![]), ("src/deep/b.py", vec![])]);
        assert_eq!(
            skips(&target),
            [
                ("src/Cargo.lock", SkipReason::Generated),
                ("src/big.rs", SkipReason::Oversized),
                ("src/picture.png", SkipReason::Binary),
            ]
        );
        assert_eq!(target.coverage(), [vec![cover("src/a.rs", 2), cover("src/deep/b.py", 1)]]);
        assert_eq!(target.description, "src");
        let named =
            tree.select(paths(&["src/ignored.rs", "src/unwanted.rs", "src/Cargo.lock", "src/.hidden", "src/a.rs"]));
        assert_eq!(
            names(&named),
            ["src/.hidden/c.rs", "src/Cargo.lock", "src/a.rs", "src/ignored.rs", "src/unwanted.rs"]
        );
        assert_eq!(
            tree.refuse(paths(&["src/big.rs", "src/picture.png"])),
            "nothing to review: src/big.rs src/picture.png: 2 files skipped"
        );
    }
}

#[test]
fn paths_outside_missing_or_of_the_repository_are_refused() {
    let tree = Tree::git();
    tree.write("a.rs", "1\n");
    std::fs::write(tree.folder.path().join("outside.rs"), "1\n").unwrap();
    assert_eq!(tree.refuse(paths(&["a.rs", "nope.rs"])), "cannot read `nope.rs`");
    let root = tree.root();
    assert_eq!(
        tree.refuse(paths(&["../outside.rs"])),
        format!("`../outside.rs` is outside the tree `{}`", root.display())
    );
    assert_eq!(
        tree.refuse(paths(&[".git/config"])),
        "`.git/config` belongs to the repository itself, not to its files"
    );
    std::os::unix::fs::symlink("../outside.rs", root.join("out")).unwrap();
    assert_eq!(tree.refuse(paths(&["out"])), format!("`out` is outside the tree `{}`", root.display()));
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
    assert_eq!(names(&select(TargetSpec::Uncommitted)), ["a.rs", "sub/b.rs"]);
}

#[test]
fn what_is_no_text_file_is_listed_and_never_opened() {
    let tree = Tree::git();
    tree.write("a.rs", "1\n");
    tree.write("link_target.rs", "1\n");
    nix::unistd::mkfifo(&tree.root().join("fifo"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    std::os::unix::fs::symlink("loop", tree.root().join("loop")).unwrap();
    std::os::unix::fs::symlink(".", tree.root().join("self")).unwrap();
    let expected =
        vec![("fifo", SkipReason::NotAFile), ("loop", SkipReason::NotAFile), ("self", SkipReason::NotAFile)];
    assert_eq!(skips(&tree.select(paths(&["."]))), expected);
    let uncommitted = tree.select(TargetSpec::Uncommitted);
    // git lists no FIFO as untracked.
    assert_eq!(skips(&uncommitted), expected[1..]);
    assert_eq!(names(&uncommitted), ["a.rs", "link_target.rs"]);
    assert_eq!(tree.refuse(paths(&["fifo"])), "nothing to review: fifo: 1 file skipped");
}

#[test]
fn gleeignore_and_attributes_hold_for_changes_too() {
    let tree = Tree::git();
    tree.write(".gleeignore", "vendor/\n");
    tree.write(".gitattributes", "made.rs linguist-generated\nyarn.lock -linguist-generated\n");
    tree.commit("one");
    tree.write("vendor/a.rs", "1\n");
    tree.write("made.rs", "1\n");
    tree.write("yarn.lock", "1\n");
    tree.run(&["add", "-A"]);
    for spec in [TargetSpec::Uncommitted, TargetSpec::Staged] {
        let target = tree.select(spec);
        assert_eq!(names(&target), ["yarn.lock"]);
        assert_eq!(skips(&target), [("made.rs", SkipReason::Generated)]);
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
    assert_eq!(names(&tree.select(TargetSpec::Uncommitted)), ["a.rs", "b.rs"]);
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
    assert_eq!(merge.status.code(), Some(1), "{}", String::from_utf8_lossy(&merge.stderr));
    tree.write(".git/index.lock", "");
    let target = tree.select(TargetSpec::Uncommitted);
    assert_eq!(shape(&target), [("a.rs", vec![(2, 2), (4, 6)])]);
    let staged = tree.open().select(&TargetSpec::Staged, &OPTIONS).unwrap_err();
    assert_eq!(staged.to_string(), "nothing to review: staged changes: 1 file skipped");
    let id = tree.open().snapshot(&tree.state()).unwrap();
    assert!(tree.open().read_at(&id, "a.rs", &tree.state()).unwrap().starts_with(b"1\n<<<<<<<"));
}

#[test]
fn a_linked_worktree_shares_the_history_and_has_its_own_tree() {
    let tree = Tree::git();
    tree.write("a.rs", "1\n");
    tree.commit("one");
    tree.run(&["worktree", "add", "-q", "../linked"]);
    let linked = Workspace::discover(&tree.folder.path().join("linked")).unwrap();
    std::fs::write(linked.root().join("b.rs"), "1\n").unwrap();
    assert_eq!(linked.history_key(), tree.open().history_key());
    assert_ne!(linked.root(), tree.open().root());
    assert_eq!(names(&linked.select(&TargetSpec::Uncommitted, &OPTIONS).unwrap()), ["b.rs"]);
    let both = (tree.open().lock(&tree.state(), &run_id()), linked.lock(&tree.state(), &run_id()));
    assert!(both.0.is_ok() && both.1.is_ok());
    let kept = linked.keep(&run_id(), &tree.state()).unwrap();
    let error = tree.open().undo(&run_id(), &kept.kept_as, &tree.state()).unwrap_err();
    assert!(matches!(error, WorkspaceError::OtherTree { .. }), "{error}");
}

#[test]
fn submodules_are_noted_and_not_entered() {
    let (inner, tree) = (Tree::git(), Tree::git());
    inner.write("i.rs", "1\n");
    inner.commit("inner");
    let url = inner.root().display().to_string();
    tree.run(&["-c", "protocol.file.allow=always", "submodule", "add", "-q", &url, "sub"]);
    tree.write("a.rs", "1\n");
    tree.write("sub/i.rs", "changed\n");
    let target = tree.select(TargetSpec::Uncommitted);
    assert_eq!(names(&target), [".gitmodules", "a.rs"]);
    assert_eq!(skips(&target), [("sub", SkipReason::NotAFile)]);
    let kept = tree.open().keep(&run_id(), &tree.state()).unwrap();
    assert!(tree.run(&["ls-tree", "-r", &kept.tree.0]).contains("160000 commit"));
}

#[test]
fn discovery_names_the_tree_or_says_why_there_is_none() {
    let bare = tempfile::tempdir().unwrap();
    git(bare.path(), &["init", "-q", "--bare"]);
    assert!(matches!(Workspace::discover(bare.path()), Err(WorkspaceError::Bare { .. })));
    let tree = Tree::git();
    assert!(matches!(Workspace::discover(&tree.root().join(".git")), Err(WorkspaceError::InsideGit { .. })));
    assert!(matches!(Workspace::discover(&tree.root().join("nope")), Err(WorkspaceError::Unreadable { .. })));
    let plain = Tree::plain();
    plain.write("sub/.glee/config.yml", "");
    plain.write("sub/deep/a.rs", "1\n");
    let workspace = Workspace::discover(&plain.root().join("sub/deep")).unwrap();
    assert_eq!((workspace.root(), workspace.is_git()), (plain.root().join("sub").as_path(), false));
    assert_eq!(
        workspace.select(&TargetSpec::Staged, &OPTIONS).unwrap_err().to_string(),
        "staged changes can only be reviewed in a git repository"
    );
}

#[test]
fn the_history_outlives_git() {
    let tree = Tree::git();
    let key = tree.open().history_key();
    std::fs::remove_dir_all(tree.root().join(".git")).unwrap();
    assert!(!tree.open().is_git());
    assert_eq!(tree.open().history_key(), key);
}

#[test]
fn agents_paths_stay_inside_the_tree() {
    let tree = Tree::git();
    tree.write("src/a.rs", "text");
    std::fs::write(tree.folder.path().join("outside"), "secret").unwrap();
    let link = |target: &str, name: &str| std::os::unix::fs::symlink(target, tree.root().join(name)).unwrap();
    link("../outside", "out");
    link("..", "up");
    link("src/a.rs", "in");
    link(".git/config", "conf");
    nix::unistd::mkfifo(&tree.root().join("fifo"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let workspace = tree.open();
    let good = Some("src/a.rs".to_owned());
    let absolute = tree.root().join("src/a.rs").display().to_string();
    for path in ["src/a.rs", "./src/./a.rs", "src//a.rs", "src\\a.rs", absolute.as_str()] {
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

mod diffs {
    use super::*;

    fn diff(tree: &Tree, text: &str) -> Result<Target, WorkspaceError> {
        tree.open().select(&TargetSpec::Diff { name: "x.diff".to_owned(), text: text.into() }, &OPTIONS)
    }

    const CHANGE: &str = "diff --git a/a.rs b/a.rs\nindex 1..2 100644\n--- a/a.rs\n+++ b/a.rs\n\
                          @@ -1,3 +1,4 @@ fn x\n 1\n-2\n+two\n+more\n 3\n";

    #[test]
    fn it_is_read_the_same_before_and_after_it_is_applied() {
        let tree = Tree::git();
        tree.write("a.rs", "1\n2\n3\n4\n");
        let before = diff(&tree, CHANGE).unwrap();
        assert_eq!(before.files[0].text, "1\ntwo\nmore\n3\n4\n");
        assert_eq!(shape(&before), [("a.rs", vec![(2, 3)])]);
        assert_eq!(before.files[0].diff.as_deref(), Some(CHANGE));
        assert_eq!(before.description, "diff x.diff");
        tree.write("a.rs", "1\ntwo\nmore\n3\n4\n");
        assert_eq!(diff(&tree, CHANGE).unwrap().files, before.files);
        assert_eq!(diff(&tree, CHANGE).unwrap().tree, before.tree);
    }

    #[test]
    fn a_diff_of_another_tree_shows_its_own_lines() {
        let tree = Tree::plain();
        tree.write("a.rs", "something else\n");
        let text = "--- a/a.rs\t2024-01-01\n+++ b/a.rs\t2024-01-02\n@@ -3,2 +3,1 @@\n-3\n 4\n";
        let target = diff(&tree, text).unwrap();
        assert_eq!(target.files[0].text, "\n\n4\n");
        assert_eq!(shape(&target), [("a.rs", vec![(3, 3)])]);
    }

    #[test]
    fn new_deleted_renamed_binary_and_hostile_files() {
        let tree = Tree::plain();
        tree.write("here.rs", "1\n");
        let text = "Some words first.\n\
            diff --git a/new.rs b/new.rs\nnew file mode 100644\n--- /dev/null\n+++ b/new.rs\n@@ -0,0 +1,2 @@\n+a\n+b\n\
            diff --git a/old.rs b/old.rs\ndeleted file mode 100644\n--- a/old.rs\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n\
            diff --git a/p.png b/p.png\nindex 1..2 100644\nBinary files a/p.png and b/p.png differ\n\
            diff --git a/was.rs b/here.rs\nsimilarity index 100%\nrename from was.rs\nrename to here.rs\n\
            --- a/x\n+++ b/../../etc/passwd\n@@ -1 +1 @@\n-a\n+b\n\
            --- a/x\n+++ b/.git/config\n@@ -1 +1 @@\n-a\n+b\n\
            --- a/far.rs\n+++ b/far.rs\n@@ -4000000000 +4000000000 @@\n-a\n+b\n";
        let target = diff(&tree, text).unwrap();
        assert_eq!(shape(&target), [("here.rs", vec![]), ("new.rs", vec![(1, 2)])]);
        assert_eq!(target.files[1].text, "a\nb\n");
        assert_eq!(
            skips(&target),
            [
                ("../../etc/passwd", SkipReason::Unreadable),
                (".git/config", SkipReason::Unreadable),
                ("far.rs", SkipReason::Oversized),
                ("old.rs", SkipReason::Deleted),
                ("p.png", SkipReason::Binary),
            ]
        );
    }

    #[test]
    fn two_changes_of_one_file_are_one_target() {
        let tree = Tree::plain();
        tree.write("a.rs", "one\n2\n3\nfour\n");
        let text =
            "--- a/a.rs\n+++ b/a.rs\n@@ -4 +4 @@\n-4\n+four\n\n--- a/a.rs\n+++ b/a.rs\n@@ -1 +1 @@\n-1\n+one\n";
        assert_eq!(shape(&diff(&tree, text).unwrap()), [("a.rs", vec![(1, 1), (4, 4)])]);
    }

    #[test]
    fn what_is_no_diff_is_refused() {
        let tree = Tree::plain();
        for text in ["", "hello\n", "--- a\nno plus\n", "\u{0}\u{1}"] {
            assert_eq!(diff(&tree, text).unwrap_err().to_string(), "`x.diff` holds no unified diff");
        }
    }
}
