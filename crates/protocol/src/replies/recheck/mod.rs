//! Parses a re-check, in which a reviewer states whether changes resolve findings (section 3.1 of the design).

use std::io::{self, BufRead};

use crate::replies::by_finding::{self, AnswerWord, FindingAnswer, Names};
use crate::text::json::LenientValue;
use glee_model::domain::{FindingId, Recheck};

pub use crate::replies::by_finding::AnswersByFinding;

/// Reads a reviewer's answers about the findings in `asked`, or about any finding if `asked` is `None`. If `nonce`
/// is `None`, any nonce is accepted.
pub fn parse(
    input: impl BufRead,
    nonce: Option<&str>,
    asked: Option<&[FindingId]>,
) -> io::Result<AnswersByFinding<Recheck>> {
    Ok(by_finding::read(input, nonce, asked, &Names::new())?.map(
        |FindingAnswer {
             finding,
             word: resolved,
             text,
             ..
         }| Recheck {
            finding,
            resolved,
            reason: text.into(),
        },
    ))
}

impl AnswerWord for bool {
    type Id = FindingId;

    const WORDS: &'static [(&'static str, Self)] = &[
        ("RESOLVED", true),
        ("UNRESOLVED", false),
        ("NOT RESOLVED", false),
        ("NOT_RESOLVED", false),
    ];
    const CLOSING: &'static str = "GLEE-RECHECK-END";
    const LIST: &'static str = "checks";

    fn keeps_open(self) -> bool {
        !self
    }

    fn from_json(answer: &LenientValue, resolved: &LenientValue) -> Option<Self> {
        if let LenientValue::Bool(resolved) = resolved {
            Some(*resolved)
        } else {
            Self::from_word(answer)
        }
    }
}

#[cfg(test)]
mod tests;
