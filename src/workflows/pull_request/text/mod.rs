//! The texts of comments, as Markdown. Text of agents and people is redacted and cannot add markup, links or mentions.

mod finding;
mod links;
mod statement;
mod summary;

pub(crate) use finding::comment;
pub(crate) use statement::{fixed, kept_open, raised_again, refused, ruling};
pub(crate) use summary::{importance, summary, verdict};

use crate::protocol::secrets::redact;
use crate::protocol::text::markup;
use crate::protocol::text::printable::{self, Shown};

/// The maximum number of characters of a body, including its markers. GitHub accepts 65,536 characters.
pub(crate) const LONGEST: usize = 65_000;
/// The maximum number of characters of a title, and of any other text of an agent.
const TITLE: usize = 300;
const TEXT: usize = 3_000;

/// A text with its markers.
pub(crate) fn with_markers(text: &str, markers: &[String]) -> String {
    format!("{}\n\n{}", text.trim_end(), markers.join("\n"))
}

/// Untrusted text as paragraphs.
fn prose(text: &(impl Shown + ?Sized)) -> String {
    markup::prose(&markup::cut(&clean(text), TEXT))
}

/// Untrusted text as one line.
fn line(text: &(impl Shown + ?Sized)) -> String {
    markup::prose(&markup::cut(&redact(&printable::line(text)), TITLE))
}

/// Untrusted text as code in one line.
fn code(text: &(impl Shown + ?Sized)) -> String {
    markup::code(&markup::cut(&redact(&printable::line(text)), TITLE))
}

fn clean(text: &(impl Shown + ?Sized)) -> String {
    redact(&printable::block(text)).replace('\t', "    ")
}

/// The short form of a commit id. As code, it is not linked.
fn commit(id: &str) -> String {
    code(id.get(..12).unwrap_or(id))
}

/// Sets names apart as code, as in "`a`, `b`".
fn names<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.into_iter().map(code).collect();
    names.join(", ")
}
