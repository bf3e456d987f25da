//! Parses lines, Markdown, JSON, locations, tags, weaknesses, suggestion blocks and demonstrations in the text of agents. The module also
//! contains functions that create nonces and escape text for display.

pub(crate) mod blocks;
pub mod demonstration;
pub mod json;
pub mod lines;
pub mod location;
pub mod markdown;
pub mod markup;
pub mod nonce;
pub mod printable;
pub mod references;
pub mod suggestion;
pub mod tag;
pub mod weakness;

pub use json::{FoundObject, LenientValue, ScanState, Scope};
pub use markdown::{Fence, LineKind, Structure};

/// A regular expression that stands in the program.
pub(crate) fn pattern(text: &str) -> regex::Regex {
    regex::Regex::new(text).expect("a valid pattern")
}
