//! Plans what has to be published.

use crate::hosts::{Check, CommentId, NewComment, Thread};
use crate::workflows::pull_request::input::RequestReview;

/// What has to be published, in the order of the fields. Empty fields mean that there is nothing to publish.
#[derive(Clone, Debug, PartialEq)]
pub struct Publication {
    pub comments: Vec<NewComment>,
    /// The changes in existing threads, to be applied in this order.
    pub threads: Vec<ThreadChange>,
    pub summary: Option<SummaryChange>,
    pub check: Check,
    /// Notices for the user of the command, one line each.
    pub notices: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ThreadChange {
    Reply { thread: Thread, body: String },
    Resolve { thread: Thread, is_resolved: bool },
}

#[derive(Clone, Debug, PartialEq)]
pub struct SummaryChange {
    /// The summary comment, if it exists.
    pub existing: Option<CommentId>,
    pub body: String,
}

impl Publication {
    /// Whether the conversation already contains everything. The check is published in any case.
    pub fn is_empty(&self) -> bool {
        self.comments.is_empty() && self.threads.is_empty() && self.summary.is_none()
    }
}

/// Plans the publication of a review. The plan depends only on the input: after the plan is applied and the
/// conversation is read again, the next plan is empty.
pub fn plan(review: &RequestReview<'_>) -> Publication {
    let _ = review;
    unreachable!("the plan follows in the next commit")
}
