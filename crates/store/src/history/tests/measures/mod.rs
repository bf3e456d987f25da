//! Tests that the database contains the correct measures for random events and for histories of earlier schemas.

mod changed;
mod fold;
mod reused;

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::history::projections;
use fold::Fold;
use glee_model::domain::event::{CallAnswer, CallId, FixRequest, Purpose, TreeChange};
use glee_model::domain::{
    Agent, AgreementCount, CallMetadata, Class, Corroboration, Cwe, DebateMessage, Dispute,
    FindingTally, Objector, PanelVote, Person, Recheck, Reuse, Role, RulingAudit, Sides, TallyKind,
    Usage,
};

const REVIEWERS: [&str; 3] = ["ada", "bob", "cyd"];
const RUNS: usize = 3;
const JUDGES: [&str; 3] = ["jo", "kim", "lee"];
/// The models of [`REVIEWERS`] and [`JUDGES`]. Two reviewers share a model.
const MODELS: [&str; 6] = ["m1", "m1", "m2", "j1", "j2", "unknown"];

#[derive(Clone, Debug)]
enum Op {
    Answer {
        run: usize,
        reviewer: usize,
    },
    /// The finding is alone, or with the member `b` of its group.
    Merge {
        run: usize,
        finding: u32,
        raisers: u8,
        confirmed: u8,
        category: bool,
        debated: bool,
        member: bool,
    },
    Join {
        newer: u32,
        older: u32,
    },
    Open {
        run: usize,
        finding: u32,
    },
    Rule {
        dispute: u64,
        run: usize,
        judge: usize,
        word: RulingWord,
    },
    Panel {
        dispute: u64,
        words: [Option<RulingWord>; 3],
        word: RulingWord,
    },
    Settle {
        dispute: u64,
        disposition: Disposition,
        by: usize,
    },
    Revoke {
        dispute: u64,
    },
    End {
        dispute: u64,
    },
    Audit {
        dispute: u64,
        judge: usize,
        word: Option<RulingWord>,
    },
    Respond {
        run: usize,
        finding: u32,
        implemented: bool,
        repair: bool,
    },
    Touch {
        run: usize,
        finding: u32,
    },
    Recheck {
        run: usize,
        finding: u32,
        resolved: bool,
    },
    Fix {
        run: usize,
        finding: u32,
    },
    Undo {
        run: usize,
        redo: bool,
        /// The number of the finding whose file is meant; `None` for all.
        only: Option<u32>,
    },
    Call {
        run: usize,
        judge: bool,
        who: usize,
        usd: Option<u32>,
        model: bool,
    },
}

fn word() -> impl Strategy<Value = RulingWord> {
    select(vec![
        RulingWord::Enforce,
        RulingWord::Dismiss,
        RulingWord::Escalate,
    ])
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let run = 0..RUNS;
    let finding = 1..5_u32;
    let dispute = 1..6_u64;
    let at = (run.clone(), finding.clone());
    let disposition = select(vec![
        Disposition::Enforced,
        Disposition::Refuted,
        Disposition::Discarded,
        Disposition::AcceptedRisk,
        Disposition::Deferred {
            reference: "#1".to_owned(),
        },
        Disposition::Duplicate {
            of: "F1".to_owned(),
        },
        Disposition::NotMandatory,
    ]);
    let words = [
        proptest::option::of(word()),
        proptest::option::of(word()),
        proptest::option::of(word()),
    ];
    let op = prop_oneof![
        1 => (run.clone(), 0..3_usize).prop_map(|(run, reviewer)| Op::Answer { run, reviewer }),
        3 => (at.clone(), 1..8_u8, 0..8_u8, any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
            |((run, finding), raisers, confirmed, category, debated, member)| Op::Merge {
                run,
                finding,
                raisers,
                confirmed,
                category,
                debated,
                member
            }
        ),
        1 => (1..5_u32, 1..5_u32).prop_map(|(newer, older)| Op::Join { newer, older }),
        1 => at.clone().prop_map(|(run, finding)| Op::Open { run, finding }),
        1 => at.clone().prop_map(|(run, finding)| Op::Open { run, finding }),
        1 => (dispute.clone(), run.clone(), 0..3_usize, word()).prop_map(|(dispute, run, judge, word)| Op::Rule {
            dispute,
            run,
            judge,
            word
        }),
        1 => (dispute.clone(), words, word()).prop_map(|(dispute, words, word)| Op::Panel { dispute, words, word }),
        1 => (dispute.clone(), disposition, 0..4_usize).prop_map(|(dispute, disposition, by)| Op::Settle {
            dispute,
            disposition,
            by
        }),
        1 => dispute.clone().prop_map(|dispute| Op::Revoke { dispute }),
        1 => dispute.clone().prop_map(|dispute| Op::End { dispute }),
        1 => (dispute, 0..3_usize, proptest::option::of(word())).prop_map(|(dispute, judge, word)| Op::Audit {
            dispute,
            judge,
            word
        }),
        1 => (at.clone(), any::<bool>(), any::<bool>()).prop_map(|((run, finding), implemented, repair)| Op::Respond {
            run,
            finding,
            implemented,
            repair
        }),
        1 => at.clone().prop_map(|(run, finding)| Op::Touch { run, finding }),
        1 => (at.clone(), any::<bool>()).prop_map(|((run, finding), resolved)| Op::Recheck { run, finding, resolved }),
        1 => at.prop_map(|(run, finding)| Op::Fix { run, finding }),
        1 => (run.clone(), any::<bool>(), proptest::option::of(1..4_u32))
            .prop_map(|(run, redo, only)| Op::Undo { run, redo, only }),
        1 => (run, any::<bool>(), 0..3_usize, proptest::option::of(0..1000_u32), any::<bool>())
            .prop_map(|(run, judge, who, usd, model)| Op::Call { run, judge, who, usd, model }),
    ];
    proptest::collection::vec(op, 1..60)
}

