//! Finding out what a program is: where it lies, its version, whether it keeps to its contract.

pub mod check;
pub(crate) mod executable;
pub mod locate;
pub mod program;
pub(crate) mod version;
