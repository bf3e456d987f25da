//! The code that a ruling cites.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::{Location, Untrusted};

/// Code that a ruling cites, as it was when the ruling was given. The ruling binds as long as this code stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CitedCode {
    /// A path inside the tree.
    pub file: String,
    /// The first cited line at the time of the ruling. `line` is absent if the ruling cites the file without a line;
    /// this citation stands as long as the file exists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// `end_line` is absent for a single line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_line: Option<u32>,
    /// The cited lines without secrets. A sequence of white space is one space.
    #[serde(default, skip_serializing_if = "Untrusted::is_empty")]
    pub text: Untrusted,
    /// The BLAKE3 hash (hex) of the block around the cited lines, as in [`Anchor::block`](crate::domain::Anchor).
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub block: String,
}

impl CitedCode {
    pub fn location(&self) -> Location {
        Location {
            file: self.file.clone(),
            line: self.line,
            end_line: self.end_line,
        }
    }
}

/// What happened to code that a ruling cites.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CitedChange {
    /// The file no longer contains the cited lines.
    Gone,
    /// The block around the cited lines changed.
    Changed,
}
