//! The texts of comments, as Markdown. Text of agents and people is redacted and cannot add markup, links or
//! mentions.

mod escape;
mod finding;
mod links;
mod statement;
mod summary;

pub(super) use escape::LONGEST;
pub(super) use finding::{comment, told};
pub(super) use statement::{about, fixed, kept_open, raised_again, refused, ruling};
pub(super) use summary::{SUMMARY, importance, summary, verdict};

/// Adds markers to the end of a text.
pub(crate) fn with_markers(text: &str, markers: &[String]) -> String {
    format!("{}\n\n{}", text.trim_end(), markers.join("\n"))
}
