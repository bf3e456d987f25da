//! Tests that a judge that Glee knows is asked about the disputes of a file in one call.

use super::*;
use glee_model::domain::{Known, Profile};
use serde_json::{Value, json};

const THREE: &str = "[MUST] app.py:1 Check the data\n[MUST] app.py:2 Replace the weak hash\n\
                     [MUST] app.py:6 Never eval file content";

/// A review with three findings, to all of which the coder objects.
fn disputed() -> ScriptedRunner {
    let objection = "[F1] DISAGREE: app.py:1 is checked\n[F2] DISAGREE: app.py:2 is no secret\n\
                     [F3] DISAGREE: app.py:6 reads our own file";
    ScriptedRunner::new()
        .on("r", "review", review(THREE, 3))
        .on("c", "respond", respond(objection, 3))
}

/// A bench whose judges are programs that Glee knows.
fn bench(judges: &[&str]) -> Bench {
    let mut bench = Bench::new();
    let known = |name: &&str| Agent {
        profile: Some(Box::new(Profile {
            known: Some(Known::Tested),
            ..Profile::default()
        })),
        ..agent(name, Role::Judge)
    };
    let agents = &mut bench.settings.agents;
    agents.retain(|agent| agent.role != Role::Judge);
    agents.extend(judges.iter().map(known));
    let panel = judges.iter().filter(|_| judges.len() > 1);
    bench.settings.review.judge.panel = panel.map(ToString::to_string).collect();
    bench.choice = Some(Choice {
        route: Route::Judge,
        by_person: false,
        for_all: false,
    });
    bench
}

fn numbers(request: &Request) -> Vec<u64> {
    let disputes = request.task.disputes();
    disputes.into_iter().map(|dispute| dispute.0).collect()
}

