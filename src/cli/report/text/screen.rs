//! The first screen of the text report: the conclusion, the counts, and a line for each finding.

use std::fmt::Write as _;

use super::{findings, reviewers, summary};
use crate::cli::report::options::{Detail, RenderOptions};
use crate::cli::report::text::layout::{heading, wrapped};
use crate::cli::report::view::{ReportedState, StateNote, View};
use crate::cli::style::{columns, pad, widest};
use glee_model::domain::{FindingState, Outcome, SettledFinding};
use glee_protocol::text::printable;

/// The lines of a small terminal, without that of the prompt.
const ROWS: usize = 23;
/// A title that has fewer columns says nothing, and is left out.
const TITLE: usize = 12;

/// A report with everything that is open. If it has few lines, it shows the open findings in full in place of their
/// lines; otherwise they follow below the screen, or stand above it where the end is read first. With [`Detail::Full`],
/// these are all findings, the changes and the disputes.
///
/// `shown` is the outcome without what a filter hides.
pub(super) fn render(
    outcome: &Outcome,
    shown: &Outcome,
    hidden: &str,
    in_full: &str,
    options: &RenderOptions<'_>,
) -> String {
    let style = options.style;
    let (open, settled): (Vec<_>, Vec<_>) = groups(shown).into_iter().partition(|group| {
        let state = ReportedState::of(SettledFinding::leading(group));
        matches!(state, ReportedState::Mandatory | ReportedState::Optional)
    });
    let head = summary::caveats(style, outcome) + &summary::head(style, outcome, options.detail);
    let open_lines = section(shown, &open, &open_heading(&open), usize::MAX, options);
    let title = format!("Settled ({})", settled.len());
    let settled_lines = section(shown, &settled, &title, usize::MAX, options);
    let foot = [
        hidden,
        &reviewers::section(outcome, options),
        &summary::next(outcome, options),
    ]
    .concat();
    let mut rows = usize::MAX;
    if options.detail != Detail::Full {
        let whole = joined(&[&head, in_full, &settled_lines, &foot]);
        if whole.lines().count() <= ROWS {
            return whole;
        }
        let others = joined(&[&head, &open_lines, &foot]).lines().count();
        rows = ROWS.saturating_sub(others + 2);
    }
    let settled_lines = section(shown, &settled, &title, rows, options);
    let screen = joined(&[&head, &open_lines, &settled_lines, &foot]);
    match options.text.is_read_from_end {
        true => joined(&[in_full, &screen]),
        false => joined(&[&screen, in_full]),
    }
}

/// Separates the sections that are not empty by empty lines.
pub(super) fn joined(sections: &[&str]) -> String {
    let shown = sections.iter().filter(|text| !text.is_empty());
    shown.copied().collect::<Vec<_>>().join("\n")
}

/// The groups, those that block first.
fn groups(outcome: &Outcome) -> Vec<&[SettledFinding]> {
    let mut groups: Vec<&[SettledFinding]> = outcome.groups().collect();
    groups.sort_by_key(|group| ReportedState::of(SettledFinding::leading(group)));
    groups
}

fn open_heading(open: &[&[SettledFinding]]) -> String {
    let leading = open.iter().copied().map(SettledFinding::leading);
    let mandatory = leading.filter(|finding| finding.blocks()).count();
    match (mandatory, open.len() - mandatory) {
        (mandatory, 0) => format!("Open ({mandatory} mandatory)"),
        (0, optional) => format!("Open ({optional} optional)"),
        (mandatory, optional) => format!("Open ({mandatory} mandatory, {optional} optional)"),
    }
}

/// A heading and at most `rows` lines, but at least three; the last one can count what is left out.
fn section(
    outcome: &Outcome,
    groups: &[&[SettledFinding]],
    title: &str,
    rows: usize,
    options: &RenderOptions<'_>,
) -> String {
    let style = options.style;
    if groups.is_empty() {
        return String::new();
    }
    let rows = rows.max(3);
    let named = if groups.len() <= rows {
        groups.len()
    } else {
        rows - 1
    };
    let view = View::of(outcome);
    let mut lines = Vec::new();
    for group in &groups[..named] {
        let settled = SettledFinding::leading(group);
        let StateNote { word, color, note } = view.state(settled);
        // Nobody ruled on what a policy or a person discarded, so it says who did.
        let word = match settled.state {
            FindingState::Discarded => style.paint(color, format!("{word} {note}").trim_end()),
            _ => style.paint(color, word),
        };
        let raw = &settled.finding.raw;
        let place = findings::place(raw, options).unwrap_or_default();
        lines.push((style.tag(&settled.finding), place, word, &raw.title));
    }
    let tags = widest(lines.iter().map(|(tag, ..)| tag));
    // One long path does not take the titles from all other lines.
    let places = widest(lines.iter().map(|(_, place, ..)| place)).min(style.width / 2);
    let words = widest(lines.iter().map(|(_, _, word, _)| word));
    let mut text = heading(style, title, "");
    for (tag, place, word, title) in &lines {
        let tag = pad(tag, tags);
        let start = format!("  {tag}  {}", pad(place, places));
        let room = style.width.saturating_sub(columns(&start) + words + 4);
        if room < TITLE {
            let rest = format!("{place}  {word}");
            wrapped(&mut text, style, &format!("  {tag}  "), rest.trim_start());
        } else {
            let title = pad(&style.cut(&printable::line(title), room), room);
            let _ = writeln!(text, "{start}  {title}  {word}");
        }
    }
    if named < groups.len() {
        let more = format!("  and {} more (--verbose lists them)", groups.len() - named);
        let _ = writeln!(text, "{}", style.faint(more));
    }
    text
}
