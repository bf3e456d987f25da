//! The steps of a review, from a state that events lead to.

use super::disputes::{replied, settlement};
use super::*;
use glee_agents::samples;
use glee_model::domain::event::{DisputeEvent, Plan, RunEvent, TreeChange, Verified};
use glee_model::domain::{
    Agent, Anchor, Answer, AnsweredObjection, Comparison, Coverage, Disposition, Dispute,
    EarlierDispute, Finding, FindingId, PairAnswer, PairComparison, PairId, Person, RawFinding,
    Recheck, Relation, Response, Route, Ruler, Ruling, RulingRecord, RulingWord, Severity, Tag,
    UnsurePair,
};
use glee_model::rules::consensus::Answers;
use play::*;

mod comparing;
mod disputing;
mod play;

#[test]
fn reviewers_are_asked_side_by_side_then_merged() {
    let mut play = Play::new(Mode::Review);
    assert_eq!(
        play.due(),
        [
            Step::Ask(call("r1", REVIEW, 1)),
            Step::Ask(call("r2", REVIEW, 1))
        ]
    );
    let answer = |status| CallAnswer::Review {
        status,
        findings: Vec::new(),
        notes: String::new(),
        problem: None,
        read: None,
        is_doubtful: false,
    };
    play.answered(call("r1", REVIEW, 1), answer(AnswerStatus::NotReviewed))
        .answered(
            call("r2", REVIEW, 1),
            CallAnswer::Failed {
                error: "gone".into(),
                hint: None,
                cause: None,
            },
        );
    assert_eq!(
        play.due(),
        [Step::Ask(call("r1", REVIEW, 2))],
        "asked once more; what failed is not"
    );
    play.answered(call("r1", REVIEW, 2), answer(AnswerStatus::Clean));
    assert_eq!(play.due(), [Step::Effect(ReviewEffect::Merge { round: 1 })]);
    play.event(ReviewEvent::FindingsMerged {
        restated: Vec::new(),
        round: 1,
        findings: vec![finding(1, Tag::Must)],
    });
    assert_eq!(play.due(), [Step::Finish], "a review changes nothing");
}

#[test]
fn a_resumed_run_asks_again_what_failed_and_nothing_else() {
    let mut play = Play::new(Mode::Review);
    play.reviewed(Vec::new());
    play.answered(
        call("r2", REVIEW, 1),
        CallAnswer::Failed {
            error: "gone".into(),
            hint: None,
            cause: None,
        },
    );
    assert_eq!(play.due(), [Step::Finish]);
    play.event(RunEvent::RunResumed);
    assert_eq!(play.due(), [Step::Ask(call("r2", REVIEW, 1))]);
}

#[test]
fn the_standard_flow_without_a_dispute() {
    let mut play = Play::new(Mode::Arbitrate);
    play.reviewed(vec![finding(1, Tag::Must), finding(2, Tag::Low)]);
    assert_eq!(
        play.due(),
        [Step::Effect(ReviewEffect::Keep)],
        "nothing is edited before the tree is kept"
    );
    play.event(ReviewEvent::BeforeImage {
        kept_as: "ref".into(),
        tree: "t0".into(),
    });
    assert_eq!(play.due(), [Step::Ask(call("c", RESPOND, 1))]);
    play.responded(RESPOND, 1, &[(1, Answer::Implemented)]);
    assert_eq!(
        play.due(),
        [Step::Effect(ReviewEffect::RecordTree(call(
            "c", RESPOND, 1
        )))]
    );
    play.changed(call("c", RESPOND, 1), &[1]);
    assert_eq!(
        play.due(),
        [Step::Ask(call("c", RESPOND, 2))],
        "F2 was not answered"
    );
    play.responded(RESPOND, 2, &[(2, Answer::Discarded)])
        .changed(call("c", RESPOND, 2), &[]);
    let recheck = call("r1", Purpose::Recheck { round: 1 }, 1);
    assert_eq!(play.due(), [Step::Ask(recheck.clone())]);
    let check = Recheck {
        finding: FindingId::new(1),
        resolved: true,
        reason: "".into(),
    };
    play.answered(
        recheck,
        CallAnswer::Recheck {
            checks: vec![check],
        },
    );
    assert_eq!(play.due(), [Step::Finish]);
    assert_eq!(play.state_of(1), FindingState::Resolved);
    assert_eq!(play.state_of(2), FindingState::Discarded);
}

