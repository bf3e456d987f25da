//! Detects findings that report the same problem. The modules are word vectors, phrases, groups and identity.

pub(crate) mod groups;
pub mod identity;
pub(crate) mod phrases;
pub(crate) mod vectors;
