//! The history under load: `glee disputes --recent 10` must not grow slower with what is recorded, an event must
//! be on the disk soon, and a review of what was reviewed before must not wait for what is recorded.

use std::path::Path;
use std::process::{Command, Stdio};

use criterion::{BatchSize, BenchmarkId, Criterion, criterion_group, criterion_main};
use glee_model::domain::event::{DisputeEvent, EventKind, Mode, Plan, ReviewEvent, Settlement};
use glee_model::domain::{
    AgentName, Anchor, Answer, Disposition, DisputeNumber, Finding, FindingId, Objector,
    RawFinding, Response, Ruler, Ruling, RulingRecord, RulingWord, RunId, Severity, Sides, Tag,
};
use glee_store::history::{DisputeFilter, Journal, RulingFilter};

/// Disputes in one run.
const A_RUN: u64 = 50;

fn plan() -> EventKind {
    let plan = Plan {
        root: "/tree".to_owned(),
        target: "src/".to_owned(),
        tree: "blake3:0".to_owned(),
        mode: Mode::Arbitrate,
        ..Plan::default()
    };
    EventKind::Review(ReviewEvent::RunStarted {
        plan: Box::new(plan),
    })
}

/// A dispute from its beginning to its end; every tenth stays open.
fn dispute(number: u64) -> Vec<EventKind> {
    let id = FindingId::new(u32::try_from(number % A_RUN + 1).expect("a run has few findings"));
    let file = format!("src/part{}/db.rs", number % 997);
    let finding = Finding {
        mandatory: true,
        raised_by: vec![AgentName(format!("reviewer-{}", number % 7))],
        anchor: Some(Anchor {
            file: file.clone(),
            block: format!("{number:064x}"),
            category: "sql-injection".to_owned(),
            text: format!("bind value {number} instead of formatting it into the query"),
            ..Anchor::default()
        }),
        ..Finding::raised(
            id,
            RawFinding {
                severity: Severity::known(if number.is_multiple_of(2) {
                    Tag::Must
                } else {
                    Tag::High
                }),
                title: format!("Bind value {number} instead of formatting it into the query")
                    .into(),
                body: "The name comes from the request and reaches the query as it is. "
                    .repeat(5)
                    .into(),
                file: Some(file),
                line: Some(42),
                end_line: None,
                category: Some("sql-injection".to_owned()),
                suggestion: None,
                confidence: None,
                evidence: vec!["src/web.rs:9".into()],
                rule: None,
                guideline: None,
                cwe: None,
                places: Vec::new(),
                insists_on: None,
                replacement: None,
                demonstration: None,
            },
        )
    };
    let objection = Response {
        finding: id,
        answer: Answer::Disagree,
        text: "The name is one of three constants. ".repeat(5).into(),
        evidence: vec!["src/names.rs:1".into()],
        demonstration: None,
    };
    let number = DisputeNumber(number);
    let dispute = Sides {
        members: Vec::new(),
        finding,
        objection,
        objector: Objector::Coder,
        earlier: Vec::new(),
        participant: None,
    }
    .numbered(number);
    let mut events = vec![EventKind::Dispute(DisputeEvent::DisputeOpened {
        dispute: Box::new(dispute),
    })];
    if !number.0.is_multiple_of(10) {
        let by = || Ruler::Judge {
            name: AgentName::from("claude-judge"),
        };
        let ruling = Ruling {
            ruling: if number.0.is_multiple_of(3) {
                RulingWord::Enforce
            } else {
                RulingWord::Dismiss
            },
            rationale: "names.rs says so".into(),
            grounds: None,
            citations: Vec::new(),
            new_tag: None,
            duplicate_of: None,
            coder_evidence: None,
            members: Vec::new(),
        };
        let disposition = if number.0.is_multiple_of(3) {
            Disposition::Enforced
        } else {
            Disposition::Refuted
        };
        events.push(EventKind::Dispute(DisputeEvent::RulingGiven {
            dispute: number,
            ruling: RulingRecord::new(ruling, by()),
        }));
        let settlement = Settlement {
            disposition,
            by: by(),
            reason: "".into(),
            until: None,
        };
        events.push(EventKind::Dispute(DisputeEvent::DisputeSettled {
            dispute: number,
            settlement,
        }));
    }
    events
}

fn run(number: u64) -> RunId {
    RunId(format!("0190aaaa-0000-7000-8000-{number:012x}"))
}

