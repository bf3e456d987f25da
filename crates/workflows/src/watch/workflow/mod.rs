//! Implements a watch as a [`Workflow`].

mod arbitration;
mod commands;
mod cycles;
mod work;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until};
use tracing::{Instrument as _, Span, info_span};

use crate::run::call::{self, Made};
use crate::run::error::RunError;
use crate::run::resources::{RunResources, RunSetup, with_secrets};
use crate::run::runner;
use crate::run::workflow::{Pending, Prepared, Step, Workflow};
use crate::run::write_guard::{Observation, WriteCheck};
use crate::watch::cycle;
use crate::watch::plan;
use crate::watch::setup::{TreeChanges, WatchSetup};
use crate::watch::socket::protocol::{Batch, Intake};
use crate::watch::state::WatchState;
use crate::watch::status::{AgentState, WatchReport, standing};
use crate::watch::workers::follower::Follower;
use crate::watch::workers::worker::{Worker, WorkerMessage, Working};
use glee_agents::{Call, CallOutcome};
use glee_agents::{Stop, StopHandle};
use glee_model::domain::event::{
    CallAnswer, CallId, Event, EventKind, Purpose, RunEvent, WatchEvent,
};
use glee_model::domain::{
    Agent, AgentName, ExitReason, RunId, Spent, Trigger, Untrusted, WatchPlan, WatchStatus,
};
use glee_model::rules::watch::triggers::{Timing, Triggers};

/// After this number of lines, the watch adds no further batch to the transaction.
const GROUP: usize = 4_096;

/// The maximum number of calls of a watch if `budget.calls` is not set: nobody may be looking.
const CALLS: u64 = 500;

#[derive(Clone, Debug)]
pub struct EndedWatch {
    pub standing: WatchReport,
    pub exit: ExitReason,
    /// `by_command` is false if a signal ended the watch.
    pub by_command: bool,
}

pub(crate) struct WatchWorkflow {
    resources: RunResources,
    state: WatchState,
    /// The caller's request to stop. When the caller requests a stop, the watch uses `handle` to end all calls and
    /// agents.
    stop: Stop,
    handle: StopHandle,
    standing: watch::Sender<WatchReport>,
    intake: Intake,
    received: mpsc::Receiver<Batch>,
    socket: Option<PathBuf>,
    stay: bool,
    /// The agents that the watch did not start and whose last event is not `done`.
    joined: BTreeSet<AgentName>,
    /// All times of `triggers` are relative to this instant.
    began: Instant,
    triggers: Triggers,
    prepared: Option<u32>,
    /// The number of events when this process began its last cycle.
    begun_at: Option<u64>,
    changes: Untrusted,
    started: BTreeMap<AgentName, Worker>,
    workers: FuturesUnordered<Working>,
    /// For each agent that answers a prompt, whether the agent is suspended now.
    suspended: BTreeMap<AgentName, watch::Receiver<bool>>,
    malformed: u64,
    clarify_until: Option<Instant>,
    /// The running commands of `watch.notify`. Each future returns the error of its command, or `None` on success.
    notifying: FuturesUnordered<Pending<Option<String>>>,
    is_left_alone: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WatchEffect {
    Begin,
    Prepare(u32),
    /// Records the issues that may be the same, if there are any and they are not recorded yet. Otherwise, ends the cycle.
    Decide,
    /// Continue after all agents have answered a clarification, or after the time for their answers is over.
    Clarified,
    Settle,
}

pub(crate) enum WatchInput {
    Received(Batch),
    Prepared(u32, TreeChanges),
    /// The tree at a time when only the idle time is over, and no agent has reported an event since the last cycle.
    Idle(Option<String>),
    Ended(AgentName, Result<(), String>),
    Notified(Option<String>),
    Stop,
    Timer,
}

impl Workflow for WatchWorkflow {
    type Effect = WatchEffect;
    /// A watch never asks a person a question.
    type Question = ();
    type Input = WatchInput;

    fn resources(&self) -> &RunResources {
        &self.resources
    }

    fn resources_mut(&mut self) -> &mut RunResources {
        &mut self.resources
    }

    fn apply(&mut self, event: &Event) {
        self.state.apply(event);
    }

    fn spent(&self) -> &Spent {
        &self.state.spent
    }

