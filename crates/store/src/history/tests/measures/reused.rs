//! Tests that a finding of a reused answer counts once over its runs, with numbers counted by hand.

use rusqlite::StatementStatus;

use super::*;
use crate::history::projections::problems::{PAIR, TALLY};

fn answered(run: &str, reviewer: &str, journal: &mut Journal) {
    let purpose = Purpose::Review { round: 1, shard: 0 };
    let call = CallId {
        agent: AgentName::from(reviewer),
        purpose,
        attempt: 1,
    };
    let event = ReviewEvent::AnswersReused {
        call,
        reuse: Box::default(),
    };
    journal.append(&super::super::run(run), event).unwrap();
}

/// A run in which `reviewers` read the code, and `raisers` raise the finding `id`.
fn review_of(id: FindingId, journal: &mut Journal, run: &str, reviewers: &[&str], raisers: u8) {
    let of = super::super::run(run);
    journal.append(&of, started_with(agents())).unwrap();
    reviewers
        .iter()
        .for_each(|reviewer| answered(run, reviewer, journal));
    let finding = Finding {
        id,
        ..merged(id.number, raisers, 0, false)
    };
    let event = ReviewEvent::FindingsMerged {
        restated: Vec::new(),
        round: 1,
        findings: vec![finding],
    };
    journal.append(&of, event).unwrap();
}

fn review(journal: &mut Journal, run: &str, reviewers: &[&str], raisers: u8) {
    review_of(FindingId::new(3), journal, run, reviewers, raisers);
}

fn dispute(journal: &mut Journal, run: &str) -> DisputeNumber {
    let events = journal
        .open_dispute(
            &super::super::run(run),
            merged(3, 1, 0, false),
            objection(3),
        )
        .unwrap();
    match events.kind {
        EventKind::Dispute(DisputeEvent::DisputeOpened { dispute }) => dispute.number,
        _ => unreachable!("a dispute was opened"),
    }
}

/// Raised, alone of shared, disputed, upheld and dismissed, fixed and reverted.
fn counted(journal: &Journal, kind: TallyKind, name: &str) -> String {
    let found = tallies(journal)
        .remove(&(kind, name.to_owned()))
        .unwrap_or_default();
    let FindingTally {
        raised,
        alone,
        shared,
        disputed,
        upheld,
        dismissed,
        fixed,
        reverted,
        ..
    } = found;
    format!("{raised} {alone}/{shared} {disputed} {upheld}+{dismissed} {fixed}-{reverted}")
}

fn fix(journal: &mut Journal, run: &str) {
    let id = super::super::run(run);
    let responses = vec![Response {
        answer: Answer::Implemented,
        ..objection(3)
    }];
    let answer = CallAnswer::Respond {
        responses,
        complete: true,
    };
    let purpose = Purpose::Respond { round: 1 };
    journal
        .append(
            &id,
            finished("coder", purpose.clone(), answer, Usage::default(), None),
        )
        .unwrap();
    let call = CallId {
        agent: AgentName::from("coder"),
        purpose,
        attempt: 1,
    };
    journal
        .append(
            &id,
            ReviewEvent::TreeChanged(TreeChange {
                call,
                tree: String::new(),
                changes: Vec::new(),
                put_back: Vec::new(),
                touched: [FindingId::new(3)].into(),
                partly: Vec::new(),
            }),
        )
        .unwrap();
}

fn journal() -> (tempfile::TempDir, Journal) {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(&folder.path().join("history.db")).unwrap();
    (folder, journal)
}

const ALL: (TallyKind, &str) = (TallyKind::All, "");

