//! Tests the history with real files, several processes and altered records.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Barrier};
use std::{fs, thread};

use jiff::Timestamp;
use rusqlite::Connection;

use super::*;
use glee_model::domain::event::{
    DisputeEvent, Event, EventKind, Mode, Plan, ReviewEvent, RunEvent, Settlement,
};
use glee_model::domain::{
    Advice as _, AgentName, Anchor, Answer, Disposition, DisputeNumber, ExitReason, Finding,
    FindingId, Location, Person, RawFinding, Response, Route, Ruler, Ruling, RulingRecord,
    RulingWord, RunId, Severity, Tag,
};

mod files;
mod measures;

fn run(name: &str) -> RunId {
    RunId(format!("0190aaaa-0000-7000-8000-{name:0>12}"))
}

fn started(target: &str) -> EventKind {
    EventKind::Review(ReviewEvent::RunStarted {
        plan: Box::new(Plan {
            root: "/tree".to_owned(),
            target: target.to_owned(),
            tree: "blake3:0".to_owned(),
            mode: Mode::Arbitrate,
            settings: BTreeMap::from([("review.rounds".to_owned(), 1.into())]),
            ..Plan::default()
        }),
    })
}

fn finding(id: u32, tag: Tag, by: &[&str]) -> Finding {
    Finding {
        mandatory: matches!(tag, Tag::Must | Tag::High),
        raised_by: by.iter().map(|name| AgentName::from(*name)).collect(),
        anchor: Some(Anchor {
            file: "src/db.rs".to_owned(),
            block: format!("block {id}"),
            category: "bug".to_owned(),
            text: format!("finding number {id}"),
            ..Anchor::default()
        }),
        ..Finding::raised(
            FindingId::new(id),
            RawFinding {
                severity: Severity::known(tag),
                title: format!("Finding number {id}").into(),
                file: Some("src/db.rs".to_owned()),
                line: Some(id),
                ..RawFinding::default()
            },
        )
    }
}

fn objection(id: u32) -> Response {
    Response {
        finding: FindingId::new(id),
        answer: Answer::Disagree,
        text: "the value is a constant".into(),
        evidence: vec!["src/db.rs:3".into()],
        demonstration: None,
    }
}

fn ruled(dispute: u64, word: RulingWord, by: Ruler) -> EventKind {
    EventKind::Dispute(DisputeEvent::RulingGiven {
        dispute: DisputeNumber(dispute),
        ruling: RulingRecord::new(
            Ruling {
                rationale: "read the code".into(),
                ..Ruling::bare(word)
            },
            by,
        ),
    })
}

fn settled(dispute: u64, disposition: Disposition, by: Ruler) -> EventKind {
    EventKind::Dispute(DisputeEvent::DisputeSettled {
        dispute: DisputeNumber(dispute),
        settlement: Settlement {
            disposition,
            by,
            reason: "".into(),
            until: None,
        },
    })
}

fn judge() -> Ruler {
    Ruler::Judge {
        name: AgentName::from("claude-judge"),
    }
}

