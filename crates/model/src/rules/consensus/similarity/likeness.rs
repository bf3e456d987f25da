//! Decides whether two findings name the same defect: same, different or unsure.
//!
//! The panel asks about findings of different reviewers, and recognition asks whether a finding repeats an earlier
//! one. The rules, from the surest to the least sure:
//! 1. **Weakness and place.** Two findings are the same if they state the same weakness (CWE) on the same lines, or the
//!    same or a related weakness at most three lines apart in similar words.
//! 2. **Words and place.** If a weakness is missing, findings at most three lines apart are the same if their words
//!    tell it: the texts are similar and have enough words in common. Words of the code alone tell nothing, because
//!    all findings about a line use them.
//! 3. **Another object.** Texts in the same words in the same order, except for some words, speak of what differs:
//!    "the token is logged" and "the password is logged" are two defects. Such texts, and few words about different
//!    names in the code, are unsure even if the weakness is the same.
//! 4. **Different weaknesses.** Findings that state unrelated weaknesses are the same only if their words are nearly
//!    equal.
//! 5. **No place.** Findings with neither a line nor a weakness are compared by their words alone.
//! 6. **Unsure** is what is left near each other: findings on the same lines with any word in common, findings at
//!    most six lines apart in similar words, and findings of related weaknesses in the vicinity or, with a
//!    word in common, in the same block or at most 20 lines apart.
//!
//! A reviewer who repeats itself uses the same words, so recognition needs no weakness (rule 2 applies to related
//! weaknesses as well). In doubt, a finding is not recognised, because displaying a finding again is better than
//! hiding it by mistake. Therefore a related weakness in the block is unsure, and another weakness is different.
//!
//! The figures at the constants were measured on 24 files with 294 labelled findings of three reviewers (268 pairs
//! that share a defect, 458 pairs of different defects at most five lines apart), and on eight models that reviewed
//! one program several times.

use crate::domain::{Cwe, Kinship};

/// The maximum distance, in lines, of two findings whose words are compared as if they were on the same line. Of 106
/// pairs with the same weakness on the same lines all are the same. Of 14 at a distance of 1 or 2 lines, 4 are not.
pub const NEAR: u32 = 3;

/// The maximum distance, in lines, of two findings that similar words or a related weakness make unsure. Beyond it are
/// 14 of the 268 pairs that share a defect, and 13 of these have a related weakness.
pub(crate) const VICINITY: u32 = 6;

/// The maximum distance, in lines, of two findings of related weaknesses in different blocks that are unsure.
pub const FAR: u32 = 20;

/// The least cosine of texts that have a word in common that is not on every page. It is demanded on the same lines:
/// 104 of 106 pairs with the same weakness reach it, and 51 of 97 pairs of different defects.
const TRACE: f32 = 0.05;

/// The least cosine of similar texts. Of findings at most two lines apart with related weaknesses, 31 of 38 pairs that
/// are the same and 3 of 11 others reach it. Of findings without lines and weaknesses, it accepts with an F1 of .50.
const ALIKE: f32 = 0.1;

/// The least cosine at which words tell that findings of different reviewers are the same, without a weakness. On the
/// same lines 45 of 51 pairs that are the same reach it with enough words in common, and 3 of 24 others.
const TELLING: f32 = 0.18;

/// The least cosine at which a finding repeats an earlier one. Of 1,750 pairs of different defects, 1 reaches it.
const REPEATED: f32 = 0.2;

/// The least cosine of nearly equal texts, and the least share of words that stand in the same order in nearly equal
/// texts.
const NEARLY: f32 = 0.85;

/// The number of words in common from which a likeness of words is no accident: 95% of the pairs in which a model
/// repeats itself have as many, and none of 120 pairs of different defects in parallel wording has more.
const ENOUGH: usize = 5;

/// The least share of words that stand in the same order in texts of parallel wording: 58 of 60 such pairs reach it,
/// and 16 of 120 pairs of one defect in other words with a word replaced by another.
const PARALLEL: f32 = 0.4;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Likeness {
    /// The two findings name the same defect. The number is greater for surer pairs: the cosine of the texts, one
    /// more for related weaknesses, and 2 for equal texts.
    Same(f32),
    /// It is uncertain whether the two findings name the same defect. The number is as for `Same`.
    Unsure(f32),
    Different,
}

impl Likeness {
    pub fn same(self) -> Option<f32> {
        if let Self::Same(likeness) = self {
            Some(likeness)
        } else {
            None
        }
    }

    pub fn unsure(self) -> Option<f32> {
        if let Self::Unsure(likeness) = self {
            Some(likeness)
        } else {
            None
        }
    }
}

/// How the weaknesses of two findings relate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weakness {
    Equal,
    /// One is the parent of the other, or both have a parent in common.
    Related,
    Unrelated,
    /// At least one finding states no weakness.
    Unstated,
}

