//! Checks whether the code that a text refers to exists.

use crate::protocol::text::references::Reference;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Support {
    /// The code exists, and was not written by the coder in this run.
    Exists,
    /// The coder wrote the code in this run.
    Written,
    Missing,
}

/// Checks a reference without regard to the author of the code. `text_of` returns the text of a file.
pub(crate) fn exists(reference: &Reference, text_of: &dyn Fn(&str) -> Option<String>) -> Support {
    match text_of(&reference.path) {
        Some(text) if reference.is_in(&text) => Support::Exists,
        _ => Support::Missing,
    }
}
