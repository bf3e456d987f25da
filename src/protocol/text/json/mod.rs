//! JSON objects in an answer: found while its lines pass by, read without trusting their shape or size.

mod extract;
mod scan;
mod value;

pub(crate) use extract::{Extractor, FoundObject, ScanState};
pub(crate) use scan::Scope;
pub(crate) use value::LenientValue;
