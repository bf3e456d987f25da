//! Security advisories: lock files, the OSV database, and findings checked against both.

pub mod check;
pub(crate) mod lockfiles;
pub(crate) mod osv;
