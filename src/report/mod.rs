//! Outcome to bytes: one file a format.

pub mod json;
pub mod stage;
pub mod text;

use crate::domain::Outcome;
use crate::draw::Look;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Text,
    /// The whole outcome as one JSON object (`docs/schema/outcome.json`).
    Json,
    /// The events, which were printed as they happened: the outcome itself adds nothing.
    Jsonl,
}

#[derive(Clone, Copy)]
pub struct RenderOptions<'a> {
    pub look: Look,
    /// How much is shown of what does not block.
    pub detail: Detail,
    /// The text of a file as it was reviewed, by its path inside the tree and the round (from 1); `None` where it
    /// cannot be had: the finding is then shown without its code.
    pub source: &'a dyn Fn(&str, u32) -> Option<String>,
    /// The command that would hand the findings to the coder.
    pub fix_command: &'a str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// What is optional or settled in one line each.
    Short,
    Full,
}

/// An outcome in a format, each line with its end.
pub fn render(format: Format, outcome: &Outcome, options: &RenderOptions<'_>) -> String {
    match format {
        Format::Text => text::render(outcome, options),
        Format::Json => json::pretty(outcome),
        Format::Jsonl => String::new(),
    }
}
