//! The call in which reviewers answer to challenges.

use crate::calls::prelude::*;
use crate::calls::read::{NO_RESULT, whole};
use crate::replies::debate;
use glee_model::domain::{Challenge, DefenceWord, Finding};

/// Defend, concede or modify your own findings that other reviewers challenge (role reviewer). The answer is
/// `[F<n>] DEFEND|CONCEDE|MODIFY <number>: why`, or `defenses` as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct DefendCall {
    pub files: Vec<SourceFile>,
    pub challenged: Vec<Challenged>,
}

/// A finding that other reviewers challenged. The reviewer that raised the finding receives this object in a
/// request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Challenged {
    #[serde(flatten)]
    pub finding: Finding,
    /// The examinations in which other reviewers challenge the finding.
    pub challenges: Vec<Challenge>,
}

impl CallKind for DefendCall {
    const ABOUT: AboutKind = AboutKind {
        name: "defend",
        role: Role::Reviewer,
        template: include_str!("defend.md"),
        form: Some(JsonForm::beside_prose::<DefenceReply>(
            "defence",
            "A reviewer's defence of findings that other reviewers challenged",
        )),
    };

    fn context(&self, fence: &DataFence<'_>) -> Value {
        json!({
            "files": fence.files(&self.files),
            "findings": list(&self.challenged, |item| challenged(fence, item)),
        })
    }

    fn read(&self, answer: impl BufRead, nonce: &str) -> io::Result<CallAnswer> {
        let names = debate::names(self.challenged.iter().map(|item| &item.finding));
        let read = debate::defend(answer, Some(nonce), &self.findings(), &names)?;
        Ok(whole(read, NO_RESULT, |defences| CallAnswer::Defend {
            defences,
        }))
    }

    fn findings(&self) -> Vec<FindingId> {
        self.challenged.iter().map(|item| item.finding.id).collect()
    }
}

fn challenged(fence: &DataFence<'_>, item: &Challenged) -> Value {
    let said = item.challenges.iter().map(|challenge| {
        let by = &challenge.by;
        let action = challenge.said.action.as_str();
        format!("{by} {action}: {}", challenge.said.reasoning.as_written())
    });
    let id = item.finding.id;
    let mut value = fence.finding(&item.finding, None);
    value["challenges"] = json!(fence.around(
        &format!("challenges={id}"),
        &said.collect::<Vec<_>>().join("\n")
    ));
    value
}

/// A reviewer's answers about its challenged findings, one answer for each finding of the request.
#[derive(JsonSchema)]
pub struct DefenceReply {
    /// The nonce of the request.
    pub nonce: String,
    /// The answers.
    pub defenses: Vec<DefenceItem>,
}

/// An answer about a challenged finding.
#[derive(JsonSchema)]
pub struct DefenceItem {
    /// The id of the finding, such as `F1`, or the finding's `path:line:title`.
    pub finding_id: String,
    /// The verdict.
    pub action: DefenceWord,
    /// The requested change of the finding's confidence if the action is `modify`.
    #[serde(default)]
    #[schemars(range(min = -30, max = 30))]
    pub confidence_adjustment: i32,
    /// The reason.
    pub reasoning: String,
    /// The corrected severity.
    pub revised_severity: Option<String>,
    /// The corrected text.
    pub revised_description: Option<String>,
}
