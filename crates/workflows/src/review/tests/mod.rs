//! Tests complete runs with a real tree, a real history and scripted agents.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use super::*;
use crate::review::bench::*;
use crate::run::ports::Choice;
use glee_agents::Stop;
use glee_agents::process::scripted::{Script, ScriptedRunner};
use glee_model::domain::event::Mode;
use glee_model::domain::{AgentName, DisputeNumber, FindingState, Role, Route, RulingWord, Tag};
use glee_protocol::calls::recheck::RecheckCall;
use glee_protocol::calls::respond::RespondCall;
use glee_protocol::calls::review::ReviewCall;
use glee_protocol::request::{Request, Task};
use glee_store::history::store::Journal;
use glee_workspace::root::Workspace;
use glee_workspace::{SelectOptions, TargetSpec};

mod budget;
mod closings;
mod debates;
mod groups;
mod growth;
mod judged_first;
mod memory;
mod replay;
mod reviewers;
mod same;
mod together;

#[test]
fn a_review_changes_nothing_and_gates() {
    let bench = crate::review::bench::Bench::new();
    let left = bench.review(
        Mode::Review,
        ScriptedRunner::new().on("r", "review", review(TWO, 2)),
    );
    assert_eq!(left.ended.outcome.exit, ExitReason::FindingsOpen);
    assert_eq!(
        left.heard.events,
        [
            "run_started",
            "ask review-1-0.r.1",
            "files_reviewed",
            "findings_merged",
            "run_ended"
        ]
    );
    assert_eq!(
        left.states(),
        [
            ("F1".into(), FindingState::Open),
            ("F2".into(), FindingState::Open)
        ]
    );
    assert_eq!(fs::read_to_string(bench.file()).unwrap(), CODE);
}

#[test]
fn silence_is_never_clean() {
    let bench = crate::review::bench::Bench::new();
    let left = bench.review(
        Mode::Review,
        ScriptedRunner::new().on("r", "review", |_| Script::prints("LGTM")),
    );
    assert_eq!(left.ended.outcome.exit, ExitReason::AgentFailed);
    assert_eq!(
        left.asked(),
        ["r review", "r close", "r review", "r close"],
        "asked for the end of the answer, and once more"
    );
    let clean = bench.review(
        Mode::Review,
        ScriptedRunner::new().on("r", "review", review("All fine.", 0)),
    );
    assert_eq!(clean.ended.outcome.exit, ExitReason::Clean);
}

#[test]
fn an_agent_begins_after_it_is_recorded_that_it_is_asked_and_its_answer_before_it_is_merged() {
    let bench = crate::review::bench::Bench::new();
    let history = bench.folder.path().join("state/history.db");
    let answer = review(TWO, 2);
    let runner = ScriptedRunner::new().on("r", "review", move |request| {
        let journal = Journal::open_read(&history).unwrap().unwrap();
        let run = journal.runs(None).unwrap().remove(0).run;
        let last = journal.events(&run).unwrap().pop().unwrap();
        assert!(
            matches!(last.kind, EventKind::Run(RunEvent::CallStarted { .. })),
            "the agent is asked after {last:?}"
        );
        answer(request)
    });
    let left = bench.review(Mode::Review, runner);
    let events = bench
        .setup(&Arc::default(), &Arc::default())
        .journal
        .events(&left.ended.outcome.run)
        .unwrap();
    let at = |is: fn(&EventKind) -> bool| events.iter().find(|event| is(&event.kind)).unwrap().at;
    let merged = at(|kind| matches!(kind, EventKind::Review(ReviewEvent::FindingsMerged { .. })));
    assert!(at(|kind| matches!(kind, EventKind::Run(RunEvent::CallFinished { .. }))) < merged);
}

