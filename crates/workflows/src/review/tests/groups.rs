//! Tests groups: findings of several reviewers that name one defect, and stay findings of their own.

use glee_protocol::calls::respond::RespondCall;
use std::sync::atomic::{AtomicU32, Ordering};

use super::*;
use glee_model::domain::FindingId;

const BY_A: &str = "[MUST] app.py:2 Replace the weak md5 hash in key";
const BY_B: &str = "[MUST] app.py:2 key uses md5, a weak hash";

/// A run in which `a` and `b` raise one defect in their own words, and the coder gives `answer`.
fn two(bench: &Bench, answer: &'static str, answers: u32) -> ScriptedRunner {
    let work = edit(bench, "md5", "sha256");
    ScriptedRunner::new()
        .on("a", "review", review(BY_A, 1))
        .on("b", "review", review(BY_B, 1))
        .on("c", "respond", move |request| {
            if answer.contains("IMPLEMENTED") {
                work();
            }
            respond(answer, answers)(request)
        })
}

fn bench() -> Bench {
    let mut bench = Bench::new();
    panel(&mut bench, &["a", "b"]);
    bench
}

#[test]
fn one_answer_to_the_group_counts_for_each_member_and_each_raiser_checks_its_own() {
    let bench = bench();
    let runner = two(&bench, "[F1] IMPLEMENTED: sha256", 1)
        .on(
            "a",
            "recheck",
            debates("[F1a] RESOLVED: gone", "GLEE-RECHECK-END"),
        )
        .on(
            "b",
            "recheck",
            debates("[F1b] UNRESOLVED: still weak", "GLEE-RECHECK-END"),
        );
    let left = bench.review(Mode::Fix, runner);
    let outcome = &left.ended.outcome;
    let rows: Vec<_> = outcome
        .findings
        .iter()
        .map(|settled| {
            let by = settled.finding.raised_by.iter().map(|name| name.0.as_str());
            (
                settled.finding.id.to_string(),
                settled.finding.raw.title.as_written(),
                by.collect::<Vec<_>>().join(" "),
                settled.state.clone(),
            )
        })
        .collect();
    assert_eq!(
        rows,
        [
            (
                "F1a".to_owned(),
                "Replace the weak md5 hash in key",
                "a".to_owned(),
                FindingState::Resolved
            ),
            (
                "F1b".to_owned(),
                "key uses md5, a weak hash",
                "b".to_owned(),
                FindingState::NotResolved
            ),
        ]
    );
    assert_eq!(
        outcome.exit,
        ExitReason::FindingsOpen,
        "a group is closed when each mandatory member is"
    );
}

#[test]
fn an_answer_to_one_member_leaves_the_other_open() {
    let mut bench = bench();
    bench.settings.review.recheck = false;
    let left = bench.review(Mode::Fix, two(&bench, "[F1b] IMPLEMENTED: sha256", 1));
    let open = &left.ended.outcome.findings[0];
    assert_eq!(open.state, FindingState::Unanswered);
    assert_eq!(
        left.ended.outcome.findings[1]
            .response
            .as_ref()
            .map(|said| said.finding),
        Some(open.finding.id.group().member(2))
    );
    assert_eq!(left.ended.outcome.exit, ExitReason::FindingsOpen);
}

#[test]
fn one_objection_to_a_group_is_one_dispute_and_one_ruling_closes_its_members() {
    let bench = bench();
    let runner = two(
        &bench,
        "[F1] DISAGREE: only a cache key\nEvidence: app.py:1",
        1,
    )
    .on(
        "j",
        "judge",
        judge("\"ruling\":\"DISMISS\",\"citations\":[\"app.py:1\"]"),
    );
    let left = bench.review(Mode::Arbitrate, runner);
    let outcome = &left.ended.outcome;
    assert_eq!(outcome.disputes.len(), 1);
    let dispute = outcome.disputes[0].number;
    let dismissed = |id: &str| (id.to_owned(), FindingState::Dismissed { dispute });
    assert_eq!(left.states(), [dismissed("F1a"), dismissed("F1b")]);
    assert_eq!(outcome.exit, ExitReason::Clean);
    assert_eq!(
        left.asked(),
        ["a review", "b review", "c respond", "j judge"]
    );
}

