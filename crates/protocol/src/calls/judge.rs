//! The call in which a judge rules on a dispute.

use crate::calls::parts::{Guideline, RulingInForce};
use crate::calls::prelude::*;
use crate::prompts::fence::{add, joined, lines};
use crate::replies::ruling::{self, JudgeReply};
use crate::text::printable;
use glee_model::domain::{
    Demonstrated, DemonstrationRequest, Dispute, DisputeNumber, EarlierDispute, Ruling,
    RulingRecord,
};
use glee_model::rules::review::objections;

/// Rule on one dispute (role judge; answer: section 3.5).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct JudgeCall {
    pub dispute: Box<Dispute>,
    /// The files that the finding and the evidence refer to. The content of each file is the content at the
    /// start of the round in which the finding was raised.
    pub files: Vec<SourceFile>,
    /// Lines that the coder wrote in this run. A judge that cites these lines as evidence must explain why
    /// the lines are valid evidence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub written: Vec<CoderWritten>,
    /// Earlier rulings on similar findings in other code. The judge can use these earlier rulings as
    /// evidence, but is not bound by them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub precedents: Vec<RulingInForce>,
    /// The project's guidelines that the finding cites, as they were before the change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guidelines: Vec<Guideline>,
    /// The tests of both sides, and what they did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub demonstrated: Vec<Demonstrated>,
    /// The sides that the judge may ask for a demonstration before it rules; empty once one was asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub may_ask: Vec<Role>,
    /// The demonstration that a judge asked for; absent before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requested: Option<RequestedDemonstration>,
}

/// A judge's question to one side, and what the side answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RequestedDemonstration {
    #[serde(flatten)]
    pub request: DemonstrationRequest,
    /// What the side says beside its demonstration, or why it gives none. What the demonstration shows is in
    /// `demonstrated`.
    pub answer: Untrusted,
}

/// Lines that the coder wrote in this run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CoderWritten {
    /// The path inside the tree.
    pub path: String,
    /// The line ranges in the shown file, 1-based and inclusive; empty means the whole file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<(u32, u32)>,
}

impl CallKind for JudgeCall {
    const ABOUT: AboutKind = AboutKind {
        name: "judge",
        role: Role::Judge,
        template: include_str!("judge.md"),
        form: Some(JsonForm::whole::<RulingReply>(
            "ruling",
            "A judge's ruling on a dispute",
        )),
    };

    fn context(&self, fence: &DataFence<'_>) -> Value {
        let dispute = &self.dispute;
        json!({
            "dispute": dispute.number,
            "finding": fence.finding(&dispute.finding, None),
            "members": list(&dispute.members, |member| fence.finding(member, None)),
            "objection": objection(fence, dispute),
            "is_opinion": objections::lacks_evidence(dispute.objector, &dispute.objection),
            "earlier": fence.lines("rulings", dispute.rulings.iter().map(|RulingRecord { ruling, .. }| {
                format!("{}: {}", ruling.ruling, ruling.rationale.as_written())
            })),
            "related": related(fence, &dispute.earlier),
            "written": written(fence, &self.written),
            "guidelines": fence.guidelines(&self.guidelines),
            "precedents": fence.rulings("precedents", &self.precedents),
            "demonstrated": fence.demonstrated(&self.demonstrated),
            "may_ask": joined(&self.may_ask, |side| format!("`{side}`")),
            "requested": requested(fence, self.requested.as_ref()),
            "files": fence.files(&self.files),
        })
    }

    fn closing(&self, nonce: &str) -> String {
        format!(
            "GLEE-RULING nonce={nonce} dispute={} ruling=<WORD>",
            self.dispute.number
        )
    }

    fn read(&self, answer: impl BufRead, nonce: &str) -> io::Result<CallAnswer> {
        let read = ruling::parse_answer(answer, Some(nonce), self.dispute.number)?;
        Ok(valid(read, |reply| match reply {
            JudgeReply::Ruling(ruling) => CallAnswer::Judge { ruling },
            JudgeReply::Request(request) if self.may_ask.contains(&request.from) => {
                CallAnswer::Request { request }
            }
            JudgeReply::Request(DemonstrationRequest { from, .. }) => CallAnswer::Invalid {
                error: format!("the {from} cannot be asked for a demonstration: give a ruling"),
            },
        }))
    }

    fn findings(&self) -> Vec<FindingId> {
        vec![self.dispute.finding.id]
    }

    fn dispute(&self) -> Option<DisputeNumber> {
        Some(self.dispute.number)
    }
}

fn objection(fence: &DataFence<'_>, dispute: &Dispute) -> String {
    let mut text = dispute.objection.text.as_written().to_owned();
    for evidence in &dispute.objection.evidence {
        add(&mut text, "Evidence: ", evidence);
    }
    fence.around(&format!("objection={}", dispute.finding.id), &text)
}

fn requested(fence: &DataFence<'_>, requested: Option<&RequestedDemonstration>) -> String {
    let Some(RequestedDemonstration { request, answer }) = requested else {
        return String::new();
    };
    let mut text = format!("To the {}: ", request.from) + request.question.as_written();
    add(&mut text, "Its answer: ", answer);
    fence.around("question of a judge", &text)
}

fn related(fence: &DataFence<'_>, disputes: &[EarlierDispute]) -> String {
    let mut text = String::new();
    for earlier in disputes {
        add(&mut text, "", &earlier.sentence());
        add(&mut text, "Decided then: ", &earlier.decided());
        if let Some(diff) = earlier.diff() {
            add(&mut text, "", diff);
        }
    }
    if text.is_empty() {
        text
    } else {
        fence.around("earlier disputes", text.trim_start())
    }
}

fn written(fence: &DataFence<'_>, written: &[CoderWritten]) -> String {
    fence.lines(
        "written by the coder",
        written.iter().map(|file| {
            let ranges = joined(&file.lines, |range| lines(*range));
            let what = if ranges.is_empty() {
                "the whole file"
            } else {
                "lines "
            };
            printable::line(&format!("{}: {what}{ranges}", file.path))
        }),
    )
}

/// A judge's ruling on the dispute of the request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RulingReply {
    /// The nonce of the request.
    pub nonce: String,
    /// The number of the dispute.
    pub dispute: DisputeNumber,
    /// The ruling.
    #[serde(flatten)]
    pub ruling: Ruling,
    /// The demonstration that the judge asks for before it rules, where the request names sides in `may_ask`. The
    /// ruling of such an answer does not count: the judge is asked again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub demonstrate: Option<DemonstrationRequest>,
}
