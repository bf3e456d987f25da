//! When agents are asked whether findings are the same, or repeat a dispute.

use super::*;

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
