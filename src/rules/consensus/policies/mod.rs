//! The policies that accept, reject or dispute a group of findings.

pub(crate) mod panel;
pub(crate) mod specification;
