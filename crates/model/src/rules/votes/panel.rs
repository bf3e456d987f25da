//! Decides a dispute by the rulings of three judges. Each ruling counts as a vote. ENFORCE counts as the vote
//! KEEP, and ESCALATE counts as FLAG. A DISMISS with a new tag counts as FLIP, a DISMISS as a duplicate counts
//! as MERGE, and any other DISMISS counts as DROP.
//!
//! The panel can dismiss a finding only if at least one of the judges dismisses the finding. If fewer than two
//! judges give a ruling, the panel's ruling is ESCALATE.

use std::collections::BTreeSet;

use crate::domain::{Finding, Grounds, PanelVote, Ruling, RulingWord, Tag, Untrusted};
use crate::rules::votes::vote::{
    FlagReason, GRANULARITY_OVERLAP, Version, Vote, VoteAction, VoteDecision, VoteLists, decide,
};

pub fn action(ruling: &Ruling) -> VoteAction {
    match ruling.ruling {
        RulingWord::Enforce => VoteAction::Keep,
        RulingWord::Dismiss if ruling.new_tag.is_some() => VoteAction::Flip,
        RulingWord::Dismiss if ruling.duplicate_of.is_some() => VoteAction::Merge,
        RulingWord::Dismiss => VoteAction::Drop,
        RulingWord::Escalate => VoteAction::Flag,
    }
}

fn reason_code(grounds: Grounds) -> String {
    grounds.as_str().to_uppercase()
}

/// Returns the default reason codes and, in addition, the codes of the grounds that judges can give. If the votes
/// are FLIP, DROP and KEEP, the FLIP wins if its ground is `NotMandatory`. Otherwise, the DROP wins if it has a
/// ground other than `NotMandatory`.
fn lists() -> VoteLists {
    let mut lists = VoteLists::default();
    lists.structural.insert(reason_code(Grounds::NotMandatory));
    let justified = [
        Grounds::FactualError,
        Grounds::BreaksFunctionality,
        Grounds::ConflictsWithRequirements,
        Grounds::MisunderstoodContext,
        Grounds::AlreadyHandled,
        Grounds::Duplicate,
    ];
    lists.drop_justified.extend(justified.map(reason_code));
    lists
}

fn conflict(finding: &Finding, others: &[Finding], votes: &[PanelVote; 3]) -> Option<&'static str> {
    if others
        .iter()
        .any(|other| other.id != finding.id && overlap(finding, other))
    {
        return Some(GRANULARITY_OVERLAP);
    }
    let rulings: Vec<&Ruling> = votes
        .iter()
        .filter_map(|vote| vote.ruling.as_ref())
        .collect();
    let actions: BTreeSet<VoteAction> = rulings.iter().map(|ruling| action(ruling)).collect();
    let grounds: BTreeSet<&str> = rulings
        .iter()
        .filter_map(|ruling| Some(ruling.grounds?.as_str()))
        .collect();
    let is_kept = actions.contains(&VoteAction::Keep) || actions.contains(&VoteAction::Merge);
    let tags: BTreeSet<Tag> = rulings.iter().filter_map(|ruling| ruling.new_tag).collect();
    if actions.contains(&VoteAction::Flip) && actions.len() > 1 || tags.len() > 1 {
        Some("severity_disagreement")
    } else if actions.contains(&VoteAction::Drop) && is_kept {
        Some("validity_disagreement")
    } else {
        (grounds.len() > 1).then_some("cause_disagreement")
    }
}

fn overlap(a: &Finding, b: &Finding) -> bool {
    let (Some(a_range), Some(b_range)) = (a.raw.lines(), b.raw.lines()) else {
        return false;
    };
    let contains = |outer: (u32, u32), inner: (u32, u32)| outer.0 <= inner.0 && inner.1 <= outer.1;
    a.raw.file.is_some()
        && a.raw.file == b.raw.file
        && (contains(a_range, b_range) || contains(b_range, a_range))
}

