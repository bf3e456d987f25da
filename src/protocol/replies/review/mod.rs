//! A reviewer's answer: the parser for findings in tagged prose and JSON, and the renderer as prose.

pub(crate) mod answer;
mod draft;
pub(crate) mod fields;
mod insists;
pub(crate) mod reader;
mod render;
mod result;
mod sure;
mod union;

pub use self::answer::ReviewAnswer;
pub use self::reader::{parse, parse_of};
pub use self::render::render;
#[cfg(test)]
use crate::domain::AnswerStatus;
#[cfg(test)]
use crate::domain::RawFinding;
pub use crate::protocol::text::location::Paths;

#[cfg(test)]
mod corpus;
#[cfg(test)]
mod tests;
