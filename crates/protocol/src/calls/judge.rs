//! The call in which a judge rules on a dispute.

use crate::calls::parts::{Guideline, RulingInForce};
use crate::calls::prelude::*;
use crate::prompts::fence::{add, joined, lines};
use crate::replies::ruling::error::RulingError;
use crate::replies::ruling::{self, JudgeReply};
use crate::text::printable;
use glee_model::domain::event::DisputeAnswer;
use glee_model::domain::{
    Demonstrated, DemonstrationRequest, Dispute, DisputeNumber, EarlierDispute, Ruling,
    RulingRecord,
};
use glee_model::rules::review::objections;

/// Rule on one dispute (role judge; answer: section 3.5), or on several about one file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct JudgeCall {
    #[serde(flatten)]
    pub case: DisputeCase,
    /// The other disputes about the same file that the judge rules on in this call. Only programs that Glee knows are asked
    /// about several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<DisputeCase>,
    /// The files that the finding and the evidence refer to. The content of each file is the content at the
    /// start of the round in which the finding was raised.
    pub files: Vec<SourceFile>,
    /// Lines that the coder wrote in this run. A judge that cites these lines as evidence must explain why
    /// the lines are valid evidence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub written: Vec<CoderWritten>,
}

/// A dispute, and what is known about it besides the code.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DisputeCase {
    pub dispute: Box<Dispute>,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requested: Option<RequestedDemonstration>,
}

impl DisputeCase {
    /// A dispute of which nothing more is known.
    pub fn of(dispute: Dispute) -> Self {
        Self {
            dispute: Box::new(dispute),
            precedents: Vec::new(),
            guidelines: Vec::new(),
            demonstrated: Vec::new(),
            may_ask: Vec::new(),
            requested: None,
        }
    }

    fn context(&self, fence: &DataFence<'_>) -> Value {
        let dispute = &self.dispute;
        json!({
            "dispute": dispute.number,
            "finding": fence.finding(&dispute.finding, None),
            "members": list(&dispute.members, |member| fence.finding(member, None)),
            "objection": fence.objection(dispute),
            "is_opinion": objections::lacks_evidence(dispute.objector, &dispute.objection),
            "earlier": fence.lines("rulings", dispute.rulings.iter().map(|RulingRecord { ruling, .. }| {
                format!("{}: {}", ruling.ruling, ruling.rationale.as_written())
            })),
            "related": related(fence, &dispute.earlier),
            "guidelines": fence.guidelines(&self.guidelines),
            "precedents": fence.rulings("precedents", &self.precedents),
            "demonstrated": fence.demonstrated(&self.demonstrated),
            "may_ask": joined(&self.may_ask, |side| format!("`{side}`")),
            "requested": requested(fence, self.requested.as_ref()),
        })
    }

    fn answer(&self, read: Result<JudgeReply, RulingError>) -> CallAnswer {
        valid(read, |reply| match reply {
            JudgeReply::Ruling(ruling) => CallAnswer::Judge { ruling },
            JudgeReply::Request(request) if self.may_ask.contains(&request.from) => {
                CallAnswer::Request { request }
            }
            JudgeReply::Request(DemonstrationRequest { from, .. }) => CallAnswer::Invalid {
                error: format!("the {from} cannot be asked for a demonstration: give a ruling"),
            },
        })
    }
}

impl JudgeCall {
    /// A call about one dispute of which nothing more is known than the code.
    pub fn of(dispute: Dispute, files: Vec<SourceFile>) -> Self {
        Self {
            case: DisputeCase::of(dispute),
            others: Vec::new(),
            files,
            written: Vec::new(),
        }
    }

    pub fn cases(&self) -> impl Iterator<Item = &DisputeCase> {
        std::iter::once(&self.case).chain(&self.others)
    }

    fn is_about_several(&self) -> bool {
        !self.others.is_empty()
    }
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

    fn form(&self) -> Option<JsonForm> {
        if self.is_about_several() {
            return Some(RULINGS);
        }
        Self::ABOUT.form
    }

    fn context(&self, fence: &DataFence<'_>) -> Value {
        let cases: Vec<&DisputeCase> = self.cases().collect();
        json!({
            "several": self.is_about_several(),
            "cases": list(&cases, |case| case.context(fence)),
            "written": written(fence, &self.written),
            "files": fence.files(&self.files),
        })
    }

    fn closing(&self, nonce: &str) -> String {
        if self.is_about_several() {
            return format!(r#"{{"nonce": "{nonce}", "rulings": ["#);
        }
        let dispute = self.case.dispute.number;
        format!("GLEE-RULING nonce={nonce} dispute={dispute} ruling=<WORD>")
    }

    fn read(&self, answer: impl BufRead, nonce: &str) -> io::Result<CallAnswer> {
        if !self.is_about_several() {
            let read = ruling::parse_answer(answer, Some(nonce), self.case.dispute.number)?;
            return Ok(self.case.answer(read));
        }
        let read = ruling::parse_each(answer, nonce)?;
        Ok(valid(read, |mut replies| CallAnswer::JudgeFile {
            answers: self
                .cases()
                .map(|case| {
                    let dispute = case.dispute.number;
                    let reply = replies.remove(&dispute);
                    let answer =
                        reply.map_or_else(CallAnswer::without_ruling, |reply| case.answer(reply));
                    DisputeAnswer { dispute, answer }
                })
                .collect(),
        }))
    }

    fn findings(&self) -> Vec<FindingId> {
        self.cases().map(|case| case.dispute.finding.id).collect()
    }

    fn disputes(&self) -> Vec<DisputeNumber> {
        self.cases().map(|case| case.dispute.number).collect()
    }
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
#[derive(Deserialize, JsonSchema)]
pub struct RulingReply {
    /// The nonce of the request.
    pub nonce: String,
    #[serde(flatten)]
    pub ruling: DisputeRuling,
}

/// A judge's rulings on the disputes of the request, each at most once.
#[derive(JsonSchema)]
pub struct RulingsReply {
    /// The nonce of the request.
    pub nonce: String,
    /// One entry for each dispute.
    pub rulings: Vec<DisputeRuling>,
}

/// A judge's ruling on a dispute.
#[derive(Deserialize, JsonSchema)]
pub struct DisputeRuling {
    /// The number of the dispute.
    pub dispute: DisputeNumber,
    /// The ruling.
    #[serde(flatten)]
    pub ruling: Ruling,
    /// The demonstration that the judge asks for before it rules, where the request names sides in `may_ask`. The
    /// ruling of such an answer does not count: the judge is asked again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub demonstrate: Option<DemonstrationRequest>,
}

/// The form of an answer to several disputes.
pub const RULINGS: JsonForm =
    JsonForm::whole::<RulingsReply>("rulings", "A judge's rulings on several disputes");
