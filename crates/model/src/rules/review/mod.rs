//! The rules of a review: mandatory findings, coder selection, the progress of a finding, objections, rulings, grounds and
//! the exit status.

pub mod coder_selection;
pub mod demonstrations;
pub mod exit_status;
pub mod ground;
pub mod mandatory;
pub mod objections;
pub mod progress;
pub mod reversal;
pub mod rulings;
