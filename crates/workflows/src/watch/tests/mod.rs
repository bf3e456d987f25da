//! Tests watches with scripted reviewers, a real tree, a real history and a paused clock.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fs;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use super::*;
use crate::run::ports::EventSink;
use crate::watch::socket::protocol::{self, Intake};
use crate::watch::status::WatchReport;
use bench::*;
use glee_agents::process::scripted::{Script, ScriptedRunner};
use glee_agents::{Agents, Stop, samples};
use glee_model::domain::event::{CallAnswer, Event, EventKind, RunEvent, WatchEvent};
use glee_model::domain::{Action, Agent, ExitReason, Job, Role, Trigger, WatchStatus};
use glee_protocol::calls::peer::PeerCall;
use glee_protocol::request::{Request, Task};
use glee_store::config::settings::Settings;
use glee_workspace::root::Workspace;

const QUARTER: Duration = Duration::from_secs(15 * 60);
const SECOND: Duration = Duration::from_secs(1);

mod arbitration;
mod bench;
mod same;
mod work;

#[tokio::test(start_paused = true)]
async fn the_fallback_comes_fifteen_minutes_after_the_last_event_also_before_the_first_review() {
    let scene = crate::watch::tests::bench::Scene::new();
    let (table, _) = scene
        .play(both("approved", "approved"), async |table| {
            sleep(QUARTER + SECOND).await;
            let first = table.cycles();
            assert_eq!(first.len(), 1, "before any review");
            table.tell("note", "claude").await;
            sleep(QUARTER - SECOND).await;
            assert_eq!(table.cycles().len(), 1, "an event resets it");
            sleep(2 * SECOND).await;
            table
        })
        .await;
    let cycles = table.cycles();
    let late = |at: Duration, due: Duration| {
        at.saturating_sub(due) < Duration::from_millis(50) && at >= due
    };
    assert!(late(cycles[0].0, QUARTER), "{cycles:?}");
    assert!(late(cycles[1].0, 2 * QUARTER + SECOND), "{cycles:?}");
    assert!(
        cycles
            .iter()
            .all(|(_, why)| *why == only(Trigger::TimeoutFallback))
    );
    assert_eq!(table.actions(), [Action::Continue, Action::Continue]);
}

#[tokio::test(start_paused = true)]
async fn the_fallback_reviews_nothing_twice() {
    let scene = crate::watch::tests::bench::Scene::new();
    let (table, _) = scene
        .play(both("approved", "approved"), async |table| {
            sleep(5 * QUARTER).await;
            assert_eq!(table.cycles().len(), 1, "nothing has changed since");
            scene.write("a.py", "two\n");
            sleep(3 * QUARTER).await;
            assert_eq!(table.cycles().len(), 2, "the tree changed once");
            table.tell("note", "claude").await;
            sleep(3 * QUARTER).await;
            assert_eq!(table.cycles().len(), 3, "an agent reported once");
            table.say(json!({"type": "user_manual"})).await;
            sleep(SECOND).await;
            assert_eq!(table.cycles().len(), 4, "a person always gets a review");
            table
        })
        .await;
    assert_eq!(table.actions(), [Action::Continue; 4]);
}

#[tokio::test(start_paused = true)]
async fn a_watch_has_a_budget_of_calls_by_default() {
    let mut scene = crate::watch::tests::bench::Scene::new();
    scene.settings.watch.debounce = Duration::ZERO;
    let (_, _, runner) = scene
        .watch(both("approved", "approved"), false, async |table| {
            for _ in 0..300 {
                table.say(json!({"type": "user_manual"})).await;
                sleep(SECOND).await;
            }
            assert_eq!(table.cycles().len(), 300);
        })
        .await;
    assert_eq!(runner.seen().len(), 500);
}

