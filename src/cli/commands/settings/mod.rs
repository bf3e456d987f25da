//! Commands that read and change settings, trust and rules.

mod checks;
pub(crate) mod config;
pub(crate) mod doctor;
pub(crate) mod rules;
pub(crate) mod trust;