/// Returns the panel's ruling on `finding`. `findings` are all findings of the run.
pub fn rule(finding: &Finding, findings: &[Finding], votes: &[PanelVote; 3]) -> Ruling {
    let cast: [Option<Vote<'_, Tag>>; 3] = votes.each_ref().map(|vote| {
        vote.ruling.as_ref().map(|ruling| Vote {
            action: action(ruling),
            reason: ruling.grounds.map(|grounds| reason_code(grounds).into()),
            new_value: ruling.new_tag,
        })
    });
    if let Some(why) = no_quorum(votes) {
        return Ruling {
            rationale: why.into(),
            ..Ruling::bare(RulingWord::Escalate)
        };
    }
    let conflict = conflict(finding, findings, votes);
    let decision = decide(
        cast.each_ref().map(Option::as_ref),
        conflict,
        Version::V2,
        &lists(),
    );
    let word = match decision.action {
        VoteAction::Keep | VoteAction::Merge => RulingWord::Enforce,
        VoteAction::Drop | VoteAction::Flip => RulingWord::Dismiss,
        VoteAction::Flag => RulingWord::Escalate,
    };
    let winners: Vec<&PanelVote> = votes
        .iter()
        .filter(|vote| {
            vote.ruling.as_ref().is_some_and(|ruling| {
                let merged =
                    action(ruling) == VoteAction::Merge && decision.action == VoteAction::Keep;
                let other_tag = action(ruling) == VoteAction::Flip
                    && ruling.new_tag.as_ref() != decision.new_value;
                action(ruling) == decision.action && !other_tag || merged
            })
        })
        .collect();
    let rulings = || winners.iter().filter_map(|vote| vote.ruling.as_ref());
    let mut citations: Vec<Untrusted> = Vec::new();
    for citation in rulings().flat_map(|ruling| &ruling.citations) {
        if !citations.contains(citation) {
            citations.push(citation.clone());
        }
    }
    Ruling {
        rationale: rationale(&decision, conflict, &winners, votes).into(),
        grounds: if word == RulingWord::Dismiss {
            rulings().find_map(|ruling| ruling.grounds)
        } else {
            None
        },
        citations,
        new_tag: decision.new_value.copied(),
        coder_evidence: rulings().find_map(|ruling| ruling.coder_evidence.clone()),
        ..Ruling::bare(word)
    }
}

fn names<'a>(votes: impl Iterator<Item = &'a PanelVote>) -> String {
    votes
        .map(|vote| vote.judge.0.as_str())
        .collect::<Vec<_>>()
        .join(" and ")
}

fn no_quorum(votes: &[PanelVote; 3]) -> Option<String> {
    let mut ruled = votes
        .iter()
        .filter_map(|vote| Some((vote, vote.ruling.as_ref()?)));
    match (ruled.next(), ruled.next()) {
        (Some(_), Some(_)) => None,
        (Some((vote, ruling)), None) => Some(format!(
            "only {} of the panel gave a ruling ({}), and a panel needs two",
            vote.judge, ruling.ruling
        )),
        (None, _) => Some("no judge of the panel gave a ruling".to_owned()),
    }
}

fn rationale(
    decision: &VoteDecision<'_, Tag>,
    conflict: Option<&str>,
    winners: &[&PanelVote],
    votes: &[PanelVote; 3],
) -> String {
    let said = winners
        .iter()
        .filter_map(|vote| vote.ruling.as_ref())
        .map(|ruling| ruling.rationale.as_written().trim());
    let mut text = if let (VoteAction::Flag, Some(why)) = (decision.action, decision.reason) {
        let about = conflict
            .map(|conflict| format!(", {conflict}"))
            .unwrap_or_default();
        format!("the judges do not agree: {} ({why}{about})", meaning(why))
    } else {
        let reason = said
            .clone()
            .find(|text| !text.is_empty())
            .unwrap_or_default();
        format!("{}: {reason}", names(winners.iter().copied()))
    };
    if let Some(code) = decision.deciding_code {
        text.push_str(&format!(" (three-way split, decided by {code})"));
    }
    let absent = names(votes.iter().filter(|vote| vote.ruling.is_none()));
    if !absent.is_empty() {
        text.push_str(&format!(" ({absent} gave no ruling)"));
    }
    text
}

