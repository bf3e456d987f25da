//! Source text: enclosing blocks as anchors, citations, reading files.

pub mod anchors;
pub mod citation;
pub mod comments;
pub(crate) mod text_files;
