//! Tests each row of the tables, and each rule, of the debate arbitrator's specification.

use super::*;

fn alone(claim: &Claim) -> Group {
    merged(std::slice::from_ref(claim), Policy::Specification)
        .groups
        .remove(0)
}

/// A claim that cites nothing, describes no trigger and follows no known pattern.
fn vague(severity: Level, confidence: u8) -> Claim {
    Claim {
        line: None,
        title: "Could be better".into(),
        description: "The structure is not ideal".into(),
        suggestion: String::new(),
        ..claim("a", 1, severity, confidence, "")
    }
}

#[test]
fn the_validation_score() {
    let cited = |severity, confidence| Claim {
        line: Some(7),
        ..vague(severity, confidence)
    };
    let rows = [
        // 1. The confidence
        (vague(Level::Medium, 80), 3 + 1, "80 and more"),
        (vague(Level::Medium, 79), 2 + 1, "60 to 79"),
        (vague(Level::Medium, 60), 2 + 1, "60 to 79"),
        (vague(Level::Medium, 59), 1 + 1, "40 to 59"),
        (vague(Level::Medium, 40), 1 + 1, "40 to 59"),
        (vague(Level::Medium, 39), 1, "below 40"),
        // 2. The evidence
        (
            Claim {
                description: "When the list is empty the call fails".into(),
                ..cited(Level::Medium, 70)
            },
            2 + 3,
            "a line and a concrete trigger",
        ),
        (
            cited(Level::Medium, 70),
            2 + 2,
            "a line, and the trigger is theory",
        ),
        (vague(Level::Medium, 70), 2 + 1, "a general concern"),
        // 3. Severity and confidence
        (cited(Level::Critical, 69), 2 + 2 - 2, "critical below 70"),
        (cited(Level::Critical, 70), 2 + 2, "critical at 70"),
        (cited(Level::Low, 81), 3 + 2 + 1, "low above 80"),
        (cited(Level::Low, 80), 3 + 2, "low at 80"),
        // 4. Known patterns, established practice
        (
            Claim {
                title: "SQL injection".into(),
                ..cited(Level::High, 70)
            },
            2 + 2 + 2,
            "a known pattern",
        ),
        (
            Claim {
                suggestion: "Disable certificate checks".into(),
                ..cited(Level::High, 70)
            },
            2 + 2 - 1,
            "against established practice",
        ),
    ];
    for (claim, score, why) in rows {
        let decision = alone(&claim);
        assert_eq!(decision.score, Some(score), "{why}");
        let extraordinary = decision
            .notes
            .iter()
            .any(|note| note.contains("extraordinary claim"));
        assert_eq!(extraordinary, why == "critical below 70", "{why}");
    }
}

#[test]
fn the_four_criteria_of_a_challenge() {
    let all = Claim {
        line: Some(7),
        description: "When the list is empty the call fails".into(),
        suggestion: "return early".into(),
        ..vague(Level::High, 65)
    };
    let everything = Criteria {
        specificity: true,
        reproducibility: true,
        impact: true,
        actionability: true,
    };
    let rows = [
        (all.clone(), everything, true, "the reviewer is unsure"),
        (
            Claim {
                line: None,
                ..all.clone()
            },
            Criteria {
                specificity: false,
                ..everything
            },
            true,
            "the finding cites no code",
        ),
        (
            Claim {
                description: "The call is odd".into(),
                ..all.clone()
            },
            Criteria {
                reproducibility: false,
                ..everything
            },
            true,
            "the finding describes no trigger",
        ),
        (
            Claim {
                severity: Some(Level::Low),
                ..all.clone()
            },
            Criteria {
                impact: false,
                ..everything
            },
            true,
            "the reviewer is unsure",
        ),
        (
            Claim {
                suggestion: String::new(),
                ..all.clone()
            },
            Criteria {
                actionability: false,
                ..everything
            },
            true,
            "the finding suggests no change",
        ),
        (
            vague(Level::High, 65),
            Criteria {
                impact: true,
                ..Criteria::default()
            },
            false,
            "the finding cites no code",
        ),
    ];
    for (claim, criteria, holds, weakest) in rows {
        let challenge = alone(&claim).challenge.expect("below 70 it is challenged");
        assert_eq!(
            (challenge.criteria, challenge.holds),
            (criteria, holds),
            "{claim:?}"
        );
        assert_eq!(challenge.weakest, weakest);
        for part in [&challenge.finding, &challenge.test] {
            assert!(!part.is_empty());
        }
    }
    let sure = Claim {
        confidence: Some(90),
        ..all
    };
    assert_eq!(
        alone(&sure).challenge,
        None,
        "90 and a score of 6: nothing to ask"
    );
}

