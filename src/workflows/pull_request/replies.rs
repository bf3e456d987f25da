//! What people said to Glee in its threads.

use crate::domain::{FindingId, RulingWord, Untrusted};
use crate::hosts::{CommentId, ThreadId};
use crate::workflows::pull_request::input::RequestReview;

/// The replies that Glee has not answered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Replies {
    /// At most one for each thread. A thread with a ruling has no objection.
    pub objections: Vec<ReplyObjection>,
    /// At most one for each thread: the last ruling of a person who is allowed to rule.
    pub rulings: Vec<PersonRuling>,
    pub refusals: Vec<RefusedRuling>,
    /// The number of comments by bots and by people who do not belong to the repository.
    pub ignored: usize,
}

/// All objections in one thread of an open mandatory finding. A judge has to rule on them.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplyObjection {
    pub thread: ThreadId,
    /// The id of the finding in the outcome.
    pub finding: FindingId,
    /// The comments that contain the objections, the oldest first.
    pub comments: Vec<CommentId>,
    /// The login names of the people who object, without repetitions.
    pub by: Vec<String>,
    pub text: Untrusted,
    /// Locations of the form `path:line` in the text.
    pub evidence: Vec<Untrusted>,
    /// Whether a ruling enforces the finding, so that the objection requests another ruling.
    pub is_reopening: bool,
}

/// The ruling of a person who is allowed to rule.
#[derive(Clone, Debug, PartialEq)]
pub struct PersonRuling {
    pub thread: ThreadId,
    /// The id of the finding in the outcome.
    pub finding: FindingId,
    pub comment: CommentId,
    /// The login name.
    pub by: String,
    /// `Enforce` or `Dismiss`.
    pub word: RulingWord,
    /// The reason can be empty.
    pub reason: Untrusted,
}

/// A command that is not carried out.
#[derive(Clone, Debug, PartialEq)]
pub struct RefusedRuling {
    pub thread: ThreadId,
    pub comment: CommentId,
    /// The login name.
    pub by: String,
    /// The reason in one sentence, without a full stop.
    pub why: &'static str,
}

/// Reads what people said to Glee since its last answers.
pub fn replies(review: &RequestReview<'_>) -> Replies {
    let _ = review;
    Replies::default()
}
