//! What it costs to run an agent: a supervised start beside a bare one, free and held by the sandbox, many side by side, and a flood of output.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use futures_util::future::join_all;
use glee_agents::adapters::invocation::Invocation;
use glee_agents::process::runner::ProcessJob;
use glee_agents::process::sandbox::confinement::{Confinement, Hold};
use glee_agents::{Execute as _, ProcessRunner, Stop};
use glee_store::config::settings::Limits;
use tokio::runtime::Runtime;

const LIMITS: Limits = Limits {
    call_timeout: Duration::from_secs(600),
    first_output_timeout: Duration::from_secs(600),
    idle_timeout: Duration::from_secs(600),
    max_output_size: 64 << 20,
    max_line_size: 8 << 20,
    kill_grace: Duration::from_secs(1),
    retries: 0,
    backoff: Duration::from_millis(1),
};

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime")
}

async fn supervised(folder: &Path, name: usize, script: &str, confinement: Option<Confinement>) {
    let invocation = Invocation {
        program: "/bin/sh".into(),
        args: vec!["-c".into(), script.into()],
        env: std::env::vars_os()
            .filter(|(name, _)| name == "PATH")
            .collect(),
        cwd: folder.to_owned(),
        stdin: b"the prompt".to_vec(),
        streams: false,
        files: Vec::new(),
    };
    let job = ProcessJob {
        marks: Default::default(),
        confinement,
        invocation: &invocation,
        request: None,
        suspended: None,
        dialogue: None,
        limits: LIMITS,
        stdout: &folder.join(format!("{name}.out")),
        stderr: &folder.join(format!("{name}.err")),
        activity: &|_| true,
        stop: Stop::never(),
    };
    ProcessRunner::with_program(env!("CARGO_BIN_EXE_glee"))
        .run(job)
        .await
        .expect("it ends well");
}

async fn bare(script: &str) {
    let mut command = tokio::process::Command::new("/bin/sh");
    command
        .args(["-c", script])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let output = command.output().await.expect("it runs");
    assert!(output.status.success());
}

fn start(c: &mut Criterion) {
    let runtime = runtime();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut group = c.benchmark_group("start");
    group.bench_function("bare", |b| b.iter(|| runtime.block_on(bare("exit 0"))));
    group.bench_function("supervised", |b| {
        b.iter(|| runtime.block_on(supervised(folder.path(), 0, "exit 0", None)))
    });
    let held = Confinement {
        hold: Hold::IfPossible,
        writable: vec![folder.path().into()],
        ..Confinement::default()
    };
    group.bench_function("supervised and held", |b| {
        b.iter(|| runtime.block_on(supervised(folder.path(), 0, "exit 0", Some(held.clone()))));
    });
    group.finish();
}

fn side_by_side(c: &mut Criterion) {
    let runtime = runtime();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut group = c.benchmark_group("eight that sleep 100 ms");
    group.sample_size(20);
    group.bench_function("bare", |b| {
        b.iter(|| runtime.block_on(join_all((0..8).map(|_| bare("sleep 0.1")))));
    });
    group.bench_function("supervised", |b| {
        b.iter(|| {
            runtime.block_on(join_all(
                (0..8).map(|name| supervised(folder.path(), name, "sleep 0.1", None)),
            ))
        });
    });
    group.finish();
}

fn flood(c: &mut Criterion) {
    let runtime = runtime();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut group = c.benchmark_group("output");
    group.throughput(Throughput::Bytes(1 << 30)).sample_size(10);
    group.bench_function("1 GiB", |b| {
        b.iter(|| {
            runtime.block_on(supervised(
                folder.path(),
                0,
                "head -c 1073741824 /dev/zero",
                None,
            ))
        });
    });
    group.finish();
}

criterion_group!(benches, start, side_by_side, flood);
criterion_main!(benches);