fn agent(name: &str, role: Role, model: &str) -> Agent {
    Agent {
        name: AgentName::from(name),
        role,
        command: vec!["x".to_owned()],
        adapter: "text".to_owned(),
        domain: Vec::new(),
        focus: Vec::new(),
        model: (model != "unknown").then(|| model.to_owned()),
        effort: None,
        env: BTreeMap::new(),
        timeout: None,
        backup: None,
        price: None,
        vendor: None,
        profile: None,
        reads: None,
    }
}

fn agents() -> Vec<Agent> {
    let reviewers = REVIEWERS
        .iter()
        .zip(MODELS)
        .map(|(name, model)| agent(name, Role::Reviewer, model));
    let judges = JUDGES
        .iter()
        .zip(&MODELS[3..])
        .map(|(name, model)| agent(name, Role::Judge, model));
    reviewers.chain(judges).collect()
}

fn started_with(agents: Vec<Agent>) -> EventKind {
    match started("src/") {
        EventKind::Review(ReviewEvent::RunStarted { mut plan }) => {
            plan.agents = agents;
            EventKind::Review(ReviewEvent::RunStarted { plan })
        }
        _ => unreachable!("a run starts with its plan"),
    }
}

fn chosen<'a>(mask: u8, names: &[&'a str]) -> Vec<&'a str> {
    names
        .iter()
        .enumerate()
        .filter(|(bit, _)| mask & (1 << bit) != 0)
        .map(|(_, name)| *name)
        .collect()
}

fn file(number: u32) -> String {
    format!("{number}.py")
}

fn merged(id: u32, raisers: u8, confirmed: u8, category: bool) -> Finding {
    let mut found = finding(id, Tag::Must, &chosen(raisers, &REVIEWERS));
    found.anchor = None;
    found.raw.file = Some(file(id));
    found.raw.category = category.then(|| "sql-injection".to_owned());
    found.raw.cwe = category.then_some(Cwe(89));
    // Finding 2 reverses finding 1.
    found.reverses = (id == 2).then_some(FindingId::new(1));
    found.consensus = Some(Corroboration {
        class: Class::Accepted,
        reviewers: 3,
        vendors: None,
        positions: Vec::new(),
        confirmed_by: chosen(confirmed, &REVIEWERS)
            .into_iter()
            .map(AgentName::from)
            .collect(),
        assessments: Vec::new(),
        confidence: None,
        formula: String::new(),
        score: None,
        why: String::new(),
        would_decide: String::new(),
        notes: Vec::new(),
        escalate: false,
        doubted: false,
        withdrawn: false,
    });
    found
}

fn finished(
    agent: &str,
    purpose: Purpose,
    answer: CallAnswer,
    usage: Usage,
    model: Option<&str>,
) -> EventKind {
    EventKind::Run(RunEvent::CallFinished {
        call: CallId {
            agent: AgentName::from(agent),
            purpose,
            attempt: 1,
        },
        answer,
        transcript: None,
        millis: 1500,
        usage: Box::new(usage),
        told: Box::new(CallMetadata {
            model: model.map(str::to_owned),
            ..CallMetadata::default()
        }),
    })
}