#[test]
fn the_standard_flow_implements_and_is_checked() {
    let bench = crate::review::bench::Bench::new();
    let work = edit(&bench, "md5", "sha256");
    let left = bench.review(
        Mode::Fix,
        ScriptedRunner::new()
            .on("r", "review", review(TWO, 2))
            .on("c", "respond", move |request| {
                work();
                respond(
                    "[F1] IMPLEMENTED: sha256 now\n[F2] DISCARDED: the name is used elsewhere",
                    2,
                )(request)
            })
            .on("r", "recheck", |request| {
                let Task::Recheck(RecheckCall { changes, .. }) = &request.task else {
                    panic!("a raiser re-checks")
                };
                assert!(
                    changes[0].diff.contains("+    return sha256(data)"),
                    "{}",
                    changes[0].diff
                );
                Script::prints(format!(
                    "[F1] RESOLVED: yes\nGLEE-RECHECK-END nonce={} answers=1\n",
                    request.nonce
                ))
            }),
    );
    assert_eq!(
        left.heard.events,
        [
            "run_started",
            "ask review-1-0.r.1",
            "files_reviewed",
            "findings_merged",
            "before_image",
            "ask respond-1.c.1",
            "tree_changed",
            "ask recheck-1.r.1",
            "run_ended"
        ]
    );
    assert_eq!(
        left.states(),
        [
            ("F1".into(), FindingState::Resolved),
            ("F2".into(), FindingState::Discarded)
        ]
    );
    assert_eq!(left.ended.outcome.exit, ExitReason::Clean);
    assert!(left.ended.outcome.undoable);
}

fn objecting(bench: &Bench) -> ScriptedRunner {
    let work = edit(bench, "md5", "sha256");
    ScriptedRunner::new()
        .on("r", "review", review(TWO, 2))
        .on("c", "respond", move |request| {
            let Task::Respond(RespondCall { items, .. }) = &request.task else {
                panic!("a coder responds")
            };
            if items.iter().any(|item| item.enforced.is_some()) {
                work();
                return respond("[F1] IMPLEMENTED: as ruled", 1)(request);
            }
            respond(
                "[F1] DISAGREE: only a cache key\nEvidence: app.py:1\n[F2] IMPLEMENTED: done",
                2,
            )(request)
        })
}

#[test]
fn an_enforced_finding_is_implemented_under_the_ruling() {
    let mut bench = crate::review::bench::Bench::new();
    bench.settings.review.recheck = false;
    let runner = objecting(&bench).on("j", "judge", judge("\"ruling\":\"ENFORCE\""));
    let left = bench.review(Mode::Arbitrate, runner);
    assert_eq!(
        left.heard.questions,
        [(1, Some("j".into()), Route::Judge, 0)]
    );
    assert_eq!(
        left.asked(),
        ["r review", "c respond", "j judge", "c respond"]
    );
    assert_eq!(
        left.states(),
        [
            ("F1".into(), FindingState::Unchecked),
            ("F2".into(), FindingState::Claimed)
        ]
    );
    assert_eq!(left.ended.outcome.exit, ExitReason::Clean, "F2 is optional");
    assert!(fs::read_to_string(bench.file()).unwrap().contains("sha256"));
}