#[test]
fn the_last_decision_and_the_last_change_count() {
    let (_folder, mut journal) = journal();
    let all = |journal: &Journal| counted(journal, ALL.0, ALL.1);
    review(&mut journal, "1", &["ada"], 1);
    review(&mut journal, "2", &["ada"], 1);
    review(&mut journal, "3", &["ada"], 1);
    assert_eq!(all(&journal), "1 0/0 0 0+0 0-0");
    // A dispute of a later run takes the finding further.
    let first = dispute(&mut journal, "3");
    assert_eq!(all(&journal), "1 0/0 1 0+0 0-0");
    journal
        .append_all(&run("3"), [settled(first.0, Disposition::Refuted, judge())])
        .unwrap();
    assert_eq!(all(&journal), "1 0/0 1 0+1 0-0");
    // The dispute is settled, so a repetition and an undecided dispute add nothing.
    review(&mut journal, "4", &["ada"], 1);
    let second = dispute(&mut journal, "4");
    assert_eq!(all(&journal), "1 0/0 1 0+1 0-0");
    journal
        .append_all(
            &run("4"),
            [settled(second.0, Disposition::Enforced, judge())],
        )
        .unwrap();
    assert_eq!(all(&journal), "1 0/0 1 1+0 0-0");
    fix(&mut journal, "4");
    assert_eq!(all(&journal), "1 0/0 1 1+0 1-0");
    journal
        .append(
            &run("4"),
            RunEvent::RunUndone {
                files: Vec::new(),
                left: 0,
            },
        )
        .unwrap();
    review(&mut journal, "5", &["ada"], 1);
    assert_eq!(all(&journal), "1 0/0 1 1+0 1-1");
    fix(&mut journal, "5");
    assert_eq!(all(&journal), "1 0/0 1 1+0 1-0");
    assert_eq!(journal.verify().unwrap().fault, None);
}

#[test]
fn each_ruling_counts_for_its_judge() {
    let (_folder, mut journal) = journal();
    review(&mut journal, "1", &["ada"], 1);
    let by = |name: &str| Ruler::Judge {
        name: AgentName::from(name),
    };
    let first = dispute(&mut journal, "1");
    let dismissed = settled(first.0, Disposition::Refuted, by("jo"));
    journal
        .append_all(
            &run("1"),
            [ruled(first.0, RulingWord::Dismiss, by("jo")), dismissed],
        )
        .unwrap();
    review(&mut journal, "2", &["ada"], 1);
    let second = dispute(&mut journal, "2");
    let enforced = settled(second.0, Disposition::Enforced, by("kim"));
    journal
        .append_all(
            &run("2"),
            [ruled(second.0, RulingWord::Enforce, by("kim")), enforced],
        )
        .unwrap();
    assert_eq!(counted(&journal, TallyKind::Judge, "jo"), "1 0/0 1 0+1 0-0");
    assert_eq!(
        counted(&journal, TallyKind::Judge, "kim"),
        "1 0/0 1 1+0 0-0"
    );
    assert_eq!(counted(&journal, ALL.0, ALL.1), "1 0/0 1 1+0 0-0");
    assert_eq!(journal.verify().unwrap().fault, None);
}

#[test]
fn another_reviewer_raises_an_old_finding() {
    let (_folder, mut journal) = journal();
    let by = |journal: &Journal, name| counted(journal, TallyKind::Reviewer, name);
    // Ada alone read the code.
    review(&mut journal, "1", &["ada"], 1);
    assert_eq!(by(&journal, "ada"), "1 0/0 0 0+0 0-0");
    // Cyd reads the same code and raises nothing, so that ada is alone.
    review(&mut journal, "2", &["ada", "cyd"], 1);
    assert_eq!(by(&journal, "ada"), "1 1/1 0 0+0 0-0");
    // Bob raises the finding as well. The finding counts for bob, and once for all.
    review(&mut journal, "3", &["ada", "bob", "cyd"], 3);
    assert_eq!(by(&journal, "ada"), "1 0/1 0 0+0 0-0");
    assert_eq!(by(&journal, "bob"), "1 0/1 0 0+0 0-0");
    assert_eq!(counted(&journal, ALL.0, ALL.1), "1 0/1 0 0+0 0-0");
    let agreed = journal.agreements(TallyKind::Reviewer, None).unwrap();
    let agreed: Vec<String> = agreed
        .iter()
        .map(|pair| {
            format!(
                "{} {}/{}",
                pair.between.join("-"),
                pair.agreed,
                pair.compared
            )
        })
        .collect();
    assert_eq!(agreed, ["ada-bob 1/1", "ada-cyd 0/1", "bob-cyd 0/1"]);
    assert_eq!(journal.verify().unwrap().fault, None);
}

