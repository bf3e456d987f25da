//! An undo reverts only the coder's changes, and keeps all later ones.

use std::os::unix::fs::PermissionsExt as _;

use super::images::{everything, rich, set_mode};
use super::*;

impl Tree {
    /// A tree whose coder has changed `a.py`, removed `gone.py` and created `made.py`.
    fn coded(make: fn() -> Self) -> Self {
        let tree = make();
        tree.write("a.py", "1\n2\n3\n4\n5\n6\n");
        tree.write("b.py", "other\n");
        tree.write("gone.py", "gone\n");
        if tree.open().is_git() {
            tree.commit("one");
        }
        tree.keep();
        tree.write("a.py", "1\nCODER\n3\n4\n5\n6\n");
        tree.write("made.py", "made\n");
        tree.remove("gone.py");
        tree.after_coder_call();
        tree
    }

    fn undo_by(&self, decided: &UndoOptions) -> Undone {
        self.open().undo(&run_id(), decided, &self.state()).unwrap()
    }
}

fn clashes(undone: &Undone) -> Vec<(String, Clash)> {
    undone
        .conflicts
        .iter()
        .map(|conflict| (conflict.name(), conflict.clash))
        .collect()
}

fn forced() -> UndoOptions {
    UndoOptions {
        forced: Forced::All,
        ..UndoOptions::default()
    }
}

#[test]
fn later_work_on_other_files_is_not_touched() {
    for make in MAKES {
        let tree = Tree::coded(make);
        tree.write("b.py", "the user's\n");
        tree.write("new/mine.py", "the user's\n");
        tree.write(".gitignore", ".env\nlocal/\n");
        tree.write(".env", "the only copy\n");
        tree.write("local/data.db", "the only copy\n");
        if tree.open().is_git() {
            tree.run(&["add", "new/mine.py"]);
            tree.run(&["commit", "-q", "-m", "mine", "b.py"]);
        }
        let index = std::fs::read(tree.root().join(".git/index")).ok();
        assert_eq!(
            tree.undo(),
            Undone {
                files: 3,
                ..Undone::default()
            }
        );
        assert_eq!(tree.read("a.py"), "1\n2\n3\n4\n5\n6\n");
        assert_eq!(tree.read("gone.py"), "gone\n");
        assert!(!tree.has("made.py"));
        for path in ["b.py", "new/mine.py"] {
            assert_eq!(tree.read(path), "the user's\n");
        }
        for path in [".env", "local/data.db"] {
            assert_eq!(tree.read(path), "the only copy\n");
        }
        assert_eq!(std::fs::read(tree.root().join(".git/index")).ok(), index);
    }
}

#[test]
fn later_changes_of_the_same_file_are_merged_or_listed() {
    for make in MAKES {
        let tree = Tree::coded(make);
        tree.write("a.py", "1\nCODER\n3\n4\n5\nmine\n");
        tree.write("made.py", "made, and mine\n");
        tree.write("gone.py", "mine\n");
        let undone = tree.undo();
        assert_eq!((undone.files, undone.merged), (1, 1));
        assert_eq!(
            clashes(&undone),
            [
                ("gone.py".to_owned(), Clash::MadeAgain),
                ("made.py".to_owned(), Clash::Created)
            ]
        );
        let merged = "1\n2\n3\n4\n5\nmine\n";
        assert_eq!(
            [tree.read("a.py"), tree.read("made.py")],
            [merged, "made, and mine\n"]
        );
        assert_eq!(tree.undo().files, 0);
        let undone = tree.undo_by(&forced());
        assert_eq!((undone.files, undone.conflicts.len()), (2, 0));
        assert_eq!(tree.read("gone.py"), "gone\n");
        assert!(!tree.has("made.py"));
        assert_eq!(
            tree.redo(),
            Undone {
                files: 3,
                merged: 0,
                ..Undone::default()
            }
        );
        assert_eq!(tree.read("a.py"), "1\nCODER\n3\n4\n5\nmine\n");
        assert_eq!(
            [tree.read("made.py"), tree.read("gone.py")],
            ["made, and mine\n", "mine\n"]
        );
        assert_eq!(tree.redo(), Undone::default());
        assert_eq!(tree.undo_by(&forced()).files, 3);
        assert_eq!(tree.read("a.py"), merged);
    }
}