#[test]
fn spec_10_a_finding_dismissed_to_a_lower_tag_stays_open_as_optional() {
    let mut bench = crate::review::bench::Bench::new();
    bench.settings.review.reuse = glee_store::config::schema::values::ReuseMode::Off;
    let lower = |tag: &str| {
        let said =
            format!("\"ruling\":\"DISMISS\",\"citations\":[\"app.py:1\"],\"new_tag\":\"{tag}\"");
        objecting(&bench).on("j", "judge", judge(&said))
    };
    let left = bench.review(Mode::Arbitrate, lower("SHOULD"));
    let outcome = &left.ended.outcome;
    let number = outcome.disputes[0].number;
    let finding = &outcome.findings[0];
    assert_eq!(
        (outcome.exit, &finding.state),
        (ExitReason::Clean, &FindingState::Open)
    );
    assert_eq!(
        (finding.finding.mandatory, finding.finding.raw.severity.tag),
        (false, Some(Tag::Should))
    );
    let lowered = finding
        .lowered
        .as_ref()
        .map(|lowered| (lowered.was.tag, lowered.dispute.clone()));
    assert_eq!(lowered, Some((Some(Tag::Must), number.into())));
    assert_eq!(
        outcome.disputes[0].finding.raw.severity.tag,
        Some(Tag::Must),
        "the record of the dispute stays"
    );

    // The lower tag also applies in a later run, in which the reviewer raises the finding again.
    let again = bench.review(Mode::Arbitrate, lower("SHOULD"));
    let outcome = &again.ended.outcome;
    let finding = &outcome.findings[0];
    assert_eq!(
        (outcome.exit, outcome.disputes.len()),
        (ExitReason::Clean, 0),
        "an optional one is not disputed"
    );
    assert_eq!(
        (finding.finding.mandatory, finding.finding.raw.severity.tag),
        (false, Some(Tag::Should))
    );
    assert!(
        !matches!(finding.state, FindingState::AlreadyRuled { .. }),
        "{:?}",
        finding.state
    );
    let lowered = finding
        .lowered
        .as_ref()
        .map(|lowered| (lowered.was.tag, lowered.dispute.clone()));
    assert_eq!(
        lowered,
        Some((Some(Tag::Must), number.into())),
        "by the dispute of the first run"
    );
    let Task::Review(ReviewCall { rulings, .. }) = &again.runner.seen()[0].request.task else {
        panic!("a review comes first")
    };
    assert!(
        rulings.is_empty(),
        "nobody is told that it is settled: {rulings:?}"
    );
    let reviewed = bench.review(Mode::Review, lower("SHOULD"));
    let finding = &reviewed.ended.outcome.findings[0];
    assert_eq!(
        (reviewed.ended.outcome.exit, &finding.state),
        (ExitReason::Clean, &FindingState::Open)
    );

    let bench = crate::review::bench::Bench::new();
    let said = "\"ruling\":\"DISMISS\",\"citations\":[\"app.py:1\"],\"new_tag\":\"HIGH\"";
    let left = bench.review(
        Mode::Arbitrate,
        objecting(&bench).on("j", "judge", judge(said)),
    );
    let outcome = &left.ended.outcome;
    assert_eq!(
        outcome.exit,
        ExitReason::DisputeOpen,
        "a tag that is mandatory as well takes nothing away"
    );
    let why = outcome.disputes[0].rulings[0].ruling.rationale.as_written();
    assert!(
        why.contains("dismissed as [HIGH], which is mandatory as well"),
        "{why}"
    );
}

#[test]
fn a_dismissal_binds_until_the_anchored_code_changes() {
    let bench = crate::review::bench::Bench::new();
    let dismiss = || {
        objecting(&bench).on(
            "j",
            "judge",
            judge("\"ruling\":\"DISMISS\",\"citations\":[\"app.py:1\"]"),
        )
    };
    let first = bench.review(Mode::Arbitrate, dismiss());
    let number = first.ended.outcome.disputes[0].number;
    assert_eq!(
        first.states()[0].1,
        FindingState::Dismissed { dispute: number }
    );
    assert_eq!(first.ended.outcome.exit, ExitReason::Clean);

    let again = bench.review(Mode::Arbitrate, dismiss());
    assert!(
        matches!(&again.states()[0].1, FindingState::AlreadyRuled { dispute, .. } if *dispute == number.into())
    );
    assert!(again.heard.questions.is_empty(), "it is not asked again");
    let Task::Review(ReviewCall { rulings, .. }) = &again.runner.seen()[0].request.task else {
        panic!("a review comes first")
    };
    assert_eq!(
        rulings[0].dispute,
        number.into(),
        "reviewers are told of the ruling"
    );

    bench.write(&CODE.replace("md5(data)", "md5(data + salt)"));
    let changed = bench.review(Mode::Arbitrate, dismiss());
    assert_eq!(
        changed.heard.questions.len(),
        1,
        "the anchored code changed"
    );
}

/// Returns the contents of all files below a folder.
fn bytes_below(folder: &std::path::Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        bytes.extend(if path.is_dir() {
            bytes_below(&path)
        } else {
            fs::read(&path).unwrap()
        });
    }
    bytes
}

