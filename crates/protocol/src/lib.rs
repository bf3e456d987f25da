//! Renders requests to agents as text or JSON, and parses agents' answers into domain types.

pub mod calls;
pub mod merge_input;
pub mod prompts;
pub mod replies;
pub mod request;
mod sarif;
pub mod secrets;
pub mod text;
