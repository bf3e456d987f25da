//! Tests findings that a judge decides before the coder receives them, and replays of such runs.

use super::*;
use glee_model::domain::DisputeNumber;
use glee_model::rules::consensus::Policy;
use glee_protocol::calls::judge::JudgeCall;
use glee_store::config::choices::{DebateRounds, Validate};

fn validate(bench: &mut Bench) {
    bench.settings.review.consensus.validate = Validate::Judge;
}

#[test]
fn a_judge_validates_what_one_reviewer_alone_calls_mandatory_in_every_mode() {
    for (ruling, state, exit) in [
        (
            "\"ruling\":\"DISMISS\",\"citations\":[\"app.py:1\"]",
            FindingState::Dismissed {
                dispute: DisputeNumber(1),
            },
            ExitReason::Clean,
        ),
        (
            "\"ruling\":\"ENFORCE\"",
            FindingState::Enforced {
                dispute: DisputeNumber(1),
            },
            ExitReason::FindingsOpen,
        ),
        (
            "\"ruling\":\"ESCALATE\"",
            FindingState::Disputed {
                dispute: DisputeNumber(1),
            },
            ExitReason::DisputeOpen,
        ),
    ] {
        let mut bench = Bench::new();
        panel(&mut bench, &["a", "b"]);
        validate(&mut bench);
        let runner = ScriptedRunner::new()
            .on("a", "review", review(TWO, 2))
            .on("b", "review", review("All fine.", 0))
            .on("j", "judge", judge(ruling));
        let left = bench.review(Mode::Review, runner);
        assert_eq!(
            left.asked(),
            ["a review", "b review", "j judge"],
            "the optional one is nobody's business"
        );
        assert_eq!(left.states()[0], ("F1".into(), state), "{ruling}");
        assert_eq!(left.ended.outcome.exit, exit, "{ruling}");
        let said = left.ended.outcome.disputes[0].objection.text.as_written();
        assert!(
            said.starts_with("raised only by a") && said.contains("What would decide it:"),
            "{said}"
        );
        let again = bench.resume(&left.ended.outcome.run, ScriptedRunner::new());
        assert_eq!(
            again.asked(),
            Vec::<String>::new(),
            "an answered judge is not asked again"
        );
    }
}

#[test]
fn what_the_judge_upholds_is_enforced_and_what_it_dismisses_never_reaches_the_coder() {
    let mut bench = Bench::new();
    panel(&mut bench, &["a", "b"]);
    validate(&mut bench);
    let edit = edit(&bench, "md5", "sha256");
    let left = bench.review(
        Mode::Fix,
        ScriptedRunner::new()
            .on(
                "a",
                "review",
                review("[MUST] app.py:2 Replace the weak md5 hash in key", 1),
            )
            .on(
                "b",
                "review",
                review("[MUST] app.py:6 Never eval file content", 1),
            )
            .on("j", "judge", |request| {
                let Task::Judge(JudgeCall { case, .. }) = &request.task else {
                    panic!("a judge is asked to judge")
                };
                let ruling = if case.dispute.finding.raw.title.as_written().contains("md5") {
                    "\"ruling\":\"ENFORCE\""
                } else {
                    "\"ruling\":\"DISMISS\",\"citations\":[\"app.py:6\"]"
                };
                judge(ruling)(request)
            })
            .on("c", "respond", move |request| {
                edit();
                respond("[F1] IMPLEMENTED: sha256", 1)(request)
            })
            .on("a", "recheck", debates("[F1] RESOLVED", "GLEE-RECHECK-END")),
    );
    let given = left
        .runner
        .seen()
        .iter()
        .find(|seen| seen.request.agent.0 == "c")
        .map(|seen| seen.request.task.findings());
    assert_eq!(given.unwrap().len(), 1, "only what the judge upheld");
    let states: Vec<String> = left
        .states()
        .iter()
        .map(|(id, state)| format!("{id} {state:?}"))
        .collect();
    assert_eq!(
        states,
        ["F1 Resolved", "F2 Dismissed { dispute: DisputeNumber(2) }"]
    );
}

