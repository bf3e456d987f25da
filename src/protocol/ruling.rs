//! A judge's answer (section 3.5 of the design).

use std::io::{self, BufRead};

use crate::domain::{DisputeNumber, Ruling};

/// Why a judge's answer is no ruling; its text is sent back to the judge.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RulingError {
    /// Nothing at the end of the answer has the form of a ruling.
    #[error("the answer does not end with a ruling")]
    Missing,
}

/// Reads the ruling on `dispute`. Without a nonce any nonce counts, without a number any dispute.
///
/// # Errors
/// The outer result: only those of reading `input`. The inner one says why the answer is no ruling.
pub fn parse<R: BufRead>(
    input: R,
    nonce: Option<&str>,
    dispute: impl Into<Option<DisputeNumber>>,
) -> io::Result<Result<Ruling, RulingError>> {
    let _ = (input, nonce, dispute.into());
    Err(io::Error::other("reading a ruling is not built yet"))
}
