//! `--format agent`: what an agent that called Glee has to know, in a few bytes: how the run ended, and each open finding
//! with its code and the command that answers it.

use crate::cli::report::formats::entry;
use crate::cli::report::options::RenderOptions;
use crate::cli::report::{text, view};
use glee_model::domain::{FindingId, Outcome, SettledFinding};
use glee_protocol::text::printable;

/// The maximum size of a finding without its code, in bytes.
const FINDING: usize = 300;
/// The maximum number of lines of code of a finding.
const LINES: usize = 3;
/// The maximum size of a line of code, in bytes.
const LINE: usize = 100;
/// The maximum number and size, in bytes, of the lines about the whole run.
const CAVEATS: (usize, usize) = (5, 160);

const HELP: &str = "\
implemented: you changed its code, and who raised it is asked. disagree: the judge rules; add \
--evidence PATH:LINE. Only a person dismisses. More: glee show ID\n";

pub(crate) fn render(outcome: &Outcome, options: &RenderOptions<'_>) -> String {
    let mut report = format!(
        "glee run {}, exit {}: {}\n",
        outcome.run.short(),
        outcome.exit.code(),
        text::conclusion(options.whole),
    );
    let (most, size) = CAVEATS;
    for caveat in outcome.caveats().iter().take(most) {
        report.push_str(&format!("{}\n", cut(&printable::line(caveat), size)));
    }
    if let Some((apply, forget)) = view::next_of_worktree(outcome) {
        let files: Vec<&str> = outcome
            .changes
            .iter()
            .map(|change| change.file.as_str())
            .collect();
        let files = cut(&printable::line(&files.join(" ")), size);
        report.push_str(&format!(
            "the coder's changes are not in this tree, but in a worktree: {files}\n> {apply}\n> {forget}\n"
        ));
    }
    let mut open: Vec<(FindingId, &SettledFinding)> = Vec::new();
    for entry in entry::all(outcome) {
        let settled = entry.settled;
        let id = settled.finding.id;
        if (settled.is_open() || settled.blocks()) && options.shows(id) {
            open.push((id, settled));
        }
    }
    if !open.is_empty() {
        report.push_str(HELP);
    }
    for (id, settled) in open {
        report.push_str(&finding(id, settled));
        report.push_str(&code(settled, options).unwrap_or_default());
    }
    report
}

/// The place, the title, as much of the text as fits, and the answer.
fn finding(id: FindingId, settled: &SettledFinding) -> String {
    let raw = &settled.finding.raw;
    let next = format!("> {}\n", view::next_of_agent(settled, id));
    let mandatory = if settled.blocks() { "" } else { " (optional)" };
    let place = match raw.location() {
        Some(place) => format!(" {}", printable::line(&place.to_string())),
        None => String::new(),
    };
    let head = format!(
        "{id} {}{mandatory}{place} {}",
        printable::line(&raw.severity.to_string()),
        printable::line(&raw.title)
    );
    let room = FINDING.saturating_sub(next.len() + 1);
    let mut text = cut(&head, room) + "\n";
    let body = printable::line(&raw.body);
    let left = room.saturating_sub(text.len() + 1);
    if !body.is_empty() && left > LINE / 2 {
        text.push_str(&format!("{}\n", cut(&body, left)));
    }
    text + &next
}

/// The lines that the finding names.
fn code(settled: &SettledFinding, options: &RenderOptions<'_>) -> Option<String> {
    let raw = &settled.finding.raw;
    let source = (options.source)(raw.file.as_deref()?, settled.finding.round)?;
    let first = raw.line?;
    let last = raw.end_line.unwrap_or(first);
    let mut code = String::new();
    for (number, line) in (1..).zip(source.lines()) {
        if (first..=last).contains(&number) {
            let line = printable::line(line.trim_end());
            code.push_str(&format!("{number}| {}\n", cut(&line, LINE)));
        }
        if number >= last || code.lines().count() >= LINES {
            break;
        }
    }
    Some(code)
}

/// Shortens a text to at most `size` bytes.
fn cut(text: &str, size: usize) -> String {
    const MARK: &str = "...";
    if text.len() <= size {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(size.saturating_sub(MARK.len()));
    format!("{}{MARK}", &text[..end])
}
