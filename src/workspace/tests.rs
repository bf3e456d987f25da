#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

//! Real repositories in temporary folders: every target, and nothing of the repository ever written or run.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::domain::{RunId, Skip, SkipReason};

use super::*;

/// A work tree with a state folder beside it.
struct Tree {
    folder: tempfile::TempDir,
}

impl Tree {
    fn plain() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("tree")).unwrap();
        Self { folder }
    }

    fn git() -> Self {
        let tree = Self::plain();
        tree.run(&["init", "-q", "-b", "main"]);
        tree
    }

    fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("tree")
    }

    fn state(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("state")
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.root().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn run(&self, args: &[&str]) -> String {
        git(&self.root(), args)
    }

    fn commit(&self, message: &str) {
        self.run(&["add", "-A"]);
        self.run(&["commit", "-q", "-m", message]);
    }

    fn open(&self) -> Workspace {
        Workspace::discover(&self.root()).unwrap()
    }

    fn select(&self, spec: TargetSpec) -> Target {
        self.open().select(&spec, &OPTIONS).unwrap()
    }

    fn refuse(&self, spec: TargetSpec) -> String {
        let error = self.open().select(&spec, &OPTIONS).unwrap_err();
        assert_eq!(error.exit(), crate::domain::ExitReason::Usage);
        error.to_string()
    }
}

const OPTIONS: SelectOptions = SelectOptions { max_file: 10_000, shard: 100_000 };

/// Runs git as a user would, without this machine's settings.
fn git(folder: &Path, args: &[&str]) -> String {
    let mut command = Command::new("git");
    command.current_dir(folder).args(args);
    for (name, value) in [("CONFIG_GLOBAL", "/dev/null"), ("CONFIG_NOSYSTEM", "1"), ("AUTHOR_NAME", "A")] {
        command.env(format!("GIT_{name}"), value);
    }
    for (name, value) in [("AUTHOR_EMAIL", "a@example.org"), ("COMMITTER_NAME", "A"), ("COMMITTER_EMAIL", "a@b.c")]
    {
        command.env(format!("GIT_{name}"), value);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn shape(target: &Target) -> Vec<(&str, Vec<(u32, u32)>)> {
    target.files.iter().map(|file| (file.path.as_str(), file.changed.clone())).collect()
}

fn skips(target: &Target) -> Vec<(&str, SkipReason)> {
    target.skipped.iter().map(|Skip { file, reason }| (file.as_str(), *reason)).collect()
}

#[test]
fn uncommitted_is_staged_unstaged_and_untracked() {
    let tree = Tree::git();
    tree.write("a.rs", "1\n2\n3\n");
    tree.write("b.rs", "1\n2\n3\n");
    tree.write("c.rs", "1\n");
    tree.write("gone.rs", "1\n");
    tree.write(".gitignore", "*.log\n");
    tree.commit("one");
    tree.write("a.rs", "1\nX\n3\n");
    tree.write("b.rs", "1\n2\n3\n4\n");
    tree.run(&["add", "b.rs"]);
    tree.write("b.rs", "0\n1\n2\n3\n4\n");
    tree.write("new/d.rs", "1\n2\n");
    tree.write("x.log", "1\n");
    tree.write("Cargo.lock", "1\n");
    std::fs::remove_file(tree.root().join("gone.rs")).unwrap();
    let target = tree.select(TargetSpec::Uncommitted);
    assert_eq!(
        shape(&target),
        [("a.rs", vec![(2, 2)]), ("b.rs", vec![(1, 1), (5, 5)]), ("new/d.rs", vec![(1, 2)])]
    );
    assert_eq!(skips(&target), [("Cargo.lock", SkipReason::Generated), ("gone.rs", SkipReason::Deleted)]);
    assert_eq!(target.files[0].diff.as_deref(), Some("--- a/a.rs\n+++ b/a.rs\n@@ -1,3 +1,3 @@\n 1\n-2\n+X\n 3\n"));
    assert_eq!(target.commit.as_deref(), Some(tree.run(&["rev-parse", "HEAD"]).trim()));
    assert_eq!(target.coverage(), [vec![cover("a.rs", 1), cover("b.rs", 2), cover("new/d.rs", 2)]]);
}

fn cover(file: &str, lines: u32) -> crate::domain::Coverage {
    crate::domain::Coverage { file: file.to_owned(), lines }
}

#[test]
fn keep_destroy_undo_restores() {
    let tree = Tree::git();
    tree.write("a.rs", "1\n2\n3\n");
    tree.write("d/b.rs", "1\n2\n3\n");
    tree.commit("one");
    tree.write("u.rs", "u\n");
    let workspace = tree.open();
    let run = RunId("r1".to_owned());
    let kept = workspace.keep(&run, &tree.state()).unwrap();
    tree.run(&["clean", "-fdxq"]);
    tree.write("a.rs", "");
    tree.write("n/n.rs", "n");
    std::fs::remove_dir_all(tree.root().join("d")).unwrap();
    let undone = workspace.undo(&run, &kept.kept_as, &tree.state()).unwrap();
    assert_eq!(undone, Undone { files: 4 });
    assert_eq!(workspace.snapshot(&tree.state()).unwrap(), kept.tree);
    assert!(!tree.root().join("n").exists());
}
