//! Tests debates: a calculated example, withdrawn findings, and debates that end early.

use super::*;
use glee_model::domain::Confidence;
use glee_model::rules::consensus::Policy;
use glee_store::config::choices::DebateRounds;

fn events(bench: &Bench, run: &RunId) -> Vec<serde_json::Value> {
    let journal = Journal::open(&bench.folder.path().join("state/history.db")).unwrap();
    journal
        .events(run)
        .unwrap()
        .iter()
        .map(|event| serde_json::to_value(&event.kind).unwrap())
        .collect()
}

fn debated() -> Bench {
    let mut bench = Bench::new();
    bench
        .settings
        .agents
        .retain(|agent| agent.role != Role::Judge);
    panel(&mut bench, &["a", "b"]);
    bench.settings.review.debate = DebateRounds::Three;
    bench
}

#[test]
fn a_shutdown_before_the_end_is_answered_with_what_is_missing_and_the_debate_goes_on_later() {
    let bench = debated();
    let (handle, stop) = Stop::new();
    let runner = Arc::new(
        ScriptedRunner::new()
            .on("a", "review", json_review(WEAK))
            .on("b", "review", json_review(""))
            .on("b", "examine", move |_| {
                handle.stop();
                Script::hangs()
            }),
    );
    let setup = RunSetup {
        stop,
        ..bench.setup(&runner, &Arc::default())
    };
    let options = SelectOptions {
        max_file: 1 << 20,
        shard: 1 << 20,
        context: glee_model::domain::CodeContext::Blocks,
    };
    let target = setup
        .workspace
        .select(&TargetSpec::Paths(vec![bench.file()]), &options)
        .unwrap();
    let plan = plan(
        &bench.settings,
        Mode::Review,
        true,
        setup.workspace.root(),
        &target,
    )
    .unwrap();
    let run = new_run();
    let ended = block_on(start(
        setup,
        bench.decider(&Arc::default()),
        run.clone(),
        plan,
        target,
    ))
    .unwrap();
    assert_eq!(ended.rest, Rest::Stopped);
    let told: Vec<_> = events(&bench, &run)
        .into_iter()
        .filter(|event| event["event"] == "debate_shutdown")
        .collect();
    assert_eq!(
        told,
        [serde_json::json!({"event": "debate_shutdown", "messages": [
            {"type": "shutdown_request", "request_id": "debate-round-2"},
            {"type": "shutdown_response", "request_id": "debate-round-2", "approve": false,
             "content": "Still processing debate round 2, need more time to complete consensus"},
        ]})]
    );
    let later = ScriptedRunner::new()
        .on(
            "b",
            "examine",
            debates("[F1] AGREE +5: line 2 does", "GLEE-EXAMINE-END"),
        )
        .on(
            "a",
            "defend",
            debates("[F1] DEFEND: line 2", "GLEE-DEFEND-END"),
        );
    let left = bench.resume(&run, later);
    assert_eq!(
        left.asked(),
        ["b examine"],
        "nobody challenged it, so there is nothing to defend"
    );
    let approved = serde_json::json!({"type": "shutdown_response", "request_id": "debate-complete", "approve": true});
    assert!(
        events(&bench, &run)
            .iter()
            .any(|event| event["messages"][1] == approved),
        "after the end it may end"
    );
}

/// The specification, "All reviewers agree (no debate needed)": the report is written even then.
#[test]
fn where_nobody_has_anything_to_examine_the_report_says_so() {
    let bench = debated();
    let report = |runner: ScriptedRunner| {
        let ended = bench.review(Mode::Review, runner).ended.outcome;
        let told = events(&bench, &ended.run);
        let debate = told.iter().filter(|event| {
            event["event"]
                .as_str()
                .is_some_and(|name| name.starts_with("debate"))
        });
        let [concluded] = &debate.collect::<Vec<_>>()[..] else {
            panic!("one event: {told:#?}")
        };
        let content = concluded["report"]["content"].as_str().unwrap();
        let content: serde_json::Value = serde_json::from_str(content).unwrap();
        (ended.exit, content["summary"].as_str().unwrap().to_owned())
    };
    let both =
        ScriptedRunner::new()
            .on("a", "review", json_review(""))
            .on("b", "review", json_review(""));
    assert_eq!(
        report(both),
        (
            ExitReason::Clean,
            "All 2 reviewers agree that the code passed review: no findings.".to_owned()
        )
    );
    bench.write("print(2)\n");
    let one = ScriptedRunner::new()
        .on("a", "review", json_review(""))
        .on("b", "review", |_| Script::prints("I could not read it."));
    assert_eq!(
        report(one),
        (
            ExitReason::AgentFailed,
            "1 of 2 reviewers answered: no findings. Debate incomplete - b did not respond."
                .to_owned()
        )
    );
}

