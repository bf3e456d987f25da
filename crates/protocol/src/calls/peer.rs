//! The call in which a reviewer reviews a cycle of a watch.

use jiff::Timestamp;

use crate::calls::prelude::*;
use crate::prompts::fence::in_json;
use crate::replies::peer_review;
use glee_model::domain::{ReviewRequest, Verdict};

/// Review the work that other agents did since the last cycle of a watch (role reviewer). The answer is a
/// `review_result`: a JSON object with `nonce`, `type`, `reviewer` and `payload`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct PeerCall {
    /// The review request, in the format of the specification.
    pub request: ReviewRequest,
    /// The unified diff of the tree since the last cycle, possibly truncated.
    pub changes: Untrusted,
    /// Issues that a person closed, and that reviewers must not raise again.
    pub closed: Vec<Untrusted>,
}

impl CallKind for PeerCall {
    const ABOUT: AboutKind = AboutKind {
        name: "peer",
        role: Role::Reviewer,
        template: include_str!("peer.md"),
        form: Some(JsonForm::whole::<PeerReply>(
            "peer",
            "A reviewer's answer to a review request of a watch",
        )),
    };

    fn context(&self, fence: &DataFence<'_>) -> Value {
        let Self {
            request,
            changes,
            closed,
        } = self;
        let changes = (!changes.is_blank()).then_some(changes);
        let closed = (!closed.is_empty()).then(|| Untrusted::joined(closed, "\n"));
        json!({
            "request": fence.around("review request", &serde_json::to_string_pretty(request).unwrap_or_default()),
            "targets": fence.names(&request.targets),
            "areas": list(&request.focus_areas, |area| fence.line(area).into()),
            "max_words": request.max_words,
            "concerns": !request.open_concerns.is_empty(),
            "changes": fence.maybe("changes", changes),
            "closed": fence.maybe("closed issues", closed.as_ref()),
        })
    }

    fn closing(&self, nonce: &str) -> String {
        in_json(nonce)
    }

    fn read(&self, answer: impl BufRead, nonce: &str) -> io::Result<CallAnswer> {
        let read = peer_review::parse(answer, Some(nonce), &self.request, Timestamp::now())?;
        Ok(valid(read, |review| CallAnswer::Peer {
            review: Box::new(review),
        }))
    }
}

/// A reviewer's answer in a cycle of a watch.
#[derive(JsonSchema)]
pub struct PeerReply {
    /// The nonce of the request.
    pub nonce: String,
    /// Always `review_result`.
    #[serde(rename = "type")]
    pub form: PeerForm,
    /// The name of the reviewer.
    pub reviewer: String,
    /// The time of the review. If the time is missing, Glee uses the current time.
    pub timestamp: Option<String>,
    /// The review.
    pub payload: PeerPayload,
}

/// The value of `type` in a [`PeerReply`].
#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PeerForm {
    /// The only value.
    ReviewResult,
}

/// The review in a [`PeerReply`].
#[derive(JsonSchema)]
pub struct PeerPayload {
    /// The verdict.
    pub verdict: Verdict,
    /// The review in a few sentences.
    pub summary: String,
    /// The issues. A review without issues has the verdict `approved`. A review with this verdict has no critical
    /// or high issue.
    pub issues: Vec<PeerReplyIssue>,
}

/// One issue in a [`PeerPayload`].
#[derive(JsonSchema)]
pub struct PeerReplyIssue {
    /// `critical`, `high`, `medium` or `low`.
    pub severity: String,
    /// The problem and the proposed solution.
    pub description: String,
    /// The path in the tree.
    pub file: Option<String>,
}