#[test]
fn a_challenge_that_reveals_a_weakness_lowers_the_severity_or_disputes() {
    let one = alone(&vague(Level::High, 65));
    assert_eq!(
        (one.class, one.severity),
        (Class::Accepted, Level::Medium),
        "one criterion of four"
    );
    assert!(
        one.notes
            .iter()
            .any(|note| note.starts_with("downgraded from high")),
        "{:?}",
        one.notes
    );
    let none = alone(&vague(Level::Low, 65));
    assert_eq!(none.class, Class::Disputed, "no criterion at all");
}

/// Tests the table at the end of the specification.
#[test]
fn the_rules_summary() {
    let all = |claims: &[Claim]| rows(&merged(claims, Policy::Specification));
    let by = |model, confidence| claim(model, 10, Level::High, confidence, TITLE);
    let adjusted = |rows: &[(Class, Option<Agreement>, Level, u8)]| (rows[0].0, rows[0].3);
    assert_eq!(
        adjusted(&all(&[by("a", 70), by("b", 60), by("c", 50)])),
        (Class::Accepted, 85),
        "3/3: +15"
    );
    let elsewhere = claim("c", 500, Level::Low, 90, "Unused import");
    assert_eq!(
        adjusted(&all(&[by("a", 70), by("b", 60), elsewhere])),
        (Class::Accepted, 80),
        "2/3: +10"
    );
    let different = all(&[
        by("a", 90),
        Claim {
            category: Some("performance".into()),
            ..claim("b", 100, Level::Medium, 70, "Slow loop")
        },
        Claim {
            line: None,
            file: None,
            ..vague(Level::Medium, 30)
        },
    ]);
    let each: Vec<_> = different.iter().map(|row| (row.0, row.3)).collect();
    assert_eq!(
        each,
        [
            (Class::Accepted, 85),
            (Class::Accepted, 65),
            (Class::Rejected, 30)
        ],
        "1/3 each, each by its score"
    );
    let weak = Claim {
        description: "bad".into(),
        suggestion: String::new(),
        ..claim("b", 10, Level::Low, 60, "Empty pool")
    };
    assert_eq!(
        adjusted(&all(&[by("a", 90), weak])),
        (Class::Accepted, 80),
        "a direct conflict: -10 for the winner"
    );
    assert_eq!(
        adjusted(&all(&[by("a", 80)])),
        (Class::Accepted, 75),
        "unique, 80 and more: -5"
    );
    assert_eq!(
        adjusted(&all(&[by("a", 79)])),
        (Class::Accepted, 74),
        "unique, a score of 5 and more: -5"
    );
    assert_eq!(
        adjusted(&all(&[by("a", 60)])),
        (Class::Accepted, 55),
        "the same score, the same"
    );
    assert_eq!(
        adjusted(&all(&[vague(Level::Medium, 39)])),
        (Class::Rejected, 39),
        "unique, below 40"
    );
    let exceptional = Claim {
        title: "SQL injection in acquire".into(),
        ..by("a", 39)
    };
    assert_eq!(
        adjusted(&all(&[exceptional])),
        (Class::Accepted, 34),
        "below 40 with exceptional evidence"
    );
    let critical = alone(&Claim {
        severity: Some(Level::Critical),
        ..by("a", 69)
    });
    assert!(
        critical.challenge.is_some(),
        "critical below 70 is challenged"
    );
    assert_eq!(
        critical.class,
        Class::Disputed,
        "and has no second reviewer to justify it"
    );
}

