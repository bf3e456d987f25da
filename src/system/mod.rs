//! Opening files by their type, private files and folders, logging.

pub mod files;
pub mod log;
pub mod private;
