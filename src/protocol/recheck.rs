//! What a reviewer says of the changes made for its findings (section 3.1 of the design).

use std::io::{self, BufRead};

use serde::Serialize;

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
    let _ = (input, nonce, asked);
    Err(io::Error::other("reading a re-check is not built yet"))
}
