//! The call in which reviewers judge the findings of others.

use crate::calls::parts::ReplyFinding;
use crate::calls::prelude::*;
use crate::calls::read::{NO_RESULT, whole};
use crate::replies::debate;
use glee_model::domain::Finding;

/// For each finding of other reviewers, state whether the finding is right (role reviewer). The answer is
/// `[F<n>] AGREE|DISAGREE|PARTIAL <number>: why`, or `[F<n>] SAME F<m>: why` for the same defect as the own finding
/// `F<m>`, or `responses` as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct ExamineCall {
    pub files: Vec<SourceFile>,
    pub findings: Vec<Finding>,
    /// The reviewer's own findings near the findings of the others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own: Vec<Finding>,
}

impl CallKind for ExamineCall {
    const ABOUT: AboutKind = AboutKind {
        name: "examine",
        role: Role::Reviewer,
        template: include_str!("examine.md"),
        form: Some(JsonForm::beside_prose::<ExaminationReply>(
            "examination",
            "A reviewer's verdicts on findings of other reviewers",
        )),
    };

    fn context(&self, fence: &DataFence<'_>) -> Value {
        json!({
            "files": fence.files(&self.files),
            "findings": list(&self.findings, |finding| fence.finding(finding, None)),
            "own": list(&self.own, |finding| fence.finding(finding, None)),
        })
    }

    fn read(&self, answer: impl BufRead, nonce: &str) -> io::Result<CallAnswer> {
        let names = debate::names(&self.findings);
        let (read, observations) = debate::examine(answer, Some(nonce), &self.findings(), &names)?;
        Ok(whole(read, NO_RESULT, |examinations| CallAnswer::Examine {
            examinations,
            observations,
        }))
    }

    fn findings(&self) -> Vec<FindingId> {
        self.findings.iter().map(|finding| finding.id).collect()
    }
}

/// A reviewer's verdicts on the findings of other reviewers, one verdict for each finding of the request.
#[derive(JsonSchema)]
pub struct ExaminationReply {
    /// The nonce of the request.
    pub nonce: String,
    /// The answers.
    pub responses: Vec<ExaminationItem>,
}

/// The verdict of an examination, or `same` for a finding that names the same defect as one of the reviewer's own.
#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ExaminationAction {
    Agree,
    Disagree,
    Partial,
    Same,
}

/// A verdict on the finding of another reviewer.
#[derive(JsonSchema)]
pub struct ExaminationItem {
    /// The id of the finding, such as `F1`, or the finding's `path:line:title`.
    pub finding_id: String,
    pub action: ExaminationAction,
    /// With `same`: the id of the reviewer's own finding that names the same defect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_as: Option<String>,
    /// The requested change of the finding's confidence.
    #[serde(default)]
    #[schemars(range(min = -30, max = 30))]
    pub confidence_adjustment: i32,
    /// The reason.
    pub reasoning: String,
    /// Findings that no reviewer raised before this verdict.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub new_observations: Vec<ReplyFinding>,
}
