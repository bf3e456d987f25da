//! Tests replays with other rules: changed decisions, and answers that are missing in the record.

use super::*;
use glee_model::rules::consensus::Policy;

/// Makes a run in which the judge answers DISMISS for F1 and cites `place`.
fn dismissed(bench: &Bench, place: &str) -> RunId {
    let ruling = format!("\"ruling\":\"DISMISS\",\"citations\":[\"{place}\"]");
    let left = bench.review(
        Mode::Arbitrate,
        objecting(bench).on("j", "judge", judge(&ruling)),
    );
    left.ended.outcome.run
}

fn states(replayed: &Replayed) -> Vec<FindingState> {
    replayed
        .outcome
        .findings
        .iter()
        .map(|finding| finding.state.clone())
        .collect()
}

const D1: DisputeNumber = DisputeNumber(1);

#[test]
fn a_discarding_policy_needs_no_judge() {
    let bench = Bench::new();
    let run = dismissed(&bench, "app.py:1");
    let mut settings = bench.settings.clone();
    settings.review.on_dispute.default = Route::Discard;
    let replayed = bench.replay(&run, &settings);
    assert_eq!(
        states(&replayed),
        [FindingState::Discarded, FindingState::Claimed]
    );
    assert_eq!(
        replayed.differences,
        ["F1 is discarded, was dismissed (dispute 1): Replace the weak hash"],
        "the exit code is the same"
    );
}

#[test]
fn evidence_that_was_required_may_be_waived_afterwards() {
    let bench = Bench::new();
    let run = dismissed(&bench, "nowhere.py:1");
    let mut settings = bench.settings.clone();
    settings.review.judge.require_evidence = false;
    let replayed = bench.replay(&run, &settings);
    assert_eq!(
        states(&replayed)[0],
        FindingState::Dismissed { dispute: D1 }
    );
    assert_eq!(replayed.outcome.exit, ExitReason::Clean);
    assert_eq!(
        replayed.differences,
        [
            "F1 is dismissed (dispute 1), was disputed (dispute 1): Replace the weak hash",
            "the exit code is 0, was 3"
        ]
    );
}

#[test]
fn what_nobody_was_asked_is_not_made_up() {
    let bench = Bench::new();
    let run = dismissed(&bench, "app.py:1");
    let mut settings = bench.settings.clone();
    settings.review.issues.mandatory.push("LOW".to_owned());
    settings.review.issues.optional.retain(|word| word != "LOW");
    let replayed = bench.replay(&run, &settings);
    assert_eq!(
        replayed.outcome.exit,
        ExitReason::FindingsOpen,
        "F2 is claimed, not done"
    );
    assert_eq!(
        replayed.differences,
        [
            "F2 is mandatory, was optional: Rename load",
            "the exit code is 1, was 0"
        ],
        "the coder had answered F2"
    );

    let review_only = bench.review(
        Mode::Arbitrate,
        ScriptedRunner::new().on("r", "review", review("", 0)),
    );
    settings.review.rounds = 3;
    assert_eq!(
        bench
            .replay(&review_only.ended.outcome.run, &settings)
            .differences,
        [""; 0]
    );
}

#[test]
fn a_dispute_that_was_none_waits_for_a_judge_that_was_never_asked() {
    let bench = Bench::new();
    let runner = ScriptedRunner::new()
        .on("r", "review", review("[LOW] app.py:5 Rename `load`", 1))
        .on(
            "c",
            "respond",
            respond("[F1] DISCARDED: a matter of taste", 1),
        );
    let left = bench.review(Mode::Arbitrate, runner);
    assert_eq!(left.ended.outcome.exit, ExitReason::Clean);
    let mut settings = bench.settings.clone();
    settings.review.issues.mandatory.push("LOW".to_owned());
    settings.review.issues.optional.clear();
    let replayed = bench.replay(&left.ended.outcome.run, &settings);
    assert_eq!(states(&replayed), [FindingState::Disputed { dispute: D1 }]);
    assert_eq!(
        replayed.differences,
        [
            "F1 is mandatory, was optional: Rename load",
            "F1 is disputed (dispute 1), was discarded: Rename load",
            "the exit code is 4, was 0",
            "not recorded: j ruling on dispute 1"
        ]
    );
}

#[test]
fn a_dispute_keeps_its_number_under_another_policy() {
    let mut bench = Bench::new();
    panel(&mut bench, &["a", "b"]);
    let far =
        |line: u32| format!("[MUST] app.py:{line} Replace the weak hash md5 in the cache key");
    let runner = ScriptedRunner::new()
        .on("a", "review", review(&far(2), 1))
        .on("b", "review", review(&far(2), 1))
        .on(
            "c",
            "respond",
            respond("[F1] DISAGREE: only a cache key\nEvidence: app.py:1", 1),
        )
        .on(
            "j",
            "judge",
            judge("\"ruling\":\"DISMISS\",\"citations\":[\"app.py:1\"]"),
        );
    let run = bench.review(Mode::Arbitrate, runner).ended.outcome.run;
    let mut settings = bench.settings.clone();
    settings.review.consensus.policy = Policy::Specification;
    let replayed = bench.replay(&run, &settings);
    let numbers: Vec<DisputeNumber> = replayed
        .outcome
        .disputes
        .iter()
        .map(|dispute| dispute.number)
        .collect();
    assert_eq!(numbers, [D1], "the dispute keeps its number");
    assert_eq!(states(&replayed), [FindingState::Dismissed { dispute: D1 }]);
}
