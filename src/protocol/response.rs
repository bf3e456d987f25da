//! A coder's answer to findings (section 3.4 of the design).

use std::io::{self, BufRead};

use serde::Serialize;

use crate::domain::{FindingId, Response};

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
    let _ = (input, nonce, asked);
    Err(io::Error::other("reading a response is not built yet"))
}
