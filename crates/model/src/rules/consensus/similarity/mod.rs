//! Detects findings that report the same problem.

pub mod groups;
pub mod identity;
pub mod likeness;
pub mod phrases;
pub mod vectors;
pub mod wording;
