//! The report formats for programs, one file each. `entry` and `gaps` hold what several of them say.

pub(crate) mod entry;
pub(crate) mod gaps;
pub(crate) mod github;
pub(crate) mod gitlab;
pub mod json;
pub(crate) mod junit;
pub(crate) mod markdown;
pub(crate) mod rdjsonl;
pub(crate) mod sarif;

#[cfg(test)]
mod tests;