#[test]
fn a_secret_is_told_to_nobody_and_kept_nowhere() {
    let mut bench = crate::review::bench::Bench::new();
    let secret = format!("ghp_{}", "aZ3kQ9xW7bTu".repeat(3));
    bench.write(&format!(
        "def key(data):\n    return md5(data)\n\n\nTOKEN = '{secret}'\n"
    ));
    let mut embedded = agent("e", Role::Reviewer);
    embedded.adapter = "builtin".into();
    bench.settings.agents.push(embedded);
    let told = secret.clone();
    let quoted = format!("[MUST] app.py:5 Take `{secret}` out of the code");
    let left = bench.review(
        Mode::Review,
        ScriptedRunner::new()
            .on("r", "review", review(&quoted, 1))
            .on("e", "review", review("Fine.", 0)),
    );
    for seen in left.runner.seen() {
        let request = serde_json::to_string(&seen.request).unwrap();
        assert_eq!(
            request.contains(&told),
            seen.request.agent.0 == "e",
            "{request}"
        );
        assert_eq!(
            request.contains("TOKEN = '[secret:github-pat:"),
            seen.request.agent.0 == "r"
        );
    }
    let title = left.ended.outcome.findings[0]
        .finding
        .raw
        .title
        .as_written();
    assert!(title.starts_with("Take [secret:github-pat:"), "{title}");
    assert!(
        left.ended
            .reviewed
            .shown(1, "app.py")
            .unwrap()
            .contains("TOKEN = '[secret:github-pat:")
    );
    let kept = bytes_below(&bench.folder.path().join("state"));
    assert!(
        !kept
            .windows(secret.len())
            .any(|window| window == secret.as_bytes()),
        "the secret is kept"
    );
    assert!(
        kept.windows(19)
            .any(|window| window == b"[secret:github-pat:"),
        "its placeholder is not"
    );

    bench.settings.redaction.secrets = false;
    let plain = bench.review(
        Mode::Review,
        ScriptedRunner::new()
            .on("r", "review", review(&quoted, 1))
            .on("e", "review", review("Fine.", 0)),
    );
    assert!(
        plain.ended.outcome.findings[0]
            .finding
            .raw
            .title
            .as_written()
            .contains(&secret)
    );
}

#[test]
fn a_panel_of_three_votes_and_every_vote_is_kept() {
    let mut bench = crate::review::bench::Bench::new();
    bench.settings.review.judge.panel = ["j", "k", "l"].map(str::to_owned).into();
    bench
        .settings
        .agents
        .extend(["l", "k", "m"].map(|name| agent(name, Role::Judge)));
    let left = bench.review(
        Mode::Arbitrate,
        objecting(&bench)
            .on(
                "j",
                "judge",
                judge("\"ruling\":\"DISMISS\",\"citations\":[\"app.py:1\"]"),
            )
            .on("k", "judge", |_| Script::prints("I would rather not say."))
            .on(
                "l",
                "judge",
                judge("\"ruling\":\"DISMISS\",\"citations\":[\"app.py:2\"]"),
            ),
    );
    assert_eq!(
        left.heard.questions,
        [(1, Some("j, k, l".into()), Route::Judge, 0)]
    );
    let mut asked = left.asked();
    asked.sort();
    assert_eq!(
        asked,
        [
            "c respond",
            "j judge",
            "k judge",
            "k judge",
            "l judge",
            "r review"
        ]
    );
    let dispute = &left.ended.outcome.disputes[0];
    assert_eq!(
        left.states()[0].1,
        FindingState::Dismissed {
            dispute: dispute.number
        }
    );
    let [record] = dispute.rulings.as_slice() else {
        panic!("one ruling: {:?}", dispute.rulings)
    };
    assert_eq!(record.by, glee_model::domain::Ruler::Panel);
    assert_eq!(record.ruling.citations, ["app.py:1", "app.py:2"]);
    let votes: Vec<String> = record
        .votes
        .iter()
        .map(|vote| vote.said().as_written().to_owned())
        .collect();
    assert_eq!(votes[0], "j DISMISS: so it is");
    assert!(
        votes[1].starts_with("k: the judge gave no ruling: "),
        "{}",
        votes[1]
    );
    assert_eq!(votes[2], "l DISMISS: so it is");
}

#[test]
fn a_panel_names_three_connected_judges() {
    let bench = crate::review::bench::Bench::new();
    let target = bench
        .setup(&Arc::new(ScriptedRunner::new()), &Arc::default())
        .workspace;
    let options = SelectOptions {
        max_file: 1 << 20,
        shard: 1 << 20,
        context: glee_model::domain::CodeContext::Blocks,
    };
    let selected = target
        .select(&TargetSpec::Paths(vec![bench.file()]), &options)
        .unwrap();
    let planned = |panel: &[&str]| {
        let mut settings = settings();
        settings.review.judge.panel = panel.iter().map(ToString::to_string).collect();
        plan(&settings, Mode::Arbitrate, true, target.root(), &selected)
            .map(drop)
            .map_err(|e| e.to_string())
    };
    assert_eq!(planned(&[]), Ok(()));
    assert_eq!(
        planned(&["j"]),
        Err("a panel has three judges, but `review.judge.panel` lists 1".into())
    );
    assert_eq!(
        planned(&["j", "j", "j"]),
        Err("a panel has three judges, but `review.judge.panel` lists 1".into())
    );
    assert_eq!(
        planned(&["j", "c", "x"]),
        Err("`c` in `review.judge.panel` is not a connected judge".into())
    );
}

