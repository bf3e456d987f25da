//! Agents: the adapter trait with one match over the adapters, and the one file that spawns processes.
//!
//! A newcomer adds an agent as one file beside these and one arm in [`kind`].

pub mod adapter;
pub mod ask;
pub mod builtin;
pub mod command;
pub mod environment;
pub mod failure;
pub mod heads;
pub mod kind;
pub mod locate;
pub mod own_process;
pub mod probe;
pub mod process;
pub mod program;
pub mod replay;
pub mod sandbox;
pub mod schema;
#[cfg(test)]
pub(crate) mod scripted;
pub mod stop;
pub mod supervise;
pub mod talk;

mod acp;
mod blame;
mod claude;
mod clock;
mod codex;
mod cooldown;
mod copilot;
mod detect;
mod effort;
mod gemini;
mod json;
mod memory;
mod opencode;
mod orphans;
pub mod price;
mod qwen;
mod record;
#[cfg(test)]
mod recorded;
mod reset;
mod retry;
#[cfg(test)]
mod roles;
mod runnable;
#[cfg(test)]
pub(crate) mod samples;
mod spool;
mod steady;
mod stream;
mod strict;
mod text;

pub use adapter::AnswerText;
pub use ask::{Agents, Ask, Asked, Session, TranscriptFiles};
pub use command::CommandInput;
pub use cooldown::Cooldown;
pub use kind::AdapterKind;
pub use process::{ProcessRunner, Runner};
pub use stop::{Stop, StopHandle};
