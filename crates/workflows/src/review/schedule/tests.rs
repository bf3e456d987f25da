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
fn the_aggregator_is_asked_once_and_before_the_merge() {
    let raised_in = RaisedIn::Review;
    let purpose = Purpose::Same {
        round: 1,
        raised_in,
    };
    let same = |attempt| call("g", purpose.clone(), attempt);
    let merge = Step::Effect(ReviewEffect::Merge { round: 1 });
    let pair = |asked: Option<u32>, known: Option<bool>| UnsurePair {
        one: "review-1-0.r1.1/0".into(),
        other: "review-1-0.r2.1/0".into(),
        earlier: None,
        key: "k".into(),
        asked: asked.map(PairId),
        known: known.map(|same| PairAnswer {
            by: "g".into(),
            same,
            reason: "".into(),
        }),
    };
    let begun = |pair: UnsurePair| {
        let mut play = Play::new(Mode::Review);
        let plan = play.state.plan.as_mut().expect("a plan");
        plan.comparers.push(agent("g", Role::Aggregator));
        play.answered_reviews();
        assert_eq!(play.due(), [Step::Effect(ReviewEffect::Merge { round: 1 })]);
        let pairs = vec![pair];
        play.event(ReviewEvent::PairsUnsure {
            round: 1,
            raised_in,
            pairs,
        });
        play
    };
    assert_eq!(
        begun(pair(None, Some(true))).due(),
        std::slice::from_ref(&merge)
    );
    assert_eq!(
        begun(pair(None, None)).due(),
        std::slice::from_ref(&merge),
        "beyond the bound"
    );

    let mut play = begun(pair(Some(1), None));
    assert_eq!(play.due(), [Step::Ask(same(1))]);
    play.event(RunEvent::RunResumed);
    assert_eq!(
        play.due(),
        [Step::Ask(same(1))],
        "a killed call is made again"
    );
    let answer = |pair| CallAnswer::Same {
        pairs: vec![PairComparison {
            pair: PairId(pair),
            same: true,
            reason: "r".into(),
        }],
    };
    play.answered(same(1), answer(1));
    play.event(RunEvent::RunResumed);
    assert_eq!(
        play.due(),
        std::slice::from_ref(&merge),
        "an answer is never paid for twice"
    );
    let answers = play.state.pair_answers();
    let known = answers.are_same("review-1-0.r2.1/0", "review-1-0.r1.1/0");
    assert_eq!(known, Some(true));

    // Neither a failure nor two unreadable answers stop the merge.
    let mut play = begun(pair(Some(1), None));
    let invalid = || CallAnswer::Invalid {
        error: "no word".into(),
    };
    play.answered(same(1), invalid());
    assert_eq!(play.due(), [Step::Ask(same(2))]);
    play.answered(same(2), invalid());
    assert_eq!(play.due(), std::slice::from_ref(&merge));
    let mut play = begun(pair(Some(1), None));
    play.answered(
        same(1),
        CallAnswer::Failed {
            error: "gone".into(),
            hint: None,
            cause: None,
        },
    );
    assert_eq!(play.due(), std::slice::from_ref(&merge));
    let mut play = begun(pair(Some(1), None));
    play.answered(same(1), answer(2));
    assert_eq!(play.state.pair_answers(), Answers::default());
    assert_eq!(play.due(), [merge]);
}

fn may_repeat(id: u32, dispute: u64, disposition: Option<Disposition>) -> EventKind {
    let earlier = EarlierDispute {
        dispute: DisputeNumber(dispute).into(),
        relation: Relation::MayRepeat,
        title: "an earlier one".into(),
        disposition,
        new_tag: None,
        rationale: "".into(),
    };
    EventKind::Review(ReviewEvent::RelatedDispute {
        finding: FindingId::new(id),
        earlier: Box::new(earlier),
    })
}

