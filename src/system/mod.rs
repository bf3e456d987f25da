//! Type-checked opening of files, private files and folders, logging.

pub mod files;
pub mod log;
pub mod private;
