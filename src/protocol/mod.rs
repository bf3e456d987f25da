//! Text and JSON to domain and back: what is asked of agents and how their answers are read.

pub mod merge_input;
pub mod prompts;
pub mod replies;
pub mod request;
pub mod secrets;
pub mod text;