/// A judge that gives these rulings, with one citation each.
fn rules(rulings: &[(u64, &'static str)]) -> impl Fn(&Request) -> Script + Send + Sync + 'static {
    leaves_out(None, rulings)
}

/// A judge that leaves one dispute out where it is asked about several.
fn leaves_out(
    left_out: Option<u64>,
    rulings: &[(u64, &'static str)],
) -> impl Fn(&Request) -> Script + Send + Sync + 'static {
    let rulings = rulings.to_vec();
    move |request| {
        let asked = numbers(request);
        let is_given = |number: &u64| {
            asked.contains(number) && (asked.len() == 1 || left_out != Some(*number))
        };
        let given = rulings.iter().filter(|(number, _)| is_given(number));
        let given: Vec<Value> = given
            .map(|(number, word)| {
                let line = [1, 2, 6][usize::try_from(*number).unwrap() - 1];
                json!({"dispute": number, "ruling": word, "rationale": "so it is",
                    "citations": [format!("app.py:{line}")]})
            })
            .collect();
        let answer = match given.as_slice() {
            [one] if asked.len() == 1 => {
                let mut one = one.clone();
                one["nonce"] = json!(request.nonce);
                one
            }
            all => json!({"nonce": request.nonce, "rulings": all}),
        };
        Script::prints(answer.to_string())
    }
}

fn dispositions(left: &Left) -> Vec<FindingState> {
    left.states().into_iter().map(|(_, state)| state).collect()
}

fn dismissed(dispute: u64) -> FindingState {
    FindingState::Dismissed {
        dispute: DisputeNumber(dispute),
    }
}

fn open(dispute: u64) -> FindingState {
    FindingState::Disputed {
        dispute: DisputeNumber(dispute),
    }
}

/// The disputes of each call of a judge, in the order of the calls.
fn judged(left: &Left) -> Vec<(String, Vec<u64>)> {
    let seen = left.runner.seen();
    let judges = seen
        .iter()
        .filter(|seen| seen.request.task.kind() == "judge");
    judges
        .map(|seen| (seen.request.agent.to_string(), numbers(&seen.request)))
        .collect()
}

#[test]
fn the_disputes_of_a_file_are_one_call_with_its_code_once() {
    let all = [(1, "DISMISS"), (2, "DISMISS"), (3, "ESCALATE")];
    let left = bench(&["j"]).review(Mode::Arbitrate, disputed().on("j", "judge", rules(&all)));
    assert_eq!(judged(&left), [("j".into(), vec![1, 2, 3])]);
    assert_eq!(dispositions(&left), [dismissed(1), dismissed(2), open(3)]);
    let seen = left.runner.seen();
    let call = seen
        .iter()
        .find(|seen| seen.request.agent.0 == "j")
        .unwrap();
    let Task::Judge(task) = &call.request.task else {
        panic!("a judge is asked to judge")
    };
    assert_eq!(task.files.len(), 1);
}

#[test]
fn a_dispute_that_the_judge_leaves_out_is_asked_alone_and_with_the_whole_file() {
    let all = [(1, "DISMISS"), (2, "DISMISS"), (3, "DISMISS")];
    let runner = disputed().on("j", "judge", leaves_out(Some(2), &all));
    let left = bench(&["j"]).review(Mode::Arbitrate, runner);
    let alone = ("j".into(), vec![2]);
    assert_eq!(judged(&left), [("j".into(), vec![1, 2, 3]), alone]);
    let all = [dismissed(1), dismissed(2), dismissed(3)];
    assert_eq!(dispositions(&left), all);
    let seen = left.runner.seen();
    let again = &seen.last().unwrap().request;
    assert_eq!(
        again.again.as_deref(),
        Some("the answer has no ruling on this dispute")
    );
    let Task::Judge(task) = &again.task else {
        panic!("a judge is asked to judge")
    };
    assert_eq!(task.files[0].text, CODE);
}

#[test]
fn each_judge_of_a_panel_is_asked_once_and_each_dispute_has_its_votes() {
    let one = [(1, "DISMISS"), (2, "DISMISS"), (3, "ENFORCE")];
    let other = [(1, "DISMISS"), (2, "ENFORCE"), (3, "ENFORCE")];
    let runner = disputed()
        .on("j", "judge", rules(&one))
        .on("k", "judge", rules(&one))
        .on("l", "judge", rules(&other))
        .on("c", "respond", respond("[F3] IMPLEMENTED: as ruled", 1))
        .on("r", "recheck", |_| Script::prints("nothing"))
        .on("r", "recheck", |_| Script::prints("nothing"));
    let left = bench(&["j", "k", "l"]).review(Mode::Arbitrate, runner);
    let each = ["j", "k", "l"].map(|judge| (judge.to_owned(), vec![1, 2, 3]));
    assert_eq!(judged(&left), each);
    let votes = left.ended.outcome.disputes.iter();
    let votes: Vec<usize> = votes.map(|it| it.rulings[0].votes.len()).collect();
    assert_eq!(votes, [3, 3, 3]);
    assert_eq!(dispositions(&left)[..2], [dismissed(1), dismissed(2)]);
}

#[test]
fn a_judge_that_fails_leaves_all_disputes_of_its_call_open_and_is_one_failure() {
    let runner = disputed().on("j", "judge", |_| Script::fails(1, "no key"));
    let bench = bench(&["j"]);
    let left = bench.review(Mode::Arbitrate, runner);
    assert_eq!(dispositions(&left), [open(1), open(2), open(3)]);
    assert_eq!(left.ended.outcome.failures.len(), 1);
    assert_eq!(left.ended.outcome.exit, ExitReason::AgentFailed);
}

#[test]
fn a_program_of_the_users_own_is_asked_about_one_dispute_at_a_time() {
    let mut bench = bench(&["j"]);
    for agent in &mut bench.settings.agents {
        agent.profile = None;
    }
    let all = [(1, "DISMISS"), (2, "DISMISS"), (3, "DISMISS")];
    let runner = disputed().on("j", "judge", rules(&all));
    let left = bench.review(Mode::Arbitrate, runner);
    let alone = [1, 2, 3].map(|number| ("j".to_owned(), vec![number]));
    assert_eq!(judged(&left), alone);
}
