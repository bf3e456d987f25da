//! Finds JSON objects in an answer and parses them without assumptions about their fields.

mod extract;
mod scan;
mod value;

pub use extract::{Extractor, FoundObject, ScanState};
pub use scan::Scope;
pub use value::LenientValue;
