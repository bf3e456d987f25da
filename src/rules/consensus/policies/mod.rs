//! The policies that decide a group of claims.

pub(crate) mod panel;
pub(crate) mod specification;
