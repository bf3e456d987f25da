//! The standing of a finding, after all disputes about it.

use crate::pull_request::input::{RequestDispute, RequestReview};
use glee_model::domain::{
    Disposition, Dispute, FindingState, Route, RulingRecord, SettledFinding, SharedRuling,
    Untrusted,
};

#[derive(Clone, Copy, Debug)]
pub(crate) enum RequestStanding<'a> {
    Open,
    /// The dispute waits for a judge, for example because the judge failed.
    Undecided,
    /// The dispute waits for a person.
    Escalated(KnownDecision<'a>),
    Enforced(KnownDecision<'a>),
    Closed(KnownDecision<'a>),
    /// Reviewers rejected the finding, or a coder fixed the finding in the work tree.
    Quiet,
}

/// A decision about a finding. A field is `None` if the value is not recorded.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct KnownDecision<'a> {
    pub disposition: Option<&'a Disposition>,
    pub record: Option<&'a RulingRecord>,
    pub shared: Option<&'a SharedRuling>,
    /// The reason that an earlier run recorded for its ruling.
    pub rationale: Option<&'a Untrusted>,
    pub is_new: bool,
}

impl<'a> RequestStanding<'a> {
    pub(super) fn of(review: &RequestReview<'a>, settled: &'a SettledFinding) -> Self {
        match review
            .disputes
            .iter()
            .find(|dispute| dispute.finding == settled.finding.id)
        {
            Some(dispute) => Self::disputed(dispute),
            None => Self::before(review, settled),
        }
    }

    /// Ignores the disputes that the current run settled or escalated.
    pub(super) fn earlier(review: &RequestReview<'a>, settled: &'a SettledFinding) -> Self {
        let mut disputes = review.disputes.iter().filter(|dispute| !dispute.is_new);
        match disputes.find(|dispute| dispute.finding == settled.finding.id) {
            Some(dispute) => Self::disputed(dispute),
            None => Self::before(review, settled),
        }
    }

    fn disputed(known: &'a RequestDispute) -> Self {
        let decision = KnownDecision {
            shared: known.shared.as_ref(),
            is_new: known.is_new,
            ..KnownDecision::of(&known.dispute)
        };
        match &known.dispute.disposition {
            Some(disposition) if disposition.closes() => Self::Closed(decision),
            Some(_) => Self::Enforced(decision),
            None if decision.record.is_some() || known.dispute.route == Some(Route::Human) => {
                Self::Escalated(decision)
            }
            None => Self::Undecided,
        }
    }

    fn before(review: &RequestReview<'a>, settled: &'a SettledFinding) -> Self {
        let known = review
            .outcome
            .dispute_of(settled)
            .map(KnownDecision::of)
            .unwrap_or_default();
        match &settled.state {
            FindingState::Resolved | FindingState::Unchecked => Self::Quiet,
            FindingState::Disputed { .. } => Self::Escalated(known),
            FindingState::Enforced { .. } => Self::Enforced(known),
            FindingState::Dismissed { .. } | FindingState::Discarded => Self::Closed(known),
            FindingState::AlreadyRuled {
                dispute,
                disposition,
            } => {
                let earlier = settled
                    .earlier
                    .iter()
                    .find(|earlier| earlier.dispute == *dispute);
                let rationale = earlier.map(|earlier| &earlier.rationale);
                let decision = KnownDecision {
                    disposition: Some(disposition),
                    rationale,
                    ..known
                };
                if disposition.closes() {
                    Self::Closed(decision)
                } else {
                    Self::Enforced(decision)
                }
            }
            _ if settled.finding.is_rejected() => Self::Quiet,
            _ => Self::Open,
        }
    }

    /// Whether the finding still requires a change or a decision.
    pub(super) fn is_open(&self) -> bool {
        !matches!(self, Self::Closed(_) | Self::Quiet)
    }
}

impl<'a> KnownDecision<'a> {
    fn of(dispute: &'a Dispute) -> Self {
        Self {
            disposition: dispute.disposition.as_ref(),
            record: dispute.rulings.last(),
            ..Self::default()
        }
    }
}
