//! The section of the full text report with the coder's changes.

use std::fmt::Write as _;

use crate::cli::report::text::layout::{heading, wrapped};
use crate::cli::report::view;
use crate::cli::style::{Color, Style, columns, count, pad, widest};
use glee_model::domain::Outcome;
use glee_protocol::text::printable;

pub(crate) fn section(outcome: &Outcome, style: Style) -> String {
    let changes = &outcome.changes;
    if changes.is_empty() {
        return String::new();
    }
    let total = format!("{}  {}", count(changes.len(), "file"), style.delta(changes));
    let mut text = heading(style, "Changes", &total);
    if let Some(place) = view::place_of_changes(outcome) {
        wrapped(
            &mut text,
            style,
            "  ",
            &style.faint(printable::line(&place)),
        );
    }
    let width =
        widest(changes.iter().map(|change| printable::line(&change.file))).min(style.width / 2);
    let mut is_cut = false;
    for change in changes {
        let file = printable::line(&change.file);
        let delta = style.delta([change]);
        let _ = match columns(&file) + 4 + columns(&delta) <= style.width {
            true => writeln!(text, "  {}  {delta}", pad(&file, width)),
            false => writeln!(text, "  {file}\n    {delta}"),
        };
        is_cut |= change.diff.is_none();
        let diff = change.diff.as_deref().unwrap_or("");
        for line in diff.lines().skip_while(|line| !line.starts_with("@@")) {
            let line = format!("    {}", diff_line(style, line));
            let _ = writeln!(text, "{}", line.trim_end());
        }
    }
    if is_cut {
        let command = format!("glee runs diff {}", printable::line(outcome.run.short()));
        wrapped(
            &mut text,
            style,
            "  ",
            &format!(
                "{} {}",
                style.faint("the whole diff:"),
                style.paint(Color::Key, &command)
            ),
        );
    }
    text
}

/// Code is never wrapped nor cut, so that it can be copied.
fn diff_line(style: Style, line: &str) -> String {
    let color = match line.as_bytes().first() {
        Some(b'+') => Color::Good,
        Some(b'-') => Color::Bad,
        Some(b'@') => Color::Key,
        _ => Color::Plain,
    };
    style.paint(color, &printable::line(&line.replace('\t', "    ")))
}
