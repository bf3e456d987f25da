//! JSON objects in an answer: found line by line, and parsed without assumptions about shape or size.

mod extract;
mod scan;
mod value;

pub(crate) use extract::{Extractor, FoundObject, ScanState};
pub(crate) use scan::Scope;
pub(crate) use value::LenientValue;
