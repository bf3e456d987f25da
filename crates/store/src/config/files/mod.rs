//! Reads and writes the files of the configuration.

pub mod edit;
pub mod file;
pub mod paths;
pub mod rulings;
pub mod script_folders;
pub mod scripts;
pub mod stages;
pub mod yaml;