#[tokio::test(start_paused = true)]
async fn a_burst_makes_one_cycle_within_fifty_milliseconds_of_the_settle_time() {
    let scene = crate::watch::tests::bench::Scene::new();
    let slow = |request: &Request| {
        Script::prints(result(request, "approved", &json!([]))).after(Duration::from_secs(20))
    };
    let runner = ScriptedRunner::new()
        .on("codex", "peer", slow)
        .on("gemini", "peer", slow);
    let (table, _) = scene
        .play(runner, async |table| {
            for number in 0..100 {
                table
                    .tell(
                        if number % 2 == 0 {
                            "milestone"
                        } else {
                            "blocker"
                        },
                        "claude",
                    )
                    .await;
                sleep(Duration::from_millis(10)).await;
            }
            sleep(5 * SECOND).await;
            assert_eq!(table.cycles().len(), 1);
            // The triggers during a cycle start only one more cycle.
            table.tell("request_review", "claude").await;
            table.say(json!({"type": "user_manual"})).await;
            sleep(QUARTER).await;
            table
        })
        .await;
    let cycles = table.cycles();
    assert!(
        cycles[0].0 >= 2 * SECOND && cycles[0].0 < 2 * SECOND + Duration::from_millis(50),
        "{cycles:?}"
    );
    let causes: Vec<_> = cycles.iter().map(|(_, why)| why.clone()).collect();
    assert_eq!(
        causes,
        [
            BTreeSet::from([Trigger::Milestone, Trigger::Blocker]),
            BTreeSet::from([Trigger::RequestReview, Trigger::UserManual])
        ]
    );
    assert!(cycles[1].0 >= cycles[0].0 + Duration::from_secs(20));
}

#[tokio::test(start_paused = true)]
async fn the_request_is_that_of_the_specification_and_never_names_the_reviewer_as_target() {
    let scene = crate::watch::tests::bench::Scene::new();
    let (_, _, runner) = scene
        .watch(both("approved", "approved"), false, async |table| {
            for name in ["claude", "gemini", "codex"] {
                table.tell("note", name).await;
            }
            scene.write("a.py", "one\ntwo\n");
            table.say(json!({"type": "milestone", "agent": "claude", "summary": "JWT", "file": "a.py"})).await;
            sleep(3 * SECOND).await;
        })
        .await;
    let seen = runner.seen();
    assert_eq!(seen.len(), 2);
    let of = |name: &str| {
        let request = seen
            .iter()
            .map(|seen| &seen.request)
            .find(|request| request.agent.0 == name)
            .unwrap();
        let Task::Peer(PeerCall {
            request, changes, ..
        }) = &request.task
        else {
            panic!("{request:?}")
        };
        assert!(
            changes.as_written().contains("+two"),
            "{}",
            changes.as_written()
        );
        serde_json::to_value(request).unwrap()
    };
    assert_eq!(
        of("codex"),
        json!({
            "type": "review_request",
            "reviewer": "codex",
            "targets": ["claude", "gemini"],
            "context": {
                "claude_summary": "note: note of claude\nmilestone: JWT\nfiles: a.py",
                "gemini_summary": "note: note of gemini"
            },
            "focus_areas": ["Security vulnerabilities", "Spec compliance", "Integration correctness"],
            "max_words": 200
        })
    );
    assert_eq!(of("gemini")["targets"], json!(["claude", "codex"]));
}

#[tokio::test(start_paused = true)]
async fn a_blocker_stops_until_a_person_says_so() {
    let scene = crate::watch::tests::bench::Scene::new();
    let (_, ended) = scene
        .play(stops_once(), async |table| {
            table.tell("milestone", "claude").await;
            sleep(3 * SECOND).await;
            assert_eq!(table.actions(), [Action::StopAndEscalate]);
            // Neither elapsed time nor events resume the work.
            table.tell("milestone", "claude").await;
            sleep(4 * QUARTER).await;
            assert_eq!(table.cycles().len(), 1);
            // A further review does not resume the work.
            table.order("review").await;
            sleep(SECOND).await;
            assert_eq!(table.order("status").await.status, WatchStatus::Paused);
            let standing = table.order("resume").await;
            assert_eq!(standing.status, WatchStatus::Running);
            let heard = table.heard.lock().unwrap();
            let resumed = heard.iter().rev().find_map(|(_, event)| match &event.kind {
                EventKind::Watch(WatchEvent::WatchResumed { by, reason }) => {
                    Some((by.clone(), reason.clone()))
                }
                _ => None,
            });
            assert_eq!(resumed.unwrap(), ("pat".into(), "checked by hand".into()));
        })
        .await;
    // The issue is closed, because the reviewer that raised the issue approved in the second cycle.
    assert_eq!(
        (ended.exit, ended.standing.issues.len()),
        (ExitReason::Clean, 0)
    );
}