#[test]
fn what_changed_since_an_undo_is_not_lost_by_the_redo() {
    for make in MAKES {
        let tree = Tree::coded(make);
        tree.undo();
        tree.write("a.py", "1\n2\n3\n4\n5\nmine\n");
        tree.write("made.py", "mine\n");
        tree.write("b.py", "mine\n");
        assert_eq!(tree.undo(), Undone::default(), "it is undone already");
        let redone = tree.redo();
        assert_eq!((redone.files, redone.merged), (2, 1));
        assert_eq!(clashes(&redone), [("made.py".to_owned(), Clash::MadeAgain)]);
        assert_eq!(tree.read("a.py"), "1\nCODER\n3\n4\n5\nmine\n");
        assert_eq!(
            [tree.read("made.py"), tree.read("b.py")],
            ["mine\n", "mine\n"]
        );
    }
}

#[test]
fn ignore_files_of_the_coder_hide_nothing_and_show_nothing() {
    for make in MAKES {
        let tree = make();
        tree.write("a.py", "1\n");
        tree.write(".gitignore", "*.log\n.env\nbuild/\n");
        tree.write(".env", "the only copy\n");
        tree.write("build/old.o", "the only copy\n");
        tree.write("deep/x.log", "the only copy\n");
        tree.write("deep/cache/.gitignore", "*\n");
        tree.write("deep/cache/x", "the only copy\n");
        if tree.open().is_git() {
            tree.commit("one");
        }
        tree.write("untracked.py", "1\n");
        tree.keep();
        tree.write(".gitignore", "left.py\nhidden/\nuntracked.py\n");
        tree.write("left.py", "coder\n");
        tree.write("untracked.py", "coder\n");
        tree.write("hidden/left.py", "coder\n");
        tree.write("deep/own/.gitignore", "*\n");
        tree.write("deep/own/x.py", "coder\n");
        tree.write("made.log", "an artifact\n");
        if tree.open().is_git() {
            std::fs::write(tree.root().join(".git/info/exclude"), "excluded.py\n").unwrap();
            tree.write("excluded.py", "coder\n");
            tree.run(&["add", "-f", "build/old.o"]);
        }
        tree.after_coder_call();
        let undone = tree.undo();
        assert_eq!(undone.conflicts, []);
        for path in [
            "left.py",
            "hidden/left.py",
            "hidden",
            "deep/own/x.py",
            "deep/own",
            "excluded.py",
        ] {
            assert!(!tree.has(path), "{path}");
        }
        assert_eq!(tree.read("untracked.py"), "1\n");
        assert_eq!(tree.read(".gitignore"), "*.log\n.env\nbuild/\n");
        for path in [".env", "build/old.o", "deep/x.log", "deep/cache/x"] {
            assert_eq!(tree.read(path), "the only copy\n");
        }
        assert!(
            undone.ignored.contains(&".env".to_owned()),
            "{:?}",
            undone.ignored
        );
    }
}

#[test]
fn a_file_that_is_hidden_by_a_rule_of_the_coders_is_a_change_of_the_coders() {
    for make in MAKES {
        let tree = make();
        tree.write("a.py", "1\n");
        let before = tree.keep().tree;
        tree.write(".gitignore", "left.py\n");
        tree.write("left.py", "coder\n");
        tree.after_coder_call();
        let after = tree.open().left(&run_id(), &tree.state()).unwrap();
        let changes = tree.open().changes(&before, &after, &tree.state()).unwrap();
        let files: Vec<&str> = changes.iter().map(|change| change.file.as_str()).collect();
        assert_eq!(files, [".gitignore", "left.py"]);
    }
}

#[test]
fn after_a_kill_new_files_are_listed_and_the_others_are_restored() {
    for make in MAKES {
        let tree = make();
        rich(&tree);
        let before = everything(&tree.root());
        tree.keep();
        tree.write("dirty.rs", "half\n");
        tree.write("new.rs", "whose?\n");
        tree.remove("clean.rs");
        let undone = tree.undo();
        assert_eq!(
            (undone.files, undone.new.as_slice()),
            (2, ["new.rs".to_owned()].as_slice())
        );
        assert_eq!(tree.read("new.rs"), "whose?\n");
        assert_eq!(tree.undo().files, 0);
        let undone = tree.undo_by(&UndoOptions {
            remove_new: true,
            ..UndoOptions::default()
        });
        assert_eq!((undone.files, undone.new.len()), (1, 0));
        assert_eq!(everything(&tree.root()), before);
        assert_eq!(tree.redo().files, 3);
        assert_eq!(
            [tree.read("dirty.rs"), tree.read("new.rs")],
            ["half\n", "whose?\n"]
        );
        assert!(!tree.has("clean.rs"));
    }
}

