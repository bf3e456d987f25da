//! What the coder changed; small changes with their diff.

use std::fmt::Write as _;

use crate::domain::{FileChange, Outcome};
use crate::draw::{self, Look, Tone};
use crate::protocol::printable;

use super::super::{Detail, RenderOptions};
use super::heading;

/// The lines of diff that a short report shows.
const SHORT: usize = 60;

pub(super) fn section(outcome: &Outcome, options: &RenderOptions<'_>) -> String {
    let look = options.look;
    if outcome.changes.is_empty() {
        return String::new();
    }
    let sum = |lines: fn(&FileChange) -> u32| outcome.changes.iter().map(|change| u64::from(lines(change))).sum();
    let total = look.delta(sum(|change| change.added), sum(|change| change.removed));
    let files = draw::count(outcome.changes.len(), "file");
    let mut text = heading(look, "Changes", &format!("{files}  {total}"));
    let width =
        outcome.changes.iter().map(|change| draw::columns(&printable::line(&change.file))).max().unwrap_or(0);
    let mut room = if options.detail == Detail::Full { usize::MAX } else { SHORT };
    let mut hidden = false;
    for change in &outcome.changes {
        let file = draw::pad(&printable::line(&change.file), width.min(look.width / 2));
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
        let command = look.paint(Tone::Key, &format!("glee runs diff {}", printable::line(outcome.run.short())));
        let _ = writeln!(text, "  {} {command}", look.paint(Tone::Faint, "the whole diff:"));
    }
    text
}

/// The lines of a unified diff from its first hunk on.
fn hunks(diff: &str) -> impl Iterator<Item = &str> {
    diff.lines().skip_while(|line| !line.starts_with("@@"))
}

fn diff_line(look: Look, line: &str) -> String {
    let tone = match line.as_bytes().first() {
        Some(b'+') => Tone::Good,
        Some(b'-') => Tone::Bad,
        Some(b'@') => Tone::Key,
        _ => Tone::Plain,
    };
    let shown = printable::line(&line.replace('\t', "    "));
    look.paint(tone, &look.cut(&shown, look.width.saturating_sub(4)))
}
