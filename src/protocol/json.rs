//! JSON objects in an answer: found while its lines pass by, read without trusting their shape or size.

mod extract;
mod scan;
mod value;

pub(super) use extract::{Extractor, Object, State};
pub(super) use scan::Scope;
pub(super) use value::Loose;