#[tokio::test(start_paused = true)]
async fn one_concern_is_logged_and_flagged() {
    let scene = crate::watch::tests::bench::Scene::new();
    let (standing, _) = scene
        .play(both("approved", "concerns"), async |table| {
            table.tell("milestone", "claude").await;
            sleep(3 * SECOND).await;
            table.order("status").await
        })
        .await;
    assert_eq!(
        (standing.status, standing.flagged),
        (WatchStatus::Running, true)
    );
    assert_eq!(standing.last_action, Some(Action::LogAndContinue));
    assert_eq!(standing.issues[0].issue.description, *"gemini objects");
}

#[tokio::test(start_paused = true)]
async fn spec_24_an_answer_is_reviewed_together_with_its_question_and_once() {
    let scene = crate::watch::tests::bench::Scene::new();
    let seen: Arc<Mutex<Vec<Value>>> = Arc::default();
    let part = |word: &'static str| {
        let seen = Arc::clone(&seen);
        move |request: &Request| {
            let Task::Peer(PeerCall { request: asked, .. }) = &request.task else {
                unreachable!()
            };
            seen.lock()
                .unwrap()
                .push(serde_json::to_value(asked).unwrap());
            let answered = !asked.open_concerns.is_empty();
            if answered {
                verdict(word)(request)
            } else {
                verdict("concerns")(request)
            }
        }
    };
    let runner = ScriptedRunner::new()
        .on("codex", "peer", part("approved"))
        .on("gemini", "peer", part("concerns"));
    let (standing, _) = scene
        .play(runner, async |table| {
            table.say(json!({"type": "milestone", "agent": "claude", "file": "a.py"})).await;
            sleep(3 * SECOND).await;
            table.say(json!({"type": "note", "agent": "claude", "clarifies": 1, "summary": "Argon2 it is"})).await;
            sleep(SECOND).await;
            table.order("status").await
        })
        .await;
    let seen = seen.lock().unwrap().clone();
    assert_eq!(seen.len(), 4, "{seen:?}");
    assert!(
        seen[..2]
            .iter()
            .all(|asked| asked.get("open_concerns").is_none()),
        "nothing was raised before"
    );
    for asked in &seen[2..] {
        let shown = asked["open_concerns"].as_array().unwrap();
        let said: Vec<_> = shown
            .iter()
            .map(|one| (&one["raised_by"], &one["description"], &one["file"]))
            .collect();
        let of = |name: &str| {
            shown
                .iter()
                .any(|one| one["raised_by"] == name && one["file"] == "a.py")
        };
        assert!(shown.len() == 2 && of("codex") && of("gemini"), "{said:?}");
        assert_eq!(
            asked["context"]["claude_summary"]
                .as_str()
                .unwrap()
                .matches("Argon2 it is")
                .count(),
            1
        );
    }
    // Codex approves, so codex's issue is closed. Gemini's issue remains open.
    let open: Vec<&str> = standing
        .issues
        .iter()
        .map(|issue| issue.reviewer.0.as_str())
        .collect();
    assert_eq!((open, standing.flagged), (vec!["gemini"], true));
}

