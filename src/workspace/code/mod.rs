//! Source code: blocks as anchors, checks of citations, reading and decoding of files.

pub mod anchors;
pub mod citation;
pub mod comments;
pub(crate) mod text_files;
