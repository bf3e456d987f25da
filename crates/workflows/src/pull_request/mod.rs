//! Publishes a review on a pull request, and settles disputes in its conversation.
//!
//! All functions are pure. [`replies()`] returns what people said to Glee, and [`plan`] returns what has to be
//! published. What has been published is recorded only in the conversation on the host. Hidden markers in Glee's
//! comments record what Glee has already published (see `marker`). If a publication stops early, the next plan
//! contains exactly the missing parts.
//!
//! The module `threads` finds the thread of each finding. `standing` computes the state of a finding after all
//! disputes. `statements` computes the changes that a thread needs. `placement` finds the lines of a new comment.
//! `text` contains the bodies of all comments.

mod check;
mod doubled;
mod input;
mod marker;
mod placement;
mod publication;
mod replies;
mod standing;
mod statements;
#[cfg(test)]
mod tests;
mod text;
mod threads;

pub use input::{RequestDispute, RequestReview};
pub use marker::{RequestRulings, posted, rulings};
pub use publication::{Publication, SummaryChange, plan};
pub use replies::{PersonRuling, RefusedRuling, Replies, ReplyObjection, replies};
pub use statements::ThreadChange;
