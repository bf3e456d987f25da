//! Files and logs: opening files by what they are, private files and folders, diagnosis with `tracing`.

pub mod files;
pub mod log;
pub mod private;
