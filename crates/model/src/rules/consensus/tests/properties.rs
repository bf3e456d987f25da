//! Tests the properties of merges with random claims and random debates.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

fn claims() -> impl Strategy<Value = Vec<Claim>> {
    let words = [
        "pool", "lock", "cache", "leaks", "empty", "query", "`find`", "when", "raises", "crash",
    ];
    let text = prop::collection::vec(prop::sample::select(words.to_vec()), 1..8)
        .prop_map(|words| words.join(" "));
    let one = (
        prop::sample::select(vec!["opus", "gpt", "gemini", "own"]),
        prop::option::of(prop::sample::select(vec!["a.py", "src/b.py", "b.py"])),
        prop::option::of(1_u32..40),
        prop::option::of(prop::sample::select(Level::ALL.to_vec())),
        prop::option::of(0_u8..=100),
        (text.clone(), text),
        prop::bool::weighted(0.1),
    );
    let one = one.prop_map(
        |(model, file, line, severity, confidence, (title, description), denies)| Claim {
            model: model.to_owned(),
            file: file.map(str::to_owned),
            line,
            severity,
            confidence,
            title,
            description,
            denies,
            ..Claim::default()
        },
    );
    prop::collection::vec(one, 0..40).prop_map(|mut claims| {
        for (number, claim) in claims.iter_mut().enumerate() {
            claim.id = format!("f{number}");
        }
        claims
    })
}

fn debate(claims: &[Claim], seeds: &[u8]) -> Debate {
    let mut debate = Debate::default();
    for (claim, seed) in claims.iter().zip(seeds.iter().cycle()) {
        let word = ExaminationWord::ALL[usize::from(seed % 3)];
        let by = ["opus", "gpt", "gemini"][usize::from(seed / 3 % 3)].to_owned();
        let reasoning = if seed % 2 == 0 { "see `find`" } else { "no" }.to_owned();
        let adjustment = i32::from(*seed) - 128;
        let finding = claim.id.clone();
        debate.examinations.push(Examination {
            by,
            finding,
            word,
            adjustment,
            reasoning,
        });
        if seed % 5 == 0 {
            debate.defences.push(Defence {
                by: claim.model.clone(),
                finding: claim.id.clone(),
                word: DefenceWord::ALL[usize::from(seed % 3)],
                adjustment,
                reasoning: "line 3".to_owned(),
                revised_severity: None,
                revised_description: None,
            });
        }
    }
    debate
}

/// The ids of a group's members, and the class, severity, confidence and formula of the group.
type Said = (Vec<String>, Class, Level, Option<u8>, String);

/// Converts groups to a form that does not depend on the order of the claims.
fn said(consensus: &Consensus, claims: &[Claim]) -> Vec<Said> {
    let mut said: Vec<_> = consensus
        .groups
        .iter()
        .map(|d| {
            let mut ids: Vec<String> = d
                .members
                .iter()
                .chain(&d.repeats)
                .map(|at| claims[*at].id.clone())
                .collect();
            ids.sort();
            (ids, d.class, d.severity, d.confidence, d.formula.clone())
        })
        .collect();
    said.sort();
    said
}

