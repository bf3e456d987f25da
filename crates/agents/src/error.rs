//! Defines the error of a failed call, with a message and a hint for the user.

use glee_model::domain::{Advice, FailureKind};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct AgentError {
    pub kind: FailureKind,
    /// The message begins with a lowercase letter and has no final period. Backticks enclose names.
    pub message: String,
    pub hint: Option<String>,
}

impl AgentError {
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            hint: None,
        }
    }

    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self {
            hint: Some(hint.into()),
            ..self
        }
    }
}

impl Advice for AgentError {
    fn hint(&self) -> Option<String> {
        self.hint.clone()
    }
}
