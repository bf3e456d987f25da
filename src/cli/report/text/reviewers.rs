//! Who reviewed and how completely, what failed, what was not reviewed, what else a reader has to know.
//!
//! "Could not review" is never left out and never looks like "approved".

use std::fmt::Write as _;

use crate::cli::report::options::{Detail, RenderOptions};
use crate::cli::report::text::layout::heading;
use crate::cli::style::{self, Color, Glyph, Style};
use crate::domain::{AnswerStatus, NoLongerRaised, Outcome, Reused, ReviewerReport};
use crate::protocol::text::printable;

/// The skipped files that a short report names.
const NAMED: usize = 6;

pub(crate) fn section(outcome: &Outcome, options: &RenderOptions<'_>) -> String {
    let look = options.look;
    let mut text = reviewers(look, &outcome.proof.reviewers);
    text.push_str(&reused(look, &outcome.proof.reused));
    text.push_str(&no_longer_raised(outcome, options));
    for failure in &outcome.failures {
        let agent = look.paint(Color::Strong, &printable::line(&failure.agent.0));
        let in_table =
            outcome.proof.reviewers.iter().any(|reviewer| {
                reviewer.name == failure.agent && reviewer.failure.as_ref() == Some(&failure.error)
            });
        if !in_table {
            let mark = look.paint(Color::Bad, look.glyph(Glyph::Failed));
            let error = printable::line(&failure.error);
            let _ = writeln!(text, "{mark} {agent} ({}) failed: {error}", failure.role);
        }
        if let Some(hint) = &failure.hint {
            let _ = writeln!(text, "{} {agent}: {}", look.paint(Color::Key, "hint:"), printable::line(hint));
        }
    }
    text.push_str(&skipped(outcome, options));
    for notice in &outcome.notices {
        let _ = writeln!(text, "{} {}", look.paint(Color::Warn, "note:"), printable::line(notice));
    }
    text
}

fn reviewers(look: Style, reviewers: &[ReviewerReport]) -> String {
    if reviewers.is_empty() {
        return String::new();
    }
    let mut text = heading(look, "Reviewers", "");
    let rows: Vec<_> = reviewers.iter().map(Row::new).collect();
    let widest = |column: fn(&Row) -> &str| rows.iter().map(|row| style::columns(column(row))).max().unwrap_or(0);
    let (names, statuses) = (widest(|row| &row.name), widest(|row| row.status));
    let (found, times) = (widest(|row| &row.found), widest(|row| &row.time));
    for row in &rows {
        let status = look.paint(if row.tone == Color::Good { Color::Plain } else { row.tone }, row.status);
        let line = format!(
            "  {} {}  {}  {}  {:>times$}",
            look.paint(row.tone, look.glyph(row.glyph)),
            style::pad(&row.name, names),
            style::pad(&status, statuses),
            style::pad(&row.found, found),
            row.time,
        );
        if style::columns(&line) + 2 + style::columns(&row.failure) <= look.width {
            let _ = writeln!(text, "{}", format!("{line}  {}", row.failure).trim_end());
        } else {
            let _ = writeln!(text, "{}", look.cut(&line, look.width));
            for line in style::wrap(&row.failure, look.width.saturating_sub(4)) {
                let _ = writeln!(text, "    {line}");
            }
        }
    }
    text
}

/// What reviewers were not asked about again, a line a reviewer and run.
pub(crate) fn reused(look: Style, reused: &[Reused]) -> String {
    let line = |Reused { reviewer, from }: &Reused| {
        let parts = match from.in_part.len() {
            0 => String::new(),
            some => format!(", {some} of them in part"),
        };
        let files = style::count(from.files.len() + from.in_part.len(), "file");
        let (name, run) = (printable::line(&reviewer.0), printable::line(from.run.short()));
        let line = format!("    {name}: {files} reused from run {run}{parts}");
        look.paint(Color::Faint, &look.cut(&line, look.width)) + "\n"
    };
    reused.iter().map(line).collect()
}

/// Earlier findings that the change has fixed, as their reviewers say.
fn no_longer_raised(outcome: &Outcome, options: &RenderOptions<'_>) -> String {
    let (look, gone) = (options.look, &outcome.no_longer_raised);
    if gone.is_empty() {
        return String::new();
    }
    let head = format!("{} fixed by the change, rechecked by who raised it", style::count(gone.len(), "finding"));
    let mut text = format!("{}\n", look.paint(Color::Good, &head));
    let named = if options.detail == Detail::Full { gone.len() } else { gone.len().min(NAMED) };
    for NoLongerRaised { reviewer, finding } in &gone[..named] {
        let place = finding.location().map(|place| format!("{place} ")).unwrap_or_default();
        let (place, title) = (printable::line(&place), printable::line(&finding.title));
        let line = format!("{place}{title} ({})", printable::line(&reviewer.0));
        let _ = writeln!(text, "{}", look.cut(&format!("  {line}"), look.width));
    }
    if named < gone.len() {
        let more = style::thousands((gone.len() - named) as u64);
        let _ = writeln!(text, "  and {more} more (--verbose lists them)");
    }
    text
}

/// A reviewer as a row of the table.
struct Row {
    glyph: Glyph,
    tone: Color,
    name: String,
    status: &'static str,
    found: String,
    time: String,
    failure: String,
}

impl Row {
    fn new(reviewer: &ReviewerReport) -> Self {
        let (glyph, tone, status) = match reviewer.status {
            _ if reviewer.failure.is_some() => (Glyph::Failed, Color::Bad, "FAILED"),
            AnswerStatus::Complete => (Glyph::Done, Color::Good, "complete"),
            AnswerStatus::Clean => (Glyph::Done, Color::Good, "clean"),
            AnswerStatus::Incomplete => (Glyph::Attention, Color::Warn, "INCOMPLETE"),
            AnswerStatus::NotReviewed => (Glyph::Failed, Color::Bad, "NOT REVIEWED"),
        };
        Self {
            glyph,
            tone,
            name: printable::line(&reviewer.name.0),
            status,
            found: style::count(reviewer.findings, "finding"),
            time: style::duration(reviewer.millis),
            failure: reviewer.failure.as_deref().map(printable::line).unwrap_or_default(),
        }
    }
}

fn skipped(outcome: &Outcome, options: &RenderOptions<'_>) -> String {
    let look = options.look;
    let skipped = &outcome.proof.skipped;
    if skipped.is_empty() {
        return String::new();
    }
    let named = if options.detail == Detail::Full { skipped.len() } else { skipped.len().min(NAMED) };
    let mut files: Vec<String> = skipped[..named]
        .iter()
        .map(|skip| format!("{} ({})", printable::line(&skip.file), skip.reason.as_str()))
        .collect();
    if named < skipped.len() {
        files.push(format!("and {} more (--verbose lists them)", style::thousands((skipped.len() - named) as u64)));
    }
    let head = look.paint(Color::Warn, &format!("Not reviewed: {}", style::count(skipped.len(), "file")));
    let mut text = format!("{head}\n");
    for line in style::wrap(&files.join(", "), look.width.saturating_sub(2)) {
        let _ = writeln!(text, "  {line}");
    }
    text
}
