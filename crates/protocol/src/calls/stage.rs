//! The call in which an agent answers a stage.

use crate::calls::parts::StageSubject;
use crate::calls::prelude::*;
use crate::calls::read::said;
use crate::replies::stage;

/// Answer a stage as one of several agents, without changing files (role reviewer). The answer is a JSON object
/// with `nonce` and the required fields, or prose that ends with `GLEE-STAGE-END nonce=<nonce> answers=1`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct StageCall {
    pub about: StageSubject,
    /// The synthesis of the previous stage, as JSON.
    pub input: Option<Untrusted>,
    /// The questions that checkpoints have resolved, as JSON.
    pub resolved: Option<Untrusted>,
}

impl CallKind for StageCall {
    const ABOUT: AboutKind = AboutKind {
        name: "stage",
        role: Role::Reviewer,
        template: include_str!("stage.md"),
        form: None,
    };

    fn context(&self, fence: &DataFence<'_>) -> Value {
        let values = json!({
            "input": fence.maybe("synthesis of the stage before", self.input.as_ref()),
            "resolved": fence.maybe("resolved questions", self.resolved.as_ref()),
        });
        fence.stage(&self.about, values)
    }

    fn read(&self, answer: impl BufRead, nonce: &str) -> io::Result<CallAnswer> {
        let read = stage::find(answer, Some(nonce))?.position(&self.about.required_fields);
        Ok(valid(read, said))
    }
}