#[test]
fn a_round_ends_with_what_there_is_when_somebody_does_not_answer_in_time() {
    let mut bench = debated();
    bench.settings.limits.call_timeout = Duration::from_secs(1);
    let left = bench.review(
        Mode::Review,
        ScriptedRunner::new()
            .on("a", "review", json_review(WEAK))
            .on("b", "review", json_review(""))
            .on("b", "examine", |_| Script::hangs()),
    );
    assert_eq!(
        left.ended.outcome.notices,
        ["Debate incomplete - b did not respond"]
    );
    let consensus = left.ended.outcome.findings[0]
        .finding
        .consensus
        .as_ref()
        .unwrap();
    assert_eq!(
        consensus.class,
        glee_model::domain::Class::Uncorroborated,
        "silence is no agreement"
    );
    let round = events(&bench, &left.ended.outcome.run)
        .into_iter()
        .find(|event| event["event"] == "debate_round");
    assert_eq!(
        round.unwrap()["message"],
        serde_json::json!({"type": "message", "recipient": "team-lead", "summary": "Debate round 2 complete",
            "content": "Round 2 complete: 0 agreements, 0 disagreements, 0 partial; Debate incomplete - b did not respond"})
    );
}

/// The calculation for the example. F1: 80 - 10 (b's adjustment) - 10 (one reviewer disagrees) + 10 (defended
/// with a line) - 5 (a confidence of at least 80 from one source) = 65. F1 is disputed, because b disagrees with
/// reasons and a defends the finding. F2: 60 + 10 (a's adjustment) + 5 (one reviewer agrees) = 75. F2 is
/// corroborated, because a agrees. The observation of b has no confidence, because b stated none.
#[test]
fn a_debate_of_three_rounds_with_one_silent_and_one_unparseable_agent() {
    let mut bench = Bench::new();
    bench
        .settings
        .agents
        .retain(|agent| agent.role != Role::Judge);
    panel(&mut bench, &["a", "b", "s", "u"]);
    bench.settings.review.consensus.policy = Policy::Specification;
    bench.settings.review.debate = DebateRounds::Three;
    let observed =
        "[F1] DISAGREE -10: line 2 makes a cache key\n[NEW LOW] app.py:1 `key` has no docstring";
    let left = bench.review(
        Mode::Review,
        ScriptedRunner::new()
            .on("a", "review", json_review(WEAK))
            .on("b", "review", json_review(EVAL))
            .on("s", "review", json_review(""))
            .on("u", "review", json_review(""))
            .on(
                "a",
                "examine",
                debates(
                    "[F2] AGREE +10: `eval` executes the file",
                    "GLEE-EXAMINE-END",
                ),
            )
            .on("b", "examine", debates(observed, "GLEE-EXAMINE-END"))
            .on("s", "examine", |_| Script::fails(1, "out of order"))
            .on("u", "examine", |request| {
                assert_eq!(request.task.findings().len(), 2, "all that others raised");
                Script::prints("I would rather not.")
            })
            .on(
                "a",
                "defend",
                debates("[F1] DEFEND: `md5` collides on line 2", "GLEE-DEFEND-END"),
            ),
    );
    let asked: Vec<_> = left.asked().into_iter().skip(4).collect();
    assert_eq!(
        asked,
        [
            "a examine",
            "b examine",
            "s examine",
            "u examine",
            "u examine",
            "a defend"
        ]
    );
    let again = &left.runner.seen()[8].request.again;
    assert!(
        again.as_ref().unwrap().contains("GLEE-EXAMINE-END"),
        "the exact error: {again:?}"
    );
    let told: Vec<&str> = left
        .heard
        .events
        .iter()
        .map(String::as_str)
        .filter(|event| event.starts_with("debate"))
        .collect();
    assert_eq!(
        told,
        [
            "debate_round",
            "debate_round",
            "debate_concluded",
            "debate_shutdown"
        ]
    );
    assert_eq!(
        left.ended.outcome.notices,
        [
            "Debate incomplete - s did not respond",
            "Debate incomplete - u did not respond"
        ]
    );

    let journal = Journal::open(&bench.folder.path().join("state/history.db")).unwrap();
    let events = journal.events(&left.ended.outcome.run).unwrap();
    let report = events.iter().find_map(|event| match &event.kind {
        EventKind::Review(ReviewEvent::DebateConcluded {
            report:
                glee_model::domain::DebateMessage::Message {
                    content, summary, ..
                },
            ..
        }) => Some((content.clone(), summary.clone())),
        _ => None,
    });
    let (content, summary) = report.unwrap();
    assert_eq!(
        summary,
        "Debate consensus: 1 confirmed, 0 dismissed, 1 disputed, 1 of one reviewer alone"
    );
    let worked: serde_json::Value =
        serde_json::from_str(include_str!("worked_debate.json")).unwrap();
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(&content).unwrap(),
        worked,
        "{content}"
    );

    let rows = left.ended.outcome.findings.iter().map(|settled| {
        let consensus = settled.finding.consensus.as_ref().unwrap();
        (
            settled.finding.id.to_string(),
            consensus.class,
            consensus.confidence.map(Confidence::get),
            consensus.escalate,
        )
    });
    let rows: Vec<_> = rows.collect();
    use glee_model::domain::Class::{Accepted, Disputed};
    assert_eq!(
        rows,
        [
            ("F1".into(), Disputed, Some(65), true),
            ("F2".into(), Accepted, Some(75), false),
            ("F3".into(), Accepted, None, false)
        ]
    );
}

