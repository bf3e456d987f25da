//! Text and JSON to domain and back: what is asked of agents and how their answers are read.

mod answer;
mod answers;
pub mod claims;
mod clean;
pub mod compare;
pub mod debate;
mod json;
mod markdown;
pub(crate) mod nonce;
pub mod peer;
mod place;
pub mod printable;
pub mod prompts;
pub mod recheck;
pub mod request;
pub mod response;
pub mod review;
pub mod ruling;
pub mod secrets;
pub mod stage;
mod tag;
#[cfg(test)]
mod unsigned;
