//! The loop of a watch. It owns the journal and the state; nothing else writes either.

pub(crate) mod arbitration;
pub(crate) mod commands;
pub(crate) mod cycle_runner;
pub(crate) mod work;

use std::collections::{BTreeMap, BTreeSet};
use std::pin::Pin;
use std::sync::PoisonError;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio::sync::{mpsc, watch};
use tokio::task::{JoinError, JoinHandle};
use tokio::time::{Instant, sleep_until};

use super::state::WatchState;
use crate::agents::{Stop, StopHandle};
use crate::domain::event::{CallId, Event, EventKind, RunEvent, WatchEvent};
use crate::domain::{AgentName, ExitReason, RunId, Untrusted, WatchPlan, WatchStatus};
use crate::rules::watch::triggers::{Timing, Triggers};
use crate::workflows::run::call::{self, CallOutcome};
use crate::workflows::run::error::RunError;
use crate::workflows::run::redaction::Redaction;
use crate::workflows::watch::plan;
use crate::workflows::watch::setup::{Prepared, WatchSetup};
use crate::workflows::watch::socket::protocol::Batch;
use crate::workflows::watch::status::{AgentState, WatchReport, standing};
use crate::workflows::watch::workers::worker::{Worker, WorkerMessage, Working};

/// How many lines are recorded in one transaction.
const GROUP: usize = 4_096;
#[derive(Clone, Debug)]
pub struct EndedWatch {
    pub standing: WatchReport,
    /// 0 where the work goes on, 3 where it waits for a person.
    pub exit: ExitReason,
    /// Whether a command ended it, and not a signal.
    pub by_command: bool,
}

/// A running command of `watch.notify`; resolves to its error, if any.
pub(crate) type Notifying = Pin<Box<dyn Future<Output = Option<String>>>>;
pub(crate) type PendingCall = Pin<Box<dyn Future<Output = (CallId, CallOutcome)>>>;

pub(crate) struct WatchEngine {
    pub(crate) run: RunId,
    pub(crate) setup: WatchSetup,
    pub(crate) state: WatchState,
    /// Agents that this process did not start, that sent an event to it, and have not sent `done`.
    pub(crate) joined: BTreeSet<AgentName>,
    /// Ends all calls, commands and agents.
    pub(crate) stop: Stop,
    pub(crate) handle: StopHandle,
    pub(crate) began: Instant,
    pub(crate) triggers: Triggers,
    pub(crate) asking: BTreeSet<CallId>,
    pub(crate) changes: Untrusted,
    pub(crate) started: BTreeMap<AgentName, Worker>,
    /// Whether the agents that answer a prompt are suspended.
    pub(crate) still: BTreeMap<AgentName, watch::Receiver<bool>>,
    pub(crate) malformed: u64,
    /// When a clarification is no longer waited for.
    pub(crate) clarify_until: Option<Instant>,
    pub(crate) notifying: FuturesUnordered<Notifying>,
}

impl WatchEngine {
    pub(crate) fn new(run: RunId, state: WatchState, setup: WatchSetup) -> Self {
        let (handle, stop) = Stop::new();
        let watch = &setup.settings.watch;
        let timing = Timing { settle: watch.debounce, fallback: watch.idle_review };
        Self {
            run,
            setup,
            state,
            joined: BTreeSet::new(),
            stop,
            handle,
            began: Instant::now(),
            triggers: Triggers::new(timing, Duration::ZERO),
            asking: BTreeSet::new(),
            changes: Untrusted::default(),
            started: BTreeMap::new(),
            still: BTreeMap::new(),
            malformed: 0,
            clarify_until: None,
            notifying: FuturesUnordered::new(),
        }
    }

