//! `--format gitlab`: a Code Quality report of GitLab. The report contains the open findings that belong to a
//! file.

use serde_json::json;

use crate::cli::report::formats::{entry, json};
use glee_model::domain::{Outcome, Tag};

pub(crate) fn render(outcome: &Outcome) -> String {
    let mut found = Vec::new();
    for entry in entry::open_in_files(outcome) {
        let (begin, end) = entry.lines().unwrap_or((1, 1));
        let severity = match entry.raw().severity.tag {
            Some(Tag::Critical) => "blocker",
            Some(Tag::Must | Tag::High) | None => "critical",
            Some(Tag::Should | Tag::Medium) => "major",
            Some(Tag::Low) => "minor",
        };
        let description = match entry.further_places() {
            Some(places) => format!("{} ({places})", entry.title()),
            None => entry.title(),
        };
        found.push(json!({
            "description": description,
            "check_name": entry.rule(),
            "fingerprint": entry.fingerprint,
            "severity": severity,
            "location": {
                "path": entry.raw().file,
                "lines": { "begin": begin, "end": end },
            },
        }));
    }
    json::pretty(&found)
}
