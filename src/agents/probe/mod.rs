//! Finds a program, its version and its flags, and checks that it respects its role.

pub mod check;
pub(crate) mod executable;
pub mod locate;
pub mod program;
pub(crate) mod version;
