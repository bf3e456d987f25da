//! `--format github`: commands for GitHub's runner that annotate the code. For one CI step, GitHub shows only the
//! first 10 annotations of each kind. The report therefore contains at most 10 annotations of each kind. The job
//! summary also lists the findings beyond this limit.

use crate::cli::report::formats::entry::{self, AlertLevel, Entry};
use crate::cli::report::formats::gaps;
use crate::cli::report::options::RenderOptions;
use crate::cli::report::text;
use crate::cli::style::count;
use glee_model::domain::Outcome;

/// The maximum number of annotations of each kind (error, warning, notice) that GitHub shows for one CI step.
const MOST: usize = 10;

pub(crate) fn render(outcome: &Outcome, options: &RenderOptions<'_>) -> String {
    let mut printed = [0_usize; 3];
    let mut lines = String::new();
    let mut add = |level: AlertLevel, command: String| {
        let count = &mut printed[level as usize];
        *count += 1;
        let fits = *count <= MOST;
        if fits {
            lines.push_str(&command);
        }
        fits
    };
    let mut gaps = 0;
    for gap in gaps::all(outcome) {
        let file = gap
            .file
            .map(|file| format!(" file={}", property(&entry::line(file))))
            .unwrap_or_default();
        let fits = add(
            gap.level,
            format!("::{}{file}::{}\n", name(gap.level), data(&gap.text)),
        );
        gaps += usize::from(!fits);
    }
    let entries = entry::all(outcome);
    let open: Vec<&Entry<'_>> = entries.iter().filter(|entry| entry.is_open()).collect();
    let annotated = open
        .iter()
        .filter(|entry| add(entry.level(), annotation(entry)))
        .count();
    let left = open.len() - annotated;
    let closed = entries.len() - open.len();
    lines.push_str(&format!("{}\n", text::conclusion(options.whole)));
    let excess: Vec<String> = [(left, "open finding"), (gaps, "gap")]
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, what)| count(number, what))
        .collect();
    let mut missing = Vec::new();
    if !excess.is_empty() {
        missing.push(format!(
            "{} above GitHub's limit of {MOST} annotations of each kind",
            excess.join(" and ")
        ));
    }
    if closed > 0 {
        missing.push(count(closed, "closed finding"));
    }
    if !missing.is_empty() {
        lines.push_str(&format!("Not annotated: {}\n", missing.join(", ")));
    }
    lines
}

fn name(level: AlertLevel) -> &'static str {
    match level {
        AlertLevel::Error => "error",
        AlertLevel::Warning => "warning",
        AlertLevel::Note => "notice",
    }
}

fn annotation(entry: &Entry<'_>) -> String {
    let mut properties = Vec::new();
    if let Some(path) = entry.path() {
        properties.push(format!("file={}", property(&path)));
    }
    if let Some((first, last)) = entry.lines().filter(|_| !properties.is_empty()) {
        properties.push(format!("line={first},endLine={last}"));
    }
    let mut title = format!("{} {}: {}", entry.severity(), entry.id(), entry.category());
    if let Some(cwe) = entry.raw().cwe {
        title.push_str(&format!(", {cwe}"));
    }
    properties.push(format!("title={}", property(&title)));
    format!(
        "::{} {}::{}\n",
        name(entry.level()),
        properties.join(","),
        data(&entry.text())
    )
}

/// Escapes the message of a workflow command.
fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// Escapes the value of a property of a workflow command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
