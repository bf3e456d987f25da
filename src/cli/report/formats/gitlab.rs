//! `--format gitlab`: a Code Quality report of GitLab. The report contains the open findings that belong to a
//! file.

use serde::Serialize;

use crate::cli::report::formats::{entry, json};
use glee_model::domain::{Outcome, Tag};

#[derive(Serialize)]
struct Degradation<'a> {
    description: String,
    check_name: String,
    fingerprint: String,
    severity: &'static str,
    location: GitLabLocation<'a>,
}

#[derive(Serialize)]
struct GitLabLocation<'a> {
    path: &'a str,
    lines: Lines,
}

#[derive(Serialize)]
struct Lines {
    begin: u32,
    end: u32,
}

pub(crate) fn render(outcome: &Outcome) -> String {
    let entries = entry::open_in_files(outcome);
    let found = entries.iter().filter_map(|entry| {
        let (begin, end) = entry.lines().unwrap_or((1, 1));
        Some(Degradation {
            description: match entry.further_places() {
                Some(places) => format!("{} ({places})", entry.title()),
                None => entry.title(),
            },
            check_name: entry.rule(),
            fingerprint: entry.fingerprint.clone(),
            severity: match entry.raw().severity.tag {
                Some(Tag::Critical) => "blocker",
                Some(Tag::Must | Tag::High) | None => "critical",
                Some(Tag::Should | Tag::Medium) => "major",
                Some(Tag::Low) => "minor",
            },
            location: GitLabLocation {
                path: entry.raw().file.as_deref()?,
                lines: Lines { begin, end },
            },
        })
    });
    json::pretty(&found.collect::<Vec<_>>())
}
