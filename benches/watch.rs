//! A watch under load: events at a fixed rate over one connection, each acknowledged, with reviews in between; then kill
//! and compare; then the CPU of a watch to which nobody says anything.
//!
//! `cargo bench --bench watch -- [RATE [SECONDS]]`, by default 10,000 a second for a minute. The baseline beside it is one
//! fsync of a small file on the same disk, as many times.

#![expect(clippy::print_stdout, reason = "the figures are what it is for")]

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use glee_model::domain::event::{Event, EventKind, WatchEvent};
use glee_model::domain::{EventType, WatchStatus};
use glee_store::history::Journal;
use glee_workflows::watch::socket;

const REVIEWER: &str = r#"#!/bin/sh
cat >/dev/null
printf '{"nonce":"%s","type":"review_result","reviewer":"%s","payload":{"verdict":"approved","summary":"s","issues":[]}}' \
  "$GLEE_NONCE" "$GLEE_AGENT"
"#;
/// How often an event is a milestone.
const MILESTONE: Duration = Duration::from_secs(5);
/// `watch.debounce` of the bench.
const SETTLE: Duration = Duration::from_millis(500);

struct Scene {
    folder: tempfile::TempDir,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let base = folder.path();
        for name in ["project", "config/glee", "state"] {
            fs::create_dir_all(base.join(name)).expect("a folder");
        }
        let agent = base.join("reviewer");
        fs::write(&agent, REVIEWER).expect("a written file");
        fs::set_permissions(&agent, fs::Permissions::from_mode(0o755)).expect("an executable file");
        let config = format!(
            "watch: {{debounce: {}ms}}\nagents:\n  - {{name: codex, role: reviewer, adapter: text, command: [{}]}}\n",
            SETTLE.as_millis(),
            agent.display()
        );
        fs::write(base.join("config/glee/config.yml"), config).expect("a written file");
        Self { folder }
    }

    fn base(&self) -> &Path {
        self.folder.path()
    }

    fn project(&self) -> PathBuf {
        self.base()
            .join("project")
            .canonicalize()
            .expect("a folder")
    }

    fn history(&self) -> PathBuf {
        self.base().join("history/history.db")
    }

    fn watch(&self) -> (Child, UnixStream) {
        let child = Command::new(env!("CARGO_BIN_EXE_glee"))
            .args([
                "--history",
                &self.history().display().to_string(),
                "watch",
                "--quiet",
            ])
            .current_dir(self.project())
            .env("HOME", self.base())
            .env("XDG_CONFIG_HOME", self.base().join("config"))
            .env("GLEE_STATE_DIR", self.base().join("state"))
            .stdin(Stdio::null())
            .spawn()
            .expect("Glee runs");
        let address = socket::address(&self.base().join("state"), &self.project());
        let begun = Instant::now();
        loop {
            match UnixStream::connect(&address) {
                Ok(stream) => return (child, stream),
                Err(error) => assert!(
                    begun.elapsed() < Duration::from_secs(60),
                    "no watch: {error}"
                ),
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// All events of the watch.
    fn recorded(&self) -> Vec<Event> {
        let journal = Journal::open_read(&self.history())
            .expect("a history")
            .expect("a history");
        let run = journal
            .last_watch(&self.project().to_string_lossy())
            .expect("a watch")
            .expect("a watch");
        journal.events(&run).expect("events")
    }
}

/// The clock ticks of CPU that a process has used, in milliseconds; a tick is ten of them on Linux.
fn cpu_millis(pid: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).expect("it runs");
    let fields: Vec<&str> = stat
        .rsplit(") ")
        .next()
        .expect("fields")
        .split(' ')
        .collect();
    let ticks = |at: usize| fields[at].parse::<u64>().expect("a number");
    (ticks(11) + ticks(12)) * 10
}

fn peak_kib(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .expect("a peak");
    line.trim()
        .trim_end_matches(" kB")
        .parse()
        .expect("a number")
}

fn percentile(sorted: &[Duration], part: f64) -> Duration {
    let at = (sorted.len() as f64 * part) as usize;
    sorted[at.min(sorted.len() - 1)]
}

fn main() {
    let numbers: Vec<u64> = std::env::args()
        .filter_map(|word| word.parse().ok())
        .collect();
    let (rate, seconds) = (
        numbers.first().copied().unwrap_or(10_000),
        numbers.get(1).copied().unwrap_or(60),
    );
    let scene = Scene::new();
    let (mut child, stream) = scene.watch();
    let mut speaker = stream.try_clone().expect("a second end");
    let (said, heard) = mpsc::channel::<Instant>();
    let begun = Instant::now();
    let speaking = std::thread::spawn(move || {
        let mut milestone = begun + MILESTONE;
        for number in 0..rate * seconds {
            let due = begun + Duration::from_nanos(number * 1_000_000_000 / rate);
            if let Some(wait) = due
                .checked_duration_since(Instant::now())
                .filter(|wait| wait.as_micros() > 500)
            {
                std::thread::sleep(wait);
            }
            let is_milestone = Instant::now() >= milestone;
            if is_milestone {
                milestone += MILESTONE;
            }
            let kind = if is_milestone { "milestone" } else { "note" };
            let line = format!(
                r#"{{"type":"{kind}","agent":"claude","summary":"step {number} of the work","file":"src/a.py"}}"#
            );
            said.send(due).expect("the other end listens");
            writeln!(speaker, "{line}").expect("the watch listens");
        }
    });
    let mut answers = BufReader::new(stream);
    let (mut line, mut waits) = (String::new(), Vec::new());
    while waits.len() < usize::try_from(rate * seconds).expect("a number") {
        line.clear();
        answers.read_line(&mut line).expect("an answer");
        assert!(line.contains(r#""ok":true"#), "{line}");
        waits.push(heard.recv().expect("it was said").elapsed());
    }
    let took = begun.elapsed();
    speaking.join().expect("it speaks to the end");
    let (peak, cpu) = (peak_kib(child.id()), cpu_millis(child.id()));
    child.kill().expect("it runs");
    child.wait().expect("it has ended");

    let events = scene.recorded();
    let received = events
        .iter()
        .filter(|event| {
            matches!(
                event.kind,
                EventKind::Watch(WatchEvent::EventReceived { .. })
            )
        })
        .count();
    assert_eq!(
        received,
        waits.len(),
        "every acknowledged event is there after SIGKILL"
    );
    let mut first: Option<Duration> = None;
    let mut late = Vec::new();
    let at = |event: &Event| Duration::from_micros(event.at.as_microsecond().unsigned_abs());
    for event in &events {
        match &event.kind {
            EventKind::Watch(WatchEvent::EventReceived { said })
                if said.kind == EventType::Milestone =>
            {
                first = first.or(Some(at(event)));
            }
            EventKind::Watch(WatchEvent::CycleStarted { .. }) => {
                late.extend(
                    first
                        .take()
                        .map(|first| at(event).saturating_sub(first + SETTLE)),
                );
            }
            EventKind::Watch(WatchEvent::CycleDecided { status, .. }) => {
                assert_eq!(*status, WatchStatus::Running)
            }
            _ => {}
        }
    }
    waits.sort_unstable();
    late.sort_unstable();
    println!(
        "{} events in {:.1} s ({:.0}/s), none lost; acknowledged after {:?} (median), {:?} (99%), {:?} (last)",
        waits.len(),
        took.as_secs_f64(),
        waits.len() as f64 / took.as_secs_f64(),
        percentile(&waits, 0.5),
        percentile(&waits, 0.99),
        waits.last().expect("an answer"),
    );
    println!(
        "peak memory {:.1} MiB, {:.0}% of a CPU",
        peak as f64 / 1024.0,
        cpu as f64 / took.as_millis() as f64 * 100.0
    );
    println!(
        "{} cycles began {:?} (median), {:?} (last) after the settle time",
        late.len(),
        percentile(&late, 0.5),
        late.last().expect("a cycle")
    );

    // The disk's own share.
    let mut file = fs::File::create(scene.base().join("beside")).expect("a file");
    let mut syncs: Vec<Duration> = (0..200)
        .map(|_| {
            let begun = Instant::now();
            file.write_all(&[0; 4096])
                .and_then(|()| file.sync_data())
                .expect("a synced file");
            begun.elapsed()
        })
        .collect();
    syncs.sort_unstable();
    println!(
        "beside it: one fsync of 4 KiB takes {:?} (median)",
        percentile(&syncs, 0.5)
    );

    let fresh = Scene::new();
    let (mut child, stream) = fresh.watch();
    drop(stream);
    std::thread::sleep(Duration::from_secs(2));
    let before = cpu_millis(child.id());
    let idle = Duration::from_secs(seconds.min(30));
    std::thread::sleep(idle);
    let used = cpu_millis(child.id()) - before;
    println!(
        "idle: {used} ms of CPU in {} s ({:.3}%)",
        idle.as_secs(),
        used as f64 / idle.as_millis() as f64 * 100.0
    );
    child.kill().expect("it runs");
    child.wait().expect("it has ended");
}
