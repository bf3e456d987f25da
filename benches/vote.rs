//! How many tuples `glee vote --batch` decides a second, reading and writing its JSON, beside the bare copy of that JSON
//! through a parser.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::Instant;

const GLEE: &str = env!("CARGO_BIN_EXE_glee");

/// Inputs of a thousand tuples each.
const LINES: u32 = 500;

/// Tuples with votes of every kind, and a conflict for every seventh.
fn line(seed: u32) -> String {
    let actions = ["KEEP", "DROP", "FLIP", "FLAG", "MERGE"];
    let reasons = ["WEAK_EVIDENCE", "NEGATION_SCOPE", "OTHER"];
    let (mut tuples, mut flags) = (String::new(), String::new());
    for number in 0..1000_u32 {
        let comma = if number > 0 { "," } else { "" };
        let vote = |voter: u32| {
            let pick = (number.wrapping_mul(31) + voter.wrapping_mul(17) + seed) as usize;
            format!(
                r#"{{"action_type":"{}","reason_code":"{}"}}"#,
                actions[pick % 5],
                reasons[pick % 3]
            )
        };
        let votes = (vote(1), vote(2), vote(3));
        let _ = write!(
            tuples,
            r#"{comma}"t{number}":{{"A":{},"B":{},"C":{}}}"#,
            votes.0, votes.1, votes.2
        );
        if number % 7 == 0 {
            let comma = if number > 0 { "," } else { "" };
            let _ = write!(
                flags,
                r#"{comma}{{"tuple_ids":["t{number}"],"conflict_type":"granularity_overlap_candidate"}}"#
            );
        }
    }
    format!("{{\"actions_by_tuple\":{{{tuples}}},\"conflict_flags\":[{flags}]}}\n")
}

fn main() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let input: String = (0..LINES).map(line).collect();
    let file = folder.path().join("votes.jsonl");
    fs::write(&file, &input).expect("a written file");
    let bare = Instant::now();
    for line in input.lines() {
        let value: serde_json::Value = serde_json::from_str(line).expect("JSON");
        drop(serde_json::to_string(&value));
    }
    let bare = bare.elapsed();
    let started = Instant::now();
    let status = Command::new(GLEE)
        .args(["vote", "--batch"])
        .arg(&file)
        .current_dir(folder.path())
        .env("HOME", folder.path())
        .stdout(Stdio::from(
            File::create(folder.path().join("out.jsonl")).expect("a new file"),
        ))
        .status();
    assert!(
        status.is_ok_and(|status| status.success()),
        "the votes are decided"
    );
    let time = started.elapsed();
    let rate = f64::from(LINES * 1000) / time.as_secs_f64();
    let ratio = time.as_secs_f64() / bare.as_secs_f64();
    writeln!(
        std::io::stderr(),
        "{rate:.0} tuples a second, {ratio:.2} times the bare JSON"
    )
    .expect("a standard error");
}
