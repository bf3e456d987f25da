//! The layout of the text report: indentation and wrapping.

use crate::cli::report::options::{Detail, RenderOptions};
pub(crate) use crate::cli::style::wrapped;
use crate::cli::style::{self, Style, columns};
use glee_model::domain::AgentName;
use glee_protocol::text::printable;

pub(crate) fn heading(style: Style, title: &str, facts: &str) -> String {
    format!("{}  {facts}", style.strong(title))
        .trim_end()
        .to_owned()
        + "\n"
}

/// Returns how many lines of one text the report shows. A full report shows all lines. A shorter report shows at
/// most `short` lines.
pub(crate) fn at_most(options: &RenderOptions<'_>, short: usize) -> usize {
    if options.detail == Detail::Full {
        usize::MAX
    } else {
        short
    }
}

/// Appends `head` and the texts in `facts`. If possible, lines are broken only between two facts.
pub(crate) fn facts(out: &mut String, style: Style, head: &str, facts: &[String]) {
    let indent = columns(head);
    let mut head = head.to_owned();
    let mut from = 0;
    for to in 1..=facts.len() {
        let fits = |end: usize| indent + columns(&style.facts(&facts[from..end])) <= style.width;
        if to == facts.len() || !fits(to + 1) {
            wrapped(out, style, &head, &style.facts(&facts[from..to]));
            (from, head) = (to, " ".repeat(indent));
        }
    }
}

/// Returns the items to show, and a note about omitted items. A full report shows all items.
pub(crate) fn named<T>(items: &[T], detail: Detail) -> (&[T], Option<String>) {
    const NAMED: usize = 6;
    let named = if detail == Detail::Full {
        items.len()
    } else {
        items.len().min(NAMED)
    };
    let more = (items.len() - named) as u64;
    (
        &items[..named],
        (more > 0).then(|| format!("and {} more (--verbose lists them)", style::thousands(more))),
    )
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
