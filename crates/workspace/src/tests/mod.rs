#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

//! Tests with real repositories in temporary folders.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::*;
use crate::root::Workspace;
use glee_model::domain::{Advice as _, Coverage, RunId, Skip, SkipReason};

mod apart;
mod by_rule;
mod diffs;
mod fetched;
mod hostile;
mod images;
mod looks;
mod nested;
mod places;
mod property;
mod pruned;
mod put_back;
mod reach;
mod targets;
mod undos;

/// A work tree and a state folder.
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

    fn remove(&self, path: &str) {
        std::fs::remove_file(self.root().join(path)).unwrap();
    }

    fn head(&self) -> String {
        self.run(&["rev-parse", "HEAD"]).trim().to_owned()
    }

    fn open(&self) -> Workspace {
        Workspace::discover(&self.root()).unwrap()
    }

    fn keep(&self) -> BeforeImage {
        self.open().keep(&run_id(), &self.state()).unwrap()
    }

    /// Ends a call of the run's coder.
    fn after_coder_call(&self) {
        self.open()
            .after_coder_call(&run_id(), &self.state())
            .unwrap();
    }

    fn undo(&self) -> Undone {
        self.open()
            .undo(&run_id(), &UndoOptions::default(), &self.state())
            .unwrap()
    }

    fn redo(&self) -> Undone {
        self.open()
            .redo(&run_id(), &UndoOptions::default(), &self.state())
            .unwrap()
    }

    fn select(&self, spec: TargetSpec) -> Target {
        self.open().select(&spec, &OPTIONS).unwrap()
    }

    /// Selects a target without files, and returns what is skipped.
    fn skipped(&self, spec: TargetSpec) -> Vec<(String, SkipReason)> {
        let target = self.select(spec);
        assert_eq!((target.files.len(), target.shards.len()), (0, 0));
        let skips = target.skipped.into_iter();
        skips.map(|skip| (skip.file, skip.reason)).collect()
    }

    fn refuse(&self, spec: TargetSpec) -> String {
        let error = self.open().select(&spec, &OPTIONS).unwrap_err();
        assert_eq!(error.exit(), glee_model::domain::ExitReason::Usage);
        error.to_string()
    }
}

const OPTIONS: SelectOptions = SelectOptions {
    max_file: 10_000,
    shard: 100_000,
    context: glee_model::domain::CodeContext::Files,
};

/// Runs git as a user would, without this machine's settings.
fn git(folder: &Path, args: &[&str]) -> String {
    let output = try_git(folder, args);
    assert!(
        output.status.success(),
        "git {args:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// As [`git`], where a failure is expected.
fn try_git(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new("git");
    command.current_dir(folder).args(args);
    for (name, value) in [
        ("CONFIG_GLOBAL", "/dev/null"),
        ("CONFIG_NOSYSTEM", "1"),
        ("AUTHOR_NAME", "A"),
    ] {
        command.env(format!("GIT_{name}"), value);
    }
    for (name, value) in [
        ("AUTHOR_EMAIL", "a@example.org"),
        ("COMMITTER_NAME", "A"),
        ("COMMITTER_EMAIL", "a@b.c"),
    ] {
        command.env(format!("GIT_{name}"), value);
    }
    command.output().unwrap()
}

const RUN: &str = "0190-run";

fn run_id() -> RunId {
    RunId(RUN.to_owned())
}

fn cover(file: &str, lines: u32) -> Coverage {
    Coverage {
        file: file.to_owned(),
        lines,
        ranges: Vec::new(),
    }
}

fn shape(target: &Target) -> Vec<(&str, Vec<(u32, u32)>)> {
    target
        .files
        .iter()
        .map(|file| (file.path.as_str(), file.changed.clone()))
        .collect()
}

fn skips(target: &Target) -> Vec<(&str, SkipReason)> {
    target
        .skipped
        .iter()
        .map(|Skip { file, reason }| (file.as_str(), *reason))
        .collect()
}

fn diff_of<'a>(target: &'a Target, path: &str) -> &'a str {
    target
        .files
        .iter()
        .find(|file| file.path == path)
        .unwrap()
        .diff
        .as_deref()
        .unwrap()
}

fn paths(paths: &[&str]) -> TargetSpec {
    TargetSpec::Paths(paths.iter().map(PathBuf::from).collect())
}

fn names(target: &Target) -> Vec<&str> {
    target.files.iter().map(|file| file.path.as_str()).collect()
}

/// A tree in a git repository, and a tree outside git.
const MAKES: [fn() -> Tree; 2] = [Tree::git, Tree::plain];

impl Tree {
    fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.root().join(path)).unwrap()
    }

    fn has(&self, path: &str) -> bool {
        self.root().join(path).symlink_metadata().is_ok()
    }
}
