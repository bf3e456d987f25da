//! The call in which a coder implements findings or objects.

use crate::calls::parts::OfferedRunner;
use crate::calls::prelude::*;
use crate::calls::read::invalid;
use crate::replies::response;
use glee_model::domain::{Demonstrated, Finding, Response};

/// Implement each finding in the tree, or raise an objection to the finding (role coder; answer: section 3.4).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct RespondCall {
    pub items: Vec<Item>,
    /// Commands that fail on the coder's edits. The coder has to change the code so that these commands
    /// pass.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failing: Vec<FailedCheck>,
    /// The runners of the tests that the coder may give with an answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runners: Vec<OfferedRunner>,
}

/// A finding for the coder, with the ruling that enforces the finding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Item {
    #[serde(flatten)]
    pub finding: Finding,
    /// The rationale of the ruling that enforces the finding; absent if no ruling enforces the finding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enforced: Option<Untrusted>,
    /// What a person answers to the coder's objection; absent if nobody answered it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answered: Option<Untrusted>,
    /// What its demonstrations show.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub demonstrated: Vec<Demonstrated>,
}

/// A command of `review.verify` that fails on the coder's edits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailedCheck {
    pub command: String,
    /// The command's error, for example an exit code, followed by the end of the command's output.
    pub output: Untrusted,
}

impl CallKind for RespondCall {
    const ABOUT: AboutKind = AboutKind {
        name: "respond",
        role: Role::Coder,
        template: include_str!("respond.md"),
        form: Some(JsonForm::beside_prose::<ResponseReply>(
            "response",
            "A coder's answers to findings",
        )),
    };

    fn context(&self, fence: &DataFence<'_>) -> Value {
        json!({
            "failing": list(&self.failing, |FailedCheck { command, output }| json!({
                "command": fence.line(command),
                "output": fence.around("output of a command", output.as_written()),
            })),
            "items": list(&self.items, |item| {
                let mut value = fence.finding(&item.finding, item.enforced.as_ref());
                value["demonstrated"] = json!(fence.demonstrated(&item.demonstrated));
                value["answered"] = json!(fence.maybe("a person's answer", item.answered.as_ref()));
                value
            }),
            "runners": fence.runners(&self.runners),
            "groups": self.items.iter().any(|item| item.finding.id.member > 0),
        })
    }

    fn closing(&self, nonce: &str) -> String {
        format!("GLEE-RESPONSE-END nonce={nonce} answers=<n>")
    }

    fn read(&self, answer: impl BufRead, nonce: &str) -> io::Result<CallAnswer> {
        let read = response::parse(answer, Some(nonce), Some(&self.findings()))?;
        if !read.complete {
            return Ok(invalid(
                read.problems,
                "no readable response to any finding",
            ));
        }
        Ok(CallAnswer::Respond {
            responses: read.entries,
            complete: true,
        })
    }

    fn findings(&self) -> Vec<FindingId> {
        self.items.iter().map(|item| item.finding.id).collect()
    }
}

/// A coder's answers, one answer for each finding of the request. The coder has already edited the tree.
#[derive(JsonSchema)]
pub struct ResponseReply {
    /// The nonce of the request.
    pub nonce: String,
    /// The answers.
    pub answers: Vec<Response>,
}
