//! Votes of three voters, and the panel of judges that applies the same rules.

pub mod panel;
pub mod vote;
