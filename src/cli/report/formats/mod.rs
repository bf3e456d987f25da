//! The machine-readable report formats. The modules `entry` and `gaps` contain the data that several formats share.

pub(crate) mod agent;
pub(crate) mod entry;
pub(crate) mod gaps;
pub(crate) mod github;
pub(crate) mod gitlab;
pub mod json;
pub(crate) mod junit;
pub(crate) mod markdown;
pub(crate) mod otlp;
pub(crate) mod rdjsonl;
pub(crate) mod sarif;

#[cfg(test)]
mod tests;
