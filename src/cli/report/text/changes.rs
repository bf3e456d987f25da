//! What the coder changed; small changes with their diff.

use std::fmt::Write as _;

use crate::cli::report::options::{Detail, RenderOptions};
use crate::cli::report::text::layout::heading;
use crate::cli::style::{self, Color, Style};
use crate::domain::{FileChange, Outcome};
use crate::protocol::text::printable;

/// The lines of diff that a short report shows.
const SHORT: usize = 60;

pub(crate) fn section(outcome: &Outcome, options: &RenderOptions<'_>) -> String {
    let look = options.look;
    if outcome.changes.is_empty() {
        return String::new();
    }
    let sum = |lines: fn(&FileChange) -> u32| outcome.changes.iter().map(|change| u64::from(lines(change))).sum();
    let total = look.delta(sum(|change| change.added), sum(|change| change.removed));
    let files = style::count(outcome.changes.len(), "file");
    let mut text = heading(look, "Changes", &format!("{files}  {total}"));
    let width =
        outcome.changes.iter().map(|change| style::columns(&printable::line(&change.file))).max().unwrap_or(0);
    let mut room = if options.detail == Detail::Full { usize::MAX } else { SHORT };
    let mut hidden = false;
    for change in &outcome.changes {
        let file = style::pad(&printable::line(&change.file), width.min(look.width / 2));
        let _ = writeln!(text, "  {file}  {}", look.delta(change.added.into(), change.removed.into()));
        let lines: Vec<&str> = hunks(change.diff.as_deref().unwrap_or("")).collect();
        if lines.len() <= room {
            room -= lines.len();
            for line in lines {
                let _ = writeln!(text, "{}", format!("    {}", diff_line(look, line)).trim_end());
            }
        } else {
            hidden = true;
        }
        hidden |= change.diff.is_none();
    }
    if hidden {
        let command = look.paint(Color::Key, &format!("glee runs diff {}", printable::line(outcome.run.short())));
        let _ = writeln!(text, "  {} {command}", look.paint(Color::Faint, "the whole diff:"));
    }
    text
}

/// The lines of a unified diff from its first hunk on.
fn hunks(diff: &str) -> impl Iterator<Item = &str> {
    diff.lines().skip_while(|line| !line.starts_with("@@"))
}

fn diff_line(look: Style, line: &str) -> String {
    let tone = match line.as_bytes().first() {
        Some(b'+') => Color::Good,
        Some(b'-') => Color::Bad,
        Some(b'@') => Color::Key,
        _ => Color::Plain,
    };
    let shown = printable::line(&line.replace('\t', "    "));
    look.paint(tone, &look.cut(&shown, look.width.saturating_sub(4)))
}
