//! Commands that read and change settings, trust, rules and hooks.

mod checks;
pub(crate) mod config;
pub(crate) mod doctor;
pub(crate) mod hook;
pub(crate) mod integrate;
pub(crate) mod rules;
pub(crate) mod server;
pub(crate) mod trust;
