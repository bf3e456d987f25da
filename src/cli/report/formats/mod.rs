//! The report formats for programs, one file each.

pub mod json;
