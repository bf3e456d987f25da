//! Tests that the aggregator is asked once about issues that may be the same, and that a watch does not depend on it.

use super::*;

const TOKEN: &str = "The session token is written to the log by the login handler";
const AGAIN: &str = "The login handler still logs the session token of each user";
const OTHER: &str = "Anybody who reads the log of the login handler sees the session token";

fn scene() -> Scene {
    let mut scene = Scene::new();
    let aggregator = Agent {
        role: Role::Aggregator,
        ..samples::agent("agg", "text", &["agg"])
    };
    scene.settings.agents.push(aggregator);
    scene
}

/// Gives the verdict with an issue of each cycle. After the last one, it approves.
fn raises(
    verdict: &'static str,
    issues: &'static [&'static str],
) -> impl Fn(&Request) -> Script + Send + Sync + 'static {
    let cycle = std::sync::atomic::AtomicUsize::new(0);
    move |request| {
        let cycle = cycle.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Script::prints(match issues.get(cycle) {
            None => result(request, "approved", &json!([])),
            Some(issue) => {
                let issue = json!({"severity": "high", "description": issue, "file": "a.py"});
                result(request, verdict, &json!([issue]))
            }
        })
    }
}

fn says(word: &'static str) -> impl Fn(&Request) -> Script + Send + Sync + 'static {
    move |request| {
        let pairs = request.task.pairs();
        let lines: String = pairs
            .iter()
            .map(|pair| format!("[{pair}] {word}: so it seems\n"))
            .collect();
        let nonce = &request.nonce;
        let count = pairs.len();
        Script::prints(format!(
            "{lines}GLEE-SAME-END nonce={nonce} answers={count}\n"
        ))
    }
}

/// Runs `cycles` cycles, and returns the issues as `number reviewer: the same as, may be the same as`, and the number
/// of calls of the aggregator.
async fn watched(runner: ScriptedRunner, cycles: usize) -> (Vec<String>, usize, Vec<Action>) {
    let scene = scene();
    let (table, ended, runner) = scene
        .watch(runner, false, async |table| {
            for _ in 0..cycles {
                table.tell("milestone", "claude").await;
                sleep(30 * SECOND).await;
            }
            table
        })
        .await;
    let issues = ended.unwrap().standing.issues.into_iter().map(|issue| {
        let number = issue.number;
        let by = &issue.reviewer.0;
        format!("{number} {by}: {:?} {:?}", issue.same_as, issue.may_be)
    });
    let seen = runner.seen();
    let calls = seen
        .iter()
        .filter(|seen| seen.request.task.kind() == "same");
    let calls = calls.count();
    (issues.collect(), calls, table.actions())
}

#[tokio::test(start_paused = true)]
async fn an_issue_in_other_words_is_no_new_one_and_is_asked_about_once() {
    let runner = |word| {
        ScriptedRunner::new()
            .on("codex", "peer", raises("concerns", &[TOKEN, AGAIN, AGAIN]))
            .on("gemini", "peer", verdict("approved"))
            .on("agg", "same", says(word))
    };
    let (issues, calls, actions) = watched(runner("SAME"), 3).await;
    assert_eq!((issues, calls), (vec!["1 codex: [] []".to_owned()], 1));
    assert_eq!(actions, [Action::LogAndContinue; 3]);
    let (issues, calls, _) = watched(runner("DIFFERENT"), 3).await;
    let apart = ["1 codex: [] []", "2 codex: [] []"];
    assert_eq!((issues, calls), (apart.map(str::to_owned).into(), 1));
}

#[tokio::test(start_paused = true)]
async fn two_reviewers_name_each_other_or_stay_apart_and_a_blocker_asks_nobody() {
    let both = || {
        ScriptedRunner::new()
            .on("codex", "peer", raises("concerns", &[TOKEN]))
            .on("gemini", "peer", raises("concerns", &[OTHER]))
    };
    let apart = ["1 codex: [] [2]", "2 gemini: [] [1]"];
    let fails = both().on("agg", "same", |_| Script::fails(1, "gone"));
    let (issues, calls, actions) = watched(fails, 1).await;
    assert_eq!((issues, calls), (apart.map(str::to_owned).into(), 1));
    assert_eq!(actions, [Action::PauseAndClarify]);

    let joined = both().on("agg", "same", says("SAME"));
    let (issues, ..) = watched(joined, 1).await;
    assert_eq!(issues, ["1 codex: [2] []", "2 gemini: [1] []"]);

    let blocked = ScriptedRunner::new()
        .on("codex", "peer", raises("blocker", &[TOKEN]))
        .on("gemini", "peer", raises("concerns", &[OTHER]));
    let (issues, calls, actions) = watched(blocked, 1).await;
    assert_eq!((issues, calls), (apart.map(str::to_owned).into(), 0));
    assert_eq!(actions, [Action::StopAndEscalate]);
}

#[tokio::test(start_paused = true)]
async fn an_issue_that_holds_up_in_other_words_is_ruled_on() {
    let mut scene = scene();
    scene.settings.watch.arbitrate = true;
    let judge = Agent {
        role: Role::Judge,
        ..samples::agent("opus", "text", &["opus"])
    };
    scene.settings.agents.push(judge);
    let runner = ScriptedRunner::new()
        .on("codex", "peer", raises("concerns", &[TOKEN, AGAIN]))
        .on("gemini", "peer", raises("concerns", &[OTHER, OTHER]))
        .on("agg", "same", says("SAME"))
        .on("opus", "judge", |_| Script::prints("no idea"));
    let (_, _, runner) = scene
        .watch(runner, false, async |table| {
            let milestone = json!({"type": "milestone", "agent": "claude", "file": "a.py"});
            table.say(milestone).await;
            sleep(30 * SECOND).await;
            let answer = json!({"type": "note", "agent": "claude", "clarifies": 1, "summary": "it is by design"});
            table.say(answer).await;
            sleep(30 * SECOND).await;
        })
        .await;
    let seen = runner.seen();
    let ruled: BTreeSet<String> = seen
        .iter()
        .filter_map(|seen| match &seen.request.task {
            Task::Judge(call) => Some(call.case.dispute.finding.id.to_string()),
            _ => None,
        })
        .collect();
    assert_eq!(ruled, ["F1", "F2"].map(str::to_owned).into());
}
