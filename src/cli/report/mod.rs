//! Formats the outcome of a run as text or for other programs.

pub(crate) mod fix_command;
pub mod formats;
pub(crate) mod options;
pub(crate) mod outputs;
pub(crate) mod paths;
pub mod stage;
pub mod text;

use crate::cli::report::formats::json;
use crate::cli::report::options::RenderOptions;
use crate::domain::Outcome;

/// A format of the report on a review.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Text,
    Json,
    /// The recorded events. While a run is in progress, each event is printed when it is recorded.
    Jsonl,
}

impl Format {
    /// All formats, with their names on the command line and their help texts.
    pub(crate) const ALL: &[(&str, Self, &str)] = &[
        ("text", Self::Text, "A report for people"),
        ("json", Self::Json, "The outcome as one JSON object"),
        ("jsonl", Self::Jsonl, "One line of JSON for each event of the run, at the time of the event"),
    ];

    pub fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(_, format, _)| *format == self).expect("every format has a name").0
    }

    /// Whether a report in this format is written from [`RenderOptions::events`].
    pub fn shows_events(self) -> bool {
        self == Self::Jsonl
    }
}

/// A format of the result of a stage or a watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BasicFormat {
    Text,
    Json,
    Jsonl,
}

pub fn render(format: Format, outcome: &Outcome, options: &RenderOptions<'_>) -> String {
    match format {
        Format::Text => text::render(outcome, options),
        Format::Json => json::pretty(outcome),
        Format::Jsonl => options.events.iter().map(json::line).collect(),
    }
}