#[test]
fn a_ruling_on_one_member_leaves_the_other_to_a_dispute_of_its_own() {
    let bench = bench();
    let rulings = AtomicU32::new(0);
    let runner =
        two(
            &bench,
            "[F1] DISAGREE: only a cache key\nEvidence: app.py:1",
            1,
        )
        .on("j", "judge", move |request| {
            match rulings.fetch_add(1, Ordering::Relaxed) {
                0 => judge(
                    "\"ruling\":\"DISMISS\",\"citations\":[\"app.py:1\"],\"members\":[\"F1b\"]",
                )(request),
                _ => judge("\"ruling\":\"ESCALATE\"")(request),
            }
        });
    let left = bench.review(Mode::Arbitrate, runner);
    let disputes = &left.ended.outcome.disputes;
    let about: Vec<Vec<String>> = disputes
        .iter()
        .map(|dispute| {
            dispute
                .findings()
                .map(|finding| finding.id.to_string())
                .collect()
        })
        .collect();
    assert_eq!(about, [["F1b"], ["F2"]]);
    let [first, second] = [disputes[0].number, disputes[1].number];
    assert_eq!(
        left.states(),
        [
            ("F1b".to_owned(), FindingState::Dismissed { dispute: first }),
            ("F2".to_owned(), FindingState::Disputed { dispute: second }),
        ]
    );
    let findings = left.ended.outcome.findings.iter();
    let alone: Vec<_> = findings
        .map(|settled| {
            let consensus = settled.finding.consensus.iter();
            let positions = consensus.flat_map(|consensus| &consensus.positions);
            let by: Vec<&str> = positions.map(|said| said.reviewer.0.as_str()).collect();
            (settled.finding.was, by.join(" "))
        })
        .collect();
    let was = FindingId::new(1).member(1);
    assert_eq!(alone, [(None, "b".to_owned()), (Some(was), "a".to_owned())]);
    assert_eq!(left.ended.outcome.exit, ExitReason::DisputeOpen);
}

#[test]
fn in_a_later_round_another_reviewer_joins_the_group_and_the_same_one_restates() {
    let mut bench = bench();
    bench.settings.review.rounds = 2;
    bench.settings.review.recheck = false;
    let asked = [AtomicU32::new(0), AtomicU32::new(0)];
    let [first, second] = asked;
    let work = edit(&bench, "eval(", "parse(");
    let runner = ScriptedRunner::new()
        .on("a", "review", move |request| {
            match first.fetch_add(1, Ordering::Relaxed) {
                0 => review(
                    &format!("{BY_A}\n[MUST] app.py:6 Never eval file content"),
                    2,
                )(request),
                _ => review(BY_B, 1)(request),
            }
        })
        .on("b", "review", move |request| {
            match second.fetch_add(1, Ordering::Relaxed) {
                0 => review("Fine.", 0)(request),
                _ => review(
                    "[HIGH] app.py:2 The weak md5 hash in key must be replaced",
                    1,
                )(request),
            }
        })
        .on("c", "respond", move |request| {
            work();
            let Task::Respond(RespondCall { items, .. }) = &request.task else {
                panic!("a coder responds")
            };
            let lines: Vec<String> = items
                .iter()
                .map(|item| format!("[{}] IMPLEMENTED: done", item.finding.id))
                .collect();
            respond(&lines.join("\n"), u32::try_from(lines.len()).unwrap())(request)
        });
    let left = bench.review(Mode::Fix, runner);
    let findings = &left.ended.outcome.findings;
    let rows: Vec<_> = findings
        .iter()
        .map(|settled| {
            let restated: Vec<&str> = settled
                .finding
                .restated
                .iter()
                .map(|said| said.title.as_written())
                .collect();
            (
                settled.finding.id.to_string(),
                settled.finding.round,
                restated.join(""),
            )
        })
        .collect();
    assert_eq!(
        rows,
        [
            ("F1".to_owned(), 1, "key uses md5, a weak hash".to_owned()),
            ("F1b".to_owned(), 2, String::new()),
            ("F2".to_owned(), 1, String::new()),
        ]
    );
}
