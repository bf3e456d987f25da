//! What Glee adds to the time its agents take: a whole review by eight reviewers that each sleep one second, beside one
//! bare `sleep 1`; and the start of the program, beside `true`.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use criterion::{Criterion, criterion_group, criterion_main};

const GLEE: &str = env!("CARGO_BIN_EXE_glee");

fn glee(root: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(GLEE);
    command
        .args(args)
        .current_dir(root.join("project"))
        .env("HOME", root)
        .env("GLEE_STATE_DIR", root.join("state"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

fn eight_reviewers(c: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let project = folder.path().join("project");
    fs::create_dir_all(project.join(".glee")).expect("a fresh folder");
    fs::create_dir(folder.path().join("state")).expect("a fresh folder");
    fs::write(project.join("a.py"), "x = 1\n").expect("a written file");
    let script = "cat > /dev/null; sleep 1; echo \"GLEE-REVIEW-END nonce=$GLEE_NONCE findings=0\"";
    let agents: String =
        (1..=8).map(|n| format!("  - {{name: r{n}, role: reviewer, command: [sh, -c, '{script}']}}\n")).collect();
    fs::write(project.join(".glee/config.yml"), format!("version: 1\nagents:\n{agents}")).expect("a written file");
    assert!(glee(folder.path(), &["trust"]).status().expect("glee runs").success());

    let mut group = c.benchmark_group("eight reviewers of one second");
    group.sample_size(10);
    group.bench_function("baseline: sleep 1", |b| {
        b.iter(|| Command::new("sleep").arg("1").status().expect("sleep runs"));
    });
    group.bench_function("glee review", |b| {
        b.iter(|| {
            let status = glee(folder.path(), &["review", "a.py"]).status().expect("glee runs");
            assert_eq!(status.code(), Some(0));
        });
    });
    group.finish();
}

fn start(c: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::create_dir(folder.path().join("project")).expect("a fresh folder");
    let mut group = c.benchmark_group("start");
    group.bench_function("baseline: true", |b| {
        b.iter(|| Command::new("true").status().expect("true runs"));
    });
    group.bench_function("glee --version", |b| {
        b.iter(|| assert!(glee(folder.path(), &["--version"]).status().expect("glee runs").success()));
    });
    group.finish();
}

criterion_group!(benches, eight_reviewers, start);
criterion_main!(benches);