/// A run with four disputes: one enforced by a judge, one dismissed by a judge, one escalated and still open, and
/// one discarded by policy.
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
    journal
        .append(
            &run,
            ReviewEvent::FindingsMerged {
                restated: Vec::new(),
                round: 1,
                findings: findings.to_vec(),
            },
        )
        .unwrap();
    for finding in findings.into_iter().take(4) {
        let id = finding.id.number;
        journal.open_dispute(&run, finding, objection(id)).unwrap();
    }
    journal
        .append_all(
            &run,
            [
                EventKind::Dispute(DisputeEvent::RouteChosen {
                    dispute: DisputeNumber(1),
                    route: Route::Judge,
                    person: Some(Person::default()),
                }),
                ruled(1, RulingWord::Enforce, judge()),
                settled(1, Disposition::Enforced, judge()),
                ruled(2, RulingWord::Dismiss, judge()),
                settled(2, Disposition::Refuted, judge()),
                ruled(3, RulingWord::Escalate, judge()),
                settled(4, Disposition::Discarded, Ruler::Policy),
                EventKind::Run(RunEvent::RunEnded {
                    exit: ExitReason::DisputeOpen,
                    millis: 12,
                }),
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
    journal
        .disputes(&filter)
        .unwrap()
        .into_iter()
        .map(|row| row.number.0)
        .collect()
}

#[test]
fn events_since_a_beginning_are_recorded_together_and_none_of_them_without_the_commit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.db");
    let (one, other) = (run("1"), run("2"));
    let events = |run: &RunId| {
        let journal = Journal::open_read(&path).unwrap().unwrap();
        journal.events(run).unwrap().len()
    };
    let mut journal = Journal::open(&path).unwrap();
    journal.append(&one, started("a")).unwrap();
    journal.begin().unwrap();
    journal.append(&one, EventKind::notice("first")).unwrap();
    journal.begin().unwrap();
    journal.append(&other, started("b")).unwrap();
    let opened = journal.open_dispute(&one, finding(1, Tag::Must, &["r"]), objection(1));
    let again = [EventKind::notice("second"), opened.unwrap().kind];
    // A dispute is opened once. What was appended before the error stays.
    journal.append_all(&one, again).unwrap_err();
    assert_eq!((events(&one), events(&other)), (1, 0));
    journal.commit().unwrap();
    journal.commit().unwrap();
    assert_eq!((events(&one), events(&other)), (3, 1));

    journal.begin().unwrap();
    journal.append(&one, EventKind::notice("lost")).unwrap();
    drop(journal);
    assert_eq!((events(&one), events(&other)), (3, 1));
    let mut journal = Journal::open(&path).unwrap();
    assert!(journal.verify().unwrap().fault.is_none());
    journal.append(&one, EventKind::notice("next")).unwrap();
    assert_eq!(events(&one), 4);
}

