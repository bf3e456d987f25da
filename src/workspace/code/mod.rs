//! Reads and decodes source code, divides it into blocks, and checks the citations of findings.

pub mod anchors;
pub mod citation;
pub mod comments;
pub(crate) mod text_files;
