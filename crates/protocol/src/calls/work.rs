//! The call in which an agent carries out the user's request.

use std::io::{self, BufRead};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::calls::kind::{AboutKind, CallKind};
use crate::calls::read::invalid;
use crate::prompts::fence::DataFence;
use crate::replies::peer_review;
use glee_model::domain::Role;
use glee_model::domain::event::CallAnswer;

/// Carry out the user's request in the tree (role coder). The answer is a description of the work in prose.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkCall {
    /// The user's request.
    pub task: String,
}

impl CallKind for WorkCall {
    const ABOUT: AboutKind = AboutKind {
        name: "work",
        role: Role::Coder,
        template: include_str!("../prompts/templates/watch/work.md"),
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
