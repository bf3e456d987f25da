//! Determines the exit reason of a run.

use crate::domain::{ExitReason, FindingState};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    pub mandatory: Vec<FindingState>,
    /// Whether a person must settle a new dispute, or an earlier dispute that recurred.
    pub dispute_open: bool,
    pub reviewers: u32,
    /// The number of reviewers that completed their answers.
    pub complete: u32,
    /// The required number of complete answers (`review.quorum`). `None` means that every reviewer must answer.
    pub quorum: Option<u32>,
    /// Whether findings or disputes are open because the coder or a judge failed.
    pub agent_failed: bool,
    /// Whether files changed during a call of a reviewer or judge.
    pub violated: bool,
    /// Whether an agent failed because of a rate limit or a used-up quota.
    pub exhausted: bool,
    /// Whether a verification command (`review.verify`) failed after the coder's edits.
    pub verify_failed: bool,
    /// Whether the review is incomplete because files were skipped. If `review.skipped` is `fail`, one skipped
    /// file makes the review incomplete. Otherwise, the review is incomplete only if all files were skipped.
    pub unread: bool,
}

/// Returns the most serious exit reason that applies (design 3.6). An incomplete review is never clean.
pub fn exit(facts: &Facts) -> ExitReason {
    let is_disputed = |state: &FindingState| matches!(state, FindingState::Disputed { .. });
    let needed = facts
        .quorum
        .unwrap_or(facts.reviewers)
        .min(facts.reviewers)
        .max(1);
    let failure = if facts.exhausted {
        ExitReason::Limited
    } else {
        ExitReason::AgentFailed
    };
    let reasons = [
        (
            facts.verify_failed
                || facts
                    .mandatory
                    .iter()
                    .any(|state| !state.is_closed() && !is_disputed(state)),
            ExitReason::FindingsOpen,
        ),
        (
            facts.dispute_open || facts.mandatory.iter().any(is_disputed),
            ExitReason::DisputeOpen,
        ),
        (facts.agent_failed || facts.complete < needed, failure),
        (facts.unread, ExitReason::AgentFailed),
        (facts.violated, ExitReason::ReadOnlyViolation),
    ];
    let reasons = reasons
        .into_iter()
        .filter(|(applies, _)| *applies)
        .map(|(_, reason)| reason);
    reasons.fold(ExitReason::Clean, ExitReason::strongest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::DisputeNumber;

    fn facts() -> Facts {
        Facts {
            reviewers: 2,
            complete: 2,
            ..Facts::default()
        }
    }

    #[test]
    fn the_table_of_exits() {
        let dispute = DisputeNumber(1);
        let rows = [
            (facts(), ExitReason::Clean),
            (
                Facts {
                    mandatory: vec![FindingState::Resolved],
                    ..facts()
                },
                ExitReason::Clean,
            ),
            (
                Facts {
                    mandatory: vec![FindingState::Claimed],
                    ..facts()
                },
                ExitReason::FindingsOpen,
            ),
            (
                Facts {
                    mandatory: vec![FindingState::Unanswered],
                    ..facts()
                },
                ExitReason::FindingsOpen,
            ),
            (
                Facts {
                    mandatory: vec![FindingState::Enforced { dispute }],
                    ..facts()
                },
                ExitReason::FindingsOpen,
            ),
            (
                Facts {
                    mandatory: vec![FindingState::Disputed { dispute }],
                    ..facts()
                },
                ExitReason::DisputeOpen,
            ),
            (
                Facts {
                    mandatory: vec![FindingState::Disputed { dispute }, FindingState::Open],
                    ..facts()
                },
                ExitReason::DisputeOpen,
            ),
            (
                Facts {
                    complete: 1,
                    ..facts()
                },
                ExitReason::AgentFailed,
            ),
            (
                Facts {
                    complete: 1,
                    quorum: Some(1),
                    ..facts()
                },
                ExitReason::Clean,
            ),
            (
                Facts {
                    complete: 0,
                    quorum: Some(0),
                    ..facts()
                },
                ExitReason::AgentFailed,
            ),
            (
                Facts {
                    agent_failed: true,
                    ..facts()
                },
                ExitReason::AgentFailed,
            ),
            (
                Facts {
                    violated: true,
                    complete: 1,
                    ..facts()
                },
                ExitReason::ReadOnlyViolation,
            ),
            (
                Facts {
                    agent_failed: true,
                    exhausted: true,
                    ..facts()
                },
                ExitReason::Limited,
            ),
            (
                Facts {
                    complete: 1,
                    exhausted: true,
                    ..facts()
                },
                ExitReason::Limited,
            ),
            (
                Facts {
                    exhausted: true,
                    ..facts()
                },
                ExitReason::Clean,
            ),
            (
                Facts {
                    verify_failed: true,
                    ..facts()
                },
                ExitReason::FindingsOpen,
            ),
            (
                Facts {
                    unread: true,
                    verify_failed: true,
                    ..facts()
                },
                ExitReason::AgentFailed,
            ),
            (
                Facts {
                    unread: true,
                    violated: true,
                    ..facts()
                },
                ExitReason::ReadOnlyViolation,
            ),
        ];
        for (facts, expected) in rows {
            assert_eq!(exit(&facts), expected, "{facts:?}");
        }
    }
}
