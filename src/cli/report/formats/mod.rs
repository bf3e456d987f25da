//! The formats of a report. A new one is a file here, and a variant of [`Format`]. The modules `entry` and `gaps` contain
//! the data that several formats share.

pub(crate) mod agent;
pub(crate) mod entry;
pub(crate) mod gaps;
pub(crate) mod github;
pub(crate) mod gitlab;
pub mod json;
pub(crate) mod junit;
pub(crate) mod markdown;
pub(crate) mod otlp;
pub(crate) mod rdjsonl;
pub(crate) mod sarif;

#[cfg(test)]
mod tests;

use crate::cli::report::formats::sarif::Reader;
use crate::cli::report::html;
use crate::cli::report::options::RenderOptions;
use crate::cli::report::text;
use glee_model::domain::Outcome;

/// A format of the report on a review.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Text,
    /// What is open, in a few bytes, for an agent that called Glee.
    Agent,
    Json,
    Html,
    /// The recorded events. While a run is in progress, each event is printed when it is recorded.
    Jsonl,
    Sarif,
    SarifGithub,
    Junit,
    Github,
    Gitlab,
    Rdjsonl,
    Markdown,
    OtlpTraces,
    OtlpMetrics,
}

impl Format {
    /// All formats, with their names on the command line and their help texts.
    pub(crate) const ALL: &[(&str, Self, &str)] = &[
        ("text", Self::Text, "A report for people"),
        (
            "agent",
            Self::Agent,
            "What is open, and how to answer it, in a few bytes for an agent; nothing else is printed",
        ),
        ("json", Self::Json, "The outcome as one JSON object"),
        ("html", Self::Html, "One file with a page for the browser"),
        (
            "jsonl",
            Self::Jsonl,
            "One line of JSON for each event of the run, at the time of the event",
        ),
        (
            "sarif",
            Self::Sarif,
            "SARIF 2.1.0, for editors and code scanning services",
        ),
        (
            "sarif-github",
            Self::SarifGithub,
            "SARIF for code scanning on GitHub: open findings in files",
        ),
        (
            "junit",
            Self::Junit,
            "JUnit XML: a suite for each file, a case for each finding",
        ),
        (
            "github",
            Self::Github,
            "Annotations of the code for GitHub Actions, and the job summary",
        ),
        (
            "gitlab",
            Self::Gitlab,
            "A Code Quality report for GitLab: open findings in files",
        ),
        (
            "rdjsonl",
            Self::Rdjsonl,
            "Open findings in files as lines of JSON, for reviewdog",
        ),
        (
            "markdown",
            Self::Markdown,
            "Markdown for a comment, with at most 65,000 characters",
        ),
        (
            "otlp-traces",
            Self::OtlpTraces,
            "The run and its calls as spans of OpenTelemetry (OTLP in JSON)",
        ),
        (
            "otlp-metrics",
            Self::OtlpMetrics,
            "Tokens and seconds of the calls as metrics of OpenTelemetry (OTLP in JSON)",
        ),
    ];

    pub fn as_str(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(_, format, _)| *format == self)
            .expect("every format has a name")
            .0
    }

    /// Whether a report in this format contains data from the recorded events of the run.
    pub fn shows_events(self) -> bool {
        self == Self::Html || self.is_record()
    }

    /// Whether a report in this format is made from the recorded events alone.
    pub(crate) fn is_record(self) -> bool {
        matches!(self, Self::Jsonl | Self::OtlpTraces | Self::OtlpMetrics)
    }
}

pub fn render(format: Format, outcome: &Outcome, options: &RenderOptions<'_>) -> String {
    match format {
        Format::Text => text::render(outcome, options),
        Format::Agent => agent::render(outcome, options),
        Format::Json => json::pretty(outcome),
        Format::Html => html::render(html::page::page(outcome, options)),
        Format::Jsonl => options.events.iter().map(json::line).collect(),
        Format::Sarif => sarif::render(outcome, options, Reader::Any),
        Format::SarifGithub => sarif::render(outcome, options, Reader::GitHub),
        Format::Junit => junit::render(outcome),
        Format::Github => github::render(outcome, options),
        Format::Gitlab => gitlab::render(outcome),
        Format::Rdjsonl => rdjsonl::render(outcome),
        Format::Markdown => markdown::render(outcome, options),
        Format::OtlpTraces => otlp::traces(outcome, options),
        Format::OtlpMetrics => otlp::metrics(options),
    }
}

/// Returns the number of findings that a report in this format omits without a note in the report.
pub(crate) fn left_out(format: Format, outcome: &Outcome) -> usize {
    match format {
        Format::Gitlab | Format::Rdjsonl => {
            outcome.findings.len() - entry::open_in_files(outcome).len()
        }
        Format::Text
        | Format::Agent
        | Format::Json
        | Format::Html
        | Format::Jsonl
        | Format::Sarif
        | Format::SarifGithub
        | Format::Junit
        | Format::Github
        | Format::Markdown
        | Format::OtlpTraces
        | Format::OtlpMetrics => 0,
    }
}
