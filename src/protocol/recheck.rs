//! What a reviewer says of the changes made for its findings (section 3.1 of the design).

use std::io::{self, BufRead};

use serde::Serialize;

use super::answers::{self, Answers, Entry, Word};
use super::json::Loose;
use crate::domain::{FindingId, Recheck};

/// What was read in a re-check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RecheckAnswer {
    /// One word a finding, in the order of the answer.
    pub checks: Vec<Recheck>,
    /// Whether the closing line (or the nonce of a JSON answer) was right and its number equals what was read.
    pub complete: bool,
    /// The findings asked about that have no usable answer, in the order they were asked.
    pub missing: Vec<FindingId>,
    /// What is wrong with the answer, one line each; fit to be sent back to the reviewer.
    pub problems: Vec<String>,
}

/// Reads a reviewer's word on the findings `asked`. Without a nonce any well-formed closing line counts.
///
/// # Errors
/// Only those of reading `input`.
pub fn parse<R: BufRead>(input: R, nonce: Option<&str>, asked: &[FindingId]) -> io::Result<RecheckAnswer> {
    answers::read(input, nonce, Some(asked)).map(RecheckAnswer::from)
}

/// Reads a reviewer's word on whatever findings it names: for looking at an answer, not for relying on it.
///
/// # Errors
/// Only those of reading `input`.
pub fn parse_any<R: BufRead>(input: R, nonce: Option<&str>) -> io::Result<RecheckAnswer> {
    answers::read(input, nonce, None).map(RecheckAnswer::from)
}

/// Whether a change resolves a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Resolution {
    Resolved,
    Unresolved,
}

impl Word for Resolution {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("RESOLVED", Self::Resolved),
        ("UNRESOLVED", Self::Unresolved),
        ("NOT RESOLVED", Self::Unresolved),
        ("NOT_RESOLVED", Self::Unresolved),
    ];
    const CLOSING: &'static str = "GLEE-RECHECK-END";
    const LIST: &'static str = "checks";
    const EVIDENCE: bool = false;

    fn keeps_open(self) -> bool {
        self == Self::Unresolved
    }

    fn from_json(answer: &Loose, resolved: &Loose) -> Option<Self> {
        match resolved {
            Loose::Bool(true) => Some(Self::Resolved),
            Loose::Bool(false) => Some(Self::Unresolved),
            _ => {
                let word = answer.word()?;
                Self::WORDS.iter().find(|(name, _)| name.eq_ignore_ascii_case(&word)).map(|(_, word)| *word)
            }
        }
    }
}

impl From<Answers<Resolution>> for RecheckAnswer {
    fn from(Answers { entries, complete, missing, problems }: Answers<Resolution>) -> Self {
        let check = |Entry { finding, word, text, .. }| Recheck {
            finding,
            resolved: word == Resolution::Resolved,
            reason: text.into(),
        };
        Self { checks: entries.into_iter().map(check).collect(), complete, missing, problems }
    }
}

#[cfg(test)]
mod tests;
