//! The policies that accept, reject or dispute a group of findings.

pub(super) mod panel;
pub(super) mod specification;