#[test]
fn implemented_without_a_change_is_only_claimed() {
    let mut play = Play::new(Mode::Fix);
    play.reviewed(vec![finding(1, Tag::High)])
        .event(ReviewEvent::BeforeImage {
            kept_as: "ref".into(),
            tree: "t0".into(),
        })
        .responded(RESPOND, 1, &[(1, Answer::Implemented)])
        .changed(call("c", RESPOND, 1), &[]);
    assert_eq!(play.due(), [Step::Finish]);
    assert_eq!(play.state_of(1), FindingState::Claimed);
}

#[test]
fn a_finding_goes_to_the_coder_of_the_first_file_of_its_group() {
    let member = |member: u8, file: Option<&str>| {
        let mut finding = finding(1, Tag::Must);
        finding.id = FindingId::new(1).member(member);
        finding.raw.file = file.map(ToOwned::to_owned);
        finding
    };
    // The members of the group, and the coder of all of them.
    let rows = [
        (vec![member(0, Some("a.py"))], "py"),
        (vec![member(0, Some("b.js"))], "js"),
        (vec![member(0, None)], "py"),
        (vec![member(1, Some("b.js")), member(2, Some("a.py"))], "js"),
        (vec![member(1, Some("a.py")), member(2, Some("b.js"))], "py"),
        (vec![member(1, None), member(2, Some("b.js"))], "js"),
        (vec![member(1, Some("c.rb")), member(2, Some("b.js"))], "py"),
    ];
    for (members, expected) in rows {
        let mut play = Play::new(Mode::Fix);
        let plan = play.state.plan.as_mut().expect("the plan of the play");
        plan.agents.retain(|agent| agent.role != Role::Coder);
        for (name, domain) in [("py", "python"), ("js", "javascript")] {
            plan.agents.push(Agent {
                domain: vec![domain.to_owned()],
                ..agent(name, Role::Coder)
            });
        }
        let ids: Vec<FindingId> = members.iter().map(|member| member.id).collect();
        play.reviewed(members);
        for coder in ["py", "js"] {
            let items = play.state.items(&AgentName::from(coder), &RESPOND);
            let own = if coder == expected {
                ids.as_slice()
            } else {
                &[]
            };
            assert_eq!(items, own, "{coder} of {ids:?}");
        }
    }
}

#[test]
fn rounds_go_on_while_something_changes() {
    let mut play = Play::new(Mode::Fix);
    play.policy.rounds = 2;
    play.policy.recheck = false;
    play.reviewed(vec![finding(1, Tag::Must)])
        .event(ReviewEvent::BeforeImage {
            kept_as: "ref".into(),
            tree: "t0".into(),
        })
        .responded(RESPOND, 1, &[(1, Answer::Implemented)])
        .changed(call("c", RESPOND, 1), &[1]);
    assert_eq!(
        play.due(),
        [Step::Effect(ReviewEffect::NextRound { round: 2 })]
    );
    let covered = Coverage {
        file: "a.py".into(),
        lines: 1,
        ranges: Vec::new(),
    };
    play.event(ReviewEvent::RoundStarted {
        round: 2,
        shards: vec![vec![covered]],
        skipped: Vec::new(),
    });
    let review = |name| Step::Ask(call(name, Purpose::Review { round: 2, shard: 0 }, 1));
    assert_eq!(play.due(), [review("r1"), review("r2")]);
}

#[test]
fn verification_runs_again_after_every_change() {
    let mut play = Play::new(Mode::Fix);
    play.policy.verify = 1;
    play.policy.recheck = false;
    play.reviewed(vec![finding(1, Tag::Must)])
        .event(ReviewEvent::BeforeImage {
            kept_as: "ref".into(),
            tree: "t0".into(),
        })
        .responded(RESPOND, 1, &[(1, Answer::Implemented)])
        .changed(call("c", RESPOND, 1), &[1]);
    assert_eq!(
        play.due(),
        [Step::Effect(ReviewEffect::Verify { round: 1 })]
    );
    play.event(ReviewEvent::Verified(Verified {
        round: 1,
        command: "make".into(),
        passed: true,
        tail: String::new(),
    }));
    assert_eq!(play.due(), [Step::Finish]);
}
