//! The call in which reviewers check the changes for their findings.

use crate::calls::prelude::*;
use crate::calls::read::{NO_RESULT, whole};
use crate::replies::recheck;
use glee_model::domain::{Finding, Recheck};

/// State whether the coder's changes resolve the findings you raised (role reviewer).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct RecheckCall {
    pub changes: Vec<Change>,
    /// The files after the coder's changes.
    pub files: Vec<SourceFile>,
}

/// The coder's change for a finding. The reviewer that raised the finding checks the change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    #[serde(flatten)]
    pub finding: Finding,
    /// The coder's description of the change.
    pub response: Untrusted,
    /// The unified diff of the coder's changes for the finding.
    pub diff: String,
}

impl CallKind for RecheckCall {
    const ABOUT: AboutKind = AboutKind {
        name: "recheck",
        role: Role::Reviewer,
        template: include_str!("recheck.md"),
        form: Some(JsonForm::beside_prose::<RecheckReply>(
            "recheck",
            "A reviewer's verdict on fixes of earlier findings",
        )),
    };

    fn context(&self, fence: &DataFence<'_>) -> Value {
        json!({
            "changes": list(&self.changes, |item| change(fence, item)),
            "files": fence.files(&self.files),
        })
    }

    fn read(&self, answer: impl BufRead, nonce: &str) -> io::Result<CallAnswer> {
        let read = recheck::parse(answer, Some(nonce), Some(&self.findings()))?;
        Ok(whole(read, NO_RESULT, |checks| CallAnswer::Recheck {
            checks,
        }))
    }

    fn findings(&self) -> Vec<FindingId> {
        self.changes
            .iter()
            .map(|change| change.finding.id)
            .collect()
    }
}

fn change(fence: &DataFence<'_>, change: &Change) -> Value {
    let id = change.finding.id;
    let mut value = fence.finding(&change.finding, None);
    value["response"] =
        json!(fence.around(&format!("response={id}"), change.response.as_written()));
    value["diff"] = json!(fence.around(&format!("diff={id}"), &change.diff));
    value
}

/// A reviewer's verdict on every change of the request.
#[derive(JsonSchema)]
pub struct RecheckReply {
    /// The nonce of the request.
    pub nonce: String,
    /// The verdicts.
    pub checks: Vec<Recheck>,
}
