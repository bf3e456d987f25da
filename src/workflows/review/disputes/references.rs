//! Checks whether the tree has the code that a text refers to.

use crate::protocol::text::references::Reference;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Support {
    /// The code exists, and it is not code that the coder wrote in this run.
    Exists,
    /// The coder wrote the code in this run.
    Written,
    Missing,
}

/// Checks a reference in a tree that no coder has changed; `text_of` returns a file's text.
pub(crate) fn exists(reference: &Reference, text_of: &dyn Fn(&str) -> Option<String>) -> Support {
    match text_of(&reference.path) {
        Some(text) if reference.is_in(&text) => Support::Exists,
        _ => Support::Missing,
    }
}
