//! Detects findings of the same problem: word vectors, phrases, groups, identity.

pub(crate) mod groups;
pub mod identity;
pub(crate) mod phrases;
pub(crate) mod vectors;