#[test]
fn a_judge_that_validates_must_be_connected() {
    let mut bench = Bench::new();
    panel(&mut bench, &["a", "b"]);
    bench
        .settings
        .agents
        .retain(|agent| agent.role != Role::Judge);
    validate(&mut bench);
    let workspace = bench
        .setup(&Arc::new(ScriptedRunner::new()), &Arc::default())
        .workspace;
    let options = SelectOptions {
        max_file: 1 << 20,
        shard: 1 << 20,
        context: glee_model::domain::CodeContext::Blocks,
    };
    let target = workspace
        .select(&TargetSpec::Paths(vec![bench.file()]), &options)
        .unwrap();
    let planned = plan(
        &bench.settings,
        Mode::Review,
        true,
        workspace.root(),
        &target,
    );
    assert_eq!(planned, Err(ReviewPlanError::MissingRole(Role::Judge)));
}

#[test]
fn the_policy_specification_leaves_conflicts_and_challenges_to_a_connected_judge() {
    let mut bench = Bench::new();
    panel(&mut bench, &["a", "b"]);
    bench.settings.review.consensus.policy = Policy::Specification;
    let unsure = WEAK.replace("80", "65");
    let left = bench.review(
        Mode::Review,
        ScriptedRunner::new()
            .on("a", "review", json_review(&unsure))
            .on("b", "review", json_review(EVAL))
            .on(
                "j",
                "judge",
                judge("\"ruling\":\"DISMISS\",\"citations\":[\"app.py:2\"]"),
            ),
    );
    assert_eq!(
        left.asked(),
        ["a review", "b review", "j judge"],
        "a confidence of 65 is challenged; F2 is optional"
    );
    assert_eq!(left.ended.outcome.exit, ExitReason::Clean);
    let sure = bench.review(
        Mode::Review,
        ScriptedRunner::new()
            .on("a", "review", json_review(&WEAK.replace("80", "90")))
            .on("b", "review", json_review("")),
    );
    assert_eq!(
        sure.asked(),
        ["a review", "b review"],
        "nothing is left to judgement"
    );
}

#[test]
fn a_recorded_run_is_decided_again_by_another_policy() {
    let mut bench = Bench::new();
    bench
        .settings
        .agents
        .retain(|agent| agent.role != Role::Judge);
    panel(&mut bench, &["a", "b"]);
    bench.settings.review.debate = DebateRounds::Two;
    let left = bench.review(
        Mode::Review,
        ScriptedRunner::new()
            .on("a", "review", json_review(WEAK))
            .on("b", "review", json_review(""))
            .on(
                "b",
                "examine",
                debates("[F1] PARTIAL -10: only on line 2", "GLEE-EXAMINE-END"),
            ),
    );
    let journal = Journal::open(&bench.folder.path().join("state/history.db")).unwrap();
    let workspace = Workspace::discover(&bench.folder.path().join("tree")).unwrap();
    let run = &left.ended.outcome.run;
    let before = journal.events(run).unwrap().len();
    let again = |policy| {
        crate::review::recorded::view::decided_again(&workspace, &journal, run, policy)
            .unwrap()
            .remove(0)
    };
    let panel = again(Policy::Panel);
    let specification = again(Policy::Specification);
    let formula = |answer: &serde_json::Value| {
        let trail = &answer["findings"][0]["cross_examination_trail"];
        trail["final_confidence_calculation"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(
        formula(&panel),
        "80 (original) - 10 (round 2 adjustments) + 5 (cross-examination) = 75",
        "a partial agreement corroborates"
    );
    assert_eq!(formula(&specification), formula(&panel));
    assert_eq!(
        (&panel["policy"], &specification["policy"]),
        (&"panel".into(), &"specification".into())
    );
    assert_eq!(panel["id"], run.0.as_str());
    assert_eq!(
        journal.events(run).unwrap().len(),
        before,
        "nothing is recorded"
    );
}
