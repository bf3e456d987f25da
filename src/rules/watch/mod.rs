//! The rules of a watch: when a cycle begins, and what its verdicts come to.

pub mod triggers;
pub mod verdicts;
