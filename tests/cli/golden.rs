//! Tests histories recorded by earlier versions (`tests/golden/record.sh`): each is readable and intact, and its
//! replay has the recorded results.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rusqlite::Connection;
use serde_json::Value;

use crate::support::repository::repository;
use crate::support::{Output, Sandbox};

/// Whether the recorded value is contained in the current one, which may have additional fields.
fn holds(recorded: &Value, now: &Value) -> bool {
    match (recorded, now) {
        (Value::Object(recorded), Value::Object(now)) => recorded
            .iter()
            .all(|(key, value)| now.get(key).is_some_and(|now| holds(value, now))),
        (Value::Array(recorded), Value::Array(now)) => {
            recorded.len() == now.len() && recorded.iter().zip(now).all(|(a, b)| holds(a, b))
        }
        _ => recorded == now,
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a fresh folder");
    for entry in fs::read_dir(from).expect("a golden history") {
        let entry = entry.expect("an entry");
        let into = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &into);
        } else {
            fs::copy(entry.path(), into).expect("a copy");
        }
    }
}

fn folders() -> Vec<PathBuf> {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let entries = fs::read_dir(golden)
        .expect("golden histories")
        .map(|entry| entry.expect("an entry").path());
    entries.filter(|path| path.is_dir()).collect()
}

/// A machine with a golden history.
struct Golden {
    sandbox: Sandbox,
    /// The file, which a command is given; `None` if a server keeps the history.
    file: Option<String>,
}

impl Golden {
    fn of(golden: &Path) -> Self {
        let sandbox = repository();
        let place = sandbox.state().join("golden");
        copy(golden, &place);
        let history = place.join("history.db");
        let file = match sandbox.server() {
            Some(server) => {
                record(&sandbox, server, &history);
                let entries = fs::read_dir(sandbox.state().join("repos")).expect("a history");
                let mut copies =
                    entries.map(|entry| entry.expect("an entry").path().join("server"));
                let ours = copies
                    .find(|server| server.is_dir())
                    .expect("a copy of the log");
                copy(&place.join("runs"), &ours.join("runs"));
                None
            }
            None => Some(history.display().to_string()),
        };
        Self { sandbox, file }
    }

    fn glee(&self, command: &[&str]) -> Output {
        let file = self.file.iter().flat_map(|file| ["--history", file]);
        let args: Vec<&str> = file.chain(command.iter().copied()).collect();
        self.sandbox.glee(&args)
    }
}

/// Makes the records of a history those of the sandbox's repository on a server.
fn record(sandbox: &Sandbox, server: &str, history: &Path) {
    let begun = sandbox.glee(&["review", "--no-input", "--full", "--commit", "HEAD"]);
    assert_eq!(begun.code, 0, "{begun}");
    let literals = "SELECT format('INSERT INTO glee.event (repository, id, run, seq, at, body, prev, hash)
            SELECT id, %d, %Q, %d, %Q, %Q, %Q, %Q FROM glee.repository;', id, run, seq, at, body, prev, hash)
        FROM event ORDER BY id";
    let db = Connection::open(history).expect("a history");
    let mut rows = db.prepare(literals).expect("a statement");
    let rows = rows.query_map([], |row| row.get::<_, String>(0));
    let mut script = "BEGIN; DELETE FROM glee.event;".to_owned();
    for row in rows.expect("rows") {
        script += &row.expect("a row");
    }
    let chain = "SELECT format('UPDATE glee.repository SET events = %d, hash = %Q; COMMIT;', events, hash) FROM chain";
    script += &db
        .query_row(chain, [], |row| row.get::<_, String>(0))
        .expect("the end of the chain");
    let mut psql = Command::new("psql")
        .args(["-qX", "-v", "ON_ERROR_STOP=1", "-d", server])
        .stdin(Stdio::piped())
        .spawn()
        .expect("psql starts");
    let mut input = psql.stdin.take().expect("a pipe");
    input.write_all(script.as_bytes()).expect("a script");
    drop(input);
    assert!(psql.wait().is_ok_and(|status| status.success()));
}

