//! Reads and decodes source code, divides it into blocks, checks the citations of findings, and records the
//! code that rulings cite.

pub mod anchors;
pub mod citation;
pub mod cited;
pub mod comments;
pub mod grammar;
pub mod names;
pub mod probe;
pub mod reach;
pub(crate) mod text_files;
pub mod without;