impl Weakness {
    pub fn of(a: Option<Cwe>, b: Option<Cwe>) -> Self {
        let (Some(a), Some(b)) = (a, b) else {
            return Self::Unstated;
        };
        match a.kinship(b) {
            Kinship::Equal => Self::Equal,
            Kinship::Parent | Kinship::Sibling => Self::Related,
            Kinship::Unrelated => Self::Unrelated,
        }
    }

    pub(crate) fn is_related(self) -> bool {
        matches!(self, Self::Equal | Self::Related)
    }
}

/// Where two findings are, relative to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distance {
    /// The number of lines between the findings, 0 if they have a line in common.
    Lines(u32),
    /// Not known, because one of the findings has no line.
    Unknown,
    /// Not known, because neither finding has a line.
    Nowhere,
}

/// What is known about two findings before their texts are read word by word.
#[derive(Clone, Copy, Debug)]
pub struct PairFacts {
    pub distance: Distance,
    pub(crate) is_same_block: bool,
    pub weakness: Weakness,
    /// The cosine similarity of the texts.
    pub cosine: f32,
    /// Whether the question is if one finding repeats the other.
    pub(crate) is_repetition: bool,
}

/// What a comparison of two texts word by word tells.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wording {
    /// The number of different words in common.
    pub common: usize,
    /// The number of different words in common that are no names in the code. All common names count as one word.
    pub(crate) telling: usize,
    /// Whether both texts speak of names in the code, but of no common name.
    pub(crate) names_differ: bool,
    /// Whether each text speaks of a name in the code that the other text does not mention.
    pub(crate) names_apart: bool,
    /// The share of the words that stand in both texts in the same order.
    pub order: f32,
    /// Whether a word of one text stands where the other text has another word.
    pub is_replaced: bool,
    /// Whether a name in the code stands where the other text has another name.
    pub is_renamed: bool,
    /// Whether one of the two texts has a negation and they say the same otherwise.
    pub(crate) is_negated: bool,
}

/// `wording` is called only if the words can decide.
pub fn likeness(facts: &PairFacts, wording: impl FnOnce() -> Wording) -> Likeness {
    let bonus = if facts.weakness.is_related() {
        1.0
    } else {
        0.0
    };
    let sure = facts.cosine.min(0.999) + bonus;
    if facts.cosine >= least(facts) && are_same(facts, &wording()) {
        Likeness::Same(sure)
    } else if is_unsure(facts) {
        Likeness::Unsure(sure)
    } else {
        Likeness::Different
    }
}

/// The least cosine at which two findings can be the same.
fn least(facts: &PairFacts) -> f32 {
    match (facts.weakness, facts.distance) {
        (_, Distance::Lines(lines)) if lines > NEAR => f32::INFINITY,
        (Weakness::Unrelated, _) if facts.is_repetition => f32::INFINITY,
        (Weakness::Unrelated, _) => NEARLY,
        _ if facts.is_repetition => REPEATED,
        (Weakness::Equal, Distance::Lines(0)) => TRACE,
        (Weakness::Equal | Weakness::Related, _) | (_, Distance::Nowhere) => ALIKE,
        (Weakness::Unstated, _) => TELLING,
    }
}

fn are_same(facts: &PairFacts, wording: &Wording) -> bool {
    let is_short = wording.common < ENOUGH;
    let is_elsewhere = matches!(facts.distance, Distance::Lines(1..));
    let by_weakness = facts.weakness.is_related() && !facts.is_repetition;
    // The same weakness may well be in other words, but not at another name.
    let is_other = if by_weakness {
        wording.is_renamed
    } else {
        wording.is_replaced
    };
    let is_parallel = is_short && wording.order >= PARALLEL && is_other;
    let differs = wording.is_negated || wording.is_renamed || is_elsewhere && wording.is_replaced;
    if is_parallel || differs && wording.order >= NEARLY {
        return false;
    }
    if by_weakness || facts.distance == Distance::Nowhere || !is_short {
        return true;
    }
    let more_for_others = usize::from(!facts.is_repetition);
    let more_for_names = if wording.names_apart { 2 } else { 0 };
    !wording.names_differ && wording.telling >= 2 + more_for_others + more_for_names
}

