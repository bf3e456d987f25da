//! The loop of a watch. It owns the journal and the state; nothing else writes either.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use serde_json::json;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};

use crate::agents::{Agents, Stop, StopHandle, TranscriptFiles};
use crate::config::settings::{Limits, Settings};
use crate::domain::{
    Action, AgentEvent, AgentName, Ballot, ExitReason, ReviewRequest, RunId, Trigger, Untrusted, WatchPlan,
    WatchStatus,
};
use crate::event::{CallAnswer, CallId, Event, EventKind};
use crate::journal::Journal;
use crate::pipeline::RunError;
use crate::pipeline::call::{self, Call, Called};
use crate::pipeline::ports::Sink;
use crate::pipeline::redaction::Redaction;
use crate::protocol::prompts;
use crate::protocol::request::{Request, Task};
use crate::rules::triggers::{Timing, Triggers};
use crate::rules::{budget, peers};
use crate::workspace::{TreeId, Workspace};

use super::cycle::{self, Due};
use super::intake::{Batch, Command, Intake, Item};
use super::standing::{AgentStanding, AgentState, ClarificationStanding, IssueStanding, LastEvent, Standing};
use super::started::{Gone, Place, Started, Word, Working};
use super::state::{Issue, State};

/// How many lines are recorded in one transaction.
const GROUP: usize = 4_096;
/// The wall time of a command of `watch.notify`.
const NOTIFY: Duration = Duration::from_secs(60);

/// How a watch came to its end.
#[derive(Clone, Debug)]
pub struct Ended {
    /// How it stands.
    pub standing: Standing,
    /// 0 where the work goes on, 3 where it waits for a person.
    pub exit: ExitReason,
    /// Whether a command ended it, and not a signal.
    pub by_command: bool,
}

/// What is prepared for a cycle, away from the loop.
struct Prepared {
    tree: Option<String>,
    changes: Untrusted,
    problem: Option<String>,
}

/// A command of `watch.notify` at work; brings what went wrong with it.
type Notifying = Pin<Box<dyn Future<Output = Option<String>>>>;
type Work = Pin<Box<dyn Future<Output = (CallId, Called)>>>;

/// Everything a watch works with.
pub(super) struct Engine {
    run: RunId,
    workspace: Arc<Workspace>,
    state_dir: PathBuf,
    journal: Journal,
    agents: Agents,
    settings: Settings,
    templates: PathBuf,
    state: State,
    sink: Sink,
    standing: watch::Sender<Standing>,
    intake: Intake,
    said: Option<mpsc::Receiver<Batch>>,
    socket: Option<PathBuf>,
    /// Asked from outside.
    outer: Stop,
    /// Ends everything that is at work.
    stop: Stop,
    handle: StopHandle,
    began: Instant,
    triggers: Triggers,
    asking: BTreeSet<CallId>,
    changes: Untrusted,
    started: BTreeMap<AgentName, Started>,
    malformed: u64,
    /// When a clarification is no longer waited for.
    clarify_until: Option<Instant>,
    notifying: FuturesUnordered<Notifying>,
}

impl Engine {
    #[expect(clippy::too_many_arguments, reason = "called once, with what the setup holds")]
    pub(super) fn new(
        run: RunId,
        workspace: Workspace,
        state_dir: PathBuf,
        journal: Journal,
        agents: Agents,
        settings: Settings,
        templates: PathBuf,
        state: State,
        sink: Sink,
        standing: watch::Sender<Standing>,
        (intake, said): (Intake, mpsc::Receiver<Batch>),
        socket: Option<PathBuf>,
        outer: Stop,
    ) -> Self {
        let (handle, stop) = Stop::new();
        let timing = Timing { settle: settings.watch.settle, fallback: settings.watch.fallback };
        Self {
            run,
            workspace: Arc::new(workspace),
            state_dir,
            journal,
            agents,
            triggers: Triggers::new(timing, Duration::ZERO),
            settings,
            templates,
            state,
            sink,
            standing,
            intake,
            said: Some(said),
            socket,
            outer,
            stop,
            handle,
            began: Instant::now(),
            asking: BTreeSet::new(),
            changes: Untrusted::default(),
            started: BTreeMap::new(),
            malformed: 0,
            clarify_until: None,
            notifying: FuturesUnordered::new(),
        }
    }

