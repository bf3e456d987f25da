//! Opens files after a type check, creates private files and folders, writes logs, and encodes addresses.

pub mod files;
pub mod log;
pub mod private;
pub mod uri;