    pub(crate) async fn watch(
        mut self,
        mut plan: WatchPlan,
        mut said: mpsc::Receiver<Batch>,
    ) -> Result<EndedWatch, RunError> {
        if self.state.tree.is_none() {
            plan.tree = self.preparing(None).await.ok().and_then(|prepared| prepared.tree);
        }
        let recorded = WatchPlan {
            agents: plan.agents.iter().map(|agent| agent.clone().recorded()).collect(),
            reviewers: plan.reviewers.iter().map(|agent| agent.clone().recorded()).collect(),
            backups: plan.backups.iter().map(|agent| agent.clone().recorded()).collect(),
            judge: plan.judge.clone().map(crate::domain::Agent::recorded),
            ..plan.clone()
        };
        self.append(WatchEvent::WatchStarted { plan: Box::new(recorded) })?;
        if self.state.status == WatchStatus::Paused {
            self.triggers.pause();
            self.notice("the work is PAUSED, as it was: `glee watch resume --reason WHY` lets it go on")?;
        }
        let mut workers: FuturesUnordered<Working> = self.start(&plan)?;
        if self.state.status == WatchStatus::Paused {
            self.tell_all(&WorkerMessage::Pause { reason: &Untrusted::default() });
        }
        let mut calls: FuturesUnordered<PendingCall> = FuturesUnordered::new();
        let mut preparing: Option<JoinHandle<Prepared>> = None;
        if let Some(open) = &self.state.open {
            self.triggers.carries_on();
            preparing = Some(self.preparing(open.tree.clone()));
        }
        // What was told before a kill and never reviewed.
        for trigger in self.state.unreviewed.clone() {
            self.triggers.pull(trigger, Duration::ZERO);
        }
        self.wait_for_clarification();
        // An arbitration that was interrupted goes on.
        calls.extend(self.ask()?);
        self.settle()?;
        let (mut stopping, mut left_alone) = (false, false);
        self.show();
        loop {
            if !stopping {
                self.clarified()?;
                if let Some(triggers) = self.triggers.due(self.now()) {
                    let cycle = self.state.cycle + 1;
                    self.append(WatchEvent::CycleStarted { cycle, triggers })?;
                    preparing = Some(self.preparing(None));
                    self.show();
                }
                let is_idle = calls.is_empty() && workers.is_empty() && preparing.is_none();
                if is_idle && self.is_left_alone() {
                    self.notice("the last agent has ended, and so does the watch (`--stay` keeps it)")?;
                    stopping = true;
                    left_alone = true;
                    self.handle.stop();
                    continue;
                }
            } else if calls.is_empty() && workers.is_empty() && self.notifying.is_empty() {
                return self.end(left_alone);
            }
            let wake = self.wake().filter(|_| !stopping);
            tokio::select! {
                biased;
                () = self.setup.stop.stopped(), if !stopping => {
                    stopping = true;
                    self.handle.stop();
                }
                Some(batch) = said.recv(), if !stopping => {
                    let mut group = vec![batch];
                    while group.iter().map(|batch| batch.items.len()).sum::<usize>() < GROUP
                        && let Ok(more) = said.try_recv()
                    {
                        group.push(more);
                    }
                    if self.take_in(group)? {
                        stopping = true;
                        self.handle.stop();
                    }
                    self.show();
                }
                prepared = async { preparing.as_mut().expect("only where something is prepared").await },
                    if preparing.is_some() && !stopping =>
                {
                    preparing = None;
                    let failed = |error: JoinError| Prepared { tree: None, changes: Err(error.to_string()) };
                    self.request(prepared.unwrap_or_else(failed))?;
                    calls.extend(self.ask()?);
                    self.decide_if_complete()?;
                    calls.extend(self.ask()?);
                    self.show();
                }
                Some((id, called)) = calls.next(), if !calls.is_empty() => {
                    self.answered(id, called, stopping)?;
                    if !stopping {
                        calls.extend(self.ask()?);
                        self.decide_if_complete()?;
                        // What that comes to may have to be ruled on.
                        calls.extend(self.ask()?);
                        self.settle()?;
                    }
                    self.show();
                }
                Some((name, how)) = workers.next(), if !workers.is_empty() => {
                    if !stopping {
                        let said = how.as_ref().map_or_else(ToString::to_string, |()| "ended".to_owned());
                        self.notice(&format!("{} is gone: {said}", name.0))?;
                    }
                    if let Some(started) = self.started.get_mut(&name) {
                        started.ended = Some(how.is_ok());
                    }
                    self.show();
                }
                Some(failed) = self.notifying.next(), if !self.notifying.is_empty() => {
                    if let Some(failed) = failed {
                        self.notice(&failed)?;
                    }
                }
                () = sleep_until(wake.unwrap_or_else(Instant::now)), if wake.is_some() => {}
            }
        }
    }

    /// The time of the triggers: it does not run while the machine sleeps.
    pub(crate) fn now(&self) -> Duration {
        self.began.elapsed()
    }

