//! What surrounds the command-line parser: errors in Glee's words, help texts that fit the screen.

pub(crate) mod help;
pub(crate) mod usage;
