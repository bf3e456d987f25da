//! What Glee adds to the agents of a stage: its wall time beside that of the slowest agent, the aggregator and the arbiter,
//! one after the other.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use criterion::{Criterion, criterion_group, criterion_main};

/// Three agents that take 400, 600 and 800 ms, an aggregator and an arbiter that take 600 each: 2 s in a row.
const AGENT: &str = r#"#!/bin/sh
cat > /dev/null
case $GLEE_TASK in
  stage) sleep 0.$GLEE_AGENT; echo '{"nonce":"'$GLEE_NONCE'","steps":["x"]}' ;;
  aggregate) sleep 0.6; echo '{"nonce":"'$GLEE_NONCE'","status":"conflict","summary":"s","consensus":{"conflicts":["c"]}}' ;;
  *) sleep 0.6; echo '{"nonce":"'$GLEE_NONCE'","decision":"hybrid","rationale":"r","confidence":"high"}' ;;
esac
"#;

const CONFIG: &str = "agents:
  - {name: '4', role: reviewer, adapter: text, command: [BASE/agent]}
  - {name: '6', role: reviewer, adapter: text, command: [BASE/agent]}
  - {name: '8', role: reviewer, adapter: text, command: [BASE/agent]}
  - {name: g, role: aggregator, adapter: text, command: [BASE/agent]}
  - {name: j, role: judge, adapter: text, command: [BASE/agent]}
";

fn glee(base: &Path) {
    let ended = Command::new(env!("CARGO_BIN_EXE_glee"))
        .args([
            "consensus",
            "ask",
            "How?",
            "--fresh",
            "--id",
            "bench",
            "--quiet",
        ])
        .current_dir(base.join("project"))
        .env("HOME", base)
        .env("XDG_CONFIG_HOME", base.join("config"))
        .env("GLEE_STATE_DIR", base.join("state"))
        .stdout(Stdio::null())
        .status()
        .expect("Glee runs");
    assert!(ended.success(), "{ended}");
}

fn in_a_row() {
    let ended = Command::new("/bin/sh")
        .args(["-c", "sleep 0.8; sleep 0.6; sleep 0.6"])
        .status()
        .expect("a shell");
    assert!(ended.success());
}

fn stage(c: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let base = folder.path();
    for name in ["project/.glee", "config/glee", "state"] {
        fs::create_dir_all(base.join(name)).expect("a folder");
    }
    let agent = base.join("agent");
    fs::write(&agent, AGENT).expect("a written file");
    fs::set_permissions(&agent, fs::Permissions::from_mode(0o755)).expect("an executable file");
    let config = CONFIG.replace("BASE", &base.display().to_string());
    fs::write(base.join("config/glee/config.yml"), config).expect("a written file");
    let mut group = c.benchmark_group("a stage of 2 s");
    group.sample_size(10);
    group.bench_function("its agents in a row", |b| b.iter(in_a_row));
    group.bench_function("with glee", |b| b.iter(|| glee(base)));
    group.finish();
}

criterion_group!(benches, stage);
criterion_main!(benches);
