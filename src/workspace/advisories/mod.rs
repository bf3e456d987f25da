//! Security advisories: parses lock files, queries the OSV database, and checks findings against both.

pub mod check;
pub(crate) mod lockfiles;
pub(crate) mod osv;
