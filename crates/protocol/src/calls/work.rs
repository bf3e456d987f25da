//! The call in which an agent carries out the user's request.

use crate::calls::prelude::*;
use crate::calls::read::invalid;
use crate::replies::peer_review;

/// Carry out the user's request in the tree (role coder). The answer is a description of the work in prose.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct WorkCall {
    /// The user's request.
    pub task: String,
}

impl CallKind for WorkCall {
    const ABOUT: AboutKind = AboutKind {
        name: "work",
        role: Role::Coder,
        template: include_str!("work.md"),
        form: None,
    };

    fn context(&self, fence: &DataFence<'_>) -> Value {
        json!({ "task": fence.around("task", &self.task) })
    }

    fn read(&self, answer: impl BufRead, _nonce: &str) -> io::Result<CallAnswer> {
        Ok(match peer_review::work(answer)? {
            Some(said) => CallAnswer::Work { said },
            None => invalid(Vec::new(), "the answer is empty"),
        })
    }
}
