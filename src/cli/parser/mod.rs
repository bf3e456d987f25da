//! Converts errors of the command-line parser to Glee's errors, and fits help texts to the screen.

pub(crate) mod complete;
pub(crate) mod help;
pub(crate) mod overview;
pub(crate) mod usage;
