//! The parts of a review at work: its engine, the steps that take time, and what they return.

use std::collections::BTreeSet;
use std::pin::Pin;

use tracing::Span;

use crate::agents::calls::project_commands::CheckResult;
use crate::domain::event::CallId;
use crate::domain::{DisputeNumber, RulingWord};
use crate::history::queries::rows::Binding;
use crate::workflows::review::code::scripts::Scripts;
use crate::workflows::review::code::sources::Sources;
use crate::workflows::review::recorded::reuse::ReviewerKeys;
use crate::workflows::review::schedule::ReviewStep;
use crate::workflows::review::state::ReviewState;
use crate::workflows::run::call::CallOutcome;
use crate::workflows::run::ports::{Choice, DisputeResolver, PersonAnswer};
use crate::workflows::run::runner::Runner;

pub(crate) struct ReviewEngine {
    pub(crate) runner: Runner,
    pub(crate) sources: Sources,
    /// What agents are started with out of the tree.
    pub(crate) scripts: Scripts,
    pub(crate) state: ReviewState,
    /// What earlier disputes say, as it stood when the round began.
    pub(crate) bindings: Vec<Binding>,
    /// The rulings that are shared as files, as they stand at the base of the change.
    pub(crate) shared: Vec<Binding>,
    /// The files of shared rulings that do not bind, in a line, until that is told.
    pub(crate) unread: Option<String>,
    /// Who the reviewers are and how they are asked.
    pub(crate) askers: ReviewerKeys,
    pub(crate) decider: Option<Box<dyn DisputeResolver>>,
    /// The disputes that are settled, and nothing else is done; `None` where the run goes on as a whole.
    pub(crate) only: Option<BTreeSet<DisputeNumber>>,
    /// The disputes that have to be looked at; `None` where everything has to be.
    pub(crate) docket: Option<DisputeQueue>,
    pub(crate) round: Option<(u32, Span)>,
}

pub(crate) enum Done {
    Called { call: CallId, called: Box<CallOutcome> },
    Chosen { dispute: DisputeNumber, choice: Option<Choice>, decider: Box<dyn DisputeResolver> },
    Ruled { dispute: DisputeNumber, ruling: PersonAnswer<RulingWord>, decider: Box<dyn DisputeResolver> },
    Verified { round: u32, results: Vec<(String, CheckResult)> },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    Ended,
    /// It was stopped from outside and can be carried on.
    Stopped,
    /// What it may cost is used up; it can be carried on with more.
    OverBudget,
}

pub(crate) type PendingStep = Pin<Box<dyn Future<Output = (ReviewStep, Done)>>>;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DisputeQueue {
    /// Something happened to them since they were looked at.
    pub(crate) touched: BTreeSet<DisputeNumber>,
    /// Their judges wait for a free place.
    pub(crate) queued: BTreeSet<DisputeNumber>,
    /// They wait for a person, who answers one question at a time.
    pub(crate) asking: BTreeSet<DisputeNumber>,
}
