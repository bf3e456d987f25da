//! Parses the answers that compare findings: with earlier disputes, and with findings of other reviewers.

use std::io::{self, BufRead};

use crate::replies::by_finding::{self, AnswerWord, FindingAnswer, Names};
use glee_model::domain::{Comparison, FindingId, PairComparison, PairId};

pub use crate::replies::by_finding::AnswersByFinding;

/// Reads the answers about the findings in `asked`. If `nonce` is `None`, any nonce is accepted.
pub fn parse(
    input: impl BufRead,
    nonce: Option<&str>,
    asked: &[FindingId],
) -> io::Result<AnswersByFinding<Comparison>> {
    Ok(
        by_finding::read(input, nonce, Some(asked), &Names::new())?.map(
            |FindingAnswer {
                 finding,
                 word,
                 text,
                 ..
             }: FindingAnswer<SameOrDifferent>| Comparison {
                finding,
                same: word == SameOrDifferent::Same,
                reason: text.into(),
            },
        ),
    )
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SameOrDifferent {
    Same,
    Different,
}

impl AnswerWord for SameOrDifferent {
    type Id = FindingId;

    const WORDS: &'static [(&'static str, Self)] = &[
        ("SAME", Self::Same),
        ("DIFFERENT", Self::Different),
        ("NOT SAME", Self::Different),
    ];
    const CLOSING: &'static str = "GLEE-COMPARE-END";
    const LIST: &'static str = "comparisons";

    fn keeps_open(self) -> bool {
        self == Self::Different
    }
}

/// Reads the answers about the pairs in `asked`. If `nonce` is `None`, any nonce is accepted.
pub fn parse_pairs(
    input: impl BufRead,
    nonce: Option<&str>,
    asked: &[PairId],
) -> io::Result<AnswersByFinding<PairComparison, PairId>> {
    let read = by_finding::read(input, nonce, Some(asked), &Names::new())?;
    Ok(
        read.map(|answer: FindingAnswer<SameDefect>| PairComparison {
            pair: answer.finding,
            same: answer.word == SameDefect::Same,
            reason: answer.text.into(),
        }),
    )
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SameDefect {
    Same,
    Different,
}

impl AnswerWord for SameDefect {
    type Id = PairId;

    const WORDS: &'static [(&'static str, Self)] = &[
        ("SAME", Self::Same),
        ("DIFFERENT", Self::Different),
        ("NOT SAME", Self::Different),
    ];
    const CLOSING: &'static str = "GLEE-SAME-END";
    const LIST: &'static str = "pairs";

    fn keeps_open(self) -> bool {
        self == Self::Different
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONCE: &str = "n0123456789abcdef";
    const CLOSING: &str = "GLEE-SAME-END nonce=n0123456789abcdef answers=2\n";

    fn read(answer: &str) -> (bool, Vec<(u32, bool)>) {
        let asked = [FindingId::new(1), FindingId::new(2)];
        let read = parse(answer.as_bytes(), Some("n0123456789abcdef"), &asked)
            .expect("memory is readable");
        (
            read.complete,
            read.entries
                .iter()
                .map(|entry| (entry.finding.number, entry.same))
                .collect(),
        )
    }

    #[test]
    fn the_forms_of_an_answer() {
        let closing = "GLEE-COMPARE-END nonce=n0123456789abcdef answers=2\n";
        let good =
            format!("[F1] SAME: both ask to bind it\n[F2] DIFFERENT: another line\n{closing}");
        assert_eq!(read(&good), (true, vec![(1, true), (2, false)]));
        let json = r#"{"nonce": "n0123456789abcdef", "comparisons": [{"finding": "F1", "answer": "same"},
            {"finding": "F2", "answer": "different"}]}"#;
        assert_eq!(read(json), (true, vec![(1, true), (2, false)]));
        for bad in [
            good.replace("nonce=n0123456789abcdef", "nonce=00000000"),
            good.replace("answers=2", "answers=3"),
            format!("[F1] PERHAPS: so\n{closing}"),
        ] {
            assert!(!read(&bad).0, "{bad}");
        }
        assert_eq!(
            read(&good.replace("[F2] DIFFERENT", "[F9] SAME")).1,
            [(1, true)]
        );
        // Two contradictory answers never count as `SAME`.
        let both = format!("[F1] SAME: a\n[F1] DIFFERENT: b\n[F2] SAME: c\n{closing}");
        assert!(!read(&both).1.contains(&(1, true)), "{:?}", read(&both));
    }

    fn read_pairs(answer: &str) -> (bool, Vec<(u32, bool)>) {
        let asked = [PairId(1), PairId(2)];
        let read = parse_pairs(answer.as_bytes(), Some(NONCE), &asked).expect("memory is readable");
        let entries = read.entries.iter().map(|entry| (entry.pair.0, entry.same));
        (read.complete, entries.collect())
    }

    #[test]
    fn the_forms_of_an_answer_about_pairs() {
        let good = format!("[P1] SAME: both bind the name\n[P2] DIFFERENT: other lines\n{CLOSING}");
        let json = r#"{"nonce": "n0123456789abcdef", "pairs": [{"pair": "P1", "answer": "same", "reason": "r"},
            {"pair": "P2", "answer": "different"}]}"#;
        for answer in [good.as_str(), json] {
            assert_eq!(read_pairs(answer), (true, vec![(1, true), (2, false)]));
        }
        for bad in [
            good.replace("nonce=n0123456789abcdef", "nonce=00000000"),
            good.replace("answers=2", "answers=3"),
            format!("[P1] PERHAPS: so\n{CLOSING}"),
        ] {
            assert!(!read_pairs(&bad).0, "{bad}");
        }
    }

    #[test]
    fn a_pair_that_was_not_asked_and_an_id_of_a_finding_are_no_answer() {
        for other in ["[P9] SAME: x", "[F1] SAME: x", "[P0] SAME: x"] {
            let answer = format!("{other}\n[P2] SAME: y\n{CLOSING}");
            assert!(!read_pairs(&answer).1.contains(&(1, true)), "{answer}");
        }
        let json = r#"{"nonce": "n0123456789abcdef", "pairs": [{"pair": "1", "answer": "same"},
            {"finding": "P2", "answer": "same"}]}"#;
        assert_eq!(read_pairs(json).1, []);
    }

    #[test]
    fn two_different_answers_to_a_pair_never_count_as_same() {
        for both in [
            "[P1] SAME: a\n[P1] DIFFERENT: b",
            "[P1] DIFFERENT: b\n[P1] SAME: a",
        ] {
            let (_, entries) = read_pairs(&format!("{both}\n[P2] SAME: c\n{CLOSING}"));
            assert!(!entries.contains(&(1, true)), "{both}: {entries:?}");
        }
    }
}
