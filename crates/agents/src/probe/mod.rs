//! Finds the program of an agent, reads its version and flags, and checks that the agent respects its role.

pub mod check;
pub mod executable;
pub mod locate;
pub mod login;
pub mod program;
pub mod version;
