//! Decides the result of three votes. Rule 1 applies if the votes have a majority. Rule 3 applies to the
//! three-way split of one FLIP, one DROP and one KEEP. Rule 2 applies if the votes have no majority and rule 3
//! does not apply. By rule 4, a MERGE counts as a KEEP.
//!
//! This module implements versions 1 and 2 of the specification's voting rules. The result depends only on the
//! votes, the conflict type and [`VoteLists`]. A missing vote counts as KEEP, and can always be outvoted.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::domain::words;

words!(VoteAction, FlagReason, Voter);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum VoteAction {
    Keep,
    Drop,
    Flip,
    /// Keep the item and mark it as uncertain.
    Flag,
    /// Merge the item with another item. A vote for MERGE counts as KEEP, so MERGE is never the result.
    Merge,
}

impl VoteAction {
    fn adopted(self) -> Self {
        if self == Self::Merge {
            Self::Keep
        } else {
            self
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Voter {
    A,
    B,
    /// The voter that looks for overlapping findings. By default, the other voters cannot outvote voter C in
    /// conflicts about overlaps.
    C,
}

impl Voter {
    pub const ALL: [Self; 3] = [Self::A, Self::B, Self::C];
}

/// A vote. `V` is the type of the new value that a FLIP vote proposes.
#[derive(Clone, Debug, PartialEq)]
pub struct Vote<'a, V> {
    pub action: VoteAction,
    /// The voter's reason: a reason code of [`VoteLists`], or any other word.
    pub reason: Option<Cow<'a, str>>,
    /// The new value if the action is FLIP. Two FLIP votes with different values do not agree.
    pub new_value: Option<V>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Version {
    /// The older rules. Any voter can be outvoted. In this version, the DROP never wins against one FLIP and one
    /// KEEP. Every FLAG without a majority has the reason `PolarityUncertain`.
    V1,
    #[default]
    V2,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum FlagReason {
    /// Two voters agreed against the third voter, but the third voter cannot be outvoted in conflicts of this
    /// type.
    FacetMinoritySignal,
    /// No two votes agree, for example because two FLIP votes propose different values. In version 1 of the
    /// rules, every FLAG without a majority has this reason.
    PolarityUncertain,
    /// The votes are FLIP, DROP and KEEP, and no vote has a reason code that decides.
    TieUnresolved,
    /// The votes have no majority, no reason code decides, and the lines of one finding contain the lines of
    /// another finding. Version 1 of the rules never uses this reason.
    RedundantRefUncertain,
}

/// The type of a conflict in which the lines of one finding contain the lines of another finding.
pub(crate) const GRANULARITY_OVERLAP: &str = "granularity_overlap_candidate";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VoteLists {
    /// For each conflict type, the voters that the other two voters cannot outvote (`_FACET_PRIORITY` in the
    /// specification).
    pub facet_priority: BTreeMap<String, BTreeSet<Voter>>,
    /// If a FLIP has one of these reason codes, the FLIP wins against one DROP and one KEEP. The codes are in
    /// upper case (`_STRUCTURAL_REASON_CODES` in the specification).
    pub structural: BTreeSet<String>,
    /// If a DROP has one of these reason codes, the DROP wins against one FLIP and one KEEP. A FLIP with a code in
    /// `structural` takes precedence over such a DROP. The codes are in upper case (`_DROP_JUSTIFIED` in the
    /// specification).
    pub(crate) drop_justified: BTreeSet<String>,
}

impl Default for VoteLists {
    fn default() -> Self {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        Self {
            facet_priority: [GRANULARITY_OVERLAP, "REDUNDANT_UPPER_REF"]
                .map(|conflict| (conflict.to_owned(), BTreeSet::from([Voter::C])))
                .into(),
            structural: words(&[
                "NEGATION_SCOPE",
                "CONTRAST_CLAUSE",
                "STRUCTURAL_INCONSISTENT",
            ]),
            drop_justified: words(&["WEAK_EVIDENCE", "REDUNDANT_UPPER_REF"]),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct VoteDecision<'a, V> {
    /// The resulting action, which is never `Merge`.
    pub action: VoteAction,
    /// The reason for the action FLAG. `None` if the majority voted for FLAG, or if the action is not FLAG.
    pub reason: Option<FlagReason>,
    /// The new value if the action is FLIP: the value of the majority, or else the first value that a FLIP vote
    /// proposes.
    pub new_value: Option<&'a V>,
    /// The reason code that decided between FLIP, DROP and KEEP. The reason code has the same upper and lower case
    /// as in the vote.
    pub deciding_code: Option<&'a str>,
    /// The number of the rule that decided, from 1 to 3.
    pub rule: u8,
}

pub fn decide<'a, V: PartialEq>(
    votes: [Option<&'a Vote<'_, V>>; 3],
    conflict: Option<&str>,
    version: Version,
    lists: &VoteLists,
) -> VoteDecision<'a, V> {
    let wishes = wishes(votes);
    let majority = majority(wishes);
    let is_v2 = version == Version::V2;
    let protected = conflict.and_then(|conflict| lists.facet_priority.get(conflict));
    let flip = (VoteAction::Flip, &lists.structural);
    let drop = (VoteAction::Drop, &lists.drop_justified);
    let codes = [flip, drop].map(|(action, codes)| {
        let own = votes
            .into_iter()
            .flatten()
            .filter(|vote| vote.action == action);
        own.filter_map(|vote| vote.reason.as_deref())
            .find(|code| codes.contains(&code.trim().to_uppercase()))
    });
    let is_split = is_split(wishes);
    let unsure = match version {
        Version::V2 if conflict == Some(GRANULARITY_OVERLAP) => FlagReason::RedundantRefUncertain,
        Version::V2 if is_split => FlagReason::TieUnresolved,
        Version::V1 | Version::V2 => FlagReason::PolarityUncertain,
    };
    let flagged = |reason, rule| (VoteAction::Flag, Some(reason), None, rule);
    let (action, reason, deciding_code, rule) = match majority {
        Some((_, Some(outvoted)))
            if is_v2
                && votes[outvoted].is_some()
                && protected.is_some_and(|voters| voters.contains(&Voter::ALL[outvoted])) =>
        {
            flagged(FlagReason::FacetMinoritySignal, 1)
        }
        Some(((action, _), _)) => (action, None, None, 1),
        None if !is_split => flagged(unsure, 2),
        None => match codes {
            [Some(code), _] => (VoteAction::Flip, None, Some(code), 3),
            [None, Some(code)] if is_v2 => (VoteAction::Drop, None, Some(code), 3),
            [None, _] => flagged(unsure, 3),
        },
    };
    let new_value = match majority {
        _ if action != VoteAction::Flip => None,
        Some(((_, Some(value)), _)) => Some(value),
        _ => {
            let mut flips = votes
                .into_iter()
                .flatten()
                .filter(|vote| vote.action == VoteAction::Flip);
            flips.find_map(|vote| vote.new_value.as_ref())
        }
    };
    VoteDecision {
        action,
        reason,
        new_value,
        deciding_code,
        rule,
    }
}

/// The action of a vote (KEEP for a MERGE), and the new value that a FLIP vote proposes. The value is omitted
/// (`None`) unless two FLIP votes propose different values.
type Wish<'a, V> = (VoteAction, Option<&'a V>);

/// Returns the action and the value of each vote. If no two FLIP votes propose different values, the values are
/// omitted, so that all FLIP votes agree.
fn wishes<'a, V: PartialEq>(votes: [Option<&'a Vote<'_, V>>; 3]) -> [Wish<'a, V>; 3] {
    let mut values = votes.into_iter().filter_map(flipped);
    let first = values.next();
    let differ = values.any(|flipped| Some(flipped) != first);
    votes.map(|vote| {
        let action = vote.map_or(VoteAction::Keep, |vote| vote.action.adopted());
        (action, if differ { flipped(vote) } else { None })
    })
}

fn flipped<'a, V>(vote: Option<&'a Vote<'_, V>>) -> Option<&'a V> {
    vote.filter(|vote| vote.action == VoteAction::Flip)
        .and_then(|vote| vote.new_value.as_ref())
}

fn is_split<V>(wishes: [Wish<'_, V>; 3]) -> bool {
    [VoteAction::Flip, VoteAction::Drop, VoteAction::Keep]
        .iter()
        .all(|action| wishes.iter().any(|(wish, _)| wish == action))
}

fn majority<'a, V: PartialEq>([a, b, c]: [Wish<'a, V>; 3]) -> Option<(Wish<'a, V>, Option<usize>)> {
    if a == b {
        Some((a, (c != a).then_some(2)))
    } else if a == c {
        Some((a, Some(1)))
    } else {
        (b == c).then_some((b, Some(0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parses `KEEP`, `FLIP:REASON`, `FLIP:=value`; `-` is a missing vote.
    fn vote(text: &str) -> Option<Vote<'_, String>> {
        let (action, rest) = text.split_once(':').unwrap_or((text, ""));
        let (reason, value) = rest.split_once('=').unwrap_or((rest, ""));
        let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        (text != "-").then(|| Vote {
            action: VoteAction::parse(action).expect("an action"),
            reason: given(reason).map(Cow::Owned),
            new_value: given(value),
        })
    }

    fn shown(votes: &str, conflict: Option<&str>, version: Version) -> String {
        let votes: Vec<_> = votes.split_whitespace().map(vote).collect();
        let [a, b, c] = votes.as_slice() else {
            panic!("three votes: {votes:?}")
        };
        let decision = decide(
            [a.as_ref(), b.as_ref(), c.as_ref()],
            conflict,
            version,
            &VoteLists::default(),
        );
        let mut text = format!("{} by {}", decision.action.as_str(), decision.rule);
        if let Some(reason) = decision.reason {
            text = format!("{text} {reason}");
        }
        if let Some(value) = decision.new_value {
            text = format!("{text} ={value}");
        }
        text
    }

    const OVERLAP: Option<&str> = Some(GRANULARITY_OVERLAP);
    const UPPER: Option<&str> = Some("REDUNDANT_UPPER_REF");

    #[test]
    fn the_tables_of_the_specification() {
        let rows = [
            // Rule 1
            ("DROP DROP KEEP", None, "DROP by 1", "DROP by 1"),
            ("KEEP KEEP KEEP", OVERLAP, "KEEP by 1", "KEEP by 1"),
            ("FLIP FLIP KEEP", None, "FLIP by 1", "FLIP by 1"),
            ("DROP DROP FLIP", None, "DROP by 1", "DROP by 1"),
            (
                "DROP DROP KEEP",
                OVERLAP,
                "FLAG by 1 FACET_MINORITY_SIGNAL",
                "DROP by 1",
            ),
            (
                "DROP DROP KEEP",
                UPPER,
                "FLAG by 1 FACET_MINORITY_SIGNAL",
                "DROP by 1",
            ),
            ("DROP KEEP DROP", OVERLAP, "DROP by 1", "DROP by 1"),
            ("KEEP DROP DROP", OVERLAP, "DROP by 1", "DROP by 1"),
            (
                "DROP DROP KEEP",
                Some("redundant_upper_ref"),
                "DROP by 1",
                "DROP by 1",
            ),
            ("FLAG FLAG DROP", None, "FLAG by 1", "FLAG by 1"),
            (
                "FLAG FLAG DROP",
                OVERLAP,
                "FLAG by 1 FACET_MINORITY_SIGNAL",
                "FLAG by 1",
            ),
            // A missing vote counts as KEEP, but is never a protected minority
            ("DROP DROP -", OVERLAP, "DROP by 1", "DROP by 1"),
            ("DROP - -", OVERLAP, "KEEP by 1", "KEEP by 1"),
            (
                "- - DROP",
                OVERLAP,
                "FLAG by 1 FACET_MINORITY_SIGNAL",
                "KEEP by 1",
            ),
            ("- - -", None, "KEEP by 1", "KEEP by 1"),
            ("FLIP:NEGATION_SCOPE DROP -", None, "FLIP by 3", "FLIP by 3"),
            // Rule 2
            (
                "FLAG DROP KEEP",
                None,
                "FLAG by 2 POLARITY_UNCERTAIN",
                "FLAG by 2 POLARITY_UNCERTAIN",
            ),
            (
                "FLIP DROP FLAG",
                OVERLAP,
                "FLAG by 2 REDUNDANT_REF_UNCERTAIN",
                "FLAG by 2 POLARITY_UNCERTAIN",
            ),
            (
                "FLIP FLAG KEEP",
                UPPER,
                "FLAG by 2 POLARITY_UNCERTAIN",
                "FLAG by 2 POLARITY_UNCERTAIN",
            ),
            // Rule 3
            (
                "FLIP DROP KEEP",
                None,
                "FLAG by 3 TIE_UNRESOLVED",
                "FLAG by 3 POLARITY_UNCERTAIN",
            ),
            (
                "FLIP DROP KEEP",
                OVERLAP,
                "FLAG by 3 REDUNDANT_REF_UNCERTAIN",
                "FLAG by 3 POLARITY_UNCERTAIN",
            ),
            (
                "FLIP:CONTRAST_CLAUSE DROP:WEAK_EVIDENCE KEEP",
                None,
                "FLIP by 3",
                "FLIP by 3",
            ),
            (
                "FLIP:STRUCTURAL_INCONSISTENT DROP KEEP",
                OVERLAP,
                "FLIP by 3",
                "FLIP by 3",
            ),
            (
                "FLIP:other DROP:WEAK_EVIDENCE KEEP",
                None,
                "DROP by 3",
                "FLAG by 3 POLARITY_UNCERTAIN",
            ),
            (
                "DROP:redundant_upper_ref FLIP KEEP",
                None,
                "DROP by 3",
                "FLAG by 3 POLARITY_UNCERTAIN",
            ),
            (
                "DROP:NEGATION_SCOPE FLIP KEEP",
                None,
                "FLAG by 3 TIE_UNRESOLVED",
                "FLAG by 3 POLARITY_UNCERTAIN",
            ),
            (
                "KEEP:WEAK_EVIDENCE FLIP DROP",
                None,
                "FLAG by 3 TIE_UNRESOLVED",
                "FLAG by 3 POLARITY_UNCERTAIN",
            ),
            // Rule 4
            ("MERGE MERGE DROP", None, "KEEP by 1", "KEEP by 1"),
            ("MERGE KEEP DROP", None, "KEEP by 1", "KEEP by 1"),
            (
                "FLIP DROP MERGE",
                None,
                "FLAG by 3 TIE_UNRESOLVED",
                "FLAG by 3 POLARITY_UNCERTAIN",
            ),
            // FLIPs with and without values
            ("FLIP FLIP:=b KEEP", None, "FLIP by 1 =b", "FLIP by 1 =b"),
            ("DROP FLIP:=b FLIP:=b", None, "FLIP by 1 =b", "FLIP by 1 =b"),
            ("DROP DROP FLIP:=c", None, "DROP by 1", "DROP by 1"),
        ];
        for (votes, conflict, v2, v1) in rows {
            assert_eq!(
                shown(votes, conflict, Version::V2),
                v2,
                "{votes} {conflict:?} v2"
            );
            assert_eq!(
                shown(votes, conflict, Version::V1),
                v1,
                "{votes} {conflict:?} v1"
            );
        }
    }

    #[test]
    fn spec_10_flips_to_different_values_do_not_agree() {
        let polarity = "FLAG by 2 POLARITY_UNCERTAIN";
        let v1 = "FLAG by 2 POLARITY_UNCERTAIN";
        let rows = [
            ("KEEP:=a FLIP:=b FLIP:=c", None, polarity, v1),
            (
                "FLIP:=b FLIP:=c DROP",
                OVERLAP,
                "FLAG by 2 REDUNDANT_REF_UNCERTAIN",
                v1,
            ),
            ("FLIP:=a FLIP:=b FLIP:=c", None, polarity, v1),
            ("FLIP:=a FLIP FLIP:=c", None, polarity, v1),
            ("FLIP:NEGATION_SCOPE=a FLIP:=b KEEP", None, polarity, v1),
            (
                "FLIP:=a FLIP:=b FLIP:=a",
                None,
                "FLIP by 1 =a",
                "FLIP by 1 =a",
            ),
            (
                "FLIP:=a FLIP:=b FLIP:=b",
                None,
                "FLIP by 1 =b",
                "FLIP by 1 =b",
            ),
            (
                "FLIP:=a FLIP:=a FLIP:=b",
                OVERLAP,
                "FLAG by 1 FACET_MINORITY_SIGNAL",
                "FLIP by 1 =a",
            ),
            ("FLIP:=a FLIP KEEP", None, "FLIP by 1 =a", "FLIP by 1 =a"),
        ];
        for (votes, conflict, v2, v1) in rows {
            assert_eq!(
                shown(votes, conflict, Version::V2),
                v2,
                "{votes} {conflict:?} v2"
            );
            assert_eq!(
                shown(votes, conflict, Version::V1),
                v1,
                "{votes} {conflict:?} v1"
            );
        }
    }

    /// A second implementation, which follows the specification sentence by sentence.
    fn by_the_letter(
        votes: [Option<(VoteAction, &str)>; 3],
        conflict: &str,
        v2: bool,
    ) -> (VoteAction, &'static str, u8) {
        let counted: Vec<VoteAction> = votes
            .iter()
            .map(|vote| match vote {
                None | Some((VoteAction::Merge, _)) => VoteAction::Keep,
                Some((action, _)) => *action,
            })
            .collect();
        let count = |action| counted.iter().filter(|counted| **counted == action).count();
        for action in [
            VoteAction::Keep,
            VoteAction::Drop,
            VoteAction::Flip,
            VoteAction::Flag,
        ] {
            if count(action) < 2 {
                continue;
            }
            let c_is_alone = count(action) == 2 && counted[2] != action && votes[2].is_some();
            let c_is_protected =
                ["granularity_overlap_candidate", "REDUNDANT_UPPER_REF"].contains(&conflict);
            return if v2 && c_is_alone && c_is_protected {
                (VoteAction::Flag, "FACET_MINORITY_SIGNAL", 1)
            } else {
                (action, "", 1)
            };
        }
        let reason = |tie| match (v2, conflict) {
            (false, _) => "POLARITY_UNCERTAIN",
            (true, "granularity_overlap_candidate") => "REDUNDANT_REF_UNCERTAIN",
            (true, _) => tie,
        };
        if count(VoteAction::Flag) == 1 {
            return (VoteAction::Flag, reason("POLARITY_UNCERTAIN"), 2);
        }
        let said = |wanted, codes: &[&str]| {
            votes
                .iter()
                .flatten()
                .any(|(action, code)| *action == wanted && codes.contains(code))
        };
        if said(
            VoteAction::Flip,
            &[
                "NEGATION_SCOPE",
                "CONTRAST_CLAUSE",
                "STRUCTURAL_INCONSISTENT",
            ],
        ) {
            (VoteAction::Flip, "", 3)
        } else if v2 && said(VoteAction::Drop, &["WEAK_EVIDENCE", "REDUNDANT_UPPER_REF"]) {
            (VoteAction::Drop, "", 3)
        } else {
            (VoteAction::Flag, reason("TIE_UNRESOLVED"), 3)
        }
    }

    #[test]
    fn every_combination_in_both_versions() {
        let codes = [
            "NEGATION_SCOPE",
            "CONTRAST_CLAUSE",
            "STRUCTURAL_INCONSISTENT",
            "WEAK_EVIDENCE",
            "REDUNDANT_UPPER_REF",
            "OTHER",
            "",
        ];
        let mut single: Vec<Option<(VoteAction, &str)>> = vec![None];
        for action in [
            VoteAction::Keep,
            VoteAction::Drop,
            VoteAction::Flip,
            VoteAction::Flag,
            VoteAction::Merge,
        ] {
            single.extend(codes.iter().map(|code| Some((action, *code))));
        }
        let lists = VoteLists::default();
        let made = |vote: Option<(VoteAction, &'static str)>| {
            vote.map(|(action, code)| Vote::<()> {
                action,
                reason: Some(code.into()),
                new_value: None,
            })
        };
        let mut cases = 0;
        for a in &single {
            for b in &single {
                for c in &single {
                    let votes = [made(*a), made(*b), made(*c)];
                    for conflict in [
                        GRANULARITY_OVERLAP,
                        "REDUNDANT_UPPER_REF",
                        "polarity_mismatch",
                        "",
                    ] {
                        for version in [Version::V1, Version::V2] {
                            let got = decide(
                                votes.each_ref().map(Option::as_ref),
                                Some(conflict),
                                version,
                                &lists,
                            );
                            let want =
                                by_the_letter([*a, *b, *c], conflict, version == Version::V2);
                            let reason = got.reason.map_or("", FlagReason::as_str);
                            assert_eq!(
                                (got.action, reason, got.rule),
                                want,
                                "{a:?} {b:?} {c:?} {conflict}"
                            );
                            cases += 1;
                        }
                    }
                }
            }
        }
        assert_eq!(cases, 36 * 36 * 36 * 4 * 2);
    }
}
