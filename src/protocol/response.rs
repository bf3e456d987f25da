//! A coder's answer to findings (section 3.4 of the design).

use std::io::{self, BufRead};

use serde::Serialize;

use super::answers::{self, Answers, Entry, Word};
use super::json::Loose;
use crate::domain::{Answer, FindingId, Response, Untrusted};

/// What was read in a coder's answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ResponseAnswer {
    /// One answer a finding, in the order of the answer.
    pub responses: Vec<Response>,
    /// Whether the closing line (or the nonce of a JSON answer) was right and its number equals what was read.
    pub complete: bool,
    /// The findings asked about that have no usable answer, in the order they were asked.
    pub missing: Vec<FindingId>,
    /// What is wrong with the answer, one line each; fit to be sent back to the coder.
    pub problems: Vec<String>,
}

/// Reads a coder's answer to the findings `asked`. Without a nonce any well-formed closing line counts.
///
/// # Errors
/// Only those of reading `input`.
pub fn parse<R: BufRead>(input: R, nonce: Option<&str>, asked: &[FindingId]) -> io::Result<ResponseAnswer> {
    answers::read(input, nonce, Some(asked)).map(ResponseAnswer::from)
}

/// Reads a coder's answer to whatever findings it names: for looking at an answer, not for relying on it.
///
/// # Errors
/// Only those of reading `input`.
pub fn parse_any<R: BufRead>(input: R, nonce: Option<&str>) -> io::Result<ResponseAnswer> {
    answers::read(input, nonce, None).map(ResponseAnswer::from)
}

impl Word for Answer {
    const WORDS: &'static [(&'static str, Self)] =
        &[("IMPLEMENTED", Self::Implemented), ("DISCARDED", Self::Discarded), ("DISAGREE", Self::Disagree)];
    const CLOSING: &'static str = "GLEE-RESPONSE-END";
    const LIST: &'static str = "answers";
    const EVIDENCE: bool = true;
    const CHECKED: bool = true;

    fn from_json(answer: &Loose, _resolved: &Loose) -> Option<Self> {
        Self::parse(&answer.word()?)
    }
}

impl From<Answers<Answer>> for ResponseAnswer {
    fn from(Answers { entries, complete, missing, problems }: Answers<Answer>) -> Self {
        let response = |Entry { finding, word, text, evidence, .. }| Response {
            finding,
            answer: word,
            text: text.into(),
            evidence: evidence.into_iter().map(Untrusted::from).collect(),
        };
        Self { responses: entries.into_iter().map(response).collect(), complete, missing, problems }
    }
}

#[cfg(test)]
mod tests;
