//! `--format rdjsonl`: one line of JSON for each open finding that belongs to a file, in the format of
//! reviewdog.

use serde_json::{Value, json};

use crate::cli::report::formats::entry::{self, AlertLevel};
use crate::cli::report::formats::json;
use glee_model::domain::Outcome;

/// A range of lines. The start and the end of the range have no column numbers, so the range includes the whole
/// end line.
fn range((first, last): (u32, u32)) -> Value {
    json!({ "start": { "line": first }, "end": { "line": last } })
}

pub(crate) fn render(outcome: &Outcome) -> String {
    let mut lines = String::new();
    for entry in entry::open_in_files(outcome) {
        let severity = match entry.level() {
            AlertLevel::Error => "ERROR",
            AlertLevel::Warning => "WARNING",
            AlertLevel::Note => "INFO",
        };
        let mut location = json!({ "path": entry.raw().file });
        if let Some(lines) = entry.lines() {
            location["range"] = range(lines);
        }
        let mut code = json!({ "value": entry.rule() });
        if let Some(cwe) = entry.raw().cwe {
            code["url"] = json!(cwe.url());
        }
        let mut diagnostic = json!({
            "message": entry.text(),
            "location": location,
            "severity": severity,
            "source": { "name": "glee" },
            "code": code,
        });
        if let Some(fix) = entry.fix() {
            let range = range((fix.line, fix.end_line));
            diagnostic["suggestions"] = json!([{ "range": range, "text": fix.text }]);
        }
        lines.push_str(&json::line(&diagnostic));
    }
    lines
}
