//! Which findings mean the same: vectors over their words, phrases, groups, identity.

pub(crate) mod groups;
pub mod identity;
pub(crate) mod phrases;
pub(crate) mod vectors;
