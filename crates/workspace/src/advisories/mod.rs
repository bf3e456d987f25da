//! Security advisories: parses lock files, queries the OSV database, and checks findings about packages.

pub mod check;
pub(crate) mod lockfiles;
pub mod osv;
