//! Policies that decide a group of findings.

pub(crate) mod panel;
pub(crate) mod specification;
