//! The reasons why a judge's answer is not a valid ruling.

use crate::text::nonce::is_nonce;
use glee_model::domain::{DemonstrationRequest, DisputeNumber, Ruling, RulingWord};

/// The reason why a judge's answer is not a valid ruling, with a message that is sent back to the judge.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RulingError {
    #[error(
        "the answer does not end with a ruling, which is a JSON object with `ruling` or the line \
         `GLEE-RULING nonce=<nonce> dispute=<n> ruling=<WORD>`"
    )]
    Missing,
    #[error("the answer does not end with a JSON object with this `nonce` and the list `rulings`")]
    NoList,
    #[error("{0}")]
    Malformed(String),
    #[error("no text is allowed after the ruling, but the answer contains text after the ruling")]
    TextBehind,
    #[error("the answer has a JSON object that is too large to be read")]
    TooLarge,
    #[error("the ruling has a different `nonce` than the request")]
    Nonce,
    #[error("the ruling is on dispute `{given}`, but the request was about dispute {asked}")]
    Dispute { given: String, asked: DisputeNumber },
    #[error("`{given}` is not a ruling; allowed: `ENFORCE`, `DISMISS`, `ESCALATE`")]
    Word { given: String },
    #[error("`{given}` is not a value of `{field}`; {expected}")]
    Field {
        field: &'static str,
        given: String,
        expected: &'static str,
    },
    #[error("`{field}` is valid only with `DISMISS`, but the ruling is `{ruling}`")]
    DismissOnly {
        field: &'static str,
        ruling: RulingWord,
    },
    #[error("`demonstrate` has no side `reviewer` or `coder` in `from`, or no `question`")]
    Request,
    #[error("the answer has rulings that contradict each other: {}", words(.0))]
    Contradiction(Vec<RulingWord>),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct ExpectedRuling<'a> {
    pub nonce: Option<&'a str>,
    pub dispute: Option<DisputeNumber>,
}

impl ExpectedRuling<'_> {
    pub(crate) fn check(
        self,
        nonce: Option<&str>,
        dispute: Option<&str>,
    ) -> Result<(), RulingError> {
        if !nonce.is_some_and(|given| is_nonce(self.nonce, given)) {
            return Err(RulingError::Nonce);
        }
        let given = dispute.unwrap_or_default();
        match self.dispute {
            Some(asked) if dispute_number(given) != Some(asked) => Err(RulingError::Dispute {
                given: given.to_owned(),
                asked,
            }),
            _ => Ok(()),
        }
    }
}

pub(super) fn dispute_number(given: &str) -> Option<DisputeNumber> {
    let number = given.trim_start_matches('#').parse().ok();
    number.map(DisputeNumber)
}

#[derive(Debug)]
pub(crate) enum DisputeMatch {
    /// A ruling with a wrong nonce or a wrong dispute number.
    Foreign(RulingError),
    /// A ruling with the right nonce and dispute number, or the reason why this ruling is invalid.
    Own(Result<Claimed, RulingError>),
}

#[derive(Clone, Debug)]
pub struct Claimed {
    /// ESCALATE without reasons if the judge only asks for a demonstration.
    pub ruling: Ruling,
    /// The demonstration that the judge asks for before it rules.
    pub request: Option<DemonstrationRequest>,
    /// Whether the agent gave the ruling as a closing line instead of JSON. The text before the closing line
    /// contains the rationale and citations.
    pub is_line: bool,
}

pub fn words(words: &[RulingWord]) -> String {
    words
        .iter()
        .map(|word| format!("`{word}`"))
        .collect::<Vec<_>>()
        .join(", ")
}