#[test]
fn what_the_user_does_between_two_calls_of_the_coder_stays() {
    for make in MAKES {
        let tree = Tree::coded(make);
        tree.write("b.py", "mine\n");
        tree.write("a.py", "1\nCODER\n3\n4\nmine\n6\n");
        tree.write("mine.py", "mine\n");
        tree.open()
            .before_coder_call(&run_id(), &tree.state())
            .unwrap();
        tree.write("a.py", "0\n1\nCODER\n3\n4\nmine\n6\n");
        tree.write("made.py", "made again\n");
        tree.after_coder_call();
        assert_eq!(
            tree.undo(),
            Undone {
                files: 3,
                merged: 1,
                ..Undone::default()
            }
        );
        assert_eq!(tree.read("a.py"), "1\n2\n3\n4\nmine\n6\n");
        assert_eq!(
            [tree.read("b.py"), tree.read("mine.py")],
            ["mine\n", "mine\n"]
        );
        assert!(!tree.has("made.py"));
    }
}

#[test]
fn folders_and_files_that_replace_each_other_keep_the_users_changes() {
    for make in MAKES {
        let tree = make();
        tree.write("file", "file\n");
        tree.write("folder/in/x", "x\n");
        tree.write("other/y", "y\n");
        tree.keep();
        tree.remove("file");
        tree.write("file/made", "coder\n");
        std::fs::remove_dir_all(tree.root().join("folder")).unwrap();
        tree.write("folder", "coder\n");
        std::fs::remove_dir_all(tree.root().join("other")).unwrap();
        let outside = tree.folder.path().join("outside");
        std::fs::create_dir_all(&outside).unwrap();
        std::os::unix::fs::symlink("../outside", tree.root().join("other")).unwrap();
        tree.after_coder_call();
        tree.write("file/mine", "mine\n");
        tree.write("folder", "mine\n");
        std::fs::write(outside.join("y"), "not Glee's\n").unwrap();
        let undone = tree.undo();
        assert_eq!(
            clashes(&undone),
            [
                ("folder".to_owned(), Clash::Created),
                ("file".to_owned(), Clash::Folder),
                ("folder/in/x".to_owned(), Clash::Above)
            ]
        );
        assert_eq!(
            [
                tree.read("file/mine"),
                tree.read("folder"),
                tree.read("other/y")
            ],
            ["mine\n", "mine\n", "y\n"]
        );
        assert!(
            !tree.has("file/made")
                && tree
                    .root()
                    .join("other")
                    .symlink_metadata()
                    .unwrap()
                    .is_dir()
        );
        assert_eq!(
            std::fs::read_to_string(outside.join("y")).unwrap(),
            "not Glee's\n"
        );
        assert_eq!(
            clashes(&tree.undo_by(&forced())),
            [("file".to_owned(), Clash::Folder)]
        );
        assert_eq!(
            [tree.read("file/mine"), tree.read("folder/in/x")],
            ["mine\n", "x\n"]
        );
    }
}

#[test]
fn permissions_and_links_follow_the_same_rule() {
    for make in MAKES {
        let tree = make();
        let root = tree.root();
        for name in ["mode", "both", "clash"] {
            tree.write(name, "1\n");
            set_mode(&root.join(name), 0o600);
        }
        std::os::unix::fs::symlink("mode", root.join("link")).unwrap();
        tree.keep();
        for name in ["mode", "both", "clash"] {
            set_mode(&root.join(name), 0o644);
        }
        tree.remove("link");
        std::os::unix::fs::symlink("both", root.join("link")).unwrap();
        tree.after_coder_call();
        tree.write("both", "mine\n");
        set_mode(&root.join("clash"), 0o755);
        let undone = tree.undo();
        assert_eq!(clashes(&undone), [("clash".to_owned(), Clash::Permissions)]);
        assert_eq!(
            ["mode", "both", "clash"].map(|name| root
                .join(name)
                .metadata()
                .unwrap()
                .permissions()
                .mode()
                & 0o777),
            [0o600, 0o600, 0o755]
        );
        assert_eq!(tree.read("both"), "mine\n");
        assert_eq!(
            std::fs::read_link(root.join("link")).unwrap(),
            Path::new("mode")
        );
    }
}

