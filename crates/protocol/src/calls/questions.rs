//! The call in which an agent answers the questions of a checkpoint.

use crate::calls::prelude::*;
use crate::calls::read::said;
use crate::prompts::fence::in_json;
use crate::replies::stage;
use glee_model::domain::{Question, QuestionAnswer};

/// Answer questions about the requirements (role reviewer). The answer is a JSON object with `nonce` and
/// `answers`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct QuestionsCall {
    /// The id that the user chose for the work of the agents.
    pub id: String,
    pub checkpoint: String,
    pub questions: Vec<Question>,
}

impl CallKind for QuestionsCall {
    const ABOUT: AboutKind = AboutKind {
        name: "questions",
        role: Role::Reviewer,
        template: include_str!("questions.md"),
        form: Some(JsonForm::beside_prose::<AnswersReply>(
            "answers",
            "An agent's answers to the questions of a checkpoint",
        )),
    };

    fn context(&self, fence: &DataFence<'_>) -> Value {
        json!({
            "id": fence.line(&self.id),
            "checkpoint": fence.line(&self.checkpoint),
            "questions": list(&self.questions, |question| fence.question(question)),
        })
    }

    fn closing(&self, nonce: &str) -> String {
        in_json(nonce)
    }

    fn read(&self, answer: impl BufRead, nonce: &str) -> io::Result<CallAnswer> {
        let read = stage::find(answer, Some(nonce))?.answers(&self.questions);
        Ok(valid(read, said))
    }
}

/// Answers to the questions of a checkpoint.
#[derive(JsonSchema)]
pub struct AnswersReply {
    /// The nonce of the request.
    pub nonce: String,
    /// The answers.
    pub answers: Vec<QuestionAnswer>,
}
