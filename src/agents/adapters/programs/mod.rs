//! Contains the adapters, with one file per program or protocol.

pub(crate) mod acp;
pub(crate) mod builtin;
pub(crate) mod claude;
pub(crate) mod codex;
pub(crate) mod copilot;
pub(crate) mod gemini;
pub(crate) mod json;
pub(crate) mod opencode;
pub(crate) mod qwen;
pub mod replay;
pub(crate) mod text;