fn meaning(reason: FlagReason) -> &'static str {
    match reason {
        FlagReason::FacetMinoritySignal => {
            "the judge that is protected for overlapping findings was outvoted"
        }
        FlagReason::PolarityUncertain => "no two of them agree",
        FlagReason::TieUnresolved => "all three differ, and no ground decides",
        FlagReason::RedundantRefUncertain => "all three differ about overlapping findings",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{AgentName, FindingId, RawFinding, Severity};

    fn finding(id: u32, lines: (u32, u32)) -> Finding {
        Finding {
            mandatory: true,
            raised_by: vec![AgentName::from("r1")],
            ..Finding::raised(
                FindingId::new(id),
                RawFinding {
                    severity: Severity::known(Tag::Must),
                    title: "it breaks".into(),
                    file: Some("a.py".into()),
                    line: Some(lines.0),
                    end_line: Some(lines.1),
                    ..RawFinding::default()
                },
            )
        }
    }

    fn votes(words: &str) -> [PanelVote; 3] {
        let mut words = words.split_whitespace();
        ["a", "b", "c"].map(|judge| {
            let (word, grounds) =
                words
                    .next()
                    .map_or(("-", None), |word| match word.split_once(':') {
                        Some((word, "not_mandatory")) => (word, Some(Grounds::NotMandatory)),
                        Some((word, _)) => (word, Some(Grounds::FactualError)),
                        None => (word, None),
                    });
            let ruled = |ruling: RulingWord| Ruling {
                rationale: format!("says {judge}").into(),
                grounds,
                citations: vec![
                    format!("a.py:{}", u32::from(judge.as_bytes()[0] - b'a' + 1)).into(),
                    "a.py:9".into(),
                ],
                ..Ruling::bare(ruling)
            };
            let ruling = match word {
                "ENFORCE" => Some(ruled(RulingWord::Enforce)),
                "DISMISS" => Some(ruled(RulingWord::Dismiss)),
                "LOW" => Some(Ruling {
                    new_tag: Some(Tag::Low),
                    ..ruled(RulingWord::Dismiss)
                }),
                "SHOULD" => Some(Ruling {
                    new_tag: Some(Tag::Should),
                    ..ruled(RulingWord::Dismiss)
                }),
                "DUPLICATE" => Some(Ruling {
                    duplicate_of: Some(FindingId::new(7)),
                    ..ruled(RulingWord::Dismiss)
                }),
                "ESCALATE" => Some(ruled(RulingWord::Escalate)),
                _ => None,
            };
            PanelVote {
                judge: AgentName::from(judge),
                ruling,
                error: None,
            }
        })
    }

    fn ruled(words: &str, others: &[(u32, u32)]) -> String {
        let mut findings = vec![finding(1, (10, 20))];
        findings.extend(
            others
                .iter()
                .zip(2..)
                .map(|(lines, id)| finding(id, *lines)),
        );
        let ruling = rule(&findings[0], &findings, &votes(words));
        let tag = ruling
            .new_tag
            .map(|tag| format!(" [{tag}]"))
            .unwrap_or_default();
        format!("{}{tag} {}", ruling.ruling, ruling.rationale.as_written())
    }

    #[test]
    fn the_table_of_panels() {
        let rows = [
            ("ENFORCE ENFORCE DISMISS", "ENFORCE a and b: says a"),
            ("DISMISS ENFORCE DISMISS", "DISMISS a and c: says a"),
            ("SHOULD SHOULD ENFORCE", "DISMISS [SHOULD] a and b: says a"),
            ("DUPLICATE ENFORCE DISMISS", "ENFORCE a and b: says a"),
            (
                "DUPLICATE DUPLICATE DUPLICATE",
                "ENFORCE a and b and c: says a",
            ),
            (
                "DISMISS DISMISS -",
                "DISMISS a and b: says a (c gave no ruling)",
            ),
            ("DISMISS - ENFORCE", "ENFORCE c: says c (b gave no ruling)"),
            ("- - -", "ESCALATE no judge of the panel gave a ruling"),
            ("ESCALATE ESCALATE ENFORCE", "ESCALATE a and b: says a"),
            (
                "SHOULD:not_mandatory DISMISS:wrong ENFORCE",
                "DISMISS [SHOULD] a: says a (three-way split, decided by NOT_MANDATORY)",
            ),
            (
                "SHOULD DISMISS:wrong ENFORCE",
                "DISMISS b: says b (three-way split, decided by FACTUAL_ERROR)",
            ),
            (
                "SHOULD DISMISS ENFORCE",
                "ESCALATE the judges do not agree: all three differ, and no ground decides \
                 (TIE_UNRESOLVED, severity_disagreement)",
            ),
            (
                "ESCALATE DISMISS ENFORCE",
                "ESCALATE the judges do not agree: no two of them agree \
                 (POLARITY_UNCERTAIN, validity_disagreement)",
            ),
        ];
        for (words, expected) in rows {
            assert_eq!(ruled(words, &[]), expected, "{words}");
        }
    }

    #[test]
    fn spec_09_one_ruling_of_three_escalates() {
        for (word, said) in [
            ("DISMISS", "DISMISS"),
            ("ENFORCE", "ENFORCE"),
            ("SHOULD", "DISMISS"),
        ] {
            for votes in [
                format!("{word} - -"),
                format!("- {word} -"),
                format!("- - {word}"),
            ] {
                let ruled = ruled(&votes, &[]);
                assert!(ruled.starts_with("ESCALATE only "), "{votes}: {ruled}");
                assert!(
                    ruled.contains(&format!("gave a ruling ({said}), and a panel needs two")),
                    "{ruled}"
                );
            }
        }
        assert_eq!(
            ruled("- - -", &[]),
            "ESCALATE no judge of the panel gave a ruling"
        );
    }

    #[test]
    fn spec_10_two_judges_who_want_different_tags_do_not_agree() {
        let split = "ESCALATE the judges do not agree: no two of them agree \
                     (POLARITY_UNCERTAIN, severity_disagreement)";
        for votes in [
            "SHOULD LOW ENFORCE",
            "ENFORCE SHOULD LOW",
            "SHOULD DISMISS:wrong LOW",
        ] {
            assert_eq!(ruled(votes, &[]), split, "{votes}");
        }
        assert_eq!(
            ruled("SHOULD LOW SHOULD", &[]),
            "DISMISS [SHOULD] a and c: says a"
        );
    }

    #[test]
    fn the_third_judge_is_not_outvoted_where_findings_overlap() {
        let flagged = "ESCALATE the judges do not agree: the judge that is protected for \
                       overlapping findings was outvoted (FACET_MINORITY_SIGNAL, granularity_overlap_candidate)";
        assert_eq!(ruled("DISMISS DISMISS ENFORCE", &[(12, 12)]), flagged);
        assert_eq!(ruled("DISMISS DISMISS ENFORCE", &[(1, 99)]), flagged);
        assert_eq!(
            ruled("DISMISS DISMISS ENFORCE", &[(15, 25), (21, 30)]),
            "DISMISS a and b: says a"
        );
        assert_eq!(
            ruled("ENFORCE DISMISS DISMISS", &[(12, 12)]),
            "DISMISS b and c: says b"
        );
    }

    #[test]
    fn the_winners_evidence_is_kept_once() {
        let finding = finding(1, (10, 20));
        let ruling = rule(&finding, &[], &votes("DISMISS:wrong ENFORCE DISMISS"));
        assert_eq!(ruling.citations, ["a.py:1", "a.py:9", "a.py:3"]);
        assert_eq!(ruling.grounds, Some(Grounds::FactualError));
    }
}