#[test]
fn two_numbers_that_turn_out_to_be_one_problem_count_once() {
    let (_folder, mut journal) = journal();
    let [one, two] = [1, 2].map(FindingId::new);
    review_of(one, &mut journal, "1", &["ada"], 1);
    review_of(two, &mut journal, "2", &["bob"], 2);
    assert_eq!(counted(&journal, ALL.0, ALL.1), "2 0/0 0 0+0 0-0");
    let joined = ReviewEvent::ProblemsJoined {
        newer: two,
        older: one,
    };
    journal.append(&run("2"), joined).unwrap();
    assert_eq!(counted(&journal, ALL.0, ALL.1), "1 0/1 0 0+0 0-0");
    assert_eq!(
        counted(&journal, TallyKind::Reviewer, "bob"),
        "1 0/1 0 0+0 0-0"
    );
    // A run that still names the alias counts for the older number.
    review_of(two, &mut journal, "3", &["cyd"], 4);
    assert_eq!(counted(&journal, ALL.0, ALL.1), "1 0/1 0 0+0 0-0");
    assert_eq!(journal.verify().unwrap().fault, None);
}

#[test]
fn the_members_of_a_group_are_one_problem_of_all_their_reviewers() {
    let (_folder, mut journal) = journal();
    let group = FindingId::new(3);
    review_of(group.member(1), &mut journal, "1", &["ada", "bob"], 1);
    review_of(group.member(2), &mut journal, "2", &["bob"], 2);
    assert_eq!(counted(&journal, ALL.0, ALL.1), "1 0/1 0 0+0 0-0");
    for reviewer in ["ada", "bob"] {
        assert_eq!(
            counted(&journal, TallyKind::Reviewer, reviewer),
            "1 0/1 0 0+0 0-0"
        );
    }
    assert_eq!(journal.verify().unwrap().fault, None);
}

#[test]
fn sums_are_updated_without_a_scan() {
    let db = recover::empty().unwrap();
    for sum in [TALLY, PAIR] {
        let mut plan = db.prepare(&format!("EXPLAIN QUERY PLAN {sum}")).unwrap();
        let steps = plan
            .query_map((1, 1), |row| row.get::<_, String>("detail"))
            .unwrap();
        let steps: Vec<String> = steps.map(Result::unwrap).collect();
        let scans: Vec<&String> = steps
            .iter()
            .filter(|step| step.starts_with("SCAN"))
            .collect();
        // The rows of the one problem are read from co-routines.
        let routines = ["SCAN addend", "SCAN comparison", "SCAN last"];
        assert!(
            scans.iter().all(|step| routines.contains(&step.as_str())),
            "{scans:?}"
        );
        // A sort for each subquery made the update of a sum 27 times as slow.
        let sorts = steps
            .iter()
            .filter(|step| step.contains("FOR ORDER BY"))
            .count();
        assert_eq!(sorts, 0, "{steps:#?}");
        assert!(
            steps
                .iter()
                .any(|step| step.contains("measured_problem (problem=?")),
            "{steps:#?}"
        );
    }
}

#[test]
fn a_sum_is_prepared_once_for_all_values() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(&folder.path().join("history.db")).unwrap();
    review(&mut journal, "1", &["ada"], 9);
    for sum in [TALLY, PAIR] {
        let mut statement = journal.db.prepare(sum).unwrap();
        for number in 1..=9 {
            statement.execute((number, 1)).unwrap();
        }
        assert_eq!(statement.get_status(StatementStatus::RePrepare), 0, "{sum}");
    }
}
