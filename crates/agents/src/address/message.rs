//! What Glee tells the process that asks a server, and what the process prints.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use glee_model::domain::FailureKind;
use glee_store::config::schema::address::WireForm;

/// The hidden first argument that starts Glee as this process.
pub const ARGUMENT: &str = "__address";

/// The second argument of the process. The prompt comes on stdin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServerQuestion {
    pub form: WireForm,
    /// See `ModelAddress::url`.
    pub url: String,
    pub model: String,
    /// The environment variable with the key. A variable that is not set is no key.
    pub key: Option<String>,
    /// The JSON Schema of the answer.
    pub schema: Option<Value>,
}

/// One line of the process's output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ServerEvent {
    Model {
        model: String,
    },
    Piece {
        text: String,
    },
    /// A part of the model's reasoning.
    Thought {
        text: String,
    },
    /// The numbers of tokens so far. An absent number keeps its last value.
    Usage {
        input: Option<u64>,
        cached: Option<u64>,
        output: Option<u64>,
        reasoning: Option<u64>,
    },
    /// The answer is complete.
    Done,
    Failed {
        /// Absent where the status and the text decide.
        kind: Option<FailureKind>,
        status: Option<u16>,
        text: String,
        /// When the server can be asked again.
        reset: Option<Timestamp>,
    },
}

impl ServerEvent {
    pub fn failed(kind: FailureKind, text: impl Into<String>) -> Self {
        Self::Failed {
            kind: Some(kind),
            status: None,
            text: text.into(),
            reset: None,
        }
    }
}