    fn next(&self) -> Vec<Step<WatchEffect, ()>> {
        let mut effects = Vec::new();
        let mut calls = Vec::new();
        match &self.state.open {
            None if self.triggers.next().is_some_and(|at| at <= self.now()) => {
                effects.push(WatchEffect::Begin)
            }
            None => {}
            Some(open) if self.prepared != Some(open.number) => {
                effects.push(WatchEffect::Prepare(open.number))
            }
            Some(open) => {
                let due = cycle::due(open);
                let comparison = self.comparison(open);
                match due.iter().all(Result::is_ok) {
                    true if comparison.is_some() => calls.extend(comparison),
                    true => effects.push(WatchEffect::Decide),
                    false => calls.extend(due.into_iter().filter_map(Result::err)),
                }
            }
        }
        if self.is_clarified() {
            effects.push(WatchEffect::Clarified);
        }
        calls.extend(self.judgements());
        calls.extend(self.works());
        if self.needs_settling() {
            effects.push(WatchEffect::Settle);
        }
        if effects.is_empty() && calls.is_empty() && self.has_nothing_left() {
            return vec![Step::Finish];
        }
        effects
            .into_iter()
            .map(Step::Effect)
            .chain(calls.into_iter().map(Step::Ask))
            .collect()
    }

    fn request(&mut self, call: &CallId) -> Result<Prepared, RunError> {
        let prepared = match &call.purpose {
            Purpose::Judge { dispute } => self.judge(*dispute, call),
            Purpose::Work => self.work(call),
            Purpose::Same { .. } => self.compare(call),
            _ => self.review(call),
        };
        Ok(match prepared {
            Some(prepared) => Prepared::Call(Box::new(prepared?)),
            None => Prepared::Answered(call::failed(
                "the agent is no longer connected".to_owned(),
                None,
            )),
        })
    }

    fn effect(&mut self, effect: &WatchEffect) -> Result<Option<Pending<WatchInput>>, RunError> {
        match effect {
            WatchEffect::Begin => {
                let Some(triggers) = self.triggers.due(self.now()) else {
                    return Ok(None);
                };
                let is_idle = triggers.iter().eq([&Trigger::TimeoutFallback]);
                if is_idle && self.begun_at == Some(self.state.events) {
                    let now = self.tree_changes(None);
                    return Ok(Some(Box::pin(
                        async move { WatchInput::Idle(now.await.tree) },
                    )));
                }
                self.begin_cycle(triggers)?;
            }
            WatchEffect::Prepare(cycle) => return Ok(Some(self.prepare(*cycle))),
            WatchEffect::Decide => self.decide()?,
            WatchEffect::Clarified => self.clarified()?,
            WatchEffect::Settle => self.settle()?,
        }
        Ok(None)
    }

    fn prompt(&mut self, (): &()) -> Option<Pending<WatchInput>> {
        None
    }

    fn take(&mut self, input: WatchInput, is_stopped: bool) -> Result<bool, RunError> {
        match input {
            WatchInput::Stop => self.handle.stop(),
            WatchInput::Received(batch) => {
                let mut group = vec![batch];
                while group.iter().map(|batch| batch.items.len()).sum::<usize>() < GROUP
                    && let Ok(more) = self.received.try_recv()
                {
                    group.push(more);
                }
                if self.receive(group)? {
                    self.handle.stop();
                }
            }
            WatchInput::Prepared(cycle, changes) if !is_stopped => {
                self.prepared = Some(cycle);
                self.request_reviews(changes)?;
            }
            WatchInput::Ended(name, how) => {
                if !is_stopped {
                    let reason = how
                        .as_ref()
                        .map_or_else(ToString::to_string, |()| "ended".to_owned());
                    self.notice(format!("{} is no longer running: {reason}", name.0))?;
                }
                if let Some(started) = self.started.get_mut(&name) {
                    started.ended = Some(how.is_ok());
                }
            }
            WatchInput::Notified(Some(failure)) => self.notice(failure)?,
            WatchInput::Idle(tree) if !is_stopped => {
                if tree.is_some() && tree == self.state.tree {
                    self.triggers.skip(self.now());
                } else {
                    self.begin_cycle(BTreeSet::from([Trigger::TimeoutFallback]))?;
                }
            }
            WatchInput::Idle(_)
            | WatchInput::Notified(None)
            | WatchInput::Prepared(..)
            | WatchInput::Timer => {}
        }
        Ok(self.resources.stop.is_stopped())
    }

    fn finish(&mut self) -> Result<(), RunError> {
        self.is_left_alone = true;
        self.notice("the watch ends with its last agent (`--stay` continues it)")
    }

