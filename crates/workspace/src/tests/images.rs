//! Snapshots are restored byte for byte after any change by a coder, and the user's repository remains unchanged.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use super::*;

/// Every file and link below a folder except `.git`, with its bytes and permissions.
pub(super) fn everything(root: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let meta = std::fs::symlink_metadata(&path).unwrap();
            if meta.is_symlink() {
                let target = std::fs::read_link(&path).unwrap();
                found.insert(path, (0, target.as_os_str().as_bytes().to_vec()));
            } else if meta.is_file() {
                let bytes = std::fs::read(&path).unwrap();
                found.insert(path, (meta.permissions().mode(), bytes));
            } else if meta.is_dir() && path.file_name() != Some(OsStr::new(".git")) {
                waiting.push(path);
            }
        }
    }
    found
}

pub(super) fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// A tree with files that are hard to record.
pub(crate) fn rich(tree: &Tree) {
    let root = tree.root();
    tree.write("clean.rs", "clean\n");
    tree.write("dirty.rs", "one\n");
    tree.write("program.sh", "#!/bin/sh\n");
    set_mode(&root.join("program.sh"), 0o755);
    tree.write("deep/er/file.rs", "deep\n");
    tree.write("crlf.txt", "a\r\nb\r\n");
    tree.write(".gitattributes", "*.txt text\n*.id ident\n");
    tree.write("x.id", "$Id$\n");
    tree.write("binary.bin", [0, 159, 146, 150, 255]);
    tree.write(".gitignore", "*.log\n/build/\n");
    std::os::unix::fs::symlink("clean.rs", root.join("link")).unwrap();
    if tree.open().is_git() {
        tree.commit("one");
    }
    tree.write("dirty.rs", "two\n");
    tree.write("untracked.rs", "untracked\n");
    tree.write("private.key", "secret\n");
    set_mode(&root.join("private.key"), 0o600);
    tree.write("-dash", "dash\n");
    tree.write(":(glob)x", "magic\n");
    tree.write("new\nline \"quoted\"\t\\", "strange\n");
    tree.write("empty", "");
    std::fs::write(root.join(OsStr::from_bytes(b"latin-\xe9")), "latin\n").unwrap();
    std::os::unix::fs::symlink("/nowhere\n", root.join("dangling")).unwrap();
    tree.write("debug.log", "ignored\n");
    tree.write("build/out", "ignored\n");
}

