//! The engine of a run: plan, state, what is due, and one file a stage.

pub mod ports;
