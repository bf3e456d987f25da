//! The terms of the specification, and the decisions about them. Nothing here reads a file, a clock or a process.
//!
//! **Rules are pure functions.** [`rules`] decides which findings are mandatory, which are disputed, and how votes
//! are counted. Its tests check it against the tables of the specification.
//!
//! **Text from files and agents is untrusted.** It cannot choose a program, forge a verdict, refer to a path outside
//! the tree, or reach a terminal unescaped: its type [`domain::Untrusted`] does not implement `Display`.

pub mod domain;
pub mod rules;
