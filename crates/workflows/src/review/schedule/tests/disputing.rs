//! The steps from an objection to its ruling, and what the ruling leads to.

use super::*;

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
