//! What it costs to know a large tree by its content: 100,000 files as the index has them, on a warm cache.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use glee_workspace::Workspace;

/// Files of the tree, and how many lie in one folder.
const FILES: usize = 100_000;
const A_FOLDER: usize = 100;

fn git(root: &Path, args: &[&str]) {
    let mut command = Command::new("git");
    command
        .args([
            "-c",
            "user.name=x",
            "-c",
            "user.email=x@x",
            "-c",
            "gc.auto=0",
        ])
        .args(args)
        .current_dir(root);
    command.env("GIT_CONFIG_GLOBAL", "/dev/null");
    assert!(command.status().expect("git is installed").success());
}

fn tree(root: &Path) {
    for number in 0..FILES {
        let folder = root.join(format!(
            "part{}/sub{}",
            number / A_FOLDER / 32,
            number / A_FOLDER % 32
        ));
        if number.is_multiple_of(A_FOLDER) {
            std::fs::create_dir_all(&folder).expect("a fresh folder");
        }
        std::fs::write(
            folder.join(format!("f{number}.py")),
            format!("x = {number}\n"),
        )
        .expect("a written file");
    }
    git(root, &["init", "-q"]);
    // What was written within the tick of the index is read again every time.
    std::thread::sleep(Duration::from_millis(50));
    git(root, &["add", "-A"]);
    git(root, &["commit", "-q", "-m", "Begin"]);
}

fn snapshot(c: &mut Criterion) {
    let (folder, state) = (
        tempfile::tempdir().expect("a folder"),
        tempfile::tempdir().expect("a folder"),
    );
    tree(folder.path());
    let workspace = Workspace::discover(folder.path()).expect("a work tree");
    let mut group = c.benchmark_group("100,000 files");
    group.sample_size(10);
    group.bench_function("baseline: git status", |b| {
        b.iter(|| git(folder.path(), &["status", "--porcelain"]))
    });
    group.bench_function("snapshot", |b| {
        b.iter(|| workspace.snapshot(state.path()).expect("it is recorded"))
    });
    group.finish();
}

criterion_group!(benches, snapshot);
criterion_main!(benches);