#[test]
fn a_dismissal_without_evidence_escalates_and_waits_for_a_person() {
    let bench = crate::review::bench::Bench::new();
    let escalating = || {
        objecting(&bench).on(
            "j",
            "judge",
            judge("\"ruling\":\"DISMISS\",\"citations\":[\"nowhere.py:1\"]"),
        )
    };
    let left = bench.review(Mode::Arbitrate, escalating());
    let dispute = &left.ended.outcome.disputes[0];
    assert_eq!(dispute.rulings[0].ruling.ruling, RulingWord::Escalate);
    assert_eq!(left.ended.outcome.exit, ExitReason::DisputeOpen);

    let again = bench.review(Mode::Arbitrate, escalating());
    assert_eq!(
        again.states()[0].1,
        FindingState::Disputed {
            dispute: dispute.number
        },
        "no second dispute"
    );
    let numbers: Vec<_> = again
        .ended
        .outcome
        .disputes
        .iter()
        .map(|dispute| dispute.number)
        .collect();
    assert_eq!(numbers, [dispute.number], "the earlier one still waits");
    assert_eq!(again.ended.outcome.exit, ExitReason::DisputeOpen);
}

#[test]
fn a_person_decides_later_and_the_run_is_carried_on() {
    let mut bench = crate::review::bench::Bench::new();
    bench.settings.review.on_dispute.default = Route::Human;
    bench.settings.review.recheck = false;
    let left = bench.review(Mode::Arbitrate, objecting(&bench));
    assert_eq!(left.ended.outcome.exit, ExitReason::DisputeOpen);
    let run = left.ended.outcome.run.clone();

    bench.ruling = Some(RulingWord::Enforce);
    let after = bench.resume(&run, objecting(&bench));
    assert_eq!(
        after.asked(),
        ["c respond"],
        "no completed call is repeated"
    );
    assert_eq!(after.ended.outcome.exit, ExitReason::Clean);
    let told = [
        "run_resumed",
        "disputes_reopened",
        "route_chosen",
        "ruling_given",
        "dispute_settled",
    ];
    assert_eq!(
        after.heard.events[..5],
        told,
        "what the default left to a person is chosen again"
    );
}

#[test]
fn a_discarded_opinion_is_closed_without_a_ruling() {
    let mut bench = crate::review::bench::Bench::new();
    bench.choice = Some(Choice {
        route: Route::Discard,
        by_person: true,
        for_all: false,
    });
    let left = bench.review(Mode::Arbitrate, objecting(&bench));
    assert_eq!(left.states()[0].1, FindingState::Discarded);
    assert_eq!(left.ended.outcome.exit, ExitReason::Clean);
    assert!(left.ended.outcome.disputes[0].rulings.is_empty());
}

#[test]
fn what_the_coder_leaves_out_is_asked_for_once_more() {
    let bench = crate::review::bench::Bench::new();
    let runner =
        ScriptedRunner::new()
            .on("r", "review", review(TWO, 2))
            .on("c", "respond", |request| {
                let Task::Respond(RespondCall { items, .. }) = &request.task else {
                    panic!("a coder responds")
                };
                match items.len() {
                    2 => respond("[F2] DISCARDED: no", 1)(request),
                    _ => Script::prints("I would rather not."),
                }
            });
    let left = bench.review(Mode::Fix, runner);
    assert_eq!(left.asked(), ["r review", "c respond", "c respond"]);
    assert_eq!(left.states()[0].1, FindingState::Unanswered);
    assert!(
        left.ended.outcome.exit == ExitReason::AgentFailed,
        "the coder's second answer was none"
    );
}