fn fill(path: &Path, disputes: u64, a_run: u64) {
    let mut journal = Journal::open(path).expect("a history");
    for first in (1..=disputes).step_by(a_run as usize) {
        let events = std::iter::once(plan()).chain((first..first + a_run).flat_map(dispute));
        journal.append_all(&run(first), events).expect("events");
    }
}

fn listing(bench: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a folder");
    let sizes = [100_u64, 100_000].map(|size| (size, folder.path().join(format!("{size}.db"))));
    for (size, path) in &sizes {
        fill(path, *size, A_RUN);
    }
    let all = DisputeFilter {
        recent: Some(10),
        ..DisputeFilter::default()
    };
    let filters = [
        ("all", all.clone()),
        (
            "open",
            DisputeFilter {
                open_only: true,
                ..all.clone()
            },
        ),
        (
            "enforced",
            DisputeFilter {
                ruling: Some(RulingFilter::Word(RulingWord::Enforce)),
                ..all.clone()
            },
        ),
        (
            "reviewer",
            DisputeFilter {
                reviewer: Some("reviewer-3".to_owned()),
                ..all
            },
        ),
    ];
    for (name, filter) in &filters {
        let mut group = bench.benchmark_group(format!("recent 10, {name}"));
        for (size, path) in &sizes {
            group.bench_with_input(BenchmarkId::from_parameter(size), path, |bench, path| {
                bench.iter(|| {
                    let journal = Journal::open_read(path)
                        .expect("readable")
                        .expect("a history");
                    assert_eq!(journal.disputes(filter).expect("rows").len(), 10);
                });
            });
        }
    }
    let mut group = bench.benchmark_group("glee disputes --recent 10");
    for (size, path) in &sizes {
        group.bench_with_input(BenchmarkId::from_parameter(size), path, |bench, path| {
            bench.iter(|| {
                let status = Command::new(env!("CARGO_BIN_EXE_glee"))
                    .args(["disputes", "--recent", "10", "--history"])
                    .arg(path)
                    .stdout(Stdio::null())
                    .stderr(Stdio::null())
                    .status();
                assert!(status.is_ok_and(|status| status.success()));
            });
        });
    }
}

fn appending(bench: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut journal = Journal::open(&folder.path().join("history.db")).expect("a history");
    let run = run(1);
    journal.append(&run, plan()).expect("an event");
    let mut number = 0;
    bench.bench_function("append one event, synced", |bench| {
        bench.iter_batched(
            || {
                number += 1;
                dispute(number).swap_remove(0)
            },
            |event| journal.append(&run, event).expect("an event"),
            BatchSize::SmallInput,
        );
    });
}

/// A review that finds all answers in the history, beside the same review in a history with nothing else.
fn identical_review(bench: &mut Criterion) {
    let mut group = bench.benchmark_group("identical review");
    group.sample_size(10);
    for (name, runs) in [("baseline: no other run", 0), ("10,000 runs", 10_000)] {
        let home = tempfile::tempdir().expect("a folder");
        let project = home.path().join("project");
        for number in 0..100 {
            let folder = project.join(format!("src/part{number}"));
            std::fs::create_dir_all(&folder).expect("a fresh folder");
            let code = format!("fn find{number}(x: u32) -> u32 {{\n    x + {number}\n}}\n");
            std::fs::write(folder.join("db.rs"), code.repeat(20)).expect("a written file");
        }
        let config = home.path().join(".config/glee");
        std::fs::create_dir_all(&config).expect("a fresh folder");
        let script = "cat > /dev/null; echo GLEE-REVIEW-END nonce=$GLEE_NONCE findings=0";
        let agent = format!("  - {{name: r, role: reviewer, command: [sh, -c, '{script}']}}\n");
        std::fs::write(
            config.join("config.yml"),
            format!("version: 1\nagents:\n{agent}"),
        )
        .expect("a written file");
        let history = home.path().join("history.db");
        fill(&history, runs, 1);
        let review = || {
            let status = Command::new(env!("CARGO_BIN_EXE_glee"))
                .args(["review", "src", "--no-input", "--history"])
                .arg(&history)
                .current_dir(&project)
                .env("HOME", home.path())
                .env("GLEE_STATE_DIR", home.path().join("state"))
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status();
            assert!(status.is_ok_and(|status| status.success()));
        };
        review();
        group.bench_function(name, |bench| bench.iter(review));
    }
    group.finish();
}

criterion_group!(benches, identical_review, listing, appending);
criterion_main!(benches);
