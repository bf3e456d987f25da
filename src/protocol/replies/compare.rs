//! Parses an answer that compares findings with earlier disputes.

use std::io::{self, BufRead};

use crate::domain::{Comparison, FindingId};
use crate::protocol::replies::by_finding::{self, AnswerWord, FindingAnswer, Names};

pub use crate::protocol::replies::by_finding::AnswersByFinding;

/// Reads the answers about the findings in `asked`. If `nonce` is `None`, any nonce is accepted.
pub fn parse<R: BufRead>(
    input: R,
    nonce: Option<&str>,
    asked: &[FindingId],
) -> io::Result<AnswersByFinding<Comparison>> {
    let comparison = |FindingAnswer {
                          finding,
                          word,
                          text,
                          ..
                      }: FindingAnswer<SameOrDifferent>| Comparison {
        finding,
        same: word == SameOrDifferent::Same,
        reason: text.into(),
    };
    Ok(by_finding::read(input, nonce, Some(asked), &Names::new())?.map(comparison))
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
