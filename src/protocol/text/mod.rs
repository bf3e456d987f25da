//! Parsing of agents' text: clean lines, Markdown, JSON in prose, locations, tags and nonces; escaping for display.

pub(crate) mod json;
pub(crate) mod lines;
pub(crate) mod location;
pub(crate) mod markdown;
pub(crate) mod nonce;
pub mod printable;
pub(crate) mod references;
pub(crate) mod tag;

pub(crate) use json::{FoundObject, LenientValue, ScanState, Scope};
pub(crate) use markdown::{LineKind, Structure};
