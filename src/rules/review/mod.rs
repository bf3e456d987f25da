//! The rules of a review: which findings bind, what an answer of the coder amounts to, and the exit status.

pub mod coder_selection;
pub mod exit_status;
pub mod mandatory;
pub mod objections;
pub mod reversal;
pub mod rulings;