#[test]
fn the_judge_is_asked_once_about_all_that_may_repeat_a_dispute() {
    let compare = |attempt| call("j", Purpose::Compare { round: 1 }, attempt);
    let words = |said: &[(u32, bool)]| CallAnswer::Compare {
        comparisons: said
            .iter()
            .map(|(id, same)| Comparison {
                finding: FindingId::new(*id),
                same: *same,
                reason: "".into(),
            })
            .collect(),
    };
    let begun = |mode| {
        let mut play = Play::new(mode);
        play.reviewed(vec![
            finding(1, Tag::Must),
            finding(2, Tag::Must),
            finding(3, Tag::Must),
        ])
        .event(may_repeat(1, 7, Some(Disposition::Refuted)))
        .event(may_repeat(2, 8, None))
        .event(may_repeat(3, 9, Some(Disposition::Refuted)));
        play
    };
    let mut off = begun(Mode::Arbitrate);
    off.policy.compare = false;
    assert_eq!(off.due(), [Step::Effect(ReviewEffect::Keep)]);

    for mode in [Mode::Review, Mode::Fix] {
        assert_eq!(begun(mode).due(), [Step::Ask(compare(1))]);
    }
    let mut play = begun(Mode::Arbitrate);
    assert_eq!(play.due(), [Step::Ask(compare(1))]);
    play.answered(
        compare(1),
        CallAnswer::Invalid {
            error: "no word".into(),
        },
    );
    assert_eq!(play.due(), [Step::Ask(compare(2))]);
    play.answered(compare(2), words(&[(1, true), (2, true), (3, false)]));
    assert_eq!(
        play.due(),
        [Step::Effect(ReviewEffect::Recognise { round: 1 })]
    );
    let bound = recognised(&play.state, 1);
    for event in bound {
        play.event(event);
    }
    assert_eq!(
        play.due(),
        [Step::Effect(ReviewEffect::Keep)],
        "F3 goes to the coder"
    );
    assert_eq!(
        play.state.items(&AgentName::from("c"), &RESPOND),
        [FindingId::new(3)]
    );
    let ruled = FindingState::AlreadyRuled {
        dispute: DisputeNumber(7).into(),
        disposition: Disposition::Refuted,
    };
    assert_eq!(
        (play.state_of(1), play.state_of(2)),
        (
            ruled,
            FindingState::Disputed {
                dispute: DisputeNumber(8)
            }
        )
    );

    // If both attempts bring no valid answer, or if the judge fails, all findings count as different.
    let mut play = begun(Mode::Arbitrate);
    play.answered(
        compare(1),
        CallAnswer::Invalid {
            error: "no word".into(),
        },
    )
    .answered(
        compare(2),
        CallAnswer::Invalid {
            error: "no word".into(),
        },
    );
    assert_eq!(play.due(), [Step::Effect(ReviewEffect::Keep)]);
    let mut play = begun(Mode::Arbitrate);
    play.answered(
        compare(1),
        CallAnswer::Failed {
            error: "gone".into(),
            hint: None,
            cause: None,
        },
    );
    assert_eq!(play.due(), [Step::Effect(ReviewEffect::Keep)]);
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
fn a_dispute_is_opened_and_stays_open_without_arbitration() {
    let mut play = Play::new(Mode::Fix);
    play.reviewed(vec![finding(1, Tag::Must), finding(2, Tag::Should)])
        .event(ReviewEvent::BeforeImage {
            kept_as: "ref".into(),
            tree: "t0".into(),
        })
        .responded(RESPOND, 1, &[(1, Answer::Discarded), (2, Answer::Disagree)])
        .changed(call("c", RESPOND, 1), &[]);
    assert_eq!(
        play.due(),
        [Step::Effect(ReviewEffect::OpenDisputes)],
        "only a mandatory finding is disputed"
    );
    play.disputed(1);
    assert_eq!(play.due(), [Step::Finish]);
    assert_eq!(play.state_of(1), FindingState::Disputed { dispute: D1 });
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
fn the_judge_enforces_and_the_coder_is_called_again() {
    let mut play = one_dispute();
    assert_eq!(play.due(), [Step::Prompt(DisputeQuestion::Route(D1))]);
    play.routed(Route::Judge);
    let asked = call("j", Purpose::Judge { dispute: D1 }, 1);
    assert_eq!(play.due(), [Step::Ask(asked.clone())]);
    play.answered(
        asked,
        CallAnswer::Invalid {
            error: "two rulings".into(),
        },
    );
    let again = call("j", Purpose::Judge { dispute: D1 }, 2);
    assert_eq!(play.due(), [Step::Ask(again.clone())], "asked once more");
    play.answered(
        again,
        CallAnswer::Invalid {
            error: "two rulings".into(),
        },
    );
    assert_eq!(play.due(), [Step::Effect(ReviewEffect::Rule(D1))]);
    play.ruled(RulingWord::Enforce, judge());
    assert_eq!(play.due(), [Step::Effect(ReviewEffect::Settle(vec![D1]))]);
    play.settled();
    assert_eq!(play.state_of(1), FindingState::Enforced { dispute: D1 });
    assert_eq!(play.due(), [Step::Ask(call("c", ENFORCE, 1))]);
    play.responded(ENFORCE, 1, &[(1, Answer::Implemented)])
        .changed(call("c", ENFORCE, 1), &[1]);
    assert_eq!(
        play.due(),
        [Step::Ask(call("r1", Purpose::Recheck { round: 1 }, 1))]
    );
    assert_eq!(play.state_of(1), FindingState::Unchecked);
}

#[test]
fn an_enforced_finding_that_is_not_implemented_stays_open() {
    let mut play = one_dispute();
    play.routed(Route::Judge)
        .ruled(RulingWord::Enforce, judge())
        .settled();
    play.responded(ENFORCE, 1, &[(1, Answer::Disagree)])
        .changed(call("c", ENFORCE, 1), &[]);
    assert_eq!(play.due(), [Step::Finish], "a ruling is not disputed again");
    assert_eq!(play.state_of(1), FindingState::Enforced { dispute: D1 });
}

#[test]
fn an_escalated_dispute_waits_for_a_person_or_is_discarded() {
    let mut play = one_dispute();
    play.routed(Route::Judge)
        .ruled(RulingWord::Escalate, judge());
    assert_eq!(play.due(), [Step::Prompt(DisputeQuestion::Ruling(D1))]);
    play.policy.escalate_to = Route::Discard;
    assert_eq!(play.due(), [Step::Effect(ReviewEffect::Settle(vec![D1]))]);
    let mut silent = one_dispute();
    silent.policy.escalate_to = Route::Discard;
    silent
        .routed(Route::Judge)
        .event(DisputeEvent::RulingGiven {
            dispute: D1,
            ruling: RulingRecord {
                by_rule: true,
                ..RulingRecord::new(Ruling::bare(RulingWord::Escalate), judge())
            },
        });
    assert_eq!(
        silent.due(),
        [Step::Prompt(DisputeQuestion::Ruling(D1))],
        "a judge that gave no ruling is not uncertain"
    );
    play.policy.escalate_to = Route::Human;
    play.parked.insert(D1);
    assert_eq!(play.due(), [Step::Finish]);
    play.parked.clear();
    play.ruled(RulingWord::Dismiss, Ruler::Human(Person::default()))
        .settled();
    assert_eq!(play.due(), [Step::Finish]);
    assert_eq!(play.state_of(1), FindingState::Dismissed { dispute: D1 });
}

#[test]
fn a_person_decides_or_the_opinion_is_discarded() {
    let mut human = one_dispute();
    human.routed(Route::Human);
    assert_eq!(human.due(), [Step::Prompt(DisputeQuestion::Ruling(D1))]);
    let mut discard = one_dispute();
    discard.routed(Route::Discard);
    assert_eq!(
        discard.due(),
        [Step::Effect(ReviewEffect::Settle(vec![D1]))]
    );
    discard.settled();
    assert_eq!(discard.state_of(1), FindingState::Discarded);
    assert_eq!(discard.due(), [Step::Finish]);
}

#[test]
fn a_person_answers_the_coder_instead_of_ruling() {
    let answered = |play: &mut Play, text: &str| {
        play.event(DisputeEvent::ObjectionAnswered {
            dispute: D1,
            answered: Box::new(AnsweredObjection {
                answer: text.into(),
                by: Person::default(),
                reply: None,
            }),
        });
    };
    let reply = |answer| Purpose::Reply {
        round: 1,
        dispute: D1,
        answer,
    };
    let mut play = one_dispute();
    play.routed(Route::Human);
    answered(&mut play, "who else calls it?");
    assert_eq!(play.due(), [Step::Ask(call("c", reply(1), 1))]);
    play.responded(reply(1), 1, &[(1, Answer::Disagree)])
        .changed(call("c", reply(1), 1), &[]);
    assert_eq!(play.due(), [Step::Effect(ReviewEffect::Reply(D1))]);
    let event = replied(&play.state, D1).expect("a reply");
    play.event(event);
    assert_eq!(play.due(), [Step::Prompt(DisputeQuestion::Ruling(D1))]);

    // No valid reply twice: the person is asked again.
    answered(&mut play, "what if it is empty?");
    for attempt in 1..=2 {
        assert_eq!(play.due(), [Step::Ask(call("c", reply(2), attempt))]);
        let error = "no answer".to_owned();
        let asked = call("c", reply(2), attempt);
        play.answered(asked.clone(), CallAnswer::Invalid { error })
            .changed(asked, &[]);
    }
    assert_eq!(play.due(), [Step::Prompt(DisputeQuestion::Ruling(D1))]);

    answered(&mut play, "it is called with text of others");
    play.responded(reply(3), 1, &[(1, Answer::Implemented)])
        .changed(call("c", reply(3), 1), &[1]);
    let event = replied(&play.state, D1).expect("a reply");
    play.event(event);
    assert_eq!(play.due(), [Step::Effect(ReviewEffect::Settle(vec![D1]))]);
    play.settled();
    assert_eq!(
        play.due(),
        [Step::Ask(call("r1", Purpose::Recheck { round: 1 }, 1))],
        "what is implemented is checked, and not enforced once more"
    );

    // Once the ruling is revoked, what the coder conceded decides nothing.
    play.event(DisputeEvent::RulingRevoked {
        dispute: D1,
        reason: "".into(),
    });
    assert_eq!(play.due(), [Step::Prompt(DisputeQuestion::Route(D1))]);
    play.routed(Route::Human);
    answered(&mut play, "and today?");
    assert_eq!(play.due(), [Step::Ask(call("c", reply(1), 1))]);
}

#[test]
fn a_reversal_goes_to_a_dispute_and_never_to_the_coder() {
    let mut play = Play::new(Mode::Arbitrate);
    let reversal = Finding {
        reverses: Some(FindingId::new(9)),
        ..finding(1, Tag::Low)
    };
    play.reviewed(vec![reversal]);
    assert_eq!(play.due(), [Step::Effect(ReviewEffect::OpenDisputes)]);
}

#[test]
fn what_was_ruled_is_not_asked_again_and_what_was_enforced_binds_at_once() {
    let mut play = Play::new(Mode::Arbitrate);
    play.reviewed(vec![
        finding(1, Tag::Must),
        finding(2, Tag::Must),
        finding(3, Tag::Must),
    ])
    .event(ReviewEvent::AlreadyRuled {
        finding: FindingId::new(1),
        dispute: DisputeNumber(7).into(),
        disposition: Disposition::Refuted,
        new_tag: None,
        insisted: false,
    })
    .event(ReviewEvent::StillDisputed {
        finding: FindingId::new(2),
        dispute: DisputeNumber(8),
    })
    .event(ReviewEvent::AlreadyRuled {
        finding: FindingId::new(3),
        dispute: DisputeNumber(9).into(),
        disposition: Disposition::Enforced,
        new_tag: None,
        insisted: false,
    });
    assert_eq!(
        play.state.items(&AgentName::from("c"), &RESPOND),
        [FindingId::new(3)]
    );
    play.event(ReviewEvent::BeforeImage {
        kept_as: "ref".into(),
        tree: "t0".into(),
    })
    .responded(RESPOND, 1, &[(3, Answer::Disagree)])
    .changed(call("c", RESPOND, 1), &[]);
    assert_eq!(
        play.due(),
        [Step::Effect(ReviewEffect::CarryOn)],
        "what an earlier run left open goes on in this one"
    );
    play.policy.mode = Mode::Fix;
    assert_eq!(play.due(), [Step::Finish], "where disputes are settled");
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