fn answered(claims: &[Claim], debate: &Debate, policy: Policy) -> serde_json::Value {
    let consensus = merge(claims, debate, &[], policy);
    serde_json::to_value(consensus.answer(&members(claims), debate, policy, None))
        .expect("an answer is JSON")
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(96) })]

    #[test]
    fn no_text_of_a_reviewer_is_lost(
        claims in claims(), seeds in prop::collection::vec(any::<u8>(), 1..9), said in prop::collection::vec(any::<(u8, u8, bool)>(), 0..9),
    ) {
        let debate = debate(&claims, &seeds);
        let members = members(&claims);
        let mut answers = Answers::default();
        for (a, b, same) in said.iter().filter(|_| !claims.is_empty()) {
            let id = |at: &u8| members[usize::from(*at) % members.len()].id.as_str();
            answers.add(id(a), id(b), *same);
        }
        for policy in Policy::ALL {
            let consensus = super::super::merge(&members, &debate, &[], policy, &answers);
            let json = serde_json::to_string(&consensus.answer(&members, &debate, policy, None)).expect("JSON");
            for member in &members {
                prop_assert!(json.contains(member.title()), "{policy}: {}", member.title());
                prop_assert!(json.contains(&*member.description()), "{policy}: {}", member.description());
            }
            let mut all: Vec<usize> = consensus.groups.iter().flat_map(|group| group.members.iter().chain(&group.repeats)).copied().collect();
            all.sort_unstable();
            prop_assert_eq!(all, (0..members.len()).collect::<Vec<_>>());
        }
    }

    #[test]
    fn statistics_add_up(claims in claims(), seeds in prop::collection::vec(any::<u8>(), 1..9)) {
        for policy in Policy::ALL {
            let debate = debate(&claims, &seeds);
            let consensus = merge(&claims, &debate, &[], policy);
            let sum = &consensus.statistics;
            let mut members: Vec<usize> =
                consensus.groups.iter().flat_map(|d| d.members.iter().chain(&d.repeats)).copied().collect();
            members.sort_unstable();
            prop_assert_eq!(members, (0..claims.len()).collect::<Vec<_>>(), "every claim once");
            prop_assert_eq!(sum.findings_per_model.values().sum::<usize>(), sum.total_findings_received);
            let all = sum.agreements + sum.conflicts_resolved + sum.disputes_unresolved + sum.unique_findings_accepted
                + sum.unique_findings_rejected + sum.unique_findings_uncorroborated + sum.withdrawn;
            prop_assert_eq!(all, sum.groups);
            prop_assert_eq!(sum.groups, consensus.groups.len());
            let moves = sum.confidence_changes;
            prop_assert_eq!(moves.increased + moves.decreased + moves.unchanged, sum.groups);
            let round2 = &sum.round2_cross_examination;
            let words = round2.agreements + round2.disagreements + round2.partial_agreements;
            prop_assert_eq!(words, round2.responses_received.values().sum::<usize>());
            for decision in &consensus.groups {
                let models: BTreeSet<_> =
                    decision.members.iter().map(|at| &claims[*at].model).collect();
                prop_assert_eq!(models.len(), decision.members.len(), "one a reviewer");
            }
        }
    }

    #[test]
    fn the_order_of_the_input_does_not_matter(
        (claims, shuffled) in claims().prop_flat_map(|claims| (Just(claims.clone()), Just(claims).prop_shuffle())),
        seeds in prop::collection::vec(any::<u8>(), 1..9),
    ) {
        for policy in Policy::ALL {
            let debate = debate(&claims, &seeds);
            let straight = merge(&claims, &debate, &[], policy);
            let other = merge(&shuffled, &debate, &[], policy);
            prop_assert_eq!(said(&straight, &claims), said(&other, &shuffled));
        }
    }

    #[test]
    fn a_panel_rejects_only_what_its_raiser_withdrew(claims in claims(), seeds in prop::collection::vec(any::<u8>(), 1..9)) {
        let debate = debate(&claims, &seeds);
        let consensus = merge(&claims, &debate, &[], Policy::Panel);
        for decision in consensus.groups.iter().filter(|d| d.class == Class::Rejected) {
            let raisers: Vec<&str> = decision.members.iter().map(|at| claims[*at].model.as_str()).collect();
            let conceded = debate.defences.iter().any(|said| {
                said.word == DefenceWord::Concede && raisers.contains(&said.by.as_str())
            });
            prop_assert!(conceded);
        }
    }

    /// Rules 4 and 10: each rejected finding has a reason, and a criterion that would reverse the decision.
    #[test]
    fn every_rejection_is_explained(claims in claims(), seeds in prop::collection::vec(any::<u8>(), 1..9)) {
        let debate = debate(&claims, &seeds);
        for policy in Policy::ALL {
            let answer = answered(&claims, &debate, policy);
            for row in answer["consensus"]["rejected"].as_array().into_iter().flatten() {
                for key in ["rejection_reason", "reversal_criteria", "original_model"] {
                    prop_assert!(row[key].as_str().is_some_and(|text| !text.is_empty()), "{key} in {row}");
                }
            }
        }
    }

    /// Rule 6: each reported finding has the title and the line of a claim.
    #[test]
    fn nothing_is_reported_that_nobody_said(claims in claims(), seeds in prop::collection::vec(any::<u8>(), 1..9)) {
        let debate = debate(&claims, &seeds);
        for policy in Policy::ALL {
            let answer = answered(&claims, &debate, policy);
            let titles: BTreeSet<&str> = claims.iter().map(|claim| claim.title.as_str()).collect();
            for finding in answer["findings"].as_array().into_iter().flatten() {
                prop_assert!(titles.contains(finding["title"].as_str().unwrap_or_default()), "{finding}");
                let said = claims.iter().any(|claim| {
                    claim.title == finding["title"] && finding["line"].as_u64() == claim.line.map(u64::from)
                });
                prop_assert!(said, "{finding}");
            }
        }
    }

    /// Rule 7: the result does not depend on the names of the reviewers.
    #[test]
    fn no_reviewer_is_favoured(claims in claims(), seeds in prop::collection::vec(any::<u8>(), 1..9)) {
        let swap = |name: &str| match name {
            "opus" => "own",
            "own" => "opus",
            "gpt" => "gemini",
            "gemini" => "gpt",
            other => other,
        }
        .to_owned();
        let swapped: Vec<Claim> =
            claims.iter().map(|claim| Claim { model: swap(&claim.model), ..claim.clone() }).collect();
        let debate = debate(&claims, &seeds);
        let mut other = debate.clone();
        for said in &mut other.examinations {
            said.by = swap(&said.by);
        }
        for said in &mut other.defences {
            said.by = swap(&said.by);
        }
        let one = merge(&claims, &debate, &[], Policy::Specification);
        let two = merge(&swapped, &other, &[], Policy::Specification);
        prop_assert_eq!(said(&one, &claims), said(&two, &swapped));
    }

    /// The trail of each finding starts with the confidence that was stated, and the parts of the formula, with
    /// those of the answers that count, add up to the confidence that is shown.
    #[test]
    fn the_trail_adds_up(
        claims in claims(),
        seeds in prop::collection::vec(any::<u8>(), 1..9),
        late in any::<bool>(),
    ) {
        let debate = debate(&claims, &seeds);
        let mut raised = members(&claims);
        raised.iter_mut().step_by(2).for_each(|member| member.observed = late);
        for policy in Policy::ALL {
            let consensus = crate::rules::consensus::merge(&raised, &debate, &[], policy, &Answers::default());
            let answer = serde_json::to_value(consensus.answer(&raised, &debate, policy, None)).expect("JSON");
            let lists = [&answer["findings"], &answer["consensus"]["disputed"]];
            for row in lists.into_iter().filter_map(|list| list.as_array()).flatten() {
                let trail = &row["cross_examination_trail"];
                let formula = trail["final_confidence_calculation"].as_str().unwrap_or_default();
                let Some(shown) = row["confidence"].as_i64() else {
                    prop_assert!(formula.starts_with("not stated"), "{formula}");
                    continue;
                };
                let (parts, sum) = formula.rsplit_once(" = ").expect("a sum");
                prop_assert_eq!(sum.parse::<i64>(), Ok(shown));
                let mut total = 0;
                for part in parts.split_inclusive(')') {
                    let number = part.split(" (").next().unwrap_or_default().replace(' ', "");
                    total += number.parse::<i64>().expect("a number");
                }
                prop_assert_eq!(total, shown, "{}", formula);
                if let Some(stated) = trail["round1"]["original_confidence"].as_i64() {
                    prop_assert!(formula.starts_with(&format!("{stated} (original)")), "{formula} {stated}");
                }
                let round2 = trail["round2"].as_object().expect("rows").values();
                let counted: i64 = round2.filter_map(|said| said["confidence_adjustment"].as_i64()).sum();
                let named = parts.contains("(round 2 adjustments)");
                prop_assert_eq!(counted != 0, named, "{}: {}", formula, counted);
            }
        }
    }

    /// Answers of the same grounds for and against a finding move its confidence by the same number of points, and
    /// answers without grounds by none.
    #[test]
    fn under_the_policy_panel_dissent_weighs_as_much_as_agreement(
        words in prop::collection::vec((0_usize..3, any::<bool>(), -30_i32..=30), 0..5),
    ) {
        let claim = Claim {
            id: "f".to_owned(), model: "raiser".to_owned(), confidence: Some(50), title: "leaks".to_owned(),
            ..Claim::default()
        };
        let confidence = |mirrored: bool, grounded: bool| {
            let mut debate = Debate::default();
            for (number, (word, has_grounds, adjustment)) in words.iter().enumerate() {
                let is_against = (ExaminationWord::ALL[*word] == ExaminationWord::Disagree) != mirrored;
                debate.examinations.push(Examination {
                    by: format!("r{number}"),
                    finding: "f".to_owned(),
                    word: if is_against { ExaminationWord::Disagree } else { ExaminationWord::Agree },
                    adjustment: if mirrored { -adjustment } else { *adjustment } / 10,
                    reasoning: if *has_grounds && grounded { "line 3" } else { "so it is" }.to_owned(),
                });
            }
            let consensus = merge(std::slice::from_ref(&claim), &debate, &[], Policy::Panel);
            i32::from(consensus.groups[0].confidence.unwrap_or_default())
        };
        prop_assert_eq!(confidence(false, true) - 50, 50 - confidence(true, true));
        prop_assert_eq!(confidence(false, false), 50);
    }
}
