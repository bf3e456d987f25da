//! The layout of the text report: indentation and wrapping.

use crate::cli::report::options::{Detail, RenderOptions};
use crate::cli::style::{self, Glyph, Style};
use crate::domain::AgentName;
use crate::protocol::text::printable;

pub(crate) fn heading(style: Style, title: &str, facts: &str) -> String {
    format!("{}  {facts}", style.strong(title)).trim_end().to_owned() + "\n"
}

/// Wraps a text and leaves `indent` columns free in each line. A short report contains at most `most` lines of the
/// text.
pub(crate) fn lines(
    options: &RenderOptions<'_>,
    text: &(impl printable::Shown + ?Sized),
    indent: usize,
    most: usize,
) -> Vec<String> {
    let style = options.style;
    let mut lines = style::wrap(&printable::block(text), style.width.saturating_sub(indent));
    if options.detail == Detail::Short && lines.len() > most {
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            *last = format!("{last} {}", style.glyph(Glyph::Cut));
        }
    }
    lines
}

/// The second value is a note about omitted items. A full report omits no items.
pub(crate) fn named<T>(items: &[T], detail: Detail) -> (&[T], Option<String>) {
    const NAMED: usize = 6;
    let named = if detail == Detail::Full { items.len() } else { items.len().min(NAMED) };
    let more = (items.len() - named) as u64;
    (&items[..named], (more > 0).then(|| format!("and {} more (--verbose lists them)", style::thousands(more))))
}

/// Joins names: `a`, `a and b`, `a, b and c`.
pub(crate) fn list(names: &[AgentName]) -> String {
    let names: Vec<String> = names.iter().map(|name| printable::line(&name.0)).collect();
    match names.as_slice() {
        [] => "no agent".to_owned(),
        [name] => name.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
