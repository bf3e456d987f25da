//! The steps of a review.

use crate::review::state::{RecordedCall, ReviewState};
use crate::run::attempts;
use crate::run::workflow::Step;
use glee_model::domain::event::{CallId, Mode, Purpose};
use glee_model::domain::{AgentName, DisputeNumber, Route, TestedTree};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReviewEffect {
    /// Merges the findings of the round. The first merge of a round records the pairs that the aggregator is asked
    /// about, if there are any. The same applies to the conclusion of a debate.
    Merge {
        round: u32,
    },
    /// Binds a finding to an earlier dispute if an agent recognised the finding as a repetition of the dispute.
    Recognise {
        round: u32,
    },
    DebateRound {
        round: u32,
        debate_round: u32,
    },
    Conclude {
        round: u32,
    },
    /// Stores a snapshot of the tree before the coder's first call.
    Keep,
    RecordTree(CallId),
    /// Opens all disputes that are due, in one transaction that also assigns their numbers.
    OpenDisputes,
    /// Continues the open disputes of earlier runs that findings of this run repeat.
    CarryOn,
    /// Routes a dispute to the judge or, if the run has no judge, to a person.
    Send(DisputeNumber),
    Rule(DisputeNumber),
    /// Settles disputes, in one transaction.
    Settle(Vec<DisputeNumber>),
    /// Records what the coder replied to a person.
    Reply(DisputeNumber),
    /// Runs the next demonstration that is due on a tree.
    Demonstrate(TestedTree),
    /// Records the findings that do not block, because no demonstration shows them.
    Undemonstrated,
    Verify {
        round: u32,
    },
    NextRound {
        round: u32,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DisputeQuestion {
    Route(DisputeNumber),
    Ruling(DisputeNumber),
}

pub(crate) type ReviewStep = Step<ReviewEffect, DisputeQuestion>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchedulePolicy {
    pub mode: Mode,
    pub recheck: bool,
    /// Whether agents are asked about findings that may be the same.
    pub compare: bool,
    pub rounds: u32,
    pub verify: usize,
    /// If a `review.verify` command fails, at most this number of repair calls is made per round.
    pub repairs: u32,
    pub escalate_to: Route,
}

pub(super) fn ask(
    state: &ReviewState,
    agent: &AgentName,
    purpose: Purpose,
    is_lacking: impl Fn(&RecordedCall) -> bool,
) -> Option<ReviewStep> {
    attempts::next(&state.calls, agent, purpose, 2, is_lacking).map(Step::Ask)
}

pub(super) fn is_invalid(call: &RecordedCall) -> bool {
    attempts::is_invalid(&call.answer)
}
