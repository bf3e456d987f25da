//! Contains the adapters, with one file per program or protocol.

pub mod acp;
pub mod address;
pub mod builtin;
pub mod claude;
pub mod codex;
pub mod copilot;
pub(crate) mod described;
pub mod gemini;
pub mod json;
pub mod opencode;
pub mod qwen;
pub mod replay;
pub mod text;

use glee_model::domain::Profile;
use glee_store::config::programs;

/// The shipped profile of a program with an adapter of its own.
fn known(name: &str) -> &'static Profile {
    programs::known(name).expect("each adapter's program is one of the known programs")
}
