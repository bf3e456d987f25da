//! The call in which the aggregator says which findings name one defect.

use crate::calls::prelude::*;
use crate::calls::read::whole;
use crate::prompts::fence::add;
use crate::replies::compare;
use glee_model::domain::{PairId, RawFinding};

/// For each pair of findings, state whether both name the same defect (role aggregator). The answer is
/// `[P<n>] SAME|DIFFERENT: why`, or `pairs` as JSON: objects with `pair` and `answer`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct SameCall {
    pub pairs: Vec<FindingPair>,
    /// The findings of the pairs.
    pub findings: Vec<ComparedFinding>,
    /// The blocks of code that the findings are about. All other lines of a file are empty.
    pub files: Vec<SourceFile>,
}

/// A finding that is compared with other findings before findings get their ids.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedFinding {
    /// The number of the finding in this request, counted from 1.
    pub number: u32,
    #[serde(flatten)]
    pub raw: RawFinding,
}

/// Two findings that may name the same defect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FindingPair {
    pub id: PairId,
    /// The number of a finding in this request.
    pub one: u32,
    /// The number of the other finding.
    pub other: u32,
}

impl CallKind for SameCall {
    const ABOUT: AboutKind = AboutKind {
        name: "same",
        role: Role::Aggregator,
        template: include_str!("same.md"),
        form: Some(JsonForm::whole::<SameReply>(
            "same",
            "An aggregator's answer to the question which findings name the same defect",
        )),
    };

    fn context(&self, fence: &DataFence<'_>) -> Value {
        json!({
            "pairs": list(&self.pairs, |FindingPair { id, one, other }| json!({ "id": id, "one": one, "other": other })),
            "findings": list(&self.findings, |finding| compared(fence, finding)),
            "files": fence.files(&self.files),
        })
    }

    fn read(&self, answer: impl BufRead, nonce: &str) -> io::Result<CallAnswer> {
        let read = compare::parse_pairs(answer, Some(nonce), &self.pairs())?;
        Ok(whole(read, "no readable answer about any pair", |pairs| {
            CallAnswer::Same { pairs }
        }))
    }

    fn pairs(&self) -> Vec<PairId> {
        self.pairs.iter().map(|pair| pair.id).collect()
    }
}

fn compared(fence: &DataFence<'_>, ComparedFinding { number, raw }: &ComparedFinding) -> Value {
    let mut text = raw.headline();
    if let Some(cwe) = raw.cwe {
        text.push_str(&format!(" ({cwe})"));
    }
    add(&mut text, "", &raw.body);
    json!({ "number": number, "text": fence.around(&format!("finding {number}"), &text) })
}

/// An aggregator's answer about every pair of findings of the request.
#[derive(JsonSchema)]
pub struct SameReply {
    /// The nonce of the request.
    pub nonce: String,
    /// The answers.
    pub pairs: Vec<SameItem>,
}

/// Whether the two findings of a pair name the same defect.
#[derive(JsonSchema)]
pub struct SameItem {
    /// The pair's id, such as `P1`.
    pub pair: PairId,
    /// `SAME` or `DIFFERENT`.
    pub answer: String,
    /// The reason.
    pub reason: Option<String>,
}
