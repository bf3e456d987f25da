//! Agents: the adapter trait with one match over the adapters, and the one file that spawns processes.

pub mod adapter;
