//! A reviewer's answer: tagged prose and JSON to findings, and findings back to prose.

pub(crate) mod answer;
mod draft;
mod insists;
pub(crate) mod issue;
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
pub use crate::protocol::text::location::{Paths, split};

#[cfg(test)]
mod corpus;
#[cfg(test)]
mod tests;
