//! The call in which a reviewer is asked about its own answer.

use crate::calls::prelude::*;
use crate::prompts::fence::{closing_without_extent, raised};
use crate::replies::close::{self, CloseAnswer};
use crate::text::printable;
use glee_model::domain::RawFinding;

/// Say of your own answer how many findings it reports, and whether you read all of the code (role reviewer). The
/// answer is the closing line of a review, or a JSON object with `nonce`, `findings` (a number) and `read`. For each
/// finding in `misplaced`, it has a line `[<number>] path:line` or `[<number>] WITHDRAWN`, or an object with `finding` and
/// `place` in `places`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct CloseCall {
    /// Why Glee asks.
    pub problem: Untrusted,
    /// The findings that were read from the answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<RawFinding>,
    /// The numbers of the findings whose places do not exist, counted from 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub misplaced: Vec<u32>,
    /// The words beside the findings, possibly shortened.
    pub answer: Untrusted,
}

impl CallKind for CloseCall {
    const ABOUT: AboutKind = AboutKind {
        name: "close",
        role: Role::Reviewer,
        template: include_str!("close.md"),
        form: None,
    };

    fn context(&self, fence: &DataFence<'_>) -> Value {
        json!({
            "problem": printable::line(self.problem.as_written()),
            "count": self.findings.len(),
            "findings": fence.lines("your findings", raised(&self.findings).into_iter()),
            "misplaced": fence.lines("no such place", self.misplaced().into_iter()),
            "answer": fence.lines("your words", self.answer.as_written().lines().map(str::to_owned)),
        })
    }

    fn closing(&self, nonce: &str) -> String {
        format!("{} read=all|part", closing_without_extent(nonce))
    }

    fn read(&self, answer: impl BufRead, nonce: &str) -> io::Result<CallAnswer> {
        let read = close::parse(answer, Some(nonce))?;
        Ok(valid(
            read,
            |CloseAnswer {
                 findings,
                 read,
                 mut places,
             }| {
                places.retain(|given| self.misplaced.contains(&given.finding));
                CallAnswer::Close {
                    findings,
                    read,
                    places,
                }
            },
        ))
    }
}

impl CloseCall {
    /// The findings whose places do not exist, one a line, as in `[2] src/a.py:900 The lock is never released`.
    fn misplaced(&self) -> Vec<String> {
        let findings = self.misplaced.iter().filter_map(|number| {
            let finding = self.findings.get((*number as usize).checked_sub(1)?)?;
            Some(printable::line(&format!(
                "[{number}] {}",
                finding.headline()
            )))
        });
        findings.collect()
    }
}