/// The events of the operations, which `fold` follows.
fn events(ops: &[Op], fold: &mut Fold) -> Vec<Event> {
    let mut seqs = [0; RUNS];
    let mut events = Vec::new();
    let mut record = |run: usize, second: i64, kind: EventKind| {
        seqs[run] += 1;
        let at = Timestamp::from_second(second).unwrap();
        let run_id = super::run(&run.to_string());
        events.push(Event {
            run: run_id,
            seq: seqs[run],
            at,
            kind,
        });
    };
    let start = 1_790_000_000;
    (0..RUNS).for_each(|run| record(run, start, started_with(agents())));
    for (second, op) in (start..).step_by(25_000).zip(ops) {
        if let Some((run, kind)) = fold.apply(op, second / 86_400) {
            record(run, second, kind);
        }
    }
    events
}

/// Returns all sums in the database.
fn tallies(journal: &Journal) -> BTreeMap<(TallyKind, String), FindingTally> {
    TallyKind::ALL
        .into_iter()
        .flat_map(|kind| {
            let rows = journal.tallies(kind, None).unwrap().into_iter();
            rows.map(move |(name, tally)| ((kind, name), tally))
        })
        .collect()
}

/// The key columns and the sums of a table of sums.
const SUMS: [&str; 2] = [
    "kind, name, day",
    "raised, shared, alone, disputed, upheld, dismissed, judged, checked, overturned, fixed, reverted, audited, confirmed, demonstrated, proven, outruled",
];
const PAIRS: [&str; 2] = ["kind, one, other, day", "compared, agreed"];

/// The sums of a table or of a view, without rows that contain only zeros.
fn sums(journal: &Journal, table: &str, [keys, numbers]: &[&str; 2]) -> Vec<String> {
    let all = numbers.replace(", ", ") + sum(");
    let shown = numbers.replace(", ", ") || ' ' || sum(");
    let sql = format!(
        "SELECT concat_ws(' ', {keys}, sum({shown})) FROM {table} GROUP BY {keys} HAVING sum({all}) <> 0 ORDER BY {keys}"
    );
    let mut statement = journal.db.prepare(&sql).unwrap();
    statement
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn the_measures_are_what_the_events_add_up_to(ops in ops()) {
        let db = recover::empty().unwrap();
        let building = db.unchecked_transaction().unwrap();
        let mut fold = Fold::default();
        for event in events(&ops, &mut fold) {
            projections::apply(&building, &event).unwrap();
        }
        building.commit().unwrap();
        let journal = Journal::of(db, PathBuf::new());
        prop_assert_eq!(tallies(&journal), fold.tallies());
        for kind in [TallyKind::Reviewer, TallyKind::Judge] {
            prop_assert_eq!(journal.agreements(kind, None).unwrap(), fold.pairs(kind));
        }
        prop_assert_eq!(sums(&journal, "tally", &SUMS), sums(&journal, "addend", &SUMS));
        prop_assert_eq!(sums(&journal, "pair", &PAIRS), sums(&journal, "comparison", &PAIRS));
    }
}

#[test]
fn a_changed_sum_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.db");
    let mut journal = Journal::open(&path).unwrap();
    sample(&mut journal);
    let changed = Connection::open(&path).unwrap();
    changed
        .execute(
            "UPDATE tally SET upheld = upheld + 1 WHERE kind = 'judge'",
            [],
        )
        .unwrap();
    let fault = journal.verify().unwrap().fault.unwrap().to_string();
    assert!(fault.contains("tally judge claude-judge"), "{fault}");
}

#[test]
fn absurd_usage_does_not_stop_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(&folder.path().join("history.db")).unwrap();
    let run = run("9");
    journal.append(&run, started_with(agents())).unwrap();
    let usage = Usage {
        input_tokens: Some(u64::MAX),
        usd: Some(f64::MAX),
        ..Usage::default()
    };
    let error = "no".to_owned();
    for usd in [Some(f64::MAX), Some(-1.0), Some(f64::MIN_POSITIVE)] {
        let answer = CallAnswer::Invalid {
            error: error.clone(),
        };
        let purpose = Purpose::Review { round: 1, shard: 0 };
        journal
            .append(
                &run,
                finished("ada", purpose, answer, Usage { usd, ..usage }, None),
            )
            .unwrap();
    }
    let found = &tallies(&journal)[&(TallyKind::Reviewer, "ada".to_owned())];
    assert_eq!(
        (found.calls, found.input_tokens, found.micros),
        (3, 3_000_000_000_000, 1_000_000_000_000)
    );
}
