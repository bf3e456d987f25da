//! `--format rdjsonl`: one line of JSON for each open finding that belongs to a file, in the format of
//! reviewdog.

use serde::Serialize;

use crate::cli::report::formats::entry::{self, AlertLevel};
use crate::cli::report::formats::json;
use glee_model::domain::{ExactFix, Outcome, Untrusted};

#[derive(Serialize)]
struct Diagnostic<'a> {
    message: String,
    location: DiagnosticLocation<'a>,
    severity: &'static str,
    source: Source,
    code: Code,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suggestions: Vec<Suggestion>,
}

/// The text that replaces a range of lines. The text has no line break at its end.
#[derive(Serialize)]
struct Suggestion {
    range: Range,
    text: Untrusted,
}

#[derive(Serialize)]
struct DiagnosticLocation<'a> {
    path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<Range>,
}

/// A range of lines. The start and the end of the range have no column numbers, so the range includes the whole
/// end line.
#[derive(Serialize)]
struct Range {
    start: Position,
    end: Position,
}

#[derive(Serialize)]
struct Position {
    line: u32,
}

#[derive(Serialize)]
struct Source {
    name: &'static str,
}

#[derive(Serialize)]
struct Code {
    value: String,
    /// The address of the page about the weakness.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
}

fn range((first, last): (u32, u32)) -> Range {
    Range {
        start: Position { line: first },
        end: Position { line: last },
    }
}

pub(crate) fn render(outcome: &Outcome) -> String {
    let entries = entry::open_in_files(outcome);
    let found = entries.iter().filter_map(|entry| {
        let suggestion = |fix: &ExactFix| Suggestion {
            range: range((fix.line, fix.end_line)),
            text: fix.text.clone(),
        };
        Some(Diagnostic {
            message: entry.text(),
            location: DiagnosticLocation {
                path: entry.raw().file.as_deref()?,
                range: entry.lines().map(range),
            },
            severity: match entry.level() {
                AlertLevel::Error => "ERROR",
                AlertLevel::Warning => "WARNING",
                AlertLevel::Note => "INFO",
            },
            source: Source { name: "glee" },
            code: Code {
                value: entry.rule(),
                url: entry.raw().cwe.map(|cwe| cwe.url()),
            },
            suggestions: entry.fix().map(suggestion).into_iter().collect(),
        })
    });
    found.map(|diagnostic| json::line(&diagnostic)).collect()
}
