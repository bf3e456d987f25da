//! Opens files after a type check, creates private files and folders, and writes logs.

pub mod files;
pub mod log;
pub mod private;
