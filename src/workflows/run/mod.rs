//! What all workflows share.
//!
//! `runner` records events and prepares calls; `call` makes one call of an agent, `answers` reads its output;
//! `write_guard` compares the tree before and after; `redaction` takes out secrets; `ports` are the listeners and
//! persons that a caller supplies; `error` is why a run fails.

pub(crate) mod answers;
pub(crate) mod call;
pub(crate) mod error;
pub mod ports;
pub(crate) mod redaction;
pub(crate) mod runner;
pub(crate) mod write_guard;
