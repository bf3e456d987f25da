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
    let of_gaps = gaps::all(outcome).into_iter().map(|gap| {
        let file = gap
            .file
            .map(|file| format!(" file={}", property(&entry::line(file))))
            .unwrap_or_default();
        let command = format!("::{}{file}::{}\n", name(gap.level), data(&gap.text));
        ("gap", gap.level, command)
    });
    let entries = entry::all(outcome);
    let open: Vec<&Entry<'_>> = entries.iter().filter(|entry| entry.is_open()).collect();
    let open_findings = open
        .iter()
        .map(|entry| ("open finding", entry.level(), annotation(entry)));
    let mut printed = [0_usize; 3];
    let mut lines = String::new();
    let mut left_out = Vec::new();
    for (what, level, command) in of_gaps.chain(open_findings) {
        let count = &mut printed[level as usize];
        *count += 1;
        if *count <= MOST {
            lines.push_str(&command);
        } else {
            left_out.push(what);
        }
    }
    let closed = entries.len() - open.len();
    lines.push_str(&format!("{}\n", text::conclusion(options.whole)));
    let excess = Vec::from_iter(["open finding", "gap"].into_iter().filter_map(|what| {
        let number = left_out.iter().filter(|left| **left == what).count();
        (number > 0).then(|| count(number, what))
    }));
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
