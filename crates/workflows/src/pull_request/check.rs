//! The check on the head commit.

use crate::hosts::{Check, CheckState};
use crate::pull_request::input::RequestReview;
use crate::pull_request::standing::RequestStanding;
use glee_model::domain::{DisputeNumber, ExitReason};
use glee_store::config::choices::PrMode;

/// How many mandatory findings and how many disputes prevent a clean outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Blocking {
    /// The number of groups with a mandatory finding that is open and does not wait for a person.
    pub open: usize,
    /// The number of disputes that wait for a judge or a person.
    pub disputes: usize,
}

impl Blocking {
    pub(super) fn of(review: &RequestReview<'_>) -> Self {
        let mut blocking = Self::default();
        for group in review.outcome.groups() {
            let mut is_open = false;
            let mut disputes: Vec<Option<DisputeNumber>> = Vec::new();
            for settled in group.iter().filter(|settled| settled.finding.mandatory) {
                match RequestStanding::of(review, settled) {
                    RequestStanding::Open | RequestStanding::Enforced(_) => {
                        is_open |= !settled.state.is_closed();
                    }
                    RequestStanding::Escalated(_) | RequestStanding::Undecided => {
                        let number = review.dispute_of(settled);
                        if !disputes.contains(&number) {
                            disputes.push(number);
                        }
                    }
                    RequestStanding::Closed(_) | RequestStanding::Quiet => {}
                }
            }
            blocking.open += usize::from(is_open);
            blocking.disputes += disputes.len();
        }
        blocking
    }

    pub(super) fn is_none(self) -> bool {
        self == Self::default()
    }
}

/// Decides the state of the check. The check is neutral if the review has no result, or if there is nothing to review. The check succeeds under
/// two conditions: no mandatory finding is open or in dispute, and the commands of `review.verify` pass. A check
/// that does not succeed fails in the mode `enforce`, and is neutral in the mode `warn`.
pub(super) fn check(review: &RequestReview<'_>, title: String, summary: String) -> Check {
    let blocking = Blocking::of(review);
    let was_blocked = review
        .outcome
        .findings
        .iter()
        .any(glee_model::domain::SettledFinding::blocks)
        || review
            .outcome
            .disputes
            .iter()
            .any(glee_model::domain::Dispute::is_open);
    // If no finding or dispute is open, the exit reason `FindingsOpen` means that a command of `review.verify`
    // failed.
    let fails_verification = review.outcome.exit == ExitReason::FindingsOpen && !was_blocked;
    let state = match review.settings.mode {
        _ if !review.is_conclusive() => CheckState::Neutral,
        _ if blocking.is_none() && review.outcome.nothing_to_review().is_some() => {
            CheckState::Neutral
        }
        _ if blocking.is_none() && !fails_verification => CheckState::Success,
        PrMode::Enforce => CheckState::Failure,
        PrMode::Warn => CheckState::Neutral,
    };
    Check {
        state,
        title,
        summary,
    }
}
