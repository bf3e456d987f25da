//! How much of a changed file a reviewer is sent.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a prompt shows of a changed file. A new file, and a file that is reviewed as a whole, is always shown whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CodeContext {
    /// The diff, with three lines around each change.
    Diff,
    /// The diff with the enclosing blocks of the changed lines, and the places where their names occur elsewhere.
    #[default]
    Blocks,
    /// The whole file, and the diff.
    Files,
}
