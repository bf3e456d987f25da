//! Parses findings in tagged prose and JSON from a reviewer's answer, and renders findings as text.

pub mod answer;
pub mod beside;
mod confidence;
pub mod fields;
mod insisted_ruling;
mod merged_answer;
mod prose;
pub mod reader;
mod render;
pub mod result;
mod untagged;
mod withdrawn;

pub use self::answer::ReviewAnswer;
pub use self::reader::{parse, parse_of};
pub use self::render::render;
pub use crate::text::location::Paths;
#[cfg(test)]
use glee_model::domain::AnswerStatus;
#[cfg(test)]
use glee_model::domain::RawFinding;

#[cfg(test)]
mod corpus;
#[cfg(test)]
mod tests;
