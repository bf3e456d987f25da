//! Text of agents: clean lines, Markdown, JSON in prose, places, tags, nonces, and escaping for display.

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
