//! The loop that runs the steps of every workflow concurrently and records the results.
//!
//! A workflow computes its next steps and requests from its state ([`Workflow::next`], [`Workflow::request`]). The
//! loop makes the calls, enforces the limits of the run, handles interruptions and records the events. Each event
//! is written to the disk before anything acts on the event, so a run that was killed can be resumed.

use std::pin::Pin;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;

use crate::domain::event::{CallAnswer, CallId, Event, EventKind, Purpose};
use crate::domain::{AgentName, RunId, Spent};
use crate::workflows::run::budget::{self, Place};
use crate::workflows::run::call::{AgentCall, CallOutcome, CallRequest};
use crate::workflows::run::error::RunError;
use crate::workflows::run::runner::Runner;

pub(crate) type Pending<T> = Pin<Box<dyn Future<Output = T>>>;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step<E, Q> {
    Ask(CallId),
    /// Record an event that follows from the state.
    Record(Box<EventKind>),
    /// Access the tree or the history, and record the result.
    Effect(E),
    Prompt(Q),
    /// Record the end of the run after the last step.
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

/// A workflow's preparation of a call: a request to send, or an answer that replaces the call.
pub(crate) enum Prepared {
    Call(Box<CallRequest>),
    /// The loop records the start of the call and this answer. The agent is not called.
    Refused(Box<CallRequest>, CallAnswer),
    Answered(CallAnswer),
}

pub(crate) trait Workflow: Sized {
    type Effect: Clone + PartialEq + 'static;
    type Question: Clone + PartialEq + 'static;
    /// The result of a pending effect, the answer of a person, or external input.
    type Input: 'static;

    fn runner(&self) -> &Runner;
    fn runner_mut(&mut self) -> &mut Runner;
    fn apply(&mut self, event: &Event);
    fn spent(&self) -> &Spent;

    /// Returns the due steps, which the loop runs concurrently.
    fn next(&self) -> Vec<Step<Self::Effect, Self::Question>>;
    fn request(&mut self, call: &CallId) -> Result<Prepared, RunError>;
    /// Performs an effect at once, or returns a future that performs the effect.
    fn effect(&mut self, effect: &Self::Effect) -> Result<Option<Pending<Self::Input>>, RunError>;
    /// Asks a person. Returns `None` if no person can be asked now.
    fn prompt(&mut self, question: &Self::Question) -> Option<Pending<Self::Input>>;
    /// Records an input. Returns true if the run has to stop.
    fn take(&mut self, input: Self::Input, is_stopped: bool) -> Result<bool, RunError>;
    fn finish(&mut self) -> Result<(), RunError>;

    /// Returns events for other runs. They are recorded in the same transaction as the given event of this run.
    fn elsewhere(&self, _event: &EventKind) -> Vec<(RunId, EventKind)> {
        Vec::new()
    }

    fn make(&self, call: AgentCall) -> Pending<CallOutcome> {
        Box::pin(call.make())
    }

    fn call_ended(&mut self, call: CallId, outcome: CallOutcome, is_stopped: bool) -> Result<(), RunError> {
        let ended = self.runner_mut().ended(call, outcome, is_stopped, |_| false)?;
        self.append_all(ended.events).map(drop)
    }

    /// The answer for a call that exceeds the budget. If `None`, the call waits until the run has a larger budget.
    fn over_budget(&self) -> Option<CallAnswer> {
        None
    }

    /// Called once, when the run is stopped.
    fn stopping(&mut self) -> Result<(), RunError> {
        Ok(())
    }

    /// Called each time before the loop waits.
    fn waiting(&mut self) {}

    /// Whether the loop has to wait for external input even if no step is running.
    fn expects_input(&self) -> bool {
        false
    }

    /// Waits for external input. An implementation must be cancel-safe.
    async fn input(&mut self) -> Self::Input {
        std::future::pending().await
    }
}

enum Done<I> {
    Call(CallId, Box<CallOutcome>),
    Input(I),
}

/// The loop and other methods that every workflow has.
pub(crate) trait WorkflowExt: Workflow {
    fn append(&mut self, kind: impl Into<EventKind>) -> Result<Event, RunError> {
        let mut events = self.append_all([kind.into()])?;
        Ok(events.pop().expect("one event was appended"))
    }

    /// Records events in one transaction, applies them to the state, and passes them to the listeners.
    fn append_all(&mut self, kinds: impl IntoIterator<Item = EventKind>) -> Result<Vec<Event>, RunError> {
        let kinds: Vec<EventKind> = kinds.into_iter().collect();
        let elsewhere = kinds.iter().flat_map(|kind| self.elsewhere(kind)).collect();
        let events = self.runner_mut().record(kinds, elsewhere)?;
        self.accept(&events);
        Ok(events)
    }

    fn accept(&mut self, events: &[Event]) {
        events.iter().for_each(|event| self.apply(event));
        self.runner().tell(events);
    }

    fn notice(&mut self, text: impl Into<String>) -> Result<(), RunError> {
        self.append(EventKind::notice(text)).map(drop)
    }

    /// Begins a call. Returns `None` if the answer was recorded immediately.
    fn begin_call(&mut self, id: &CallId) -> Result<Option<Pending<CallOutcome>>, RunError> {
        let (request, refusal) = match self.request(id)? {
            Prepared::Call(request) => (request, None),
            Prepared::Refused(request, refusal) => (request, Some(refusal)),
            Prepared::Answered(answer) => {
                self.call_ended(id.clone(), CallOutcome::without_call(answer), false)?;
                return Ok(None);
            }
        };
        let is_guarded = request.is_guarded;
        let (started, mut call) = self.runner().call(id, *request, self.spent())?;
        self.append(started)?;
        if let Some(refusal) = refusal {
            return Ok(Some(Box::pin(std::future::ready(CallOutcome::without_call(refusal)))));
        }
        if is_guarded {
            let Runner { guard, workspace, .. } = self.runner_mut();
            call.check = Some(guard.begin(workspace, id)?);
        }
        Ok(Some(self.make(call)))
    }

    async fn drive(&mut self) -> Result<Rest, RunError> {
        let stop = self.runner().stop.clone();
        let mut running: Vec<Step<Self::Effect, Self::Question>> = Vec::new();
        let mut work = FuturesUnordered::<Pending<(Step<Self::Effect, Self::Question>, Done<Self::Input>)>>::new();
        let mut is_stopped = false;
        loop {
            // If a step has finished immediately, other steps may be due, so the steps are computed again.
            let (mut again, mut is_held_back) = (!is_stopped, false);
            while std::mem::take(&mut again) {
                is_held_back = false;
                for step in self.next() {
                    if running.contains(&step) {
                        continue;
                    }
                    let started = match &step {
                        Step::Ask(call) => match self.place(call, &running) {
                            Place::Free => self.begin_call(call)?.map(|outcome| -> Pending<Done<Self::Input>> {
                                let call = call.clone();
                                Box::pin(async move { Done::Call(call, Box::new(outcome.await)) })
                            }),
                            Place::Full => continue,
                            Place::OverBudget => match self.over_budget() {
                                Some(answer) => {
                                    self.call_ended(call.clone(), CallOutcome::without_call(answer), false)?;
                                    None
                                }
                                None => {
                                    is_held_back = true;
                                    continue;
                                }
                            },
                        },
                        Step::Record(event) => self.append((**event).clone()).map(|_| None)?,
                        Step::Effect(effect) => self.effect(effect)?.map(input),
                        Step::Prompt(question) => match self.prompt(question) {
                            Some(answer) => Some(input(answer)),
                            None => continue,
                        },
                        Step::Finish if running.is_empty() && !again => {
                            self.finish()?;
                            return Ok(Rest::Ended);
                        }
                        Step::Finish => continue,
                    };
                    match started {
                        Some(future) => {
                            running.push(step.clone());
                            work.push(Box::pin(async move { (step, future.await) }));
                        }
                        None => again = true,
                    }
                }
            }
            // A stopped run does not wait for a person's answer to an open question.
            let is_idle = running.iter().all(|step| is_stopped && matches!(step, Step::Prompt(_)));
            if is_idle && !self.expects_input() {
                return Ok(match (is_stopped, is_held_back) {
                    (true, _) => Rest::Stopped,
                    (false, true) => Rest::OverBudget,
                    (false, false) => Rest::Ended,
                });
            }
            self.waiting();
            let done = tokio::select! {
                biased;
                Some((step, done)) = work.next(), if !work.is_empty() => {
                    if let Done::Call(call, outcome) = &done {
                        let calls = calls_of(&call.agent, &running);
                        self.runner_mut().pace.ended(&call.agent, outcome, calls);
                    }
                    running.retain(|other| *other != step);
                    Some(done)
                }
                () = stop.stopped(), if !is_stopped => None,
                input = self.input() => Some(Done::Input(input)),
            };
            // If a stop ends a call, the loop may receive the result of the call before the stop signal.
            if !is_stopped && stop.is_stopped() {
                is_stopped = true;
                self.stopping()?;
            }
            match done {
                Some(Done::Call(call, outcome)) => self.call_ended(call, *outcome, is_stopped)?,
                Some(Done::Input(input)) => is_stopped |= self.take(input, is_stopped)?,
                None => {}
            }
        }
    }

    /// Whether a call can begin now. Calls with the purpose `Work` do not count towards the limit on concurrent
    /// calls.
    fn place(&self, call: &CallId, running: &[Step<Self::Effect, Self::Question>]) -> Place {
        let takes_place = |step: &&Step<_, _>| matches!(step, Step::Ask(call) if call.purpose != Purpose::Work);
        if !self.runner().pace.allows(&call.agent, calls_of(&call.agent, running)) {
            return Place::Full;
        }
        let running = running.iter().filter(takes_place).count();
        budget::place(&self.runner().settings, self.spent(), call, running)
    }
}

impl<W: Workflow> WorkflowExt for W {}

fn calls_of<E, Q>(agent: &AgentName, running: &[Step<E, Q>]) -> usize {
    running.iter().filter(|step| matches!(step, Step::Ask(call) if call.agent == *agent)).count()
}

fn input<I: 'static>(pending: Pending<I>) -> Pending<Done<I>> {
    Box::pin(async move { Done::Input(pending.await) })
}