    // Other agents edit the tree during a review.
    fn is_guarded(&self) -> bool {
        false
    }

    fn scope(&mut self) -> Span {
        info_span!(
            "cycle",
            n = self.state.open.as_ref().map(|open| open.number)
        )
    }

    fn make(&self, id: &CallId, call: Call, check: Option<WriteCheck>) -> Pending<Made> {
        if id.purpose != Purpose::Work {
            return Box::pin(self.resources.make(call, check));
        }
        let follower = Follower::new(
            &call.agent,
            &call.backups,
            call.files.stdout.clone(),
            self.intake.clone(),
        );
        let stop = self.resources.stop.clone();
        Box::pin(follower.during(self.resources.make(call, check), stop))
    }

    fn call_ended(
        &mut self,
        call: CallId,
        outcome: CallOutcome<CallAnswer>,
        observation: Option<Observation>,
        is_stopped: bool,
    ) -> Result<(), RunError> {
        let found = self.resources.changes(&call, &outcome, observation)?;
        let mut events = RunResources::ended(call.clone(), outcome, &found, is_stopped);
        if let Some(EventKind::Run(RunEvent::CallFinished { answer, .. })) = events.last() {
            let reported = self.reported(&call, &answer.clone());
            events.extend(reported);
        }
        self.append_all(events)
    }

    fn over_budget(&self) -> Option<CallAnswer> {
        Some(call::failed(
            "the `budget` of this watch is used up".to_owned(),
            None,
        ))
    }

    fn waiting(&mut self) {
        if self.standing.receiver_count() > 0 {
            self.standing.send_replace(self.report());
        }
    }

    fn expects_input(&self) -> bool {
        !self.resources.stop.is_stopped() || !self.workers.is_empty() || !self.notifying.is_empty()
    }

    async fn input(&mut self) -> WatchInput {
        let is_running = !self.resources.stop.is_stopped();
        let wake = self.wake().filter(|_| is_running);
        tokio::select! {
            biased;
            () = self.stop.stopped(), if is_running => WatchInput::Stop,
            Some(batch) = self.received.recv(), if is_running => WatchInput::Received(batch),
            Some((name, how)) = self.workers.next(), if !self.workers.is_empty() => WatchInput::Ended(name, how),
            Some(failure) = self.notifying.next(), if !self.notifying.is_empty() => WatchInput::Notified(failure),
            () = sleep_until(wake.unwrap_or_else(Instant::now)), if wake.is_some() => WatchInput::Timer,
            else => std::future::pending().await,
        }
    }
}

impl WatchWorkflow {
    pub(super) fn new(run: RunId, state: WatchState, setup: WatchSetup) -> Result<Self, RunError> {
        let WatchSetup {
            run: setup,
            templates,
            standing,
            intake,
            received,
            socket,
            stay,
        } = setup;
        let (handle, inner) = Stop::new();
        let RunSetup {
            stop, mut settings, ..
        } = setup;
        settings.budget.calls.get_or_insert(CALLS);
        let resources = RunResources::new(
            RunSetup {
                stop: inner,
                settings,
                ..setup
            },
            run,
            templates,
        )?;
        let watch = &resources.settings.watch;
        let timing = Timing {
            settle: watch.debounce,
            fallback: watch.idle_review,
        };
        Ok(Self {
            resources,
            state,
            stop,
            handle,
            standing,
            intake,
            received,
            socket,
            stay,
            joined: BTreeSet::new(),
            began: Instant::now(),
            triggers: Triggers::new(timing, Duration::ZERO),
            prepared: None,
            begun_at: None,
            changes: Untrusted::default(),
            started: BTreeMap::new(),
            workers: FuturesUnordered::new(),
            suspended: BTreeMap::new(),
            malformed: 0,
            clarify_until: None,
            notifying: FuturesUnordered::new(),
            is_left_alone: false,
        })
    }

    pub(super) async fn run(mut self, plan: WatchPlan) -> Result<EndedWatch, RunError> {
        let span = self.resources.span.clone();
        async {
            self.begin(plan).await?;
            runner::drive(&mut self).await?;
            self.end()
        }
        .instrument(span)
        .await
    }

    fn begin_cycle(&mut self, triggers: BTreeSet<Trigger>) -> Result<(), RunError> {
        self.begun_at = Some(self.state.events);
        let cycle = self.state.cycle + 1;
        self.append(WatchEvent::CycleStarted { cycle, triggers })
    }

