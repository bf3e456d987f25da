//! The input of all decisions about a pull request.

use crate::hosts::{ChangedFile, Conversation, HostKind, PullRequest};
use glee_model::domain::{
    Dispute, DisputeNumber, ExitReason, FindingId, FindingState, Outcome, SettledFinding,
    SharedRuling,
};
use glee_store::config::settings::PrSettings;

/// A pull request, its conversation as the host returns it, and the review of its head commit.
#[derive(Clone, Copy)]
pub struct RequestReview<'a> {
    pub host: HostKind,
    pub request: &'a PullRequest,
    pub files: &'a [ChangedFile],
    pub conversation: &'a Conversation,
    pub outcome: &'a Outcome,
    /// The disputes about the findings of the outcome. Some of these disputes were opened or settled after the
    /// review. Others come from earlier runs. A dispute in this list takes precedence over the finding's state in
    /// the outcome. The list contains at most one dispute for each finding.
    pub disputes: &'a [RequestDispute],
    pub settings: &'a PrSettings,
    /// Returns the text of a file at the head commit. Returns `None` if the file does not exist or is not text.
    pub text_of: &'a dyn Fn(&str) -> Option<String>,
}

/// A dispute about a finding of the outcome.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestDispute {
    /// The id of the finding in the outcome. The finding in `dispute` can have another id, from an earlier run.
    pub finding: FindingId,
    pub dispute: Dispute,
    /// The ruling that Glee writes to a hidden marker. A run without access to the history reads the ruling from
    /// this marker. `None` while the dispute is open. `by.person` is the login name of the person who ruled, if
    /// a person ruled.
    pub shared: Option<SharedRuling>,
    /// Whether the current run settled or escalated the dispute. In this case, the judge's ruling is the reply to
    /// all objections and to all rulings by people in the thread.
    pub is_new: bool,
}

impl RequestReview<'_> {
    /// The number of the dispute about a finding.
    pub fn dispute_of(&self, settled: &SettledFinding) -> Option<DisputeNumber> {
        let mut known = self.disputes.iter();
        let known = known.find(|known| known.finding == settled.finding.id);
        match (known, &settled.state) {
            (Some(known), _) => Some(known.dispute.number),
            (None, FindingState::Disputed { dispute }) => Some(*dispute),
            (None, _) => None,
        }
    }

    /// Whether the review has a result. A result requires answers from a quorum of the reviewers, not from all
    /// reviewers.
    pub fn is_conclusive(&self) -> bool {
        matches!(
            self.outcome.exit,
            ExitReason::Clean | ExitReason::FindingsOpen | ExitReason::DisputeOpen
        )
    }

    /// Whether the review has a result, and all reviewers answered completely.
    pub fn is_complete(&self) -> bool {
        let mut reviewers = self.outcome.proof.reviewers.iter();
        self.is_conclusive()
            && reviewers.all(|reviewer| reviewer.status.is_complete() && reviewer.failure.is_none())
    }
}
