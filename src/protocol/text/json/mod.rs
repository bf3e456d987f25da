//! Finds JSON objects in an answer and parses them without assumptions about their fields.

mod extract;
mod scan;
mod value;

pub(crate) use extract::{Extractor, FoundObject, ScanState};
pub(crate) use scan::Scope;
pub(crate) use value::LenientValue;
