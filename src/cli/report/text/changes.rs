//! The section of the text report with the coder's changes. A short report includes only short diffs.

use std::fmt::Write as _;

use crate::cli::report::options::{Detail, RenderOptions};
use crate::cli::report::text::layout::{heading, wrapped};
use crate::cli::report::view;
use crate::cli::style::{Color, Style, columns, count, pad, widest};
use glee_model::domain::Outcome;
use glee_protocol::text::printable;

/// The maximum number of diff lines that a short report shows.
const SHORT: usize = 60;

pub(crate) fn section(outcome: &Outcome, options: &RenderOptions<'_>) -> String {
    let style = options.style;
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
    let mut room = if options.detail == Detail::Full {
        usize::MAX
    } else {
        SHORT
    };
    let mut is_cut = false;
    for change in changes {
        let file = printable::line(&change.file);
        let delta = style.delta([change]);
        let _ = match columns(&file) + 4 + columns(&delta) <= style.width {
            true => writeln!(text, "  {}  {delta}", pad(&file, width)),
            false => writeln!(text, "  {file}\n    {delta}"),
        };
        let diff = change.diff.as_deref().unwrap_or("");
        let lines: Vec<&str> = diff
            .lines()
            .skip_while(|line| !line.starts_with("@@"))
            .collect();
        let fits = lines.len() <= room;
        is_cut |= !fits || change.diff.is_none();
        if fits {
            room -= lines.len();
            for line in lines {
                let _ = writeln!(
                    text,
                    "{}",
                    format!("    {}", diff_line(style, line)).trim_end()
                );
            }
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

fn diff_line(style: Style, line: &str) -> String {
    let color = match line.as_bytes().first() {
        Some(b'+') => Color::Good,
        Some(b'-') => Color::Bad,
        Some(b'@') => Color::Key,
        _ => Color::Plain,
    };
    let shown = printable::line(&line.replace('\t', "    "));
    style.paint(color, &style.cut(&shown, style.width.saturating_sub(4)))
}
