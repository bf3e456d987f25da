//! The history as its users meet it: files on disk, several processes, somebody who tampers.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fs;
use std::sync::{Arc, Barrier};
use std::thread;

use rusqlite::Connection;

use super::*;
use crate::domain::{AgentName, Answer, Finding, RawFinding, Response, Route, Ruling, RulingRecord, Severity, Tag};
use crate::event::{Event, EventKind, Plan};

fn run(name: &str) -> RunId {
    RunId(format!("0190aaaa-0000-7000-8000-{name:0>12}"))
}

fn started(target: &str) -> EventKind {
    EventKind::RunStarted {
        plan: Box::new(Plan {
            root: "/tree".to_owned(),
            target: target.to_owned(),
            commit: None,
            tree: "blake3:0".to_owned(),
            mode: Mode::Arbitrate,
            agents: Vec::new(),
            shards: Vec::new(),
            skipped: Vec::new(),
            settings: BTreeMap::from([("review.rounds".to_owned(), 1.into())]),
        }),
    }
}

fn finding(id: u32, tag: Tag, by: &[&str]) -> Finding {
    Finding {
        id: FindingId(id),
        raw: RawFinding {
            severity: Severity::known(tag),
            title: format!("Finding number {id}"),
            body: String::new(),
            file: Some("src/db.rs".to_owned()),
            line: Some(id),
            end_line: None,
            category: None,
            suggestion: None,
            confidence: None,
            evidence: Vec::new(),
            rule: None,
        },
        mandatory: matches!(tag, Tag::Must | Tag::High),
        raised_by: by.iter().map(|name| AgentName::from(*name)).collect(),
        round: 1,
        anchor: Some(Anchor {
            file: "src/db.rs".to_owned(),
            block: format!("block {id}"),
            category: "bug".to_owned(),
            text: format!("finding number {id}"),
        }),
        reverses: None,
    }
}

fn objection(id: u32) -> Response {
    Response {
        finding: FindingId(id),
        answer: Answer::Disagree,
        text: "the value is a constant".to_owned(),
        evidence: vec!["src/db.rs:3".to_owned()],
    }
}

fn ruled(dispute: u64, word: RulingWord, by: Ruler) -> EventKind {
    EventKind::RulingGiven {
        dispute: DisputeNumber(dispute),
        ruling: RulingRecord {
            ruling: Ruling {
                ruling: word,
                rationale: "read the code".to_owned(),
                grounds: None,
                citations: Vec::new(),
                new_tag: None,
                duplicate_of: None,
            },
            by,
        },
    }
}

fn settled(dispute: u64, disposition: Disposition, by: Ruler) -> EventKind {
    EventKind::DisputeSettled {
        dispute: DisputeNumber(dispute),
        settlement: Settlement { disposition, by, reason: String::new() },
    }
}

fn judge() -> Ruler {
    Ruler::Judge { name: AgentName::from("claude-judge") }
}

/// One run with four disputes: enforced by a judge, dismissed by a judge, escalated and open, discarded by policy.
fn sample(journal: &mut Journal) -> RunId {
    let run = run("1");
    let findings = [
        finding(1, Tag::Must, &["codex", "gemini"]),
        finding(2, Tag::High, &["codex"]),
        finding(3, Tag::Must, &["gemini"]),
        finding(4, Tag::High, &["codex"]),
        finding(5, Tag::Low, &["gemini"]),
    ];
    journal.append(&run, started("src/")).unwrap();
    journal.append(&run, EventKind::FindingsMerged { round: 1, findings: findings.to_vec() }).unwrap();
    for finding in findings.into_iter().take(4) {
        let id = finding.id.0;
        journal.open_dispute(&run, finding, objection(id)).unwrap();
    }
    journal
        .append_all(
            &run,
            [
                EventKind::RouteChosen { dispute: DisputeNumber(1), route: Route::Judge, by_person: true },
                ruled(1, RulingWord::Enforce, judge()),
                settled(1, Disposition::Enforced, judge()),
                ruled(2, RulingWord::Dismiss, judge()),
                settled(2, Disposition::Refuted, judge()),
                ruled(3, RulingWord::Escalate, judge()),
                settled(4, Disposition::Discarded, Ruler::Policy),
                EventKind::RunEnded { exit: ExitReason::DisputeOpen, millis: 12 },
            ],
        )
        .unwrap();
    run
}

fn fresh() -> (tempfile::TempDir, PathBuf, Journal) {
    let folder = tempfile::tempdir().unwrap();
    let path = path_for(folder.path(), "abc");
    let journal = Journal::open(&path).unwrap();
    (folder, path, journal)
}

fn numbers(journal: &Journal, filter: DisputeFilter) -> Vec<u64> {
    journal.disputes(&filter).unwrap().into_iter().map(|row| row.number.0).collect()
}

#[test]
fn what_was_appended_is_read_back() {
    let (_folder, path, mut journal) = fresh();
    let run = run("1");
    let first = journal.append(&run, started("src/")).unwrap();
    let second = journal.append(&run, EventKind::RunEnded { exit: ExitReason::Clean, millis: 3 }).unwrap();
    assert_eq!((first.seq, second.seq), (1, 2));
    let reader = Journal::open_read(&path).unwrap().unwrap();
    assert_eq!(reader.events(&run).unwrap(), [first, second]);
    assert_eq!(reader.events(&super::tests::run("2")).unwrap(), []);
}

#[test]
fn verifies_what_it_wrote() {
    let (_folder, _path, mut journal) = fresh();
    sample(&mut journal);
    let check = journal.verify().unwrap();
    assert_eq!((check.records, check.fault), (14, None));
}