#[test]
fn what_was_appended_is_read_back() {
    let (_folder, path, mut journal) = fresh();
    let run = run("1");
    let first = journal.append(&run, started("src/")).unwrap();
    let second = journal
        .append(
            &run,
            RunEvent::RunEnded {
                exit: ExitReason::Clean,
                millis: 3,
            },
        )
        .unwrap();
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

#[test]
fn views_answer_what_commands_ask() {
    let (_folder, _path, mut journal) = fresh();
    let run = sample(&mut journal);

    let rows = journal.runs(None).unwrap();
    let [row] = rows.as_slice() else {
        panic!("{rows:?}")
    };
    assert_eq!(
        (row.target.as_str(), row.mode, row.exit),
        ("src/", Mode::Arbitrate, Some(ExitReason::DisputeOpen))
    );
    assert_eq!(
        (row.findings, row.mandatory, row.disputes, row.open_disputes),
        (5, 4, 4, 2)
    );
    assert!(row.ended.is_some_and(|ended| ended >= row.started) && !row.undone);
    let ids: Vec<_> = journal
        .findings(&run)
        .unwrap()
        .into_iter()
        .map(|finding| finding.id.number)
        .collect();
    assert_eq!(ids, [1, 2, 3, 4, 5]);

    journal
        .append_all(
            &run,
            [
                EventKind::Run(RunEvent::RunResumed),
                EventKind::Run(RunEvent::RunUndone {
                    files: vec!["a.py".to_owned(), "b.py".to_owned()],
                    left: 0,
                }),
            ],
        )
        .unwrap();
    let row = journal.runs(Some(1)).unwrap().remove(0);
    assert_eq!((row.ended, row.exit, row.undone), (None, None, true));

    let bindings = journal.bindings().unwrap();
    let said: Vec<_> = bindings
        .iter()
        .map(|binding| {
            (
                binding.dispute.to_string(),
                binding.disposition.clone(),
                binding.rationale.as_written(),
            )
        })
        .collect();
    assert_eq!(
        said,
        [
            ("1".to_owned(), Some(Disposition::Enforced), "read the code"),
            ("2".to_owned(), Some(Disposition::Refuted), "read the code"),
            ("3".to_owned(), None, "read the code"),
            ("4".to_owned(), None, ""),
        ]
    );
    assert_eq!(
        bindings[1].anchor,
        finding(2, Tag::High, &[]).anchor.unwrap()
    );
    assert_eq!(journal.verify().unwrap().fault, None);
}

#[test]
fn a_dispute_is_told_by_its_events() {
    let (_folder, _path, mut journal) = fresh();
    let run = sample(&mut journal);
    let record = journal.dispute(DisputeNumber(1)).unwrap().unwrap();
    assert_eq!(record.run, run);
    assert_eq!(
        record.dispute.finding,
        finding(1, Tag::Must, &["codex", "gemini"])
    );
    assert_eq!(record.dispute.objection, objection(1));
    assert_eq!(record.dispute.route, Some(Route::Judge));
    assert_eq!(record.dispute.rulings.len(), 1);
    assert_eq!(record.dispute.disposition, Some(Disposition::Enforced));
    assert_eq!(record.settlement.unwrap().by, judge());
    assert!(record.settled_at.is_some());
    assert_eq!(journal.dispute(DisputeNumber(5)).unwrap(), None);
}

#[test]
fn filters_hold_together() {
    let (_folder, _path, mut journal) = fresh();
    sample(&mut journal);
    let all = DisputeFilter::default;
    let word = |word| DisputeFilter {
        ruling: Some(RulingFilter::Word(word)),
        ..all()
    };
    let reviewer = |name: &str| DisputeFilter {
        reviewer: Some(name.to_owned()),
        ..all()
    };
    let now = Timestamp::now();
    let hour = jiff::SignedDuration::from_hours(1);

    assert_eq!(numbers(&journal, all()), [4, 3, 2, 1]);
    assert_eq!(
        numbers(
            &journal,
            DisputeFilter {
                recent: Some(2),
                ..all()
            }
        ),
        [4, 3]
    );
    assert_eq!(
        numbers(
            &journal,
            DisputeFilter {
                open_only: true,
                ..all()
            }
        ),
        [4, 3],
        "nobody ruled on what the policy discarded"
    );
    assert_eq!(
        numbers(
            &journal,
            DisputeFilter {
                settled_only: true,
                ..all()
            }
        ),
        [2, 1]
    );
    assert_eq!(
        numbers(
            &journal,
            DisputeFilter {
                before: Some(DisputeNumber(3)),
                ..all()
            }
        ),
        [2, 1]
    );
    let later = DisputeFilter {
        settled_only: true,
        before: Some(DisputeNumber(4)),
        recent: Some(1),
        ..all()
    };
    assert_eq!(numbers(&journal, later), [2]);
    assert_eq!(numbers(&journal, word(RulingWord::Enforce)), [1]);
    assert_eq!(numbers(&journal, word(RulingWord::Dismiss)), [2]);
    assert_eq!(numbers(&journal, word(RulingWord::Escalate)), [3]);
    let discarded = DisputeFilter {
        ruling: Some(RulingFilter::Disposition("discarded")),
        ..all()
    };
    assert_eq!(numbers(&journal, discarded), [4]);
    assert_eq!(numbers(&journal, reviewer("codex")), [4, 2, 1]);
    assert_eq!(numbers(&journal, reviewer("gemini")), [3, 1]);
    assert_eq!(numbers(&journal, reviewer("nobody")), [0_u64; 0]);
    assert_eq!(
        numbers(
            &journal,
            DisputeFilter {
                open_only: true,
                ..reviewer("codex")
            }
        ),
        [4]
    );
    assert_eq!(
        numbers(
            &journal,
            DisputeFilter {
                recent: Some(1),
                ..reviewer("codex")
            }
        ),
        [4]
    );
    assert_eq!(
        numbers(
            &journal,
            DisputeFilter {
                since: Some(now - hour),
                ..all()
            }
        ),
        [4, 3, 2, 1]
    );
    assert_eq!(
        numbers(
            &journal,
            DisputeFilter {
                since: Some(now + hour),
                ..all()
            }
        ),
        [0_u64; 0]
    );

    let row = journal
        .disputes(&word(RulingWord::Escalate))
        .unwrap()
        .remove(0);
    assert_eq!(
        (row.tag.as_str(), row.title.as_written(), row.finding),
        ("MUST", "Finding number 3", FindingId::new(3))
    );
    assert_eq!(row.location, Some(Location::line("src/db.rs", 3)));
    assert_eq!(
        (row.raised_by, row.disposition, row.settled_at),
        (vec!["gemini".to_owned()], None, None)
    );
}

#[test]
fn a_person_settles_an_open_dispute_once() {
    let (_folder, _path, mut journal) = fresh();
    let run = sample(&mut journal);
    let later = Disposition::Deferred {
        reference: "issue 12".to_owned(),
    };
    assert_eq!(
        journal
            .resolve(
                DisputeNumber(3),
                GivenRuling::new(later.clone(), "next month")
            )
            .unwrap(),
        run
    );
    let record = journal.dispute(DisputeNumber(3)).unwrap().unwrap();
    let words: Vec<_> = record
        .dispute
        .rulings
        .iter()
        .map(|record| (record.ruling.ruling, record.by.clone()))
        .collect();
    assert_eq!(
        words,
        [
            (RulingWord::Escalate, judge()),
            (RulingWord::Dismiss, Ruler::Human(Person::default()))
        ]
    );
    assert_eq!(
        record.settlement,
        Some(Settlement {
            disposition: later,
            by: Ruler::Human(Person::default()),
            reason: "next month".into(),
            until: None,
        })
    );

    let before = journal.events(&run).unwrap().len();
    let again = journal
        .resolve(
            DisputeNumber(3),
            GivenRuling::new(Disposition::Enforced, ""),
        )
        .unwrap_err();
    assert_eq!(again.to_string(), "dispute 3 is already settled: deferred");
    let unknown = journal
        .resolve(
            DisputeNumber(9),
            GivenRuling::new(Disposition::Enforced, ""),
        )
        .unwrap_err();
    assert_eq!(
        (unknown.to_string(), unknown.exit()),
        ("there is no dispute 9".to_owned(), ExitReason::Usage)
    );
    assert_eq!(journal.events(&run).unwrap().len(), before);
    assert_eq!(journal.verify().unwrap().fault, None);
}

#[test]
fn a_ruling_is_revoked_ended_and_given_again() {
    let (_folder, _path, mut journal) = fresh();
    let run = sample(&mut journal);
    let binding = |journal: &Journal, number: usize| journal.bindings().unwrap().remove(number - 1);

    assert_eq!(
        journal
            .reopen(DisputeNumber(2), "the code changed".to_owned())
            .unwrap(),
        run
    );
    assert_eq!(
        numbers(
            &journal,
            DisputeFilter {
                open_only: true,
                ..DisputeFilter::default()
            }
        ),
        [4, 3, 2]
    );
    let row = journal
        .disputes(&DisputeFilter::default())
        .unwrap()
        .remove(2);
    assert_eq!(
        (row.ruling, row.ruled_by, row.disposition, row.settled_at),
        (None, None, None, None)
    );
    assert_eq!(binding(&journal, 2).disposition, None);
    let record = journal.dispute(DisputeNumber(2)).unwrap().unwrap();
    assert_eq!(
        (
            record.dispute.rulings.len(),
            record.settlement,
            record.settled_at
        ),
        (1, None, None)
    );
    assert_eq!(record.reopened.unwrap().reason, "the code changed");
    let events = journal.events(&run).unwrap().len();
    let again = journal.reopen(DisputeNumber(2), String::new()).unwrap_err();
    assert_eq!(
        (again.to_string(), again.exit()),
        ("dispute 2 is already open".to_owned(), ExitReason::Usage)
    );
    assert_eq!(
        journal
            .reopen(DisputeNumber(9), String::new())
            .unwrap_err()
            .to_string(),
        "there is no dispute 9"
    );
    assert_eq!(journal.events(&run).unwrap().len(), events);

    let day = jiff::civil::date(2031, 5, 1);
    journal
        .resolve(
            DisputeNumber(2),
            GivenRuling {
                until: Some(day),
                ..GivenRuling::new(Disposition::AcceptedRisk, "")
            },
        )
        .unwrap();
    assert_eq!(
        (binding(&journal, 2).until, binding(&journal, 2).ended),
        (Some(day), None)
    );

    let disputes = [2, 3, 4].map(|number| (DisputeNumber(number), run.clone()));
    assert_eq!(journal.end_rulings(&disputes).unwrap(), 1);
    assert!(binding(&journal, 2).ended.is_some() && binding(&journal, 3).ended.is_none());
    let discarded = journal.dispute(DisputeNumber(4)).unwrap().unwrap();
    assert_eq!(discarded.ended_at, None, "there is no ruling to end");
    journal.reopen(DisputeNumber(2), String::new()).unwrap();
    assert_eq!(
        (binding(&journal, 2).until, binding(&journal, 2).ended),
        (None, None)
    );
    assert_eq!(journal.verify().unwrap().fault, None);
}

#[test]
fn a_run_is_found_by_either_end_of_its_id() {
    let (_folder, _path, mut journal) = fresh();
    let ids = [
        "0190aaaa-0000-7000-8000-00000000abcd",
        "0190aaaa-0000-7000-8000-00000000abce",
        "0190bbbb-0000",
    ];
    assert!(matches!(
        journal.find_run("last"),
        Err(JournalError::UnknownRun(_))
    ));
    for id in ids {
        journal.append(&RunId(id.to_owned()), started("x")).unwrap();
    }
    let found = |text| {
        journal
            .find_run(text)
            .map(|run| run.0)
            .map_err(|error| error.to_string())
    };
    assert_eq!(found("last").as_deref(), Ok(ids[2]));
    assert_eq!(found("0190B").as_deref(), Ok(ids[2]));
    assert_eq!(found("abcd").as_deref(), Ok(ids[0]));
    assert_eq!(found(ids[1]).as_deref(), Ok(ids[1]));
    assert_eq!(
        found("0190a"),
        Err(format!(
            "`0190a` matches several runs: {}, {}",
            ids[1], ids[0]
        ))
    );
    assert_eq!(found("%"), Err("there is no run `%`".to_owned()));
    assert_eq!(found(""), Err("there is no run ``".to_owned()));
}

/// Tests that the verification finds every change of a row that the constraints of the schema permit, and
/// reports the changed record.
#[test]
fn every_altered_column_is_found() {
    let cases = [
        (
            "UPDATE event SET id = 99 WHERE id = 9",
            Some(9),
            Corruption::Removed,
        ),
        (
            "UPDATE event SET run = 'other' WHERE id = 9",
            Some(9),
            Corruption::Altered,
        ),
        (
            "UPDATE event SET seq = 99 WHERE id = 9",
            Some(9),
            Corruption::Altered,
        ),
        (
            "UPDATE event SET at = '2020-01-01T00:00:00.000000Z' WHERE id = 9",
            Some(9),
            Corruption::Altered,
        ),
        (
            "UPDATE event SET body = replace(body, 'enforced', 'refuted') WHERE id = 9",
            Some(9),
            Corruption::Altered,
        ),
        (
            "UPDATE event SET prev = hash WHERE id = 9",
            Some(9),
            Corruption::Altered,
        ),
        (
            "UPDATE event SET hash = prev WHERE id = 9",
            Some(9),
            Corruption::Altered,
        ),
        (
            "DELETE FROM event WHERE id = 9",
            Some(9),
            Corruption::Removed,
        ),
        (
            "DELETE FROM event WHERE id = 14",
            Some(14),
            Corruption::Removed,
        ),
        (
            "DELETE FROM event WHERE id = 9; UPDATE event SET id = id - 1 WHERE id > 9",
            Some(9),
            Corruption::OutOfOrder,
        ),
        (
            "UPDATE event SET id = -id + 100 WHERE id IN (4, 5); UPDATE event SET id = iif(id = 96, 5, 4) WHERE id > 90",
            Some(4),
            Corruption::OutOfOrder,
        ),
        ("UPDATE chain SET events = 13", Some(14), Corruption::Added),
        (
            "UPDATE chain SET events = 15",
            Some(15),
            Corruption::Removed,
        ),
        ("UPDATE chain SET hash = 'x'", None, Corruption::End),
        (
            "DELETE FROM event WHERE id = 14; UPDATE chain SET events = 13",
            None,
            Corruption::End,
        ),
    ];
    for (sql, record, flaw) in cases {
        let (_folder, path, mut journal) = fresh();
        sample(&mut journal);
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        let fault = journal
            .verify()
            .unwrap()
            .fault
            .unwrap_or_else(|| panic!("not found: {sql}"));
        assert_eq!((fault.record, fault.flaw), (record, flaw), "{sql}");
    }
}

#[test]
fn every_altered_view_is_found() {
    for (table, columns) in [
        ("run", "id started ended target mode exit undone"),
        ("finding", "run id was mandatory body"),
        ("problem", "number key run finding alias_of"),
        (
            "dispute",
            "number run opened settled finding tag title location raised_by ruling ruled_by rationale disposition",
        ),
        (
            "judged",
            "dispute finding tag title location raised_by places",
        ),
        ("raiser", "reviewer dispute"),
    ] {
        let changes = columns.split(' ').map(|column| {
            let value = match column {
                "id" if table == "finding" => "id + 70".to_owned(),
                "number" | "dispute" | "finding" | "undone" | "mandatory" => {
                    format!("{column} + 70")
                }
                "reviewer" => "reviewer || 7".to_owned(),
                _ => "'77'".to_owned(),
            };
            format!("UPDATE {table} SET {column} = {value}")
        });
        for sql in changes.chain([format!("DELETE FROM {table}")]) {
            let (_folder, path, mut journal) = fresh();
            sample(&mut journal);
            Connection::open(&path)
                .unwrap()
                .execute_batch(&sql)
                .unwrap();
            let fault = journal
                .verify()
                .unwrap()
                .fault
                .unwrap_or_else(|| panic!("not found: {sql}"));
            let Corruption::View { row } = fault.flaw else {
                panic!("{sql}: {fault}")
            };
            assert!(row.starts_with(&format!("{table} ")), "{sql}: {row}");
        }
    }
}

#[test]
fn a_fault_is_named_in_words() {
    let place = Some((run("1"), 3));
    let fault = Fault {
        record: Some(9),
        place,
        flaw: Corruption::Altered,
    };
    assert_eq!(
        fault.to_string(),
        "record 9 (event 3 of run 0190aaaa-0000-7000-8000-000000000001) was altered"
    );
    let fault = Fault {
        record: None,
        place: None,
        flaw: Corruption::View {
            row: "dispute 4".to_owned(),
        },
    };
    assert_eq!(
        fault.to_string(),
        "the history was altered: dispute 4 does not match the events"
    );
}

#[test]
fn many_writers_make_one_chain() {
    let folder = tempfile::tempdir().unwrap();
    let path = Arc::new(path_for(folder.path(), "abc"));
    let writers = 8_u32;
    let each = 25_u32;
    let barrier = Arc::new(Barrier::new(writers as usize));
    let threads: Vec<_> = (0..writers)
        .map(|writer| {
            let path = Arc::clone(&path);
            let barrier = Arc::clone(&barrier);
            thread::spawn(move || {
                barrier.wait();
                // Several threads can find no database at the same time, but only one thread creates the schema.
                let mut journal = Journal::open(&path)?;
                let run = run(&writer.to_string());
                journal.append(&run, started("x"))?;
                for id in 1..=each {
                    journal.open_dispute(
                        &run,
                        finding(id, Tag::Must, &["codex"]),
                        objection(id),
                    )?;
                }
                Ok::<_, JournalError>(())
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap().unwrap();
    }
    let journal = Journal::open_read(&path).unwrap().unwrap();
    let check = journal.verify().unwrap();
    assert_eq!(
        (check.records, check.fault),
        (u64::from(writers * (each + 1)), None)
    );
    let all: Vec<_> = (1..=u64::from(writers * each)).rev().collect();
    assert_eq!(numbers(&journal, DisputeFilter::default()), all);
}

#[test]
fn an_event_survives_its_record() {
    let (_folder, path, mut journal) = fresh();
    let run = sample(&mut journal);
    let written: Vec<Event> = journal.events(&run).unwrap();
    drop(journal);
    assert_eq!(Journal::open(&path).unwrap().events(&run).unwrap(), written);
    assert_eq!(
        written.iter().map(|event| event.seq).collect::<Vec<_>>(),
        (1..=14).collect::<Vec<_>>()
    );
}