/// A destructive change by a coder, with its name.
type Deed = (&'static str, fn(&Tree));

fn misdeeds() -> Vec<Deed> {
    vec![
        ("deletes and truncates", |tree| {
            tree.write("clean.rs", "");
            tree.remove("dirty.rs");
            tree.remove("untracked.rs");
            std::fs::remove_file(tree.root().join(OsStr::from_bytes(b"latin-\xe9"))).unwrap();
            std::fs::remove_dir_all(tree.root().join("deep")).unwrap();
        }),
        ("changes permissions and links", |tree| {
            set_mode(&tree.root().join("program.sh"), 0o644);
            set_mode(&tree.root().join("clean.rs"), 0o777);
            set_mode(&tree.root().join("private.key"), 0o644);
            tree.remove("link");
            tree.write("link", "a file now\n");
            tree.remove("dangling");
        }),
        ("creates files", |tree| {
            tree.write("created.rs", "x\n");
            tree.write("a/b/c/created.rs", "x\n");
            std::os::unix::fs::symlink("clean.rs", tree.root().join("created-link")).unwrap();
        }),
        ("swaps files and folders", |tree| {
            std::fs::remove_dir_all(tree.root().join("deep")).unwrap();
            tree.write("deep", "a file now\n");
            tree.remove("clean.rs");
            tree.write("clean.rs/inside/x.rs", "a folder now\n");
        }),
        ("leads a folder out of the tree", |tree| {
            std::fs::remove_dir_all(tree.root().join("deep")).unwrap();
            let outside = tree.folder.path().join("outside/er");
            std::fs::create_dir_all(&outside).unwrap();
            std::fs::write(outside.join("file.rs"), "not to be touched\n").unwrap();
            std::os::unix::fs::symlink("../outside", tree.root().join("deep")).unwrap();
        }),
        ("changes what is ignored", |tree| {
            tree.write(".gitignore", "*.rs\n");
            tree.write("hidden.rs", "created\n");
            tree.write("clean.rs", "changed\n");
        }),
        ("keeps size and times", |tree| {
            let path = tree.root().join("clean.rs");
            let meta = std::fs::metadata(&path).unwrap();
            tree.write("clean.rs", "CLEAN\n");
            let file = std::fs::File::options().write(true).open(&path).unwrap();
            file.set_modified(meta.modified().unwrap()).unwrap();
        }),
    ]
}

#[test]
fn every_misdeed_is_undone() {
    for make in [Tree::git, Tree::plain] {
        for (name, misdeed) in misdeeds() {
            let tree = make();
            rich(&tree);
            let before = everything(&tree.root());
            let kept = tree.keep();
            assert_eq!(
                tree.open().snapshot(&tree.state()).unwrap(),
                kept.tree,
                "{name}"
            );
            misdeed(&tree);
            let spoiled = everything(&tree.root());
            assert_ne!(
                tree.open().snapshot(&tree.state()).unwrap(),
                kept.tree,
                "{name}"
            );
            tree.after_coder_call();
            let undone = tree.undo();
            assert_eq!(everything(&tree.root()), before, "{name}");
            assert_eq!(
                tree.open().snapshot(&tree.state()).unwrap(),
                kept.tree,
                "{name}"
            );
            let paths: std::collections::BTreeSet<_> =
                before.keys().chain(spoiled.keys()).collect();
            assert_eq!(
                undone.files,
                paths
                    .iter()
                    .filter(|path| spoiled.get(**path) != before.get(**path))
                    .count() as u64,
                "{name}"
            );
            let again = tree.undo();
            assert_eq!((again.files, again.conflicts), (0, Vec::new()), "{name}");
        }
    }
}

#[test]
fn what_a_coder_does_with_git_is_undone_too() {
    let log: [(&str, &[&[&str]]); 4] = [
        ("reset", &[&["reset", "-q", "--hard"]]),
        ("clean", &[&["clean", "-fdxq"], &["checkout", "-q", "."]]),
        (
            "commit",
            &[
                &["add", "-A"],
                &["commit", "-q", "-m", "mine"],
                &["rm", "-q", "-r", "."],
                &["gc", "-q", "--prune=now"],
            ],
        ),
        (
            "branch",
            &[
                &["stash", "-q", "-u"],
                &["stash", "drop", "-q"],
                &["checkout", "-q", "--orphan", "other"],
                &["rm", "-rfq", "."],
            ],
        ),
    ];
    for (name, commands) in log {
        let tree = Tree::git();
        rich(&tree);
        let before = everything(&tree.root());
        tree.keep();
        commands.iter().for_each(|args| drop(tree.run(args)));
        tree.run(&["reflog", "expire", "--expire=now", "--all"]);
        tree.run(&["gc", "-q", "--prune=now"]);
        let head = tree.run(&["symbolic-ref", "HEAD"]);
        let index = std::fs::read(tree.root().join(".git/index")).ok();
        tree.after_coder_call();
        tree.undo();
        let mut after = everything(&tree.root());
        // Ignored files are in no snapshot.
        for ignored in ["debug.log", "build/out"] {
            let path = tree.root().join(ignored);
            after
                .entry(path.clone())
                .or_insert_with(|| before[&path].clone());
        }
        assert_eq!(after, before, "{name}");
        assert_eq!(tree.run(&["symbolic-ref", "HEAD"]), head, "{name}");
        assert_eq!(
            std::fs::read(tree.root().join(".git/index")).ok(),
            index,
            "{name}"
        );
    }
}

#[test]
fn the_tree_comes_back_after_git_itself_was_removed() {
    let tree = Tree::git();
    rich(&tree);
    tree.run(&["gc", "-q"]);
    let before = everything(&tree.root());
    tree.keep();
    let open = tree.open();
    std::fs::remove_dir_all(tree.root().join(".git")).unwrap();
    std::fs::remove_dir_all(tree.root().join("deep")).unwrap();
    tree.write("clean.rs", "changed\n");
    tree.write("created.rs", "x\n");
    let spoiled = everything(&tree.root());
    open.after_coder_call(&run_id(), &tree.state()).unwrap();
    let undone = tree.undo();
    assert_eq!(everything(&tree.root()), before);
    let mut spoiled = spoiled;
    spoiled.retain(|path, what| before.get(path) != Some(what));
    assert_eq!(spoiled.len(), 2);
    assert_eq!(
        undone,
        Undone {
            files: 3,
            ..Undone::default()
        }
    );
}

#[test]
fn the_first_image_of_a_run_stays() {
    for tree in [Tree::git(), Tree::plain()] {
        tree.write("a.rs", "1\n");
        let first = tree.open().keep(&run_id(), &tree.state()).unwrap();
        tree.write("a.rs", "2\n");
        assert_eq!(tree.open().keep(&run_id(), &tree.state()).unwrap(), first);
    }
}

#[test]
fn changes_show_what_differs_between_two_images() {
    for tree in [Tree::git(), Tree::plain()] {
        tree.write("a.rs", "1\n2\n3\n");
        tree.write("gone.rs", "1\n");
        tree.write("mode.sh", "1\n");
        tree.write("bin", [0, 1]);
        tree.write("new\nline", "1\n");
        let workspace = tree.open();
        let before = workspace.snapshot(&tree.state()).unwrap();
        tree.write("a.rs", "1\nX\n3\n");
        tree.remove("gone.rs");
        set_mode(&tree.root().join("mode.sh"), 0o755);
        tree.write("bin", [0, 2]);
        tree.write("big.rs", "x\n".repeat(200_000));
        tree.write("new\nline", "2\n");
        let after = workspace.snapshot(&tree.state()).unwrap();
        let changes = workspace.changes(&before, &after, &tree.state()).unwrap();
        let shapes: Vec<_> = changes
            .iter()
            .map(|c| (c.file.as_str(), c.added, c.removed, c.diff.as_deref()))
            .collect();
        assert_eq!(
            shapes,
            [
                (
                    "a.rs",
                    1,
                    1,
                    Some("--- a/a.rs\n+++ b/a.rs\n@@ -1,3 +1,3 @@\n 1\n-2\n+X\n 3\n")
                ),
                ("big.rs", 200_000, 0, None),
                ("bin", 0, 0, None),
                (
                    "gone.rs",
                    0,
                    1,
                    Some("--- a/gone.rs\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n")
                ),
                (
                    "mode.sh",
                    0,
                    0,
                    Some("diff --git a/mode.sh b/mode.sh\nold mode 100644\nnew mode 100755\n")
                ),
                (
                    "new\nline",
                    1,
                    1,
                    Some("--- \"a/new\\nline\"\n+++ \"b/new\\nline\"\n@@ -1 +1 @@\n-1\n+2\n")
                ),
            ]
        );
        assert_eq!(
            workspace.changes(&after, &after, &tree.state()).unwrap(),
            []
        );
        let read = |id, path| workspace.read_at(id, path, &tree.state());
        assert_eq!(
            read(&before, "a.rs").as_deref(),
            Some(b"1\n2\n3\n".as_slice())
        );
        assert_eq!(
            read(&after, "new\nline").as_deref(),
            Some(b"2\n".as_slice())
        );
        assert_eq!(read(&after, "gone.rs"), None);
        assert_eq!(read(&TreeId("nonsense".to_owned()), "a.rs"), None);
    }
}

#[test]
fn equal_trees_have_equal_ids_however_the_index_stands() {
    let tree = Tree::git();
    rich(&tree);
    let workspace = tree.open();
    let id = workspace.snapshot(&tree.state()).unwrap();
    tree.write("dirty.rs", "two\n");
    tree.run(&["add", "-A"]);
    assert_eq!(workspace.snapshot(&tree.state()).unwrap(), id);
    tree.run(&["update-index", "--assume-unchanged", "clean.rs"]);
    tree.write("clean.rs", "CLEAN\n");
    assert_ne!(workspace.snapshot(&tree.state()).unwrap(), id);
    tree.write("clean.rs", "clean\n");
    tree.write("debug.log", "ignored and changed\n");
    assert_eq!(workspace.snapshot(&tree.state()).unwrap(), id);
}

#[test]
fn files_of_a_repository_inside_the_tree_are_kept() {
    let tree = Tree::git();
    tree.write("a.rs", "1\n");
    tree.write("inner/b.rs", "1\n");
    git(&tree.root().join("inner"), &["init", "-q"]);
    let before = everything(&tree.root());
    tree.keep();
    tree.write("inner/b.rs", "changed\n");
    tree.after_coder_call();
    tree.undo();
    assert_eq!(everything(&tree.root()), before);
}

#[test]
fn what_changed_since_a_recorded_tree_is_a_target() {
    for tree in [Tree::git(), Tree::plain()] {
        tree.write("a.rs", "1\n2\n3\n");
        tree.write("b.rs", "1\n");
        tree.write("gone.rs", "1\n");
        tree.write(".gleeignore", "*.md\n");
        let before = tree.open().snapshot(&tree.state()).unwrap();
        let rules = tree.open().selection_rules().unwrap();
        let select = || {
            tree.open()
                .select_since(&before, Some(&rules), &tree.state(), &OPTIONS)
        };
        let nothing = select().unwrap().target;
        assert_eq!((shape(&nothing), skips(&nothing)), (Vec::new(), Vec::new()));
        tree.write("a.rs", "1\nX\n3\n");
        tree.write("new.rs", "1\n");
        tree.write("new.md", "1\n");
        tree.remove("gone.rs");
        let target = select().unwrap().target;
        assert_eq!(
            shape(&target),
            [
                ("a.rs", vec![(2, 2)]),
                ("gone.rs", vec![]),
                ("new.rs", vec![(1, 1)])
            ]
        );
        assert!(target.files[1].is_deleted());
        assert_eq!(skips(&target), [("new.md", SkipReason::Ignored)]);
        let diff = "--- a/a.rs\n+++ b/a.rs\n@@ -1,3 +1,3 @@\n 1\n-2\n+X\n 3\n";
        assert_eq!(target.files[0].diff.as_deref(), Some(diff));
    }
}

#[test]
fn the_rules_of_the_beginning_select_what_changed_since() {
    for tree in [Tree::git(), Tree::plain()] {
        tree.write("a.rs", "1\n");
        tree.write(".gitignore", "out/\n");
        tree.write("out/old.rs", "1\n");
        let rules = tree.open().selection_rules().unwrap();
        let before = tree.open().snapshot(&tree.state()).unwrap();
        tree.write(".gitignore", "out/\nevil.rs\n");
        tree.write("d/.gitignore", "*\n");
        tree.write(".gleeignore", "*\n");
        for file in ["evil.rs", "d/evil.rs", "out/new.rs"] {
            tree.write(file, "1\n");
        }
        let json = serde_json::to_string(&rules).unwrap();
        let rules = serde_json::from_str(&json).unwrap();
        let since = tree
            .open()
            .select_since(&before, Some(&rules), &tree.state(), &OPTIONS)
            .unwrap();
        let names: Vec<&str> = since
            .target
            .files
            .iter()
            .map(|file| file.path.as_str())
            .collect();
        assert_eq!(
            names,
            [
                ".gitignore",
                ".gleeignore",
                "d/.gitignore",
                "d/evil.rs",
                "evil.rs"
            ]
        );
        assert_eq!(since.hidden, ["d/.gitignore", "d/evil.rs", "evil.rs"]);
    }
}

#[cfg(unix)]
#[test]
fn staging_what_changed_leaves_what_was_staged_in_part() {
    let tree = Tree::git();
    for file in ["whole.rs", "part.rs", "gone.rs"] {
        tree.write(file, "1\n");
    }
    tree.run(&["add", "-A"]);
    tree.write("part.rs", "2\n");
    let before = tree.open().snapshot(&tree.state()).unwrap();
    for file in ["whole.rs", "part.rs", "new.rs"] {
        tree.write(file, "3\n");
    }
    tree.remove("gone.rs");
    let after = tree.open().snapshot(&tree.state()).unwrap();
    let index = |file: &str| try_git(&tree.root(), &["show", &format!(":{file}")]).stdout;
    let restage = |restage| {
        tree.open()
            .restage(&before, &after, &tree.state(), restage)
            .unwrap()
    };
    assert_eq!(
        restage(false).left,
        ["gone.rs", "new.rs", "part.rs", "whole.rs"]
    );
    assert_eq!(index("whole.rs"), b"1\n");
    let done = restage(true);
    assert_eq!(done.staged, ["gone.rs", "new.rs", "whole.rs"]);
    assert_eq!(done.left, ["part.rs"]);
    assert_eq!(
        [index("whole.rs"), index("part.rs"), index("new.rs")],
        [b"3\n", b"1\n", b"3\n"]
    );
    assert!(index("gone.rs").is_empty());
    assert_eq!(restage(true).staged, [""; 0], "once is enough");
}

#[test]
fn snapshots_survive_rewritten_history_and_the_loss_of_every_object() {
    for packed in [false, true] {
        let tree = Tree::git();
        rich(&tree);
        if packed {
            tree.run(&["gc", "-q"]);
        }
        let before = everything(&tree.root());
        tree.keep();
        tree.write("clean.rs", "coder\n");
        tree.run(&["rm", "-q", "deep/er/file.rs"]);
        tree.after_coder_call();
        tree.run(&["checkout", "-q", "--orphan", "fresh"]);
        tree.run(&["add", "-A"]);
        tree.run(&["commit", "-q", "-m", "fresh"]);
        tree.run(&["branch", "-D", "main"]);
        tree.run(&["reflog", "expire", "--expire=now", "--all"]);
        tree.run(&["gc", "-q", "--prune=now"]);
        assert_eq!(
            tree.run(&["for-each-ref", "--format=%(refname)"]),
            "refs/heads/fresh\n"
        );
        assert_eq!(tree.undo().files, 2);
        assert_eq!(everything(&tree.root()), before);
        std::fs::remove_dir_all(tree.root().join(".git/objects")).unwrap();
        std::fs::create_dir(tree.root().join(".git/objects")).unwrap();
        assert_eq!(tree.redo().files, 2);
        assert_eq!(tree.undo().files, 2);
        assert_eq!(everything(&tree.root()), before);
    }
}

#[test]
fn objects_that_cannot_be_linked_are_copied_and_no_others() {
    let Ok(shared) = tempfile::tempdir_in("/dev/shm") else {
        return;
    };
    let state = shared.path().join("state");
    for packed in [false, true] {
        let run = RunId(format!("packed-{packed}"));
        let tree = Tree::git();
        if shared.path().metadata().unwrap().dev() == tree.root().metadata().unwrap().dev() {
            return;
        }
        tree.write(
            "large-and-gone.bin",
            blake3::Hasher::new().finalize_xof_bytes(1 << 20),
        );
        tree.commit("one");
        tree.remove("large-and-gone.bin");
        rich(&tree);
        if packed {
            tree.run(&["gc", "-q"]);
        }
        let before = everything(&tree.root());
        tree.open().keep(&run, &state).unwrap();
        tree.write("clean.rs", "coder\n");
        tree.open().after_coder_call(&run, &state).unwrap();
        let kept = everything(&state.join("kept").join(&run.0));
        assert!(
            kept.values().map(|(_, bytes)| bytes.len()).sum::<usize>() < 1 << 19,
            "only what the tree needs"
        );
        assert!(
            kept.values().all(|(mode, _)| mode & 0o077 == 0),
            "{:?}",
            kept.keys()
        );
        std::fs::remove_dir_all(tree.root().join(".git")).unwrap();
        assert_eq!(
            tree.open()
                .undo(&run, &UndoOptions::default(), &state)
                .unwrap()
                .files,
            1
        );
        assert_eq!(everything(&tree.root()), before);
    }
}

/// Incompressible bytes.
trait Bytes {
    fn finalize_xof_bytes(&self, length: usize) -> Vec<u8>;
}

impl Bytes for blake3::Hasher {
    fn finalize_xof_bytes(&self, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        self.finalize_xof().fill(&mut bytes);
        bytes
    }
}

#[test]
fn snapshots_are_private() {
    for make in MAKES {
        let tree = make();
        rich(&tree);
        tree.open();
        tree.keep();
        tree.write("clean.rs", "coder\n");
        tree.write("private.key", "more\n");
        tree.after_coder_call();
        tree.undo();
        tree.redo();
        let mut waiting = vec![tree.state()];
        while let Some(path) = waiting.pop() {
            let meta = path.symlink_metadata().unwrap();
            // A file with another hard link is an object of the user's repository.
            assert!(
                meta.nlink() > 1 && meta.is_file() || meta.mode() & 0o077 == 0,
                "{:o} {}",
                meta.mode(),
                path.display()
            );
            if meta.is_dir() {
                waiting.extend(
                    std::fs::read_dir(&path)
                        .unwrap()
                        .map(|entry| entry.unwrap().path()),
                );
            }
        }
    }
}

#[test]
fn sparse_files_stay_missing_and_one_that_the_coder_made_sparse_is_restored() {
    let tree = Tree::git();
    tree.write("sparse.py", "1\n");
    tree.write("b.py", "1\n");
    tree.commit("one");
    tree.run(&["update-index", "--skip-worktree", "sparse.py"]);
    tree.remove("sparse.py");
    tree.keep();
    tree.run(&["update-index", "--skip-worktree", "b.py"]);
    tree.remove("b.py");
    tree.after_coder_call();
    assert_eq!(tree.undo().files, 1);
    assert_eq!(
        (tree.read("b.py"), tree.has("sparse.py")),
        ("1\n".to_owned(), false)
    );
}
