//! The call in which a validator checks the answer of a majority.

use crate::calls::prelude::*;
use crate::calls::read::said;
use crate::prompts::fence::{add, in_json};
use crate::replies::stage;
use glee_model::domain::{Opinion, Question, Validation};

/// State whether a majority's answer is right (role judge). The answer is a JSON object with `nonce`,
/// `agrees_with_majority` and `reasoning`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct ValidateCall {
    /// The id that the user chose for the work of the agents.
    pub id: String,
    pub checkpoint: String,
    pub question: Question,
    pub majority: Opinion,
    pub minority: Vec<Opinion>,
}

impl CallKind for ValidateCall {
    const ABOUT: AboutKind = AboutKind {
        name: "validate",
        role: Role::Judge,
        template: include_str!("validate.md"),
        form: Some(JsonForm::whole::<ValidationReply>(
            "validation",
            "A validator's verdict on a majority's answer",
        )),
    };

    fn context(&self, fence: &DataFence<'_>) -> Value {
        json!({
            "id": fence.line(&self.id),
            "checkpoint": fence.line(&self.checkpoint),
            "question": fence.question(&self.question),
            "majority": opinion(fence, "majority", &self.majority),
            "minority": list(&self.minority, |one| opinion(fence, "minority", one).into()),
        })
    }

    fn closing(&self, nonce: &str) -> String {
        in_json(nonce)
    }

    fn read(&self, answer: impl BufRead, nonce: &str) -> io::Result<CallAnswer> {
        let read = stage::find(answer, Some(nonce))?.validation();
        Ok(valid(read, said))
    }
}

fn opinion(fence: &DataFence<'_>, what: &str, opinion: &Opinion) -> String {
    let mut text = opinion.answer.as_written().to_owned();
    for (name, reason) in opinion.by.iter().zip(&opinion.reasons) {
        add(&mut text, &format!("{name}: "), reason);
    }
    fence.around(what, &text)
}

/// A validator's verdict on a majority decision.
#[derive(JsonSchema)]
pub struct ValidationReply {
    /// The nonce of the request.
    pub nonce: String,
    /// The verdict.
    #[serde(flatten)]
    pub validation: Validation,
}