#[test]
fn who_raised_a_finding_can_take_it_back_and_nobody_else() {
    let mut bench = Bench::new();
    panel(&mut bench, &["a", "b"]);
    bench.settings.review.debate = DebateRounds::Auto;
    let play = |defence: &'static str| {
        ScriptedRunner::new()
            .on("a", "review", json_review(WEAK))
            .on("b", "review", json_review(""))
            .on(
                "b",
                "examine",
                debates("[F1] DISAGREE -30: no", "GLEE-EXAMINE-END"),
            )
            .on("a", "defend", debates(defence, "GLEE-DEFEND-END"))
    };
    let left = bench.review(Mode::Review, play("[F1] CONCEDE: right"));
    assert_eq!(left.states(), [("F1".into(), FindingState::Discarded)]);
    assert_eq!(left.ended.outcome.exit, ExitReason::Clean);
    let stands = bench.review(Mode::Review, play("[F1] DEFEND: I am sure"));
    assert_eq!(
        stands.states(),
        [("F1".into(), FindingState::Open)],
        "votes alone drop nothing mandatory"
    );
    let lower = bench.review(
        Mode::Review,
        play("[F1] MODIFY -5 LOW: only a cache\nRevised: A cache key"),
    );
    let finding = &lower.ended.outcome.findings[0].finding;
    assert_eq!(
        (finding.mandatory, finding.raw.body.as_written()),
        (false, "A cache key")
    );
    assert_eq!(lower.ended.outcome.exit, ExitReason::Clean);
}

/// Agreement in round 2 corroborates a finding. The summary of round 3 lists only missing reviewers that
/// received a request in round 3.
#[test]
fn spec_19_support_in_a_debate_confirms_and_only_who_was_asked_is_missing() {
    let mut bench = Bench::new();
    bench
        .settings
        .agents
        .retain(|agent| agent.role != Role::Judge);
    panel(&mut bench, &["a", "b", "s"]);
    bench.settings.review.consensus.policy = Policy::Specification;
    bench.settings.review.debate = DebateRounds::Three;
    let vague = r#"{"severity": "medium", "confidence": 30, "title": "Could be better", "description": "Odd."}"#;
    let left = bench.review(
        Mode::Review,
        ScriptedRunner::new()
            .on("a", "review", json_review(vague))
            .on("b", "review", json_review(""))
            .on("s", "review", json_review(""))
            .on(
                "b",
                "examine",
                debates("[F1] PARTIAL +5: so it is", "GLEE-EXAMINE-END"),
            )
            .on("s", "examine", |_| Script::fails(1, "out of order"))
            .on("a", "defend", |_| Script::fails(1, "out of order")),
    );
    let consensus = left.ended.outcome.findings[0]
        .finding
        .consensus
        .as_ref()
        .unwrap();
    assert_ne!(
        consensus.class,
        glee_model::domain::Class::Rejected,
        "{}",
        consensus.why
    );
    assert_eq!(consensus.confirmed_by, ["b".into()]);
    assert!(
        !consensus.why.contains("uncorroborated"),
        "{}",
        consensus.why
    );
    let rounds: Vec<String> = events(&bench, &left.ended.outcome.run)
        .iter()
        .filter(|event| event["event"] == "debate_round")
        .map(|event| event["message"]["content"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(
        rounds,
        [
            "Round 2 complete: 0 agreements, 0 disagreements, 1 partial; confidence changes: F1 +5; new agreements: F1 \
             (b); Debate incomplete - s did not respond",
            "Round 3 complete: 0 defended, 0 conceded, 0 modified; Debate incomplete - a did not respond",
        ]
    );
}