#[test]
fn one_reviewer_failing_does_not_stop_the_others() {
    let mut bench = crate::review::bench::Bench::new();
    bench.settings.agents.push(agent("r2", Role::Reviewer));
    let runner = || ScriptedRunner::new().on("r", "review", review(TWO, 2));
    let left = bench.review(Mode::Review, runner());
    assert_eq!(left.ended.outcome.exit, ExitReason::AgentFailed);
    assert_eq!(left.ended.outcome.findings.len(), 2);
    assert_eq!(left.ended.outcome.failures[0].agent, AgentName::from("r2"));
    bench.settings.review.quorum = Some(1);
    assert_eq!(
        bench.review(Mode::Review, runner()).ended.outcome.exit,
        ExitReason::FindingsOpen
    );
}

#[test]
fn a_later_round_that_undoes_an_earlier_one_is_a_dispute() {
    let mut bench = crate::review::bench::Bench::new();
    bench.settings.review.rounds = 2;
    bench.settings.review.recheck = false;
    bench.settings.review.on_dispute.default = Route::Human;
    let work = edit(&bench, "md5", "sha256");
    let runner = ScriptedRunner::new()
        .on("r", "review", |request| {
            let Task::Review(ReviewCall { files, .. }) = &request.task else {
                panic!("a reviewer reviews")
            };
            if files[0].text.contains("sha256") {
                return review(
                    "[MUST] app.py:2 Remove sha256, it is too slow for a cache key",
                    1,
                )(request);
            }
            review("[MUST] app.py:2 Replace the weak hash", 1)(request)
        })
        .on("c", "respond", move |request| {
            work();
            respond("[F1] IMPLEMENTED: sha256 now", 1)(request)
        });
    let left = bench.review(Mode::Arbitrate, runner);
    let findings = &left.ended.outcome.findings;
    assert_eq!(
        findings[1].finding.reverses,
        Some(glee_model::domain::FindingId::new(1))
    );
    assert_eq!(
        left.asked(),
        ["r review", "c respond", "r review"],
        "never handed to the coder"
    );
    assert_eq!(left.ended.outcome.disputes.len(), 1);
    assert_eq!(left.ended.outcome.exit, ExitReason::DisputeOpen);
}

#[test]
fn an_answer_of_a_reader_that_may_have_written_counts_for_nothing_until_it_is_asked_again() {
    let bench = crate::review::bench::Bench::new();
    let change = edit(&bench, "md5", "sha");
    let writes = move |request: &Request| {
        change();
        review(TWO, 2)(request)
    };
    let left = bench.review(
        Mode::Review,
        ScriptedRunner::new().on("r", "review", writes),
    );
    assert_eq!(left.ended.outcome.exit, ExitReason::ReadOnlyViolation);
    assert_eq!(left.ended.outcome.findings, []);
    assert_eq!(
        left.ended.outcome.failures[0].error,
        "`r` is read-only, but during its call an agent or another process changed `app.py`: its answer is discarded"
    );
    assert_eq!(
        left.heard.events,
        [
            "run_started",
            "ask review-1-0.r.1",
            "read_only_violated",
            "run_ended"
        ]
    );
    let run = left.ended.outcome.run;
    let left = bench.resume(
        &run,
        ScriptedRunner::new().on("r", "review", review(TWO, 2)),
    );
    assert_eq!(left.ended.outcome.exit, ExitReason::FindingsOpen);
    assert_eq!(left.states().len(), 2);
}

#[test]
fn what_a_coder_does_beyond_editing_code_is_told() {
    let bench = crate::review::bench::Bench::new();
    let settings = bench.file().with_file_name(".claude");
    let change = edit(&bench, "md5", "sha256");
    let reaches = move |request: &Request| {
        change();
        fs::create_dir_all(&settings).unwrap();
        fs::write(settings.join("settings.json"), "{}").unwrap();
        respond("[F1] IMPLEMENTED: done", 1)(request)
    };
    let runner = ScriptedRunner::new()
        .on(
            "r",
            "review",
            review("[MUST] app.py:2 Replace the weak hash", 1),
        )
        .on("c", "respond", reaches);
    let left = bench.review(Mode::Fix, runner);
    let [controls, unasked] = left.ended.outcome.notices.as_slice() else {
        panic!("{:?}", left.ended.outcome.notices)
    };
    assert_eq!(
        controls,
        "c created `.claude/settings.json`, which controls the tools that open this tree"
    );
    assert!(
        unasked.contains("that no finding names: .claude/settings.json; "),
        "{unasked}"
    );
}
