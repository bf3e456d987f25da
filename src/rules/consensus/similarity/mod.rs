//! Detects findings that report the same problem.

pub(crate) mod groups;
pub mod identity;
pub mod likeness;
pub(crate) mod phrases;
pub(crate) mod vectors;
pub(crate) mod wording;
