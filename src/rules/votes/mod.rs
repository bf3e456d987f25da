//! Voting: three voters, and the panel of judges that uses their rules.

pub mod panel;
pub mod vote;
