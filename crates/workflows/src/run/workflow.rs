//! The trait of a workflow, such as a review, a stage or a watch.
//!
//! A workflow computes its next steps and requests from its state. The runner runs the steps (see
//! [`runner`](crate::run::runner)).

use std::pin::Pin;

use tracing::Span;

use crate::run::call::Made;
use crate::run::error::RunError;
use crate::run::resources::RunResources;
use crate::run::write_guard::{Observation, WriteCheck};
use glee_agents::{Call, CallOutcome};
use glee_model::domain::event::{CallAnswer, CallId, Event, EventKind};
use glee_model::domain::{RunId, Spent};

pub(crate) type Pending<T> = Pin<Box<dyn Future<Output = T>>>;

#[derive(Clone, Debug, PartialEq)]
pub enum Step<E, Q> {
    Ask(CallId),
    /// Record this event. The step needs no access to the tree or the history.
    Record(Box<EventKind>),
    /// Perform a side effect, such as an access to the tree or the history, and record the result of the effect.
    Effect(E),
    Prompt(Q),
    /// Record the end of the run when no other step is due.
    Finish,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    Ended,
    /// A signal or a person stopped the run, but the run can be resumed.
    Stopped,
    /// The budget is used up. The run can be resumed with a larger budget.
    OverBudget,
}

/// The result of preparing a call: the call, or an answer that replaces it.
pub enum Prepared {
    Call(Box<Call>),
    /// A call that the workflow refuses. The runner records the given answer and the start of the call, but does
    /// not call the agent.
    Refused(Box<Call>, CallAnswer),
    Answered(CallAnswer),
}

pub trait Workflow: Sized {
    type Effect: Clone + PartialEq + 'static;
    type Question: Clone + PartialEq + 'static;
    /// A pending effect's result, a person's answer, or external input.
    type Input: 'static;

    fn resources(&self) -> &RunResources;
    fn resources_mut(&mut self) -> &mut RunResources;
    fn apply(&mut self, event: &Event);
    fn spent(&self) -> &Spent;

    /// Returns the due steps, which the runner runs concurrently.
    fn next(&self) -> Vec<Step<Self::Effect, Self::Question>>;
    /// Prepares a call. The runner sets the call's limits.
    fn request(&mut self, call: &CallId) -> Result<Prepared, RunError>;
    /// Performs an effect at once, or returns a future that performs the effect.
    fn effect(&mut self, effect: &Self::Effect) -> Result<Option<Pending<Self::Input>>, RunError>;
    /// Asks a person. Returns `None` if no person can be asked now.
    fn prompt(&mut self, question: &Self::Question) -> Option<Pending<Self::Input>>;
    /// Records an input. Returns true if the run has to stop.
    fn take(&mut self, input: Self::Input, is_stopped: bool) -> Result<bool, RunError>;
    fn finish(&mut self) -> Result<(), RunError>;

    /// Returns events that have to be recorded in other runs because of the given event. The returned events are
    /// recorded in the same transaction as the given event.
    fn elsewhere(&self, _event: &EventKind) -> Vec<(RunId, EventKind)> {
        Vec::new()
    }

    /// Whether a read-only agent must leave the tree as it is.
    fn is_guarded(&self) -> bool {
        true
    }

    /// The log span of the round or cycle that makes a call.
    fn scope(&mut self) -> Span {
        Span::current()
    }

    fn make(&self, _id: &CallId, call: Call, check: Option<WriteCheck>) -> Pending<Made> {
        Box::pin(self.resources().make(call, check))
    }

    fn call_ended(
        &mut self,
        call: CallId,
        outcome: CallOutcome<CallAnswer>,
        observation: Option<Observation>,
        is_stopped: bool,
    ) -> Result<(), RunError> {
        let mut found = self.resources_mut().changes(&call, &outcome, observation)?;
        // Only a review reads files whose lines its findings name.
        found.stale.clear();
        self.append_all(RunResources::ended(call, outcome, &found, is_stopped))
    }

    /// Returns the answer that is recorded for a call if the budget does not permit the call. If the method
    /// returns `None`, the call waits until the run has a larger budget.
    fn over_budget(&self) -> Option<CallAnswer> {
        None
    }

    /// The runner calls this method once, when the run is stopped.
    fn stopping(&mut self) -> Result<(), RunError> {
        Ok(())
    }

    /// The runner calls this method before each wait for a result.
    fn waiting(&mut self) {}

    /// Whether the runner has to wait for external input even if no step is running.
    fn expects_input(&self) -> bool {
        false
    }

    /// Waits for external input. An implementation must be cancel-safe.
    #[expect(
        async_fn_in_trait,
        reason = "the runner awaits it in the thread that it runs in"
    )]
    async fn input(&mut self) -> Self::Input {
        std::future::pending().await
    }

    fn append(&mut self, kind: impl Into<EventKind>) -> Result<(), RunError> {
        self.append_all([kind.into()])
    }

    /// Records events in one transaction, applies them to the state, and passes them to the listeners.
    fn append_all(&mut self, kinds: impl IntoIterator<Item = EventKind>) -> Result<(), RunError> {
        let kinds: Vec<EventKind> = kinds.into_iter().collect();
        let elsewhere = kinds.iter().flat_map(|kind| self.elsewhere(kind)).collect();
        let events = self.resources_mut().record(kinds, elsewhere)?;
        self.accept(&events);
        Ok(())
    }

    fn accept(&mut self, events: &[Event]) {
        events.iter().for_each(|event| self.apply(event));
        self.resources_mut().tell(events);
    }

    fn notice(&mut self, text: impl Into<String>) -> Result<(), RunError> {
        self.append(EventKind::notice(text))
    }
}
