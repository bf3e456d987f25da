//! Whether the tree has the code that a text refers to.

use crate::protocol::text::references::Reference;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Support {
    /// The place exists, and the coder did not write it in this run.
    Exists,
    /// The place exists because the coder wrote it in this run.
    Written,
    Missing,
}

/// Checks a reference in a tree that no coder changed; `text_of` returns a file's text.
pub(crate) fn exists(reference: &Reference, text_of: &dyn Fn(&str) -> Option<String>) -> Support {
    match text_of(&reference.path) {
        Some(text) if reference.is_in(&text) => Support::Exists,
        _ => Support::Missing,
    }
}
