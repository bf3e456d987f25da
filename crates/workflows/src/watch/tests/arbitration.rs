//! Tests watches in which a judge rules on the issues that remain after a clarification.

use super::*;
use glee_protocol::calls::judge::JudgeCall;

/// Returns a scene in which a judge rules on the issues that remain after a clarification.
fn court() -> Scene {
    let mut scene = Scene::new();
    scene.settings.watch.arbitrate = true;
    let judge = Agent {
        role: Role::Judge,
        ..samples::agent("opus", "text", &["opus"])
    };
    scene.settings.agents.push(judge);
    scene
}

/// Returns a scripted judge, which gives the ruling `codex` or `gemini` on findings of this reviewer.
fn ruling(
    codex: &'static str,
    gemini: &'static str,
) -> impl Fn(&Request) -> Script + Send + Sync + 'static {
    move |request| {
        let Task::Judge(JudgeCall { case, files, .. }) = &request.task else {
            unreachable!()
        };
        assert_eq!(
            (
                files[0].path.as_str(),
                case.dispute.objection.text.as_written()
            ),
            ("a.py", "claude: it is by design")
        );
        let dispute = &case.dispute;
        let word = if dispute.finding.raised_by[0].0 == "codex" {
            codex
        } else {
            gemini
        };
        let citations = if word == "DISMISS" {
            json!(["a.py:1"])
        } else {
            json!([])
        };
        Script::prints(
            json!({"nonce": request.nonce, "dispute": dispute.number, "ruling": word, "rationale": format!("{word} it"),
                "grounds": (word == "DISMISS").then_some("factual_error"), "citations": citations})
            .to_string(),
        )
    }
}

/// Sends events until Glee asks the judge.
async fn into_court(table: &Table) {
    table
        .say(json!({"type": "milestone", "agent": "claude", "file": "a.py"}))
        .await;
    sleep(3 * SECOND).await;
    table.say(json!({"type": "note", "agent": "claude", "clarifies": 1, "summary": "it is by design"})).await;
    sleep(3 * SECOND).await;
}

#[tokio::test(start_paused = true)]
async fn a_judge_rules_on_what_a_clarification_did_not_settle() {
    let scene = court();
    let runner = both("concerns", "concerns").on("opus", "judge", ruling("DISMISS", "ENFORCE"));
    let (table, ended) = scene
        .play(runner, async |table| {
            into_court(&table).await;
            assert_eq!(table.order("status").await.status, WatchStatus::Running);
            table
        })
        .await;
    assert_eq!(
        table.actions(),
        [Action::PauseAndClarify, Action::PauseAndClarify]
    );
    let open: Vec<_> = ended
        .standing
        .issues
        .iter()
        .map(|issue| issue.issue.description.clone())
        .collect();
    assert_eq!(
        open,
        ["gemini objects"],
        "what is dismissed is closed, what is enforced is not"
    );
    let journal = Journal::open(&scene.folder.path().join("state/history.db")).unwrap();
    let disputes = journal.disputes(&Default::default()).unwrap();
    let words: Vec<_> = disputes
        .iter()
        .map(|row| row.disposition.as_ref().unwrap().as_str())
        .collect();
    assert_eq!(
        words,
        ["enforced", "refuted"],
        "they stand in the history like those of a review"
    );
}

#[tokio::test(start_paused = true)]
async fn what_a_judge_escalates_or_does_not_rule_on_waits_for_a_person() {
    for runner in [
        both("concerns", "concerns").on("opus", "judge", ruling("DISMISS", "ESCALATE")),
        both("concerns", "concerns").on("opus", "judge", |_| Script::hangs()),
        both("concerns", "concerns")
            .on("opus", "judge", |_| Script::prints("DISMISS both of them")),
    ] {
        let scene = court();
        let (standing, _) = scene
            .play(runner, async |table| {
                into_court(&table).await;
                sleep(Duration::from_secs(120)).await;
                assert!(table.notices().contains("to you"), "{}", table.notices());
                table.order("status").await
            })
            .await;
        assert_eq!(standing.status, WatchStatus::Paused);
    }
}

#[tokio::test(start_paused = true)]
async fn an_interrupted_arbitration_goes_on_and_asks_nobody_twice() {
    let scene = court();
    let slow = |request: &Request| {
        let Task::Judge(JudgeCall { case, .. }) = &request.task else {
            unreachable!()
        };
        let script = ruling("DISMISS", "DISMISS")(request);
        if case.dispute.finding.raised_by[0].0 == "codex" {
            script
        } else {
            script.after(Duration::from_secs(20))
        }
    };
    scene
        .watch(
            both("concerns", "concerns").on("opus", "judge", slow),
            true,
            async |table| into_court(&table).await,
        )
        .await;
    let runner = both("concerns", "concerns").on("opus", "judge", ruling("DISMISS", "DISMISS"));
    let (standing, _, runner) = scene
        .watch(runner, false, async |table| {
            sleep(SECOND).await;
            table.order("status").await
        })
        .await;
    assert_eq!(runner.seen().len(), 1, "codex's issue was ruled on before");
    assert_eq!(
        (standing.status, standing.issues.len()),
        (WatchStatus::Running, 0)
    );
}
