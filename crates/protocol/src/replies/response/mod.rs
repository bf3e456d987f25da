//! Parses a coder's answer to findings (section 3.4 of the design).

use std::io::{self, BufRead};

use crate::replies::by_finding::{self, AnswerWord, FindingAnswer, Names};
use crate::text::demonstration;
use glee_model::domain::{Answer, FindingId, Response, Untrusted};

pub use crate::replies::by_finding::AnswersByFinding;

/// Reads a coder's answers to the findings in `asked`, or to any finding if `asked` is `None`. If `nonce` is
/// `None`, any nonce is accepted.
pub fn parse(
    input: impl BufRead,
    nonce: Option<&str>,
    asked: Option<&[FindingId]>,
) -> io::Result<AnswersByFinding<Response>> {
    Ok(by_finding::read(input, nonce, asked, &Names::new())?.map(
        |FindingAnswer {
             finding,
             word: answer,
             mut text,
             evidence,
             more,
         }| Response {
            finding,
            answer,
            demonstration: more
                .demonstration
                .or_else(|| demonstration::take(&mut text)),
            text: text.into(),
            evidence: evidence.into_iter().map(Untrusted::from).collect(),
        },
    ))
}

impl AnswerWord for Answer {
    type Id = FindingId;

    const WORDS: &'static [(&'static str, Self)] = &[
        ("IMPLEMENTED", Self::Implemented),
        ("DISCARDED", Self::Discarded),
        ("DISAGREE", Self::Disagree),
    ];
    const CLOSING: &'static str = "GLEE-RESPONSE-END";
    const LIST: &'static str = "answers";
    const EVIDENCE: bool = true;
    const CHECKED: bool = true;
}

#[cfg(test)]
mod tests;
