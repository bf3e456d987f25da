//! Files of the configuration: paths, YAML, edits, shared rulings, stages, scripts.

pub mod edit;
pub mod file;
pub mod paths;
pub mod rulings;
pub mod scripts;
pub mod stages;
pub(crate) mod yaml;
