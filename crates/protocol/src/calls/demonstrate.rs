//! The call in which one side of a dispute is asked for the demonstration that a judge asks for.

use crate::calls::parts::OfferedRunner;
use crate::calls::prelude::*;
use crate::replies::demonstrate::{self, DemonstrateAnswer};
use glee_model::domain::{Claim, DemonstrationRequest, Dispute, DisputeNumber};

/// Give a test that shows what your side of a dispute says. Neither the reviewer nor the coder edits the tree in this call
/// (role reviewer). The answer is a demonstration block and the closing line, or a JSON object with `nonce` and
/// `demonstration` (`path`, `runner` and `code`, or null).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct DemonstrateCall {
    pub dispute: Box<Dispute>,
    /// The side, and the judge's question.
    pub request: DemonstrationRequest,
    /// The files that the finding names, as they were reviewed.
    pub files: Vec<SourceFile>,
    /// The runners that the test may name.
    pub runners: Vec<OfferedRunner>,
}

impl CallKind for DemonstrateCall {
    const ABOUT: AboutKind = AboutKind {
        name: "demonstrate",
        role: Role::Reviewer,
        template: include_str!("demonstrate.md"),
        form: None,
    };

    fn context(&self, fence: &DataFence<'_>) -> Value {
        let dispute = &self.dispute;
        json!({
            "finding": fence.finding(&dispute.finding, None),
            "objection": fence.objection(dispute),
            "question": fence.around("question of the judge", self.request.question.as_written()),
            "side": self.request.from,
            "shows_defect": Claim::of_side(self.request.from) == Claim::Defect,
            "runners": fence.runners(&self.runners),
            "files": fence.files(&self.files),
        })
    }

    fn read(&self, answer: impl BufRead, nonce: &str) -> io::Result<CallAnswer> {
        let read = demonstrate::parse(answer, Some(nonce))?;
        Ok(valid(
            read,
            |DemonstrateAnswer {
                 demonstration,
                 said,
             }| CallAnswer::Demonstrate {
                demonstration: demonstration.map(Box::new),
                said,
            },
        ))
    }

    fn findings(&self) -> Vec<FindingId> {
        vec![self.dispute.finding.id]
    }

    fn disputes(&self) -> Vec<DisputeNumber> {
        vec![self.dispute.number]
    }
}