    fn wake(&self) -> Option<Instant> {
        let triggers = self.triggers.next().map(|at| self.began + at);
        triggers.into_iter().chain(self.clarify_until).min()
    }

    /// Records an event, takes it into the state, and tells the listeners.
    pub(crate) fn append(&mut self, kind: impl Into<EventKind>) -> Result<Event, RunError> {
        let mut events = self.append_all(vec![kind.into()])?;
        Ok(events.pop().expect("one event was appended"))
    }

    pub(crate) fn append_all(&mut self, kinds: Vec<EventKind>) -> Result<Vec<Event>, RunError> {
        let redaction = Redaction::from(self.setup.settings.redaction);
        let events =
            self.setup.journal.append_all(&self.run, kinds.into_iter().map(|kind| redaction.event(kind)))?;
        let mut sink = self.setup.sink.lock().unwrap_or_else(PoisonError::into_inner);
        for event in &events {
            self.state.apply(event);
            sink.event(event);
        }
        drop(sink);
        Ok(events)
    }

    /// Takes an event that is recorded already into the state, and tells the listeners.
    pub(crate) fn take_in_event(&mut self, event: &Event) {
        self.state.apply(event);
        self.setup.sink.lock().unwrap_or_else(PoisonError::into_inner).event(event);
    }

    pub(crate) fn notice(&mut self, text: &str) -> Result<(), RunError> {
        self.append(RunEvent::Notice { text: text.to_owned() }).map(drop)
    }

    fn start(&mut self, plan: &WatchPlan) -> Result<FuturesUnordered<Working>, RunError> {
        let workers = FuturesUnordered::new();
        for agent in &plan.agents {
            let name = agent.name.clone();
            let started = if plan::is_asked(agent) {
                let (mut started, still) = Worker::by_prompt(self.setup.settings.watch.pause);
                started.ended = self.worked(&name);
                self.still.insert(name.clone(), still);
                started
            } else {
                let files = call::files(&self.setup.journal, &self.run, &format!("agent.{}", name.0))?;
                let (started, working) = Worker::start(
                    (&self.setup, self.stop.clone()),
                    call::equipped(&self.setup.settings, agent),
                    files,
                );
                workers.push(working);
                started
            };
            self.started.insert(name, started);
        }
        Ok(workers)
    }

    pub(crate) fn tell_all(&self, word: &WorkerMessage<'_>) {
        self.started.values().for_each(|started| started.tell(word));
    }

    /// Whether all agents have ended and no review, trigger or notification is pending.
    fn is_left_alone(&self) -> bool {
        let nobody = self.started.values().all(|agent| agent.ended.is_some()) && self.joined.is_empty();
        let nothing = self.state.open.is_none()
            && self.triggers.pending().next().is_none()
            && self.clarify_until.is_none()
            && self.notifying.is_empty();
        !self.setup.stay && !self.started.is_empty() && nobody && nothing
    }

    /// Records the end of this process. A watch that ends with its agents fails where one of them did.
    fn end(&mut self, left_alone: bool) -> Result<EndedWatch, RunError> {
        let exit = match self.state.status {
            WatchStatus::Running => ExitReason::Clean,
            WatchStatus::Paused => ExitReason::DisputeOpen,
        };
        let failed = left_alone && self.started.values().any(|agent| agent.ended == Some(false));
        let exit = if failed { exit.strongest(ExitReason::AgentFailed) } else { exit };
        let millis = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.append(RunEvent::RunEnded { exit, millis })?;
        Ok(EndedWatch { standing: self.stands(), exit, by_command: !self.setup.stop.is_stopped() })
    }

    pub(crate) fn stands(&self) -> WatchReport {
        let mut standing = standing(&self.run, &self.state);
        let now = self.now();
        standing.pending = self.triggers.pending().collect();
        standing.fallback_in = self.triggers.fallback_at().map(|at| at.saturating_sub(now).as_secs());
        standing.malformed = self.malformed;
        for agent in &mut standing.agents {
            if let Some(started) = self.started.get(&agent.name) {
                agent.state = match (&started.ended, started.stands()) {
                    (Some(_), _) => AgentState::Ended,
                    (None, true) => AgentState::Stands,
                    (None, false) => AgentState::Works,
                };
            }
        }
        standing
    }

    fn show(&self) {
        if self.setup.standing.receiver_count() > 0 {
            self.setup.standing.send_replace(self.stands());
        }
    }
}