/// Tests that a dispute is escalated only if the dispute is severe, is unresolved, and would change the
/// recommendation.
#[test]
fn the_escalation_threshold() {
    let against = |finding: &str| Examination {
        by: "b".into(),
        finding: finding.into(),
        word: ExaminationWord::Disagree,
        adjustment: 0,
        reasoning: "`acquire` waits".into(),
    };
    let defence = |finding: &str, word| Defence {
        by: "a".into(),
        finding: finding.into(),
        word,
        adjustment: 0,
        reasoning: "line 10 does not".into(),
        revised_severity: None,
        revised_description: None,
    };
    let debated = |claims: &[Claim], word| {
        let debate = Debate {
            reviewers: vec!["a".into(), "b".into()],
            examinations: vec![against(&claims[0].id)],
            defences: vec![defence(&claims[0].id, word)],
            ..Debate::default()
        };
        let consensus = merge(claims, &debate, &[], Policy::Specification);
        let contested = consensus
            .groups
            .into_iter()
            .find(|d| d.members.contains(&0))
            .expect("every claim is decided");
        (contested.class, contested.escalate)
    };
    let at = |severity| claim("a", 10, severity, 90, TITLE);
    let grave = claim("b", 300, Level::High, 95, "Lock is never released");
    let small = claim("b", 300, Level::Low, 95, "Lock is never released");
    use DefenceWord::{Concede, Defend};
    let rows = [
        (
            vec![at(Level::Critical)],
            Defend,
            (Class::Disputed, true),
            "critical and unresolved",
        ),
        (
            vec![at(Level::High)],
            Defend,
            (Class::Disputed, true),
            "high and unresolved",
        ),
        (
            vec![at(Level::Medium)],
            Defend,
            (Class::Disputed, false),
            "not grave",
        ),
        (
            vec![at(Level::Low)],
            Defend,
            (Class::Disputed, false),
            "a matter of style",
        ),
        (
            vec![at(Level::High)],
            Concede,
            (Class::Rejected, false),
            "withdrawn by who raised it",
        ),
        (
            vec![at(Level::High), grave],
            Defend,
            (Class::Disputed, false),
            "the recommendation stands without it",
        ),
        (
            vec![at(Level::High), small],
            Defend,
            (Class::Disputed, true),
            "what else is accepted is small",
        ),
    ];
    for (claims, word, expected, why) in rows {
        assert_eq!(debated(&claims, word), expected, "{why}");
    }
}

/// Rule 2: equal inputs have equal results.
#[test]
fn the_algorithm_has_no_moods() {
    let claims = [
        claim("a", 10, Level::High, 70, TITLE),
        claim("b", 12, Level::Low, 80, TITLE),
        vague(Level::Medium, 50),
    ];
    for policy in Policy::ALL {
        assert_eq!(merged(&claims, policy), merged(&claims, policy));
    }
}

/// Rules 5 and 10: an ambiguous finding is disputed with both positions, and is not rejected.
#[test]
fn what_is_ambiguous_is_shown_to_a_person_with_both_positions() {
    let claims = [
        claim("a", 10, Level::High, 90, TITLE),
        claim("b", 10, Level::Low, 90, TITLE),
    ];
    let consensus = merged(&claims, Policy::Specification);
    let debate = Debate::default();
    let members = members(&claims);
    let answer = consensus.answer(&members, &debate, Policy::Specification, None);
    let answer = serde_json::to_value(&answer).expect("an answer is JSON");
    let disputed = &answer["consensus"]["disputed"][0];
    assert_eq!(disputed["conflict_type"], "A");
    for (model, word) in [("a", "high: "), ("b", "low: ")] {
        assert!(
            disputed["perspectives"][model]
                .as_str()
                .is_some_and(|text| text.starts_with(word)),
            "{disputed}"
        );
    }
    assert!(
        disputed["unresolved_questions"][0]
            .as_str()
            .is_some_and(|text| text.contains("Resolution criteria"))
    );
    assert!(
        disputed["recommended_action"]
            .as_str()
            .is_some_and(|text| text.starts_with("determine"))
    );
    assert!(
        answer["consensus"]["rejected"]
            .as_array()
            .is_some_and(Vec::is_empty)
    );
}

/// Rule 8: a group gets the most detailed description and the most actionable suggestion, even from different
/// reviewers.
#[test]
fn the_best_of_all_reviewers_is_kept() {
    let short = claim("a", 10, Level::High, 95, TITLE);
    let claims = [
        Claim {
            suggestion: "check the length of the pool before anything is taken".into(),
            ..short
        },
        Claim {
            description:
                "When the pool is empty, `acquire` fails, since nobody refills it on line 10".into(),
            suggestion: "`if pool:` first".into(),
            ..claim("b", 10, Level::High, 60, TITLE)
        },
    ];
    for policy in Policy::ALL {
        let decision = &merged(&claims, policy).groups[0];
        assert_eq!(
            (decision.described_by, decision.suggested_by),
            (1, 1),
            "{policy:?}: longer, and with code"
        );
        assert_eq!(decision.members[0], 0, "the surest speaks for the group");
    }
}
