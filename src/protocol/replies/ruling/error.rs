use crate::domain::{DisputeNumber, Ruling, RulingWord};
use crate::protocol::replies::reply::is_nonce;

/// Why a judge's answer is no ruling; the text is sent back to the judge.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RulingError {
    #[error(
        "the answer does not end with a ruling, neither a JSON object with `ruling` nor the line \
         `GLEE-RULING nonce=<nonce> dispute=<n> ruling=<WORD>`"
    )]
    Missing,
    /// The parser's error, with line and column.
    #[error("{0}")]
    Malformed(String),
    #[error("text follows the ruling, which has to be the last thing in the answer")]
    TextBehind,
    #[error("the answer has a JSON object that is too large to be read")]
    TooLarge,
    #[error("the ruling's `nonce` is not the one that was given")]
    Nonce,
    #[error("the ruling is on dispute `{given}`, asked was dispute {asked}")]
    Dispute { given: String, asked: DisputeNumber },
    #[error("`{given}` is no ruling; it is one of `ENFORCE`, `DISMISS`, `ESCALATE`")]
    Word { given: String },
    #[error("`{given}` is no value of `{field}`; {expected}")]
    Field { field: &'static str, given: String, expected: &'static str },
    #[error("`{field}` goes with `DISMISS` only, the ruling is `{ruling}`")]
    DismissOnly { field: &'static str, ruling: RulingWord },
    #[error("the answer has rulings that contradict each other: {}", words(.0))]
    Contradiction(Vec<RulingWord>),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct ExpectedRuling<'a> {
    pub(crate) nonce: Option<&'a str>,
    pub(crate) dispute: Option<DisputeNumber>,
}

impl ExpectedRuling<'_> {
    /// Compares a nonce and the number of a dispute with the expected ones.
    pub(crate) fn check(self, nonce: Option<&str>, dispute: Option<&str>) -> Result<(), RulingError> {
        if !nonce.is_some_and(|given| is_nonce(self.nonce, given)) {
            return Err(RulingError::Nonce);
        }
        let given = dispute.unwrap_or_default();
        let number = given.trim_start_matches('#').parse().ok().map(DisputeNumber);
        match self.dispute {
            Some(asked) if number != Some(asked) => Err(RulingError::Dispute { given: given.to_owned(), asked }),
            _ => Ok(()),
        }
    }
}

/// A JSON object or a line in the form of a ruling.
#[derive(Debug)]
pub(crate) enum DisputeMatch {
    /// A ruling with another nonce or on another dispute.
    Foreign(RulingError),
    /// A ruling on the expected dispute, or its error.
    Own(Result<Claimed, RulingError>),
}

#[derive(Clone, Debug)]
pub(crate) struct Claimed {
    pub(crate) ruling: Ruling,
    /// Whether it is a closing line: then all but its word is in the text before it.
    pub(crate) is_line: bool,
}

pub(crate) fn words(words: &[RulingWord]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}