#[test]
fn every_golden_history_is_shown_and_decided_as_it_was() {
    let mut runs = 0;
    for golden in folders() {
        let machine = Golden::of(&golden);
        let verified = machine.glee(&["disputes", "verify"]);
        assert_eq!(verified.code, 0, "{verified}");
        for entry in fs::read_dir(golden.join("outcomes")).expect("outcomes") {
            let path = entry.expect("an outcome").path();
            let run = path
                .file_stem()
                .and_then(|stem| stem.to_str())
                .expect("a run's id")
                .to_owned();
            let recorded: Value =
                serde_json::from_slice(&fs::read(&path).expect("an outcome")).expect("JSON");
            for command in ["show", "replay"] {
                let output = machine.glee(&["runs", command, &run, "--format", "json"]);
                let now: Value = serde_json::from_str(&output.stdout).expect("an outcome");
                assert!(
                    holds(&recorded, &now),
                    "{command} {}\n{now:#}\n{}",
                    path.display(),
                    output.stderr
                );
                if command == "replay" {
                    assert!(output.stderr.contains("with the same result"), "{output}");
                }
            }
            runs += 1;
        }
    }
    assert!(runs >= 3, "golden histories hold {runs} runs");
}

#[test]
fn every_golden_stage_came_to_what_it_came_to() {
    let mut stages = 0;
    for golden in folders()
        .into_iter()
        .filter(|golden| golden.join("stages.json").is_file())
    {
        let machine = Golden::of(&golden);
        let commands = [
            ("stages.json", &["consensus", "--json"][..]),
            ("deadlocks.json", &["stats", "deadlocks", "--json"]),
        ];
        for (name, command) in commands {
            let recorded: Value =
                serde_json::from_slice(&fs::read(golden.join(name)).expect("a record"))
                    .expect("JSON");
            let output = machine.glee(command);
            let now: Value = serde_json::from_str(&output.stdout).expect("JSON");
            assert!(holds(&recorded, &now), "{name}\n{now:#}\n{}", output.stderr);
            stages += recorded.as_array().map_or(0, Vec::len);
        }
    }
    assert!(stages >= 5, "golden histories hold {stages} stages");
}

#[test]
fn other_rules_decide_a_golden_run_otherwise() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/1");
    let machine = Golden::of(&golden);
    let outcomes = fs::read_dir(golden.join("outcomes")).expect("outcomes");
    let arbitrated = outcomes
        .map(|entry| fs::read(entry.expect("an outcome").path()).expect("an outcome"))
        .map(|outcome| serde_json::from_slice::<Value>(&outcome).expect("JSON"))
        .find(|outcome| outcome["disputes"][0]["number"] == 4)
        .expect("a run with dispute 4");
    let run = arbitrated["run"].as_str().expect("an id");
    let output = machine.glee(&[
        "runs",
        "replay",
        run,
        "--set",
        "review.issues.mandatory=[CRITICAL]",
    ]);
    assert_eq!(output.code, 4, "an answer is missing: {output}");
    let lines: Vec<&str> = output.stderr.lines().collect();
    assert_eq!(
        lines,
        [
            &format!(
                "Run {} decided again, with differences:",
                &run[run.len() - 8..]
            ),
            "  F12 is optional, was mandatory: The lock is never released",
            "  F12 is unanswered, was enforced (dispute 4): The lock is never released",
            "  the exit code is 4, was 1",
            "  not recorded: cyd responding to the findings",
            "No agent was called, nothing was changed.",
        ]
    );
    for (flags, expected) in [
        (
            ["--set", "review.rounds"],
            "error: `review.rounds` is not of the form KEY=VALUE\nhint: give a key and a value, for example `--set \
             review.recheck=false`\n",
        ),
        (
            ["--set", "agents.ada.role=judge"],
            "error: the agents of a recorded run cannot be changed\nhint: start a new run with `glee review`\n",
        ),
        (
            ["--set", "review.round=2"],
            "error: unknown key `review.round`\nhint: did you mean `review.rounds`?\n",
        ),
        (
            ["--format", "jsonl"],
            "error: a replay has no events to print\nhint: print the outcome of the replay with `--format json`, or \
             the events of the run with `glee runs show --format jsonl`\n",
        ),
    ] {
        let output = machine.glee(&[&["runs", "replay"], &flags[..]].concat());
        assert_eq!(
            (output.code, output.stdout.as_str(), output.stderr.as_str()),
            (2, "", expected)
        );
    }
}
