//! Tests runs with several reviewers that raise the same findings or contradict each other.

use super::*;

#[test]
fn what_several_reviewers_mean_alike_is_one_group_and_each_keeps_its_tag() {
    let mut bench = Bench::new();
    panel(&mut bench, &["a", "b", "d"]);
    let left = bench.review(
        Mode::Review,
        ScriptedRunner::new()
            .on("a", "review", review("[MUST] app.py:2 Replace the weak md5 hash in key", 1))
            .on(
                "b",
                "review",
                review(
                    "[LOW] ./app.py:1-2 key uses md5, a weak hash\n[MEDIUM] app.py:6 Never eval file content",
                    2,
                ),
            )
            .on("d", "review", review("All fine.", 0)),
    );
    let findings = &left.ended.outcome.findings;
    let rows: Vec<_> = findings
        .iter()
        .map(|settled| {
            let finding = &settled.finding;
            let consensus = finding.consensus.as_ref().unwrap();
            let positions: Vec<_> = consensus
                .positions
                .iter()
                .map(|p| format!("{} {}", p.reviewer, p.severity))
                .collect();
            (
                finding.id.to_string(),
                finding.mandatory,
                consensus.class,
                consensus.reviewers,
                positions.join(", "),
            )
        })
        .collect();
    assert_eq!(
        rows,
        [
            (
                "F1a".to_owned(),
                true,
                glee_model::domain::Class::Accepted,
                3,
                "a MUST, b LOW".to_owned()
            ),
            (
                "F1b".to_owned(),
                false,
                glee_model::domain::Class::Accepted,
                3,
                "a MUST, b LOW".to_owned()
            ),
            (
                "F2".to_owned(),
                false,
                glee_model::domain::Class::Uncorroborated,
                3,
                "b MEDIUM".to_owned()
            ),
        ],
        "who calls it mandatory is not outvoted"
    );
}

#[test]
fn reviewers_who_contradict_each_other_are_settled_by_the_judge_and_no_coder_takes_sides() {
    let mut bench = Bench::new();
    panel(&mut bench, &["a", "b"]);
    let left = bench.review(
        Mode::Arbitrate,
        ScriptedRunner::new()
            .on(
                "a",
                "review",
                review("[MUST] app.py:2 Replace the weak md5 hash in key", 1),
            )
            .on(
                "b",
                "review",
                review(
                    "[LOW] app.py:2 Not an issue: the md5 hash in key is a cache key",
                    1,
                ),
            )
            .on(
                "j",
                "judge",
                judge("\"ruling\":\"DISMISS\",\"citations\":[\"app.py:1\"]"),
            ),
    );
    assert_eq!(left.asked(), ["a review", "b review", "j judge"]);
    let dispute = &left.ended.outcome.disputes[0];
    assert!(
        dispute
            .objection
            .text
            .as_written()
            .contains("a for it, b against it"),
        "{:?}",
        dispute.objection.text
    );
    assert_eq!(
        left.states(),
        [(
            "F1".into(),
            FindingState::Dismissed {
                dispute: dispute.number
            }
        )]
    );
    assert_eq!(left.ended.outcome.exit, ExitReason::Clean);
}

/// The run records the answers of the advisory database, because the database can change. A replay uses the
/// recorded answers.
#[test]
fn what_advisories_said_is_recorded_and_asked_once() {
    let mut bench = Bench::new();
    panel(&mut bench, &["a", "b"]);
    let root = bench.file().parent().unwrap().to_owned();
    fs::write(
        root.join("Cargo.lock"),
        "[[package]]\nname = \"time\"\nversion = \"0.1.43\"\n",
    )
    .unwrap();
    let database = bench.folder.path().join("osv");
    fs::create_dir(&database).unwrap();
    let advisory = r#"{"id": "RUSTSEC-2020-0071", "affected": [{"package": {"ecosystem": "crates.io", "name": "time"},
        "ranges": [{"type": "SEMVER", "events": [{"introduced": "0.1.0"}, {"fixed": "0.2.23"}]}]}]}"#;
    fs::write(database.join("one.json"), advisory).unwrap();
    bench.settings.advisories.path = vec![database.display().to_string()];
    let segfault = r#"{"severity": "high", "confidence": 80, "category": "security", "file": "app.py", "line": 2,
        "title": "`time` may crash", "description": "It reads the environment."}"#;
    let runner = ScriptedRunner::new()
        .on("a", "review", json_review(segfault))
        .on("b", "review", json_review(""));
    let left = bench.review(Mode::Review, runner);
    let consensus = |outcome: &glee_model::domain::Outcome| {
        outcome.findings[0].finding.consensus.clone().unwrap()
    };
    assert_eq!(
        consensus(&left.ended.outcome)
            .confidence
            .map(glee_model::domain::Confidence::get),
        Some(90),
        "confirmed: +10"
    );
    let journal = Journal::open(&bench.folder.path().join("state/history.db")).unwrap();
    let run = &left.ended.outcome.run;
    let said = journal
        .events(run)
        .unwrap()
        .into_iter()
        .find_map(|event| match event.kind {
            EventKind::Review(ReviewEvent::AdvisoriesAsked { answers }) => {
                Some(answers.into_values().collect::<Vec<_>>())
            }
            _ => None,
        });
    let confirmed = glee_model::domain::AdvisoryStatus::Confirmed {
        id: "RUSTSEC-2020-0071".into(),
        version: "time 0.1.43".into(),
    };
    assert_eq!(said.unwrap(), [confirmed]);
    fs::remove_dir_all(&database).unwrap();
    let setup = bench.setup(&Arc::new(ScriptedRunner::new()), &Arc::default());
    let replayed = replay(
        &setup.workspace,
        &setup.state_dir,
        &setup.journal,
        run,
        &bench.settings,
    )
    .unwrap();
    assert_eq!(replayed.differences, Vec::<String>::new());
    assert_eq!(consensus(&replayed.outcome), consensus(&left.ended.outcome));
}