fn is_unsure(facts: &PairFacts) -> bool {
    let lines = match facts.distance {
        Distance::Lines(lines) => lines,
        Distance::Unknown | Distance::Nowhere => NEAR,
    };
    let is_near = lines <= NEAR;
    let has_word = facts.cosine >= TRACE;
    let is_alike = facts.cosine >= ALIKE;
    match facts.weakness {
        Weakness::Equal | Weakness::Related if facts.is_repetition => {
            is_near || facts.is_same_block
        }
        Weakness::Equal | Weakness::Related => {
            lines <= VICINITY || has_word && (lines <= FAR || facts.is_same_block)
        }
        Weakness::Unrelated if facts.is_repetition => is_near && facts.cosine >= NEARLY,
        Weakness::Unstated if facts.is_repetition => is_near && has_word,
        Weakness::Unstated if lines == 0 => true,
        Weakness::Unrelated if lines == 0 => has_word,
        Weakness::Unrelated | Weakness::Unstated => lines <= VICINITY && is_alike,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts with enough words in common.
    const LONG: Wording = Wording {
        common: 6,
        telling: 6,
        names_differ: false,
        names_apart: false,
        order: 0.2,
        is_replaced: false,
        is_renamed: false,
        is_negated: false,
    };

    fn facts(distance: Distance, weakness: Weakness, cosine: f32) -> PairFacts {
        PairFacts {
            distance,
            is_same_block: false,
            weakness,
            cosine,
            is_repetition: false,
        }
    }

    fn answer(facts: &PairFacts, wording: Wording) -> &'static str {
        match likeness(facts, || wording) {
            Likeness::Same(_) => "same",
            Likeness::Unsure(_) => "unsure",
            Likeness::Different => "different",
        }
    }

    #[test]
    fn the_table_of_findings_of_different_reviewers() {
        use Distance::{Lines, Nowhere, Unknown};
        use Weakness::{Equal, Related, Unrelated, Unstated};
        let rows = [
            (Lines(0), Equal, 0.06, "same"),
            (Lines(0), Equal, 0.01, "unsure"),
            (Lines(0), Related, 0.06, "unsure"),
            (Lines(0), Related, 0.12, "same"),
            (Lines(2), Equal, 0.12, "same"),
            (Lines(2), Equal, 0.06, "unsure"),
            (Lines(5), Equal, 0.9, "unsure"),
            (Lines(15), Equal, 0.06, "unsure"),
            (Lines(15), Equal, 0.01, "different"),
            (Lines(40), Equal, 0.9, "different"),
            (Lines(0), Unstated, 0.0, "unsure"),
            (Lines(1), Unstated, 0.2, "same"),
            (Lines(1), Unstated, 0.12, "unsure"),
            (Lines(1), Unstated, 0.05, "different"),
            (Lines(5), Unstated, 0.5, "unsure"),
            (Lines(7), Unstated, 0.5, "different"),
            (Lines(0), Unrelated, 0.5, "unsure"),
            (Lines(0), Unrelated, 0.01, "different"),
            (Lines(0), Unrelated, 0.9, "same"),
            (Unknown, Unstated, 0.2, "same"),
            (Unknown, Unstated, 0.12, "unsure"),
            (Nowhere, Unstated, 0.12, "same"),
            (Nowhere, Unstated, 0.05, "different"),
        ];
        for (distance, weakness, cosine, expected) in rows {
            let facts = facts(distance, weakness, cosine);
            assert_eq!(answer(&facts, LONG), expected, "{facts:?}");
        }
        let block = PairFacts {
            is_same_block: true,
            ..facts(Lines(40), Equal, 0.06)
        };
        assert_eq!(answer(&block, LONG), "unsure");
    }

    #[test]
    fn a_repetition_needs_words_and_the_weakness_only_contradicts() {
        let rows = [
            (0, Weakness::Unstated, 0.25, "same"),
            (0, Weakness::Unstated, 0.12, "unsure"),
            (0, Weakness::Unstated, 0.01, "different"),
            (4, Weakness::Unstated, 0.9, "different"),
            (0, Weakness::Equal, 0.25, "same"),
            (0, Weakness::Equal, 0.0, "unsure"),
            (30, Weakness::Equal, 0.9, "unsure"),
            (0, Weakness::Unrelated, 0.5, "different"),
            (0, Weakness::Unrelated, 0.9, "unsure"),
        ];
        for (lines, weakness, cosine, expected) in rows {
            let facts = PairFacts {
                is_repetition: true,
                is_same_block: true,
                ..facts(Distance::Lines(lines), weakness, cosine)
            };
            assert_eq!(answer(&facts, LONG), expected, "{facts:?}");
        }
    }

    #[test]
    fn what_speaks_of_another_object_is_unsure() {
        let short = Wording {
            common: 4,
            telling: 4,
            ..LONG
        };
        let rows = [
            ("few words, but telling ones", short, "same"),
            (
                "a replaced word in the same order",
                Wording {
                    order: 0.6,
                    is_replaced: true,
                    ..short
                },
                "unsure",
            ),
            (
                "different names",
                Wording {
                    names_differ: true,
                    ..short
                },
                "unsure",
            ),
            (
                "each names something else as well",
                Wording {
                    names_apart: true,
                    ..short
                },
                "unsure",
            ),
            (
                "words of the code alone",
                Wording {
                    telling: 1,
                    ..short
                },
                "unsure",
            ),
            (
                "a replaced name in nearly equal texts",
                Wording {
                    order: 0.9,
                    is_replaced: true,
                    is_renamed: true,
                    ..LONG
                },
                "unsure",
            ),
            (
                "a negation in nearly equal texts",
                Wording {
                    order: 0.9,
                    is_negated: true,
                    ..LONG
                },
                "unsure",
            ),
        ];
        for (what, wording, expected) in rows {
            let facts = facts(Distance::Lines(0), Weakness::Unstated, 0.9);
            assert_eq!(answer(&facts, wording), expected, "{what}");
        }
    }
}