#[test]
fn a_moved_tree_is_recognised_and_another_one_at_its_path_is_refused() {
    for make in MAKES {
        let tree = Tree::coded(make);
        let old = tree.root();
        let new = tree.folder.path().canonicalize().unwrap().join("moved");
        std::fs::rename(&old, &new).unwrap();
        let moved = Workspace::discover(&new).unwrap();
        let elsewhere = moved.runs_of_moved_tree(&tree.state()).unwrap();
        // A repository keeps its history when it is moved; a folder outside git is identified by its path.
        let expected: &[&str] = if moved.is_git() { &[] } else { &[RUN] };
        assert_eq!(
            elsewhere
                .iter()
                .map(|(run, _)| run.0.as_str())
                .collect::<Vec<_>>(),
            expected
        );
        assert_eq!(
            moved
                .undo(&run_id(), &UndoOptions::default(), &tree.state())
                .unwrap()
                .files,
            3
        );
        std::fs::create_dir(&old).unwrap();
        if moved.is_git() {
            tree.run(&["init", "-q"]);
        }
        tree.write("a.py", "1\nCODER\n3\n4\n5\n6\n");
        for decided in [UndoOptions::default(), forced()] {
            let error = tree
                .open()
                .undo(&run_id(), &decided, &tree.state())
                .unwrap_err();
            assert!(
                matches!(error, WorkspaceError::OtherRepository { .. }),
                "{error}"
            );
            assert!(
                tree.open()
                    .redo(&run_id(), &decided, &tree.state())
                    .is_err()
            );
        }
        assert_eq!(tree.read("a.py"), "1\nCODER\n3\n4\n5\n6\n");
        assert_eq!(tree.open().runs_of_moved_tree(&tree.state()).unwrap(), []);
    }
}

#[test]
fn a_copy_is_accepted_only_if_the_original_is_missing() {
    let tree = Tree::coded(Tree::git);
    let copy = tree.folder.path().canonicalize().unwrap().join("copy");
    let copied = Command::new("cp")
        .args(["-a"])
        .args([&tree.root(), &copy])
        .status()
        .unwrap();
    assert!(copied.success());
    let undo = || {
        Workspace::discover(&copy)
            .unwrap()
            .undo(&run_id(), &UndoOptions::default(), &tree.state())
    };
    assert!(matches!(undo(), Err(WorkspaceError::OtherTree { .. })));
    std::fs::remove_dir_all(tree.root()).unwrap();
    assert_eq!(undo().unwrap().files, 3);
}

#[test]
fn an_ignored_file_that_was_visible_meanwhile_stays() {
    for tree in [Tree::plain(), Tree::git()] {
        for removed_by_coder in [false, true] {
            tree.write("a", "1\n");
            tree.write(".gitignore", "b\n");
            tree.write("b", "mine\n");
            if tree.open().is_git() && !removed_by_coder {
                tree.commit("one");
            }
            let run = RunId(format!("run-{removed_by_coder}"));
            let state = tree.state();
            let open = tree.open();
            open.keep(&run, &state).unwrap();
            tree.write(".gitignore", "");
            open.after_coder_call(&run, &state).unwrap();
            open.before_coder_call(&run, &state).unwrap();
            tree.write(".gitignore", "b\n#\n");
            if removed_by_coder {
                tree.remove("b");
            }
            open.after_coder_call(&run, &state).unwrap();
            open.undo(&run, &UndoOptions::default(), &state).unwrap();
            let left = std::fs::read(tree.root().join("b")).ok();
            assert_eq!(
                left.as_deref(),
                Some(b"mine\n".as_slice()),
                "git: {}, {removed_by_coder}",
                open.is_git()
            );
            assert_eq!(
                std::fs::read(tree.root().join(".gitignore")).unwrap(),
                b"b\n"
            );
        }
    }
}