    /// Watches until it is stopped.
    pub(super) async fn watch(mut self, mut plan: WatchPlan) -> Result<Ended, RunError> {
        plan.tree = if self.state.tree.is_some() { None } else { self.prepare(None).await.tree };
        let recorded = WatchPlan {
            agents: plan.agents.iter().map(|agent| agent.clone().recorded()).collect(),
            reviewers: plan.reviewers.iter().map(|agent| agent.clone().recorded()).collect(),
            backups: plan.backups.iter().map(|agent| agent.clone().recorded()).collect(),
            ..plan.clone()
        };
        self.append(EventKind::WatchStarted { plan: Box::new(recorded) })?;
        if self.state.status == WatchStatus::Paused {
            self.triggers.pause();
            self.notice("the work is PAUSED, as it was: `glee watch resume --reason WHY` lets it go on")?;
        }
        let mut workers: FuturesUnordered<Working> = self.start(&plan)?;
        if self.state.status == WatchStatus::Paused {
            self.tell_all(&Word::Pause { reason: &Untrusted::default() });
        }
        let mut calls: FuturesUnordered<Work> = FuturesUnordered::new();
        let mut preparing: Option<JoinHandle<Prepared>> = None;
        if let Some(open) = &self.state.open {
            self.triggers.carries_on();
            preparing = Some(self.preparing(open.tree.clone()));
        }
        self.wait_for_clarification();
        let mut said = self.said.take().expect("a watch runs once");
        let mut stopping = false;
        self.show();
        loop {
            if !stopping {
                self.clarified()?;
                if let Some(triggers) = self.triggers.due(self.now()) {
                    let cycle = self.state.cycle + 1;
                    self.append(EventKind::CycleStarted { cycle, triggers })?;
                    preparing = Some(self.preparing(None));
                    self.show();
                }
            } else if calls.is_empty() && workers.is_empty() && self.notifying.is_empty() {
                return self.end();
            }
            let wake = self.wake().filter(|_| !stopping);
            tokio::select! {
                biased;
                () = self.outer.stopped(), if !stopping => {
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
                    let prepared = prepared.unwrap_or_else(|error| Prepared {
                        tree: None,
                        changes: Untrusted::default(),
                        problem: Some(error.to_string()),
                    });
                    self.request(prepared)?;
                    calls.extend(self.ask()?);
                    self.decide_if_complete()?;
                    self.show();
                }
                Some((id, called)) = calls.next(), if !calls.is_empty() => {
                    self.answered(id, called, stopping)?;
                    if !stopping {
                        calls.extend(self.ask()?);
                        self.decide_if_complete()?;
                    }
                    self.show();
                }
                Some(Gone { name, how }) = workers.next(), if !workers.is_empty() => {
                    if !stopping {
                        self.notice(&format!("{} is gone: {how}", name.0))?;
                    }
                    if let Some(started) = self.started.get_mut(&name) {
                        started.ended = Some(how);
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
    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    fn wake(&self) -> Option<Instant> {
        let triggers = self.triggers.next().map(|at| self.began + at);
        triggers.into_iter().chain(self.clarify_until).min()
    }

    /// Records an event, takes it into the state, and tells the listeners.
    fn append(&mut self, kind: EventKind) -> Result<Event, RunError> {
        let mut events = self.append_all(vec![kind])?;
        Ok(events.pop().expect("one event was appended"))
    }

    fn append_all(&mut self, kinds: Vec<EventKind>) -> Result<Vec<Event>, RunError> {
        let redaction = Redaction::from(self.settings.redaction);
        let events = self.journal.append_all(&self.run, kinds.into_iter().map(|kind| redaction.event(kind)))?;
        let mut sink = self.sink.lock().unwrap_or_else(PoisonError::into_inner);
        for event in &events {
            self.state.apply(event);
            sink.event(event);
        }
        drop(sink);
        Ok(events)
    }

    fn notice(&mut self, text: &str) -> Result<(), RunError> {
        self.append(EventKind::Notice { text: text.to_owned() }).map(drop)
    }

    /// Starts the agents of the plan.
    fn start(&mut self, plan: &WatchPlan) -> Result<FuturesUnordered<Working>, RunError> {
        let workers = FuturesUnordered::new();
        let place = Place {
            agents: &self.agents,
            root: self.workspace.root(),
            socket: self.socket.as_deref(),
            limits: self.settings.limits,
            pause: self.settings.watch.pause,
            intake: &self.intake,
            stop: &self.stop,
        };
        for agent in &plan.agents {
            let folder = self.journal.transcripts(&self.run)?;
            let stem = |stream: &str| folder.join(format!("agent.{}.{stream}", agent.name.0));
            let files = TranscriptFiles { stdout: stem("stdout"), stderr: stem("stderr") };
            let (started, working) = Started::start(&place, call::equipped(&self.settings, agent), files);
            self.started.insert(started.name.clone(), started);
            workers.push(working);
        }
        Ok(workers)
    }

    fn tell_all(&self, word: &Word<'_>) {
        self.started.values().for_each(|started| started.tell(word));
    }

    /// Takes in what came together, and answers it. Says whether the watch is to end.
    fn take_in(&mut self, batches: Vec<Batch>) -> Result<bool, RunError> {
        let mut ends = false;
        let mut waiting: Vec<AgentEvent> = Vec::new();
        // For each batch the answers; `None` is one that waits for its event to be recorded.
        let mut answers: Vec<Vec<Option<String>>> = Vec::new();
        let mut places: Vec<(usize, usize)> = Vec::new();
        let mut senders = Vec::new();
        for (number, Batch { items, by, answer }) in batches.into_iter().enumerate() {
            answers.push(Vec::with_capacity(items.len()));
            senders.push(answer);
            for item in items {
                let reply = match item {
                    Item::Event(event) if event.agent.as_ref().is_some_and(|name| !self.state.knows(name)) => {
                        Some(self.refuse("too many agents")?)
                    }
                    Item::Event(event) => {
                        places.push((number, answers[number].len()));
                        waiting.push(event);
                        None
                    }
                    Item::Malformed(why) => Some(self.refuse(&why)?),
                    Item::Command(command) => {
                        self.record_events(&mut waiting, &mut places, &mut answers)?;
                        ends |= command == Command::Stop;
                        Some(self.obey(command, &by)?)
                    }
                };
                answers[number].push(reply);
            }
        }
        self.record_events(&mut waiting, &mut places, &mut answers)?;
        for (answer, sender) in answers.into_iter().zip(senders) {
            if let Some(sender) = sender {
                // Whoever asked may have gone.
                drop(sender.send(answer.into_iter().flatten().collect()));
            }
        }
        Ok(ends)
    }

    /// Records events, in one transaction, and answers each.
    fn record_events(
        &mut self,
        waiting: &mut Vec<AgentEvent>,
        places: &mut Vec<(usize, usize)>,
        answers: &mut [Vec<Option<String>>],
    ) -> Result<(), RunError> {
        if waiting.is_empty() {
            return Ok(());
        }
        let kinds = waiting.drain(..).map(|said| EventKind::EventReceived { said }).collect();
        let events = self.append_all(kinds)?;
        let now = self.now();
        for (event, (batch, place)) in events.iter().zip(places.drain(..)) {
            let EventKind::EventReceived { said } = &event.kind else { continue };
            self.triggers.event(said.kind, now);
            answers[batch][place] = Some(self.receipt(event.seq, said.agent.as_ref()));
        }
        // Whoever has answered a clarification stands still again.
        if let Some(asked) = self.state.clarification.as_ref().filter(|_| self.state.status == WatchStatus::Paused)
        {
            for name in asked.answers.keys() {
                if let Some(started) = self.started.get(name).filter(|started| !started.stands()) {
                    started.tell(&Word::Pause { reason: &Untrusted::default() });
                }
            }
        }
        Ok(())
    }

    fn receipt(&self, seq: u64, from: Option<&AgentName>) -> String {
        let clarify = self
            .state
            .clarification
            .as_ref()
            .filter(|asked| from.is_some_and(|name| asked.waiting().any(|waiting| waiting == name)));
        match clarify {
            None => format!(r#"{{"ok":true,"seq":{seq},"status":"{}"}}"#, self.state.status.as_str()),
            Some(asked) => json!({"ok": true, "seq": seq, "status": self.state.status,
                "clarify": {"cycle": asked.cycle, "prompt": asked.prompt}})
            .to_string(),
        }
    }

    /// Counts a line that is no event, and tells of it: of the first ten each, then ever more rarely.
    fn refuse(&mut self, why: &str) -> Result<String, RunError> {
        self.malformed += 1;
        let number = self.malformed;
        if number <= 10 || 10_u64.pow(number.ilog10()) == number {
            let lines = if number == 1 { "1 line was".to_owned() } else { format!("{number} lines were") };
            self.notice(&format!("{lines} no event; the last one: {why}"))?;
        }
        Ok(json!({"ok": false, "error": why}).to_string())
    }

    /// Does what a person says.
    fn obey(&mut self, command: Command, by: &str) -> Result<String, RunError> {
        let now = self.now();
        let refused = |why: String| json!({"ok": false, "error": why}).to_string();
        match command {
            Command::Status => {}
            Command::Review => {
                let said = AgentEvent {
                    kind: crate::domain::EventType::UserManual,
                    agent: None,
                    summary: None,
                    files: Vec::new(),
                    clarifies: None,
                };
                self.append(EventKind::EventReceived { said })?;
                self.triggers.pull(Trigger::UserManual, now);
            }
            Command::Pause { reason } => {
                if self.state.status == WatchStatus::Paused {
                    return Ok(refused("the work is paused already".to_owned()));
                }
                let reason = Untrusted::from(reason);
                self.append(EventKind::WatchPaused { by: by.into(), reason: reason.clone() })?;
                self.triggers.pause();
                self.tell_all(&Word::Pause { reason: &reason });
            }
            Command::Resume { reason } => {
                if self.state.status == WatchStatus::Running {
                    return Ok(refused("the work is not paused".to_owned()));
                }
                self.append(EventKind::WatchResumed { by: by.into(), reason: reason.into() })?;
                self.triggers.resume(now);
                self.clarify_until = None;
                self.tell_all(&Word::Resume);
            }
            Command::Issues => {
                let issues: Vec<IssueStanding> = self.state.issues.iter().map(issue_standing).collect();
                return Ok(json!({"ok": true, "issues": issues}).to_string());
            }
            Command::Close { issue, reason } => {
                let open = self.state.open_issues().any(|known| known.number == issue);
                if !open {
                    return Ok(refused(format!("there is no open issue {issue}")));
                }
                self.append(EventKind::IssueClosed { issue, by: by.into(), reason: reason.into() })?;
            }
            Command::Stop => {}
        }
        Ok(json!({"ok": true, "standing": self.stands()}).to_string())
    }

    /// Begins the review after a clarification, once everybody has answered or nobody is waited for any more.
    fn clarified(&mut self) -> Result<(), RunError> {
        let Some(asked) = self.state.clarification.as_ref().filter(|asked| !asked.reviewed) else { return Ok(()) };
        let (answered, some) = (asked.is_answered(), !asked.answers.is_empty());
        let over = self.clarify_until.is_some_and(|until| until <= Instant::now());
        if self.state.status != WatchStatus::Paused || !(answered || over) || self.clarify_until.is_none() {
            return Ok(());
        }
        self.clarify_until = None;
        if some {
            self.triggers.pull(Trigger::Clarified, self.now());
            return Ok(());
        }
        self.tell_all(&Word::Pause { reason: &Untrusted::default() });
        self.notice("nobody answered the clarification: `glee watch resume --reason WHY` lets the work go on")
    }

    fn wait_for_clarification(&mut self) {
        let waits = self.state.clarification.as_ref().is_some_and(|asked| !asked.reviewed);
        self.clarify_until = waits.then(|| Instant::now() + self.settings.watch.clarify);
    }

    fn preparing(&self, tree: Option<String>) -> JoinHandle<Prepared> {
        let before = match &tree {
            // The cycle was interrupted: its changes are those between the two trees it was begun with.
            Some(_) => self.state.open.as_ref().and_then(|open| open.before.clone()),
            None => self.state.tree.clone(),
        };
        let (workspace, state_dir) = (Arc::clone(&self.workspace), self.state_dir.clone());
        tokio::task::spawn_blocking(move || prepared(&workspace, &state_dir, before, tree))
    }

    async fn prepare(&self, before: Option<String>) -> Prepared {
        let (workspace, state_dir) = (Arc::clone(&self.workspace), self.state_dir.clone());
        let prepared = tokio::task::spawn_blocking(move || prepared(&workspace, &state_dir, before, None)).await;
        prepared.unwrap_or_else(|error| Prepared {
            tree: None,
            changes: Untrusted::default(),
            problem: Some(error.to_string()),
        })
    }

    /// Settles what the reviewers of the cycle are sent.
    fn request(&mut self, prepared: Prepared) -> Result<(), RunError> {
        let Prepared { tree, changes, problem } = prepared;
        if let Some(problem) = problem {
            self.notice(&format!("the changes since the last review cannot be shown: {problem}"))?;
        }
        self.changes = changes;
        let Some(open) = &self.state.open else { return Ok(()) };
        if open.requests.is_empty() {
            let (cycle, plan) = (open.number, self.state.plan.as_ref().expect("a watch has a plan"));
            let requests: Vec<ReviewRequest> = cycle::requests(&self.state, plan);
            self.append(EventKind::ReviewRequested { cycle, requests, tree })?;
        }
        Ok(())
    }

    /// The calls that are due.
    fn ask(&mut self) -> Result<Vec<Work>, RunError> {
        let due = self.state.open.as_ref().map(cycle::due).unwrap_or_default();
        let mut work = Vec::new();
        for step in due {
            let Due::Ask(id) = step else { continue };
            if self.asking.contains(&id) {
                continue;
            }
            let over = budget::reached(&self.settings.budget.caps, &self.state.spent);
            let calls = self.settings.budget.caps.calls;
            let full = calls.is_some_and(|most| self.state.spent.calls + self.asking.len() as u64 >= most);
            if full || !over.is_empty() {
                let error = "what this watch may cost is used up (`budget`)".to_owned();
                self.fail(id, error)?;
                continue;
            }
            work.extend(self.call(id)?);
        }
        Ok(work)
    }

    /// Records that a reviewer cannot be asked.
    fn fail(&mut self, call: CallId, error: String) -> Result<(), RunError> {
        let answer = CallAnswer::Failed { error, hint: None, cause: None };
        let (usage, told) = Default::default();
        self.append(EventKind::CallFinished { call, answer, transcript: None, millis: 0, usage, told }).map(drop)
    }

    fn call(&mut self, id: CallId) -> Result<Option<Work>, RunError> {
        let plan = self.state.plan.as_ref().expect("a watch has a plan");
        let open = self.state.open.as_ref().expect("a call is due in a cycle");
        let agent = plan.reviewers.iter().find(|agent| agent.name == id.agent);
        let request = open.requests.iter().find(|request| request.reviewer == id.agent).cloned();
        let (Some(agent), Some(request)) = (agent, request) else {
            // The reviewer was disconnected while the cycle was interrupted.
            return self.fail(id, "it is not connected any more".to_owned()).map(|()| None);
        };
        let again = cycle::again(open, &id);
        let agent = call::equipped(&self.settings, agent);
        let backups = plan.backups.iter().map(|agent| call::equipped(&self.settings, agent)).collect();
        let request = Request {
            version: Request::VERSION,
            nonce: call::nonce(),
            agent: agent.name.clone(),
            root: self.workspace.root().to_string_lossy().into_owned(),
            task: Task::Peer { request, changes: self.changes.clone(), closed: cycle::closed(&self.state) },
            again,
        };
        let request = Redaction::from(self.settings.redaction).request(&agent, request);
        let prompt = prompts::render(&request, Some(&self.templates))?;
        self.append(EventKind::CallStarted {
            call: id.clone(),
            role: request.task.role(),
            prompt_bytes: u64::try_from(prompt.len()).unwrap_or(u64::MAX),
            nonce: request.nonce.clone(),
        })?;
        let left = self.settings.budget.caps.calls.map(|most| most.saturating_sub(self.state.spent.calls));
        let call = Call {
            id: id.clone(),
            agents: self.agents.clone(),
            agent,
            backups,
            request,
            prompt,
            session: None,
            limits: call::limits(&self.settings, left),
            settings: self.settings.clone(),
            protected: call::protected(&self.workspace, &self.state_dir, &self.journal),
            files: call::files(&self.journal, &self.run, &id.file_stem())?,
            sink: Arc::clone(&self.sink),
            stop: self.stop.clone(),
        };
        self.asking.insert(id.clone());
        Ok(Some(Box::pin(async move { (id, call.make().await) })))
    }

    /// Takes what a reviewer brought.
    fn answered(&mut self, id: CallId, called: Called, stopping: bool) -> Result<(), RunError> {
        let Called { answer, transcript, millis, usage, told } = called;
        self.asking.remove(&id);
        // What a stop cut off has not answered; it is asked again when the watch is started again.
        if stopping && matches!(answer, CallAnswer::Failed { .. }) {
            return Ok(());
        }
        if let (Some(by), Some(said)) = (&told.by, &told.instead) {
            self.notice(&format!("{} was asked in the place of {}: {said}", by.0, id.agent.0))?;
        }
        self.append(EventKind::CallFinished { call: id, answer, transcript, millis, usage, told }).map(drop)
    }

    /// Ends the cycle once every reviewer has answered or cannot, and does what that comes to.
    fn decide_if_complete(&mut self) -> Result<(), RunError> {
        let Some(open) = self.state.open.clone().filter(|open| !open.requests.is_empty()) else { return Ok(()) };
        let ballots: Option<Vec<Ballot>> = cycle::due(&open)
            .into_iter()
            .map(|due| match due {
                Due::Nothing(ballot) => Some(ballot),
                Due::Ask(_) => None,
            })
            .collect();
        let Some(ballots) = ballots else { return Ok(()) };
        let verdicts: Vec<_> = ballots.iter().map(|ballot| ballot.verdict).collect();
        let action = peers::decide(&verdicts);
        let was_paused = self.state.status == WatchStatus::Paused;
        let is_paused = self.state.held || action.pauses();
        let status = if is_paused { WatchStatus::Paused } else { WatchStatus::Running };
        self.append(EventKind::CycleDecided { cycle: open.number, action, status, ballots })?;
        self.triggers.decided(action, is_paused, self.now());
        self.changes = Untrusted::default();
        let reason = Untrusted::from(action.as_str());
        match action {
            Action::StopAndEscalate => {
                self.tell_all(&Word::Pause { reason: &reason });
                self.notify()?;
            }
            Action::NotReviewed => self.tell_all(&Word::Pause { reason: &reason }),
            Action::PauseAndClarify => {
                self.tell_all(&Word::Pause { reason: &reason });
                self.clarify(&open)?;
            }
            Action::LogAndContinue | Action::Continue if was_paused && !is_paused => self.tell_all(&Word::Resume),
            Action::LogAndContinue | Action::Continue => {}
        }
        Ok(())
    }

    /// Asks the agents concerned, once; what that does not clear up waits for a person.
    fn clarify(&mut self, open: &super::state::Cycle) -> Result<(), RunError> {
        if open.triggers.contains(&Trigger::Clarified) {
            return self.notice(
                "the clarification did not settle it: `glee watch issues` lists what was raised, `glee watch resume \
                 --reason WHY` lets the work go on",
            );
        }
        let Some((agents, prompt)) = cycle::clarification(&self.state, open) else {
            return self.notice("there is no agent to ask: `glee watch resume --reason WHY` lets the work go on");
        };
        let asked = EventKind::ClarificationAsked { cycle: open.number, agents: agents.clone(), prompt };
        self.append(asked)?;
        let prompt = self.state.clarification.as_ref().map(|asked| asked.prompt.clone()).unwrap_or_default();
        for name in &agents {
            if let Some(started) = self.started.get(name) {
                started.tell(&Word::Clarify { cycle: open.number, prompt: &prompt });
            }
        }
        self.wait_for_clarification();
        Ok(())
    }

    /// Starts the commands of `watch.notify`.
    fn notify(&self) -> Result<(), RunError> {
        for (number, command) in self.settings.watch.notify.iter().cloned().enumerate() {
            let files = call::files(&self.journal, &self.run, &format!("notify-{}-{number}", self.state.cycle))?;
            let limits = Limits { total: NOTIFY, ..self.settings.limits };
            let (agents, root, stop) = (self.agents.clone(), self.workspace.root().to_owned(), self.stop.clone());
            self.notifying.push(Box::pin(async move {
                let checked = agents.check_command(&command, &root, &limits, &files, stop).await;
                let why = checked.tail.trim().to_owned();
                (!checked.passed).then(|| format!("`{}` (watch.notify) failed: {why}", command.join(" ")))
            }));
        }
        Ok(())
    }

    /// Records the end of this sitting.
    fn end(&mut self) -> Result<Ended, RunError> {
        let exit = match self.state.status {
            WatchStatus::Running => ExitReason::Clean,
            WatchStatus::Paused => ExitReason::DisputeOpen,
        };
        let millis = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.append(EventKind::RunEnded { exit, millis })?;
        Ok(Ended { standing: self.stands(), exit, by_command: !self.outer.is_stopped() })
    }

    /// How it stands at this moment.
    fn stands(&self) -> Standing {
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
        if self.standing.receiver_count() > 0 {
            self.standing.send_replace(self.stands());
        }
    }
}

/// Records the tree, or takes the one given, and shows what changed since `before`.
fn prepared(
    workspace: &Workspace,
    state_dir: &std::path::Path,
    before: Option<String>,
    tree: Option<String>,
) -> Prepared {
    let now = match tree {
        Some(tree) => Ok(TreeId(tree)),
        None => workspace.snapshot(state_dir),
    };
    let now = match now {
        Ok(now) => now,
        Err(error) => {
            return Prepared { tree: None, changes: Untrusted::default(), problem: Some(error.to_string()) };
        }
    };
    let changes = before.map_or(Ok(Vec::new()), |before| workspace.changes(&TreeId(before), &now, state_dir));
    match changes {
        Ok(changes) => Prepared { tree: Some(now.0), changes: cycle::shown(&changes), problem: None },
        Err(error) => {
            Prepared { tree: Some(now.0), changes: Untrusted::default(), problem: Some(error.to_string()) }
        }
    }
}

/// How a watch stands by its record alone.
pub(super) fn standing(run: &RunId, state: &State) -> Standing {
    let agents = state.agents.iter().map(|(name, seen)| AgentStanding {
        name: name.clone(),
        state: if seen.done { AgentState::Done } else { AgentState::Joined },
        events: seen.events,
        last: seen.last.clone().map(|(at, kind, summary)| LastEvent { at, kind, summary }),
    });
    let waiting = state.clarification.as_ref().filter(|asked| !asked.reviewed);
    Standing {
        run: run.0.clone(),
        status: state.status,
        flagged: state.flagged,
        last_action: state.last_action,
        cycle: state.cycle,
        in_cycle: state.open.is_some(),
        pending: Vec::new(),
        fallback_in: None,
        agents: agents.collect(),
        events: state.events,
        malformed: 0,
        issues: state.open_issues().map(issue_standing).collect(),
        clarification: waiting.map(|asked| ClarificationStanding {
            cycle: asked.cycle,
            waiting: asked.waiting().cloned().collect(),
            prompt: asked.prompt.clone(),
        }),
    }
}

pub(super) fn issue_standing(issue: &Issue) -> IssueStanding {
    let Issue { number, cycle, reviewer, issue, closed } = issue.clone();
    let (severity, description, file) = (issue.severity, issue.description, issue.file);
    IssueStanding { number, cycle, reviewer, severity, description, file, closed }
}
