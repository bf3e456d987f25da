//! What surrounds the command-line parser: errors in Glee's words, help texts that fit the
//! screen, and completions in the shell.

pub(crate) mod complete;
pub(crate) mod help;
pub(crate) mod usage;
