//! Votes of three voters, and the panel of judges that uses the same rules.

pub mod panel;
pub mod vote;
