//! Conversion between text or JSON and domain types: requests to agents, and parsers of their answers.

pub mod merge_input;
pub mod prompts;
pub mod replies;
pub mod request;
pub mod secrets;
pub mod text;
