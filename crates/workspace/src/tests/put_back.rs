//! Edits in files that a coder was not to edit are put back, also after a kill.

use std::os::unix::fs::PermissionsExt as _;

use super::images::{everything, set_mode};
use super::*;
use crate::snapshot::SnapshotNote;

/// The files that the coder may not edit.
const UNNAMED: [&str; 5] = ["b.py", "gone.py", "new/test_a.py", "run.sh", "was_folder"];

fn put_back(tree: &Tree) -> Vec<String> {
    let is_named = |path: &str| path == "a.py";
    tree.open()
        .put_back(&run_id(), &is_named, &tree.state())
        .unwrap()
}

/// A tree whose coder has edited `a.py` and, in all ways, files beside it.
fn coded(make: fn() -> Tree) -> Tree {
    let tree = make();
    tree.write("a.py", "1\n2\n3\n");
    tree.write("b.py", "other\n");
    tree.write("gone.py", "gone\n");
    tree.write("run.sh", "true\n");
    tree.write("was_folder/c.py", "below\n");
    if tree.open().is_git() {
        tree.commit("one");
    }
    tree.keep();
    edit(&tree);
    tree.after_coder_call();
    tree
}

fn edit(tree: &Tree) {
    tree.write("a.py", "1\nCODER\n3\n");
    tree.write("b.py", "CODER\n");
    tree.remove("gone.py");
    tree.write("new/test_a.py", "made\n");
    set_mode(&tree.root().join("run.sh"), 0o755);
    tree.remove("was_folder/c.py");
    drop(std::fs::remove_dir(tree.root().join("was_folder")));
    tree.write("was_folder", "a file\n");
}

fn check(tree: &Tree) {
    assert_eq!(tree.read("a.py"), "1\nCODER\n3\n");
    assert_eq!(tree.read("b.py"), "other\n");
    assert_eq!(tree.read("gone.py"), "gone\n");
    assert!(!tree.has("new"));
    assert_eq!(tree.read("was_folder/c.py"), "below\n");
    let mode = std::fs::metadata(tree.root().join("run.sh")).unwrap();
    assert_eq!(mode.permissions().mode() & 0o111, 0);
}

#[test]
fn only_named_files_differ_after_the_call_and_an_undo_knows_only_them() {
    for make in MAKES {
        let tree = coded(make);
        let mut told = UNNAMED.map(str::to_owned).to_vec();
        told.push("was_folder/c.py".to_owned());
        told.sort();
        assert_eq!(put_back(&tree), told);
        check(&tree);
        assert_eq!(put_back(&tree), told, "a second time");
        let now = everything(&tree.root());
        assert_eq!(tree.undo().files, 1);
        assert_eq!(tree.read("a.py"), "1\n2\n3\n");
        assert_eq!(tree.redo().files, 1);
        assert_eq!(everything(&tree.root()), now);
    }
}

#[test]
fn who_completes_it_after_a_kill_tells_the_same_files() {
    for make in MAKES {
        let tree = coded(make);
        let read = || SnapshotNote::read(&run_id(), &tree.state()).unwrap();
        let called = read().spans[0].after.clone();
        let told = put_back(&tree);
        // Killed among the files, and before and after the second snapshot.
        for (after, is_written) in [(called, false), (None, true), (None, true)] {
            let mut note = read();
            note.spans[0].after = after;
            note.spans[0].put_back.clone_from(&told);
            note.write(&run_id(), &tree.state()).unwrap();
            if !is_written {
                tree.write("b.py", "CODER\n");
                tree.remove("gone.py");
            }
            assert_eq!(put_back(&tree), told);
            check(&tree);
            assert_eq!(tree.undo().files, 1);
            assert_eq!(tree.redo().files, 1);
        }
    }
}

#[test]
fn what_somebody_changed_after_the_call_remains() {
    for make in MAKES {
        let tree = coded(make);
        tree.write("b.py", "CODER, and mine\n");
        tree.write("new/mine.py", "mine\n");
        let told = put_back(&tree);
        assert!(!told.contains(&"b.py".to_owned()), "{told:?}");
        assert_eq!(tree.read("b.py"), "CODER, and mine\n");
        assert_eq!(tree.read("new/mine.py"), "mine\n");
        assert!(!tree.has("new/test_a.py"));
    }
}
