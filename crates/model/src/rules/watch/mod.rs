//! The rules of a watch: what triggers a review cycle, and which action follows from the verdicts.

pub mod triggers;
pub mod verdicts;
