//! The rules of a watch: triggers of cycles, and actions for verdicts.

pub mod triggers;
pub mod verdicts;
