//! Exact replacements of lines.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::Untrusted;

/// New text that replaces whole lines of the file in which the finding is located. A run creates an exact fix only
/// from a replacement that was checked against the reviewed file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExactFix {
    /// The first replaced line, counted from 1.
    pub line: u32,
    /// The last replaced line.
    pub end_line: u32,
    /// The replacement text for the lines, without the line end of the last line. The text has the same line ends
    /// as the file.
    pub text: Untrusted,
}

impl ExactFix {
    /// The text with `\n` as line ends, for display.
    pub fn shown(&self) -> Untrusted {
        self.text.as_written().replace("\r\n", "\n").into()
    }
}