#[tokio::test(start_paused = true)]
async fn two_concerns_are_clarified_and_reviewed_again() {
    let scene = crate::watch::tests::bench::Scene::new();
    let part = |request: &Request| {
        let Task::Peer(PeerCall { request: asked, .. }) = &request.task else {
            unreachable!()
        };
        let answered = asked.context["claude_summary"]
            .as_written()
            .contains("clarification: Argon2 it is");
        if answered {
            verdict("approved")(request)
        } else {
            verdict("concerns")(request)
        }
    };
    let runner = ScriptedRunner::new()
        .on("codex", "peer", part)
        .on("gemini", "peer", part);
    let (table, _) = scene
        .play(runner, async |table| {
            table.say(json!({"type": "milestone", "agent": "claude", "file": "a.py"})).await;
            table.tell("note", "pete").await;
            sleep(3 * SECOND).await;
            let paused = table.order("status").await;
            assert_eq!(paused.status, WatchStatus::Paused);
            let asked = paused.clarification.unwrap();
            assert_eq!(asked.waiting, ["claude".into()], "only whose file it is");
            assert!(asked.prompt.as_written().contains("codex (high): a.py: codex objects"));
            let other = table.tell("note", "pete").await;
            assert_eq!(other["clarify"], Value::Null);
            let own = table.tell("note", "claude").await;
            assert_eq!(own["clarify"]["cycle"], 1);
            table.say(json!({"type": "note", "agent": "claude", "clarifies": 1, "summary": "Argon2 it is"})).await;
            sleep(SECOND).await;
            assert_eq!(table.order("status").await.status, WatchStatus::Running);
            table
        })
        .await;
    assert_eq!(table.actions(), [Action::PauseAndClarify, Action::Continue]);
    assert_eq!(table.cycles()[1].1, only(Trigger::Clarified));
}

#[tokio::test(start_paused = true)]
async fn a_clarification_that_nobody_answers_or_that_settles_nothing_waits_for_a_person() {
    let scene = crate::watch::tests::bench::Scene::new();
    let (table, ended) = scene
        .play(both("concerns", "concerns"), async |table| {
            table.tell("milestone", "claude").await;
            sleep(Duration::from_secs(6 * 60)).await;
            assert!(
                table
                    .notices()
                    .contains("no agent answered the clarification"),
                "{}",
                table.notices()
            );
            table.say(json!({"command": "resume"})).await;
            table.tell("milestone", "claude").await;
            sleep(3 * SECOND).await;
            let asked = table.order("status").await.clarification.unwrap();
            assert!(
                asked.prompt.as_written().contains("codex objects"),
                "what is raised again is asked about again"
            );
            table
                .say(json!({"type": "note", "agent": "claude", "clarifies": 2, "summary": "no"}))
                .await;
            sleep(QUARTER).await;
            table
        })
        .await;
    assert_eq!(table.actions(), [Action::PauseAndClarify; 3]);
    assert!(
        table
            .notices()
            .contains("issues remain after the clarification")
    );
    assert_eq!(ended.exit, ExitReason::DisputeOpen);
}

