//! Redacts and escapes the parts of a text.

use glee_protocol::secrets::redact;
use glee_protocol::text::markup;
use glee_protocol::text::printable::{self, Shown};

/// The maximum number of characters of a body, including its markers. GitHub accepts 65,536 characters.
pub(crate) const LONGEST: usize = 65_000;
/// The maximum numbers of characters: `TITLE` for a title, and `TEXT` for any other text of an agent.
pub(super) const TITLE: usize = 300;
pub(super) const TEXT: usize = 3_000;

/// Untrusted text as paragraphs.
pub(super) fn prose(text: &(impl Shown + ?Sized)) -> String {
    prose_of(text, TEXT)
}

/// Untrusted text as paragraphs, with at most `most` characters.
pub(crate) fn prose_of(text: &(impl Shown + ?Sized), most: usize) -> String {
    markup::prose(&markup::cut(&clean(text), most))
}

/// Untrusted text as one line.
pub(super) fn line(text: &(impl Shown + ?Sized)) -> String {
    markup::prose(&markup::cut(&redact(&printable::line(text)), TITLE))
}

/// Untrusted text as a Markdown code span (between backticks), in one line.
pub(super) fn code(text: &(impl Shown + ?Sized)) -> String {
    markup::code(&markup::cut(&redact(&printable::line(text)), TITLE))
}

pub(super) fn clean(text: &(impl Shown + ?Sized)) -> String {
    redact(&printable::block(text)).replace('\t', "    ")
}

/// The short form of a commit id as inline code, which hosts do not convert to a link.
pub(super) fn commit(id: &str) -> String {
    code(id.get(..12).unwrap_or(id))
}

/// Formats each name as inline code, and joins the names with commas.
pub(super) fn names<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.into_iter().map(code).collect();
    names.join(", ")
}
