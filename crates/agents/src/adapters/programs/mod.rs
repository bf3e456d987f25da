//! Contains the adapters, with one file per program or protocol.

pub mod acp;
pub mod address;
pub mod builtin;
pub mod claude;
pub mod codex;
pub mod copilot;
pub mod gemini;
pub mod json;
pub mod opencode;
pub mod qwen;
pub mod replay;
pub mod text;
