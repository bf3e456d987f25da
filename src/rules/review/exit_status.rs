//! Which exit reason a run ends with.

use crate::domain::{ExitReason, FindingState};

/// What a run left behind, as far as the exit code is concerned.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    pub mandatory: Vec<FindingState>,
    /// Whether a dispute of this run, or an earlier one that a finding repeats, waits for a person.
    pub dispute_open: bool,
    /// How many reviewers were asked.
    pub reviewers: u32,
    /// How many of them answered completely.
    pub complete: u32,
    /// `review.quorum`: how many must have; `None` is all.
    pub quorum: Option<u32>,
    /// Whether the coder or a judge failed and what it was to settle is still open.
    pub agent_failed: bool,
    /// Whether an agent that may only read may have written.
    pub violated: bool,
    /// Whether one of those that failed or did not answer was over its limits, so that the run may be carried on later.
    pub exhausted: bool,
    /// Whether a command of `review.verify` failed on the coder's edits.
    pub verify_failed: bool,
    /// Whether files could not be reviewed and `review.skipped` is `fail`, or nothing could be.
    pub unread: bool,
}

/// The strongest reason (design 3.6); "could not review" is never clean.
pub fn exit(facts: &Facts) -> ExitReason {
    let mut reason = ExitReason::Clean;
    let blocking = |state: &FindingState| !state.is_closed() && !matches!(state, FindingState::Disputed { .. });
    if facts.verify_failed || facts.mandatory.iter().any(blocking) {
        reason = reason.strongest(ExitReason::FindingsOpen);
    }
    if facts.dispute_open || facts.mandatory.iter().any(|state| matches!(state, FindingState::Disputed { .. })) {
        reason = reason.strongest(ExitReason::DisputeOpen);
    }
    let needed = facts.quorum.unwrap_or(facts.reviewers).min(facts.reviewers).max(1);
    if facts.agent_failed || facts.complete < needed {
        let failed = if facts.exhausted { ExitReason::Budget } else { ExitReason::AgentFailed };
        reason = reason.strongest(failed);
    }
    if facts.unread {
        reason = reason.strongest(ExitReason::AgentFailed);
    }
    if facts.violated {
        reason = reason.strongest(ExitReason::ReadOnlyViolation);
    }
    reason
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::DisputeNumber;

    fn facts() -> Facts {
        Facts { reviewers: 2, complete: 2, ..Facts::default() }
    }

    #[test]
    fn the_table_of_exits() {
        let dispute = DisputeNumber(1);
        let rows = [
            (facts(), ExitReason::Clean),
            (Facts { mandatory: vec![FindingState::Resolved], ..facts() }, ExitReason::Clean),
            (Facts { mandatory: vec![FindingState::Claimed], ..facts() }, ExitReason::FindingsOpen),
            (Facts { mandatory: vec![FindingState::Unanswered], ..facts() }, ExitReason::FindingsOpen),
            (Facts { mandatory: vec![FindingState::Enforced { dispute }], ..facts() }, ExitReason::FindingsOpen),
            (Facts { mandatory: vec![FindingState::Disputed { dispute }], ..facts() }, ExitReason::DisputeOpen),
            (
                Facts { mandatory: vec![FindingState::Disputed { dispute }, FindingState::Open], ..facts() },
                ExitReason::DisputeOpen,
            ),
            (Facts { complete: 1, ..facts() }, ExitReason::AgentFailed),
            (Facts { complete: 1, quorum: Some(1), ..facts() }, ExitReason::Clean),
            (Facts { complete: 0, quorum: Some(0), ..facts() }, ExitReason::AgentFailed),
            (Facts { agent_failed: true, ..facts() }, ExitReason::AgentFailed),
            (Facts { violated: true, complete: 1, ..facts() }, ExitReason::ReadOnlyViolation),
            (Facts { agent_failed: true, exhausted: true, ..facts() }, ExitReason::Budget),
            (Facts { complete: 1, exhausted: true, ..facts() }, ExitReason::Budget),
            (Facts { exhausted: true, ..facts() }, ExitReason::Clean),
            (Facts { verify_failed: true, ..facts() }, ExitReason::FindingsOpen),
            (Facts { unread: true, verify_failed: true, ..facts() }, ExitReason::AgentFailed),
            (Facts { unread: true, violated: true, ..facts() }, ExitReason::ReadOnlyViolation),
        ];
        for (facts, expected) in rows {
            assert_eq!(exit(&facts), expected, "{facts:?}");
        }
    }
}
