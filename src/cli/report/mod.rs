//! Formats the outcome of a run as text or JSON.

pub(crate) mod fix_command;
pub mod json;
pub(crate) mod options;
pub(crate) mod paths;
pub mod stage;
pub mod text;

use crate::cli::report::options::RenderOptions;
use crate::domain::Outcome;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Text,
    Json,
    /// Prints each event as soon as the event is recorded, and prints no outcome at the end.
    Jsonl,
}

pub fn render(format: Format, outcome: &Outcome, options: &RenderOptions<'_>) -> String {
    match format {
        Format::Text => text::render(outcome, options),
        Format::Json => json::pretty(outcome),
        Format::Jsonl => String::new(),
    }
}
