//! Debates that end before their end: told to stop, or with somebody who does not answer in time.

use super::*;

fn events(bench: &Bench, run: &RunId) -> Vec<serde_json::Value> {
    let journal = Journal::open(&bench.folder.path().join("state/history.db")).unwrap();
    journal.events(run).unwrap().iter().map(|event| serde_json::to_value(&event.kind).unwrap()).collect()
}

fn debated() -> Bench {
    let mut bench = Bench::new();
    bench.settings.agents.retain(|agent| agent.role != Role::Judge);
    panel(&mut bench, &["a", "b"]);
    bench.settings.flat.insert("review.debate".to_owned(), "3".into());
    bench
}

#[test]
fn a_shutdown_before_the_end_is_answered_with_what_is_missing_and_the_debate_goes_on_later() {
    let bench = debated();
    let (handle, stop) = Stop::new();
    let runner =
        Arc::new(ScriptedRunner::new().on("a", "review", json_review(WEAK)).on("b", "review", json_review("")).on(
            "b",
            "examine",
            move |_| {
                handle.stop();
                Script::hangs()
            },
        ));
    let setup = Setup { stop, ..bench.setup(&runner, &Arc::default()) };
    let options = SelectOptions { max_file: 1 << 20, shard: 1 << 20 };
    let target = setup.workspace.select(&TargetSpec::Paths(vec![bench.file()]), &options).unwrap();
    let plan = plan(&bench.settings, Mode::Review, true, setup.workspace.root(), &target).unwrap();
    let run = new_run();
    let ended = block_on(start(setup, run.clone(), plan, target)).unwrap();
    assert_eq!(ended.rest, Rest::Stopped);
    let told: Vec<_> =
        events(&bench, &run).into_iter().filter(|event| event["event"] == "debate_shutdown").collect();
    assert_eq!(
        told,
        [serde_json::json!({"event": "debate_shutdown", "messages": [
            {"type": "shutdown_request", "request_id": "debate-round-2"},
            {"type": "shutdown_response", "request_id": "debate-round-2", "approve": false,
             "content": "Still processing debate round 2, need more time to complete consensus"},
        ]})]
    );
    let later = ScriptedRunner::new()
        .on("b", "examine", debates("[F1] AGREE +5: line 2 does", "GLEE-EXAMINE-END"))
        .on("a", "defend", debates("[F1] DEFEND: line 2", "GLEE-DEFEND-END"));
    let left = bench.resume(&run, later);
    assert_eq!(left.asked(), ["b examine"], "nobody challenged it, so there is nothing to defend");
    let approved =
        serde_json::json!({"type": "shutdown_response", "request_id": "debate-complete", "approve": true});
    assert!(events(&bench, &run).iter().any(|event| event["messages"][1] == approved), "after the end it may end");
}

#[test]
fn a_round_ends_with_what_there_is_when_somebody_does_not_answer_in_time() {
    let mut bench = debated();
    bench.settings.limits.total = Duration::from_secs(1);
    let left = bench.review(
        Mode::Review,
        ScriptedRunner::new().on("a", "review", json_review(WEAK)).on("b", "review", json_review("")).on(
            "b",
            "examine",
            |_| Script::hangs(),
        ),
    );
    assert_eq!(left.ended.outcome.notices, ["Debate incomplete - b did not respond"]);
    let consensus = left.ended.outcome.findings[0].finding.consensus.as_ref().unwrap();
    assert_eq!(consensus.class, crate::domain::Class::Uncorroborated, "silence is no agreement");
    let round = events(&bench, &left.ended.outcome.run).into_iter().find(|event| event["event"] == "debate_round");
    assert_eq!(
        round.unwrap()["message"],
        serde_json::json!({"type": "message", "recipient": "team-lead", "summary": "Debate round 2 complete",
            "content": "Round 2 complete: 0 agreements, 0 disagreements, 0 partial; Debate incomplete - b did not respond"})
    );
}
