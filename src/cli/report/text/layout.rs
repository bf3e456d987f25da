use crate::cli::report::options::Detail;
use crate::cli::style::{self, Color, Style};
use crate::domain::AgentName;
use crate::protocol::text::printable;

/// The heading of a section: a title and what belongs to it.
pub(crate) fn heading(look: Style, title: &str, facts: &str) -> String {
    let title = look.paint(Color::Strong, title);
    if facts.is_empty() { format!("{title}\n") } else { format!("{title}  {facts}\n") }
}

/// Text of others as lines that fit beside an indent; in short reports at most `most` of them.
pub(crate) fn lines(
    look: Style,
    text: &(impl printable::Shown + ?Sized),
    indent: usize,
    most: usize,
    detail: Detail,
) -> Vec<String> {
    let mut lines = style::wrap(&printable::block(text), look.width.saturating_sub(indent));
    if detail == Detail::Short && lines.len() > most {
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            *last = format!("{last} {}", look.glyph(style::Glyph::Cut));
        }
    }
    lines
}

/// Names as a person lists them: `a`, `a and b`, `a, b and c`.
pub(crate) fn list(names: &[AgentName]) -> String {
    let names: Vec<String> = names.iter().map(|name| printable::line(&name.0)).collect();
    match names.as_slice() {
        [] => "nobody".to_owned(),
        [name] => name.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
