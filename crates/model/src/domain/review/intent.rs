//! What a change is for, in the words of its author and of those who asked for it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::Untrusted;

/// A text that says what a change is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Intent {
    /// Where the text stands: `commit 1a2b3c4d5e6f`, `PR 7` or `issue 12`.
    pub from: String,
    pub text: Untrusted,
}
