//! Parses lines, Markdown, JSON, locations, tags, weaknesses and suggestion blocks in the text of agents. The module also
//! contains functions that create nonces and escape text for display.

pub(crate) mod json;
pub(crate) mod lines;
pub(crate) mod location;
pub(crate) mod markdown;
pub(crate) mod markup;
pub(crate) mod nonce;
pub mod printable;
pub(crate) mod references;
pub(crate) mod suggestion;
pub(crate) mod tag;
pub(crate) mod weakness;

pub(crate) use json::{FoundObject, LenientValue, ScanState, Scope};
pub(crate) use markdown::{Fence, LineKind, Structure};
