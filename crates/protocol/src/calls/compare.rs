//! The call in which a judge compares findings with earlier disputes.

use crate::calls::prelude::*;
use crate::calls::read::{NO_RESULT, whole};
use crate::prompts::fence::add;
use crate::replies::compare;
use glee_model::domain::{EarlierDispute, Finding};

/// For each finding, state whether the finding is about the same problem as an earlier dispute (role judge).
/// The answer is `[F<n>] SAME|DIFFERENT: why`, or `comparisons` as JSON: objects with `finding` and `answer`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct CompareCall {
    /// Pairs of a finding and an earlier dispute.
    pub pairs: Vec<UncertainPair>,
    /// The files that the findings are about.
    pub files: Vec<SourceFile>,
}

/// A finding and an earlier dispute. A judge decides whether the finding repeats the dispute.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UncertainPair {
    pub finding: Finding,
    pub earlier: EarlierDispute,
}

impl CallKind for CompareCall {
    const ABOUT: AboutKind = AboutKind {
        name: "compare",
        role: Role::Judge,
        template: include_str!("compare.md"),
        form: Some(JsonForm::whole::<ComparisonReply>(
            "comparison",
            "A judge's comparison of findings with earlier disputes",
        )),
    };

    fn context(&self, fence: &DataFence<'_>) -> Value {
        json!({
            "pairs": list(&self.pairs, |item| pair(fence, item)),
            "files": fence.files(&self.files),
        })
    }

    fn read(&self, answer: impl BufRead, nonce: &str) -> io::Result<CallAnswer> {
        let read = compare::parse(answer, Some(nonce), &self.findings())?;
        Ok(whole(read, NO_RESULT, |comparisons| CallAnswer::Compare {
            comparisons,
        }))
    }

    fn findings(&self) -> Vec<FindingId> {
        self.pairs.iter().map(|pair| pair.finding.id).collect()
    }
}

fn pair(fence: &DataFence<'_>, UncertainPair { finding, earlier }: &UncertainPair) -> Value {
    let mut text = earlier.title.as_written().to_owned();
    add(&mut text, "Decided: ", &earlier.decided());
    let mut value = fence.finding(finding, None);
    value["dispute"] = json!(earlier.dispute);
    value["earlier"] = json!(fence.around(&format!("dispute={}", earlier.dispute), &text));
    value
}

/// A judge's answer that compares every finding of the request with an earlier dispute.
#[derive(JsonSchema)]
pub struct ComparisonReply {
    /// The nonce of the request.
    pub nonce: String,
    /// The comparisons.
    pub comparisons: Vec<ComparisonItem>,
}

/// The comparison of a finding with an earlier dispute.
#[derive(JsonSchema)]
pub struct ComparisonItem {
    /// The finding's id, such as `F1`.
    pub finding: FindingId,
    /// `SAME` or `DIFFERENT`.
    pub answer: String,
    /// The reason.
    pub reason: Option<String>,
}