    async fn begin(&mut self, mut plan: WatchPlan) -> Result<(), RunError> {
        if self.state.tree.is_none() {
            plan.tree = self.tree_changes(None).await.tree;
        }
        let recorded = |agents: &[Agent]| agents.iter().cloned().map(Agent::recorded).collect();
        let recorded = WatchPlan {
            agents: recorded(&plan.agents),
            reviewers: recorded(&plan.reviewers),
            backups: recorded(&plan.backups),
            judge: plan.judge.clone().map(Agent::recorded),
            aggregator: plan.aggregator.clone().map(Agent::recorded),
            ..plan.clone()
        };
        self.append(WatchEvent::WatchStarted {
            plan: Box::new(recorded),
        })?;
        let is_paused = self.state.status == WatchStatus::Paused;
        if is_paused {
            self.triggers.pause();
            self.notice(
                "the work is still PAUSED: resume it with `glee watch resume --reason WHY`",
            )?;
        }
        for agent in &plan.agents {
            self.start(agent)?;
        }
        if is_paused {
            self.tell_all(&WorkerMessage::Pause {
                reason: &Untrusted::default(),
            });
        }
        if self.state.open.is_some() {
            self.triggers.resume_cycle();
        }
        // The triggers in `unreviewed` come from an earlier process, which ended before a cycle began.
        for trigger in self.state.unreviewed.clone() {
            self.triggers.pull(trigger, Duration::ZERO);
        }
        self.wait_for_clarification();
        Ok(())
    }

    fn start(&mut self, agent: &Agent) -> Result<(), RunError> {
        let name = agent.name.clone();
        let pause = self.resources.settings.watch.pause;
        let worker = if plan::is_asked(agent) {
            let (mut worker, suspended) = Worker::by_prompt(pause);
            worker.ended = self.worked(&name);
            self.suspended.insert(name.clone(), suspended);
            worker
        } else {
            let files = self.resources.files(&format!("agent.{}", name.0))?;
            let agent = with_secrets(&self.resources.settings, agent);
            let (worker, working) = Worker::start(
                &self.resources,
                self.intake.clone(),
                self.socket.as_ref(),
                agent,
                files,
            );
            self.workers.push(working);
            worker
        };
        self.started.insert(name, worker);
        Ok(())
    }

    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    fn wake(&self) -> Option<Instant> {
        let triggers = self.triggers.next().map(|at| self.began + at);
        triggers.into_iter().chain(self.clarify_until).min()
    }

    fn tell_all(&self, message: &WorkerMessage<'_>) {
        self.started
            .values()
            .for_each(|started| started.tell(message));
    }

    /// Whether the watch ends: all agents have ended, and no cycle, question or notification is pending.
    fn has_nothing_left(&self) -> bool {
        !self.stay
            && !self.started.is_empty()
            && self.started.values().all(|agent| agent.ended.is_some())
            && self.workers.is_empty()
            && self.joined.is_empty()
            && self.state.open.is_none()
            && self.triggers.pending().next().is_none()
            && self.clarify_until.is_none()
            && self.notifying.is_empty()
    }

    fn end(&mut self) -> Result<EndedWatch, RunError> {
        let exit = match self.state.status {
            WatchStatus::Running => ExitReason::Clean,
            WatchStatus::Paused => ExitReason::DisputeOpen,
        };
        let failed = self.is_left_alone
            && self
                .started
                .values()
                .any(|agent| agent.ended == Some(false));
        let exit = if failed {
            exit.strongest(ExitReason::AgentFailed)
        } else {
            exit
        };
        let millis = self.resources.millis();
        self.append(RunEvent::RunEnded { exit, millis })?;
        Ok(EndedWatch {
            standing: self.report(),
            exit,
            by_command: !self.stop.is_stopped(),
        })
    }

    fn report(&self) -> WatchReport {
        let mut report = standing(&self.resources.run, &self.state);
        let now = self.now();
        report.pending = self.triggers.pending().collect();
        report.fallback_in = self
            .triggers
            .fallback_at()
            .map(|at| at.saturating_sub(now).as_secs());
        report.malformed = self.malformed;
        for agent in &mut report.agents {
            if let Some(started) = self.started.get(&agent.name) {
                agent.state = match (&started.ended, started.is_suspended()) {
                    (Some(_), _) => AgentState::Ended,
                    (None, true) => AgentState::Stands,
                    (None, false) => AgentState::Works,
                };
            }
        }
        report
    }
}
