//! Finds a program, its version and its flags, and checks that it keeps to its contract.

pub mod check;
pub(crate) mod executable;
pub mod locate;
pub mod program;
pub(crate) mod version;
