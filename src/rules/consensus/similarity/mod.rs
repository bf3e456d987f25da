//! Detects findings that report the same problem.

pub(crate) mod groups;
pub mod identity;
pub(crate) mod phrases;
pub(crate) mod vectors;
