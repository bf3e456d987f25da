//! A reviewer's answer: tagged prose or JSON to findings, and findings back to prose.

mod draft;
mod render;
mod result;

use std::io::{self, BufRead};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::draft::Draft;
pub use self::render::render;
use self::result::JsonResult;
use super::answer::{Closing, Walk};
use super::json::State;
use crate::domain::{AnswerStatus, RawFinding};

/// What was read in a reviewer's answer. Serialises to the form that `glee parse` prints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewAnswer {
    /// Whether the answer can be relied on.
    pub status: AnswerStatus,
    /// The findings, in the order of the answer; equal ones are all kept.
    pub findings: Vec<RawFinding>,
    /// Text that belongs to no finding.
    pub notes: String,
    /// Whether something that may hold findings was too large to keep. Such an answer is never complete or clean.
    #[serde(default)]
    pub truncated: bool,
    /// The verdict that a JSON answer gave, as written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    /// The summary that a JSON answer gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

/// Reads a reviewer's answer. Without a nonce any well-formed closing line counts.
///
/// A valid JSON result wins over tagged prose, and of several results the last one counts. Time is linear in the size
/// of the answer, memory bounded.
///
/// # Errors
/// Only those of reading `input`.
pub fn parse<R: BufRead>(input: R, nonce: Option<&str>) -> io::Result<ReviewAnswer> {
    let mut walk = Walk::new(input, nonce);
    let mut closing = Closing::new("GLEE-REVIEW-END", "findings", nonce);
    let mut draft = Draft::new();
    let mut result = None;
    while let Some(step) = walk.next(draft.mark())? {
        if step.is_prose() && closing.take(step.text) {
            draft.close();
            continue;
        }
        draft.take(&step);
        if let State::Found(object) = step.json
            && let Some(found) = result::read(object.bytes)
        {
            result = Some((found, object.mark..draft.mark()));
        }
    }
    if let Some(object) = walk.end()
        && let Some(found) = result::read(object.bytes)
    {
        result = Some((found, object.mark..draft.mark()));
    }
    let passed_over = walk.passed_over();
    drop(walk);
    Ok(match result {
        Some((result, range)) => {
            let truncated = passed_over || result.count > result.findings.len() as u64;
            let status = status(&closing, result.count, truncated, Some(&result));
            let JsonResult { findings, verdict, summary, .. } = result;
            ReviewAnswer { status, findings, notes: draft.into_notes(range), truncated, verdict, summary }
        }
        None => {
            let truncated = passed_over || draft.overflows();
            let status = status(&closing, draft.count(), truncated, None);
            let (findings, notes) = draft.into_findings();
            ReviewAnswer { status, findings, notes, truncated, verdict: None, summary: None }
        }
    })
}

/// `count`: how many findings were read, also those that are not kept.
fn status(closing: &Closing<'_>, count: u64, truncated: bool, result: Option<&JsonResult>) -> AnswerStatus {
    let json_nonce = result.and_then(|result| result.nonce.as_deref());
    let objects = result.is_some_and(JsonResult::objects);
    if count == 0 && !objects && !closing.stands(json_nonce) {
        AnswerStatus::NotReviewed
    } else if truncated || !closing.confirms(count, json_nonce) || (count == 0 && objects) {
        AnswerStatus::Incomplete
    } else if count == 0 {
        AnswerStatus::Clean
    } else {
        AnswerStatus::Complete
    }
}

#[cfg(test)]
mod corpus;
#[cfg(test)]
mod tests;