#[tokio::test(start_paused = true)]
async fn who_hangs_lies_or_answers_keywords_is_absent_and_never_approved() {
    for (name, part) in [
        (
            "hangs",
            Box::new(|_: &Request| Script::hangs())
                as Box<dyn Fn(&Request) -> Script + Send + Sync>,
        ),
        ("crashes", Box::new(|_| Script::fails(3, "no key"))),
        (
            "keywords",
            Box::new(|_| Script::prints("approved. No critical issues, not a blocker.")),
        ),
        (
            "lies",
            Box::new(|request| {
                let issue = json!([{"severity": "critical", "description": "d"}]);
                Script::prints(result(request, "approved", &issue))
            }),
        ),
        (
            "another's",
            Box::new(|request| {
                Script::prints(result(request, "approved", &json!([])).replace("gemini", "codex"))
            }),
        ),
    ] {
        let scene = crate::watch::tests::bench::Scene::new();
        let runner = ScriptedRunner::new()
            .on("codex", "peer", verdict("approved"))
            .on("gemini", "peer", part);
        let (standing, _, runner) = scene
            .watch(runner, false, async |table| {
                table.tell("milestone", "claude").await;
                sleep(Duration::from_secs(60)).await;
                table.order("status").await
            })
            .await;
        assert_eq!(standing.last_action, Some(Action::LogAndContinue), "{name}");
        assert_eq!(standing.issues[0].issue.severity, *"absent", "{name}");
        let asked = runner
            .seen()
            .iter()
            .filter(|seen| seen.request.agent.0 == "gemini")
            .count();
        let again = if matches!(name, "hangs" | "crashes") {
            1
        } else {
            2
        };
        assert_eq!(
            asked, again,
            "{name}: an invalid answer is asked for once more"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn nobody_is_not_approved() {
    let scene = crate::watch::tests::bench::Scene::new();
    let runner = ScriptedRunner::new()
        .on("codex", "peer", |_| Script::hangs())
        .on("gemini", "peer", |_| Script::prints(""));
    let (standing, ended) = scene
        .play(runner, async |table| {
            table.tell("blocker", "claude").await;
            sleep(Duration::from_secs(60)).await;
            table.order("status").await
        })
        .await;
    assert_eq!(
        (standing.status, standing.last_action),
        (WatchStatus::Paused, Some(Action::NotReviewed))
    );
    assert_eq!(
        (standing.issues.len(), ended.exit),
        (2, ExitReason::DisputeOpen)
    );
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_was_none_is_asked_for_again_with_the_reason() {
    let scene = crate::watch::tests::bench::Scene::new();
    let part = |request: &Request| match &request.again {
        None => Script::prints("looks fine"),
        Some(_) => verdict("approved")(request),
    };
    let runner = ScriptedRunner::new()
        .on("codex", "peer", verdict("approved"))
        .on("gemini", "peer", part);
    let (table, _, runner) = scene
        .watch(runner, false, async |table| {
            table.tell("milestone", "claude").await;
            sleep(3 * SECOND).await;
            table
        })
        .await;
    assert_eq!(table.actions(), [Action::Continue]);
    let again = runner
        .seen()
        .iter()
        .find_map(|seen| seen.request.again.clone())
        .unwrap();
    assert!(again.contains("nonce"), "{again}");
}

#[tokio::test(start_paused = true)]
async fn killed_in_the_middle_it_stands_where_it_stood_and_asks_nobody_twice() {
    let scene = crate::watch::tests::bench::Scene::new();
    let slow = |request: &Request| verdict("concerns")(request).after(Duration::from_secs(20));
    let runner = ScriptedRunner::new()
        .on("codex", "peer", verdict("concerns"))
        .on("gemini", "peer", slow);
    scene.write("a.py", "one\ntwo\n");
    scene
        .watch(runner, true, async |table| {
            table.tell("milestone", "claude").await;
            sleep(5 * SECOND).await;
            let heard = table.heard.lock().unwrap();
            let answered = heard.iter().filter(|(_, event)| {
                matches!(
                    &event.kind,
                    EventKind::Run(RunEvent::CallFinished {
                        answer: CallAnswer::Peer { .. },
                        ..
                    })
                )
            });
            assert_eq!(answered.count(), 1, "codex has answered, gemini is at it");
        })
        .await;

    let (standing, _, runner) = scene
        .watch(both("approved", "concerns"), false, async |table| {
            sleep(SECOND).await;
            table.order("status").await
        })
        .await;
    let asked: Vec<String> = runner
        .seen()
        .iter()
        .map(|seen| seen.request.agent.0.clone())
        .collect();
    assert_eq!(asked, ["gemini"], "who has answered is not asked again");
    assert_eq!((standing.cycle, standing.status), (1, WatchStatus::Paused));
    assert_eq!(standing.last_action, Some(Action::PauseAndClarify));

    // The resumed watch has the recorded status, issues and counters.
    let (standing, ended, runner) = scene
        .watch(both("approved", "approved"), false, async |table| {
            sleep(SECOND).await;
            table.order("status").await
        })
        .await;
    assert_eq!(
        (standing.status, standing.cycle, standing.events),
        (WatchStatus::Paused, 1, 1)
    );
    assert_eq!((standing.issues.len(), runner.seen().len()), (2, 0));
    assert_eq!(ended.unwrap().exit, ExitReason::DisputeOpen);
}

#[tokio::test(start_paused = true)]
async fn closed_issues_stay_closed_and_reviewers_are_told() {
    let scene = crate::watch::tests::bench::Scene::new();
    let (_, ended, runner) = scene
        .watch(both("approved", "concerns"), false, async |table| {
            table.tell("milestone", "claude").await;
            sleep(3 * SECOND).await;
            let closed = table
                .say(json!({"command": "close", "issue": 1, "reason": "by design"}))
                .await;
            assert_eq!(closed["ok"], true);
            assert_eq!(
                table.say(json!({"command": "close", "issue": 1})).await["ok"],
                false
            );
            // The same reviewer raises the same issue again.
            table.tell("milestone", "claude").await;
            sleep(3 * SECOND).await;
        })
        .await;
    assert!(
        ended.unwrap().standing.issues.is_empty(),
        "what was closed is not raised again"
    );
    let last = runner.seen().pop().unwrap().request;
    let Task::Peer(PeerCall { closed, .. }) = &last.task else {
        panic!("{last:?}")
    };
    assert_eq!(closed[0], *"a.py: gemini objects");
}

#[tokio::test(start_paused = true)]
async fn an_issue_that_its_reviewer_approved_is_raised_again_when_it_returns() {
    let scene = crate::watch::tests::bench::Scene::new();
    let (_, ended, runner) = scene
        .watch(approves_second(), false, async |table| {
            for _ in 0..3 {
                table.tell("milestone", "claude").await;
                sleep(3 * SECOND).await;
            }
        })
        .await;
    let issues = ended.unwrap().standing.issues;
    assert_eq!(
        issues
            .iter()
            .map(|issue| (issue.number, issue.cycle))
            .collect::<Vec<_>>(),
        [(2, 3)]
    );
    let last = runner.seen().pop().unwrap().request;
    let Task::Peer(PeerCall { closed, .. }) = &last.task else {
        panic!("{last:?}")
    };
    assert!(
        closed.is_empty(),
        "reviewers were told not to raise a repaired issue: {closed:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn malformed_lines_are_counted_and_told_and_harm_nothing() {
    let scene = crate::watch::tests::bench::Scene::new();
    let (standing, _) = scene
        .play(both("approved", "approved"), async |table| {
            for _ in 0..25 {
                assert_eq!(
                    table.say(json!({"type": "party", "agent": "a"})).await["ok"],
                    false
                );
            }
            table.tell("milestone", "claude").await;
            sleep(3 * SECOND).await;
            assert_eq!(table.notices().lines().count(), 10, "{}", table.notices());
            table.order("status").await
        })
        .await;
    assert_eq!(
        (standing.malformed, standing.events, standing.cycle),
        (25, 1, 1)
    );
}

#[tokio::test(start_paused = true)]
async fn what_is_used_up_asks_nobody_and_pauses() {
    let mut scene = crate::watch::tests::bench::Scene::new();
    scene.settings.budget.calls = Some(3);
    let (standing, _, runner) = scene
        .watch(both("approved", "approved"), false, async |table| {
            for _ in 0..3 {
                table.tell("milestone", "claude").await;
                sleep(5 * SECOND).await;
            }
            table.order("status").await
        })
        .await;
    assert_eq!(runner.seen().len(), 3);
    assert_eq!(
        (standing.cycle, standing.last_action),
        (3, Some(Action::NotReviewed))
    );
    assert!(
        standing.issues.iter().any(|issue| issue
            .issue
            .description
            .as_written()
            .contains("used up"))
    );
}

#[tokio::test(start_paused = true)]
async fn a_person_pauses_and_resumes_and_is_told_where_that_means_nothing() {
    let scene = crate::watch::tests::bench::Scene::new();
    scene
        .play(both("approved", "approved"), async |table| {
            let refused = table.say(json!({"command": "resume"})).await;
            assert_eq!(refused["error"], "the work is not paused");
            assert_eq!(table.order("pause").await.status, WatchStatus::Paused);
            assert_eq!(table.say(json!({"command": "pause"})).await["ok"], false);
            table.tell("milestone", "claude").await;
            sleep(2 * QUARTER).await;
            assert!(table.cycles().is_empty());
            let reviewed = table.order("review").await;
            assert_eq!(reviewed.pending, [Trigger::Milestone, Trigger::UserManual]);
            sleep(SECOND).await;
            assert_eq!(
                table.actions(),
                [Action::Continue],
                "a person may ask for a review at any time"
            );
            assert_eq!(
                table.order("status").await.status,
                WatchStatus::Paused,
                "but that lifts no person's pause"
            );
        })
        .await;
}
