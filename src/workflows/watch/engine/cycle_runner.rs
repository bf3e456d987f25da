//! A cycle at work: the tree is recorded, the reviewers are asked side by side, and what their verdicts come to is done.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::Instant;
use tracing::info_span;

use crate::agents::CommandInput;
use crate::config::settings::Limits;
use crate::domain::event::{CallAnswer, CallId, EventKind, Purpose, RunEvent, WatchEvent};
use crate::domain::{Action, Agent, Ballot, ReviewRequest, Trigger, Untrusted, WatchStatus};
use crate::protocol::request::Task;
use crate::rules::budget;
use crate::rules::watch::verdicts;
use crate::workflows::run::call::{self, AgentCall, CallOutcome};
use crate::workflows::run::error::RunError;
use crate::workflows::watch::cycle;
use crate::workflows::watch::engine::{PendingCall, WatchEngine};
use crate::workflows::watch::setup::Prepared;
use crate::workflows::watch::workers::follower::Follower;
use crate::workflows::watch::workers::worker::WorkerMessage;
use crate::workspace::TreeId;
use crate::workspace::root::Workspace;

const NOTIFY: Duration = Duration::from_secs(60);

impl WatchEngine {
    /// Begins the review after a clarification, once everybody has answered or nobody is waited for any more.
    pub(crate) fn clarified(&mut self) -> Result<(), RunError> {
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
        self.tell_all(&WorkerMessage::Pause { reason: &Untrusted::default() });
        self.notice("nobody answered the clarification: `glee watch resume --reason WHY` lets the work go on")
    }

    pub(crate) fn wait_for_clarification(&mut self) {
        let waits = self.state.clarification.as_ref().is_some_and(|asked| !asked.reviewed);
        self.clarify_until = waits.then(|| Instant::now() + self.setup.settings.watch.clarify_timeout);
    }

    pub(crate) fn preparing(&self, tree: Option<String>) -> JoinHandle<Prepared> {
        let before = match &tree {
            // The cycle was interrupted: its changes are those between the two trees it was begun with.
            Some(_) => self.state.open.as_ref().and_then(|open| open.before.clone()),
            None => self.state.tree.clone(),
        };
        let (workspace, state_dir) = (Arc::clone(&self.setup.workspace), self.setup.state_dir.clone());
        tokio::task::spawn_blocking(move || prepared(&workspace, &state_dir, before, tree))
    }

    pub(crate) fn request(&mut self, prepared: Prepared) -> Result<(), RunError> {
        let Prepared { tree, changes } = prepared;
        if let Err(problem) = &changes {
            self.notice(&format!("the changes since the last review cannot be shown: {problem}"))?;
        }
        self.changes = changes.unwrap_or_default();
        let Some(open) = &self.state.open else { return Ok(()) };
        if open.requests.is_empty() {
            let (cycle, plan) = (open.number, self.state.plan.as_ref().expect("a watch has a plan"));
            let requests: Vec<ReviewRequest> = cycle::requests(&self.state, plan);
            self.append(WatchEvent::ReviewRequested { cycle, requests, tree })?;
        }
        Ok(())
    }

    pub(crate) fn ask(&mut self) -> Result<Vec<PendingCall>, RunError> {
        let due = self.state.open.as_ref().map(cycle::due).unwrap_or_default().into_iter();
        let mut work = Vec::new();
        for id in due.filter_map(Result::err).chain(self.judgements()).chain(self.works()).collect::<Vec<_>>() {
            if self.asking.contains(&id) {
                continue;
            }
            let over = budget::reached(&self.setup.settings.budget.caps(), &self.state.spent);
            let calls = self.setup.settings.budget.caps().calls;
            let full = calls.is_some_and(|most| self.state.spent.calls + self.asking.len() as u64 >= most);
            if full || !over.is_empty() {
                let error = "what this watch may cost is used up (`budget`)".to_owned();
                self.fail(id, error)?;
                continue;
            }
            work.extend(match &id.purpose {
                Purpose::Judge { dispute } => self.judge(*dispute, id)?,
                Purpose::Work => self.work(id)?,
                _ => self.call(id)?,
            });
        }
        Ok(work)
    }

    fn fail(&mut self, call: CallId, error: String) -> Result<(), RunError> {
        let answer = CallAnswer::Failed { error, hint: None, cause: None };
        let told_of = self.told_of(&call, &answer);
        let (usage, told) = Default::default();
        let finished =
            EventKind::Run(RunEvent::CallFinished { call, answer, transcript: None, millis: 0, usage, told });
        self.append_all(std::iter::once(finished).chain(told_of).collect()).map(drop)
    }

    fn call(&mut self, id: CallId) -> Result<Option<PendingCall>, RunError> {
        let plan = self.state.plan.as_ref().expect("a watch has a plan");
        let open = self.state.open.as_ref().expect("a call is due in a cycle");
        let agent = plan.reviewers.iter().find(|agent| agent.name == id.agent);
        let request = open.requests.iter().find(|request| request.reviewer == id.agent).cloned();
        let (Some(agent), Some(request)) = (agent, request) else {
            // The reviewer was disconnected while the cycle was interrupted.
            return self.fail(id, "it is not connected any more".to_owned()).map(|()| None);
        };
        let again = cycle::again(&open.answers, &id);
        let (agent, changes) = (agent.clone(), self.changes.clone());
        let task = Task::Peer { request, changes, closed: cycle::closed(&self.state) };
        self.put(id, &agent, task, again).map(Some)
    }

    pub(crate) fn put(
        &mut self,
        id: CallId,
        agent: &Agent,
        task: Task,
        again: Option<String>,
    ) -> Result<PendingCall, RunError> {
        let agent = call::equipped(&self.setup.settings, agent);
        let backups = self.state.plan.iter().flat_map(|plan| &plan.backups);
        let backups = backups.map(|agent| call::equipped(&self.setup.settings, agent)).collect();
        let place = (&self.setup.settings, &*self.setup.workspace, &*self.setup.templates);
        let (request, prompt, started) = call::request(&self.run, place, &id, &agent, task, again)?;
        self.append(started)?;
        let call = AgentCall {
            id: id.clone(),
            agents: self.setup.agents.clone(),
            agent,
            backups,
            request,
            prompt,
            stands: self.still.get(&id.agent).cloned(),
            session: None,
            limits: call::limits(&self.setup.settings, &self.state.spent, 0),
            settings: self.setup.settings.clone(),
            protected: call::protected(&self.setup.workspace, &self.setup.state_dir, &self.setup.journal),
            files: call::files(&self.setup.journal, &self.run, &id.file_stem())?,
            sink: Arc::clone(&self.setup.sink),
            stop: self.stop.clone(),
            lookout: None,
            scope: info_span!("cycle", n = self.state.open.as_ref().map(|open| open.number)),
        };
        self.asking.insert(id.clone());
        if id.purpose != Purpose::Work {
            return Ok(Box::pin(async move { (id, call.make().await) }));
        }
        let follower =
            Follower::new(&call.agent, &call.backups, call.files.stdout.clone(), self.setup.intake.clone());
        let stop = self.stop.clone();
        Ok(Box::pin(async move { (id, follower.during(call.make(), stop).await) }))
    }

    pub(crate) fn answered(&mut self, id: CallId, called: CallOutcome, stopping: bool) -> Result<(), RunError> {
        let CallOutcome { answer, transcript, millis, usage, told, .. } = called;
        self.asking.remove(&id);
        // What a stop cut off has not answered; it is asked again when the watch is started again.
        if stopping && matches!(answer, CallAnswer::Failed { .. }) {
            return Ok(());
        }
        if let Some(notice) = call::stand_in(&id, &told) {
            self.append(notice)?;
        }
        let told_of = self.told_of(&id, &answer);
        let finished = EventKind::Run(RunEvent::CallFinished { call: id, answer, transcript, millis, usage, told });
        self.append_all(std::iter::once(finished).chain(told_of).collect()).map(drop)
    }

    /// Ends the cycle once every reviewer has answered or cannot, and does what that comes to.
    pub(crate) fn decide_if_complete(&mut self) -> Result<(), RunError> {
        let Some(open) = self.state.open.clone().filter(|open| !open.requests.is_empty()) else { return Ok(()) };
        let ballots: Result<Vec<Ballot>, CallId> = cycle::due(&open).into_iter().collect();
        let Ok(ballots) = ballots else { return Ok(()) };
        let verdicts: Vec<_> = ballots.iter().map(|ballot| ballot.verdict).collect();
        let action = verdicts::decide(&verdicts);
        let was_paused = self.state.status == WatchStatus::Paused;
        let is_paused = self.state.held || action.pauses();
        let status = if is_paused { WatchStatus::Paused } else { WatchStatus::Running };
        let settled = cycle::settled(&self.state, &open, &ballots);
        let notification = cycle::notification(&self.run, &open, action, &ballots);
        self.append(WatchEvent::CycleDecided { cycle: open.number, action, status, ballots })?;
        let reason = format!("approved in cycle {}", open.number);
        let closed = settled.into_iter().map(|(issue, by)| {
            let (by, reason) = (by.0.into(), reason.as_str().into());
            EventKind::Watch(WatchEvent::IssueClosed { issue, by, reason })
        });
        self.append_all(closed.collect())?;
        self.triggers.decided(action, is_paused, self.now());
        self.changes = Untrusted::default();
        let reason = Untrusted::from(action.as_str());
        match action {
            Action::StopAndEscalate => {
                self.tell_all(&WorkerMessage::Pause { reason: &reason });
                self.notify(&notification)?;
            }
            Action::NotReviewed => self.tell_all(&WorkerMessage::Pause { reason: &reason }),
            Action::PauseAndClarify => {
                self.tell_all(&WorkerMessage::Pause { reason: &reason });
                self.clarify(&open)?;
            }
            Action::LogAndContinue | Action::Continue if was_paused && !is_paused => {
                self.tell_all(&WorkerMessage::Resume)
            }
            Action::LogAndContinue | Action::Continue => {}
        }
        Ok(())
    }

    /// Asks the agents concerned, once; what that does not clear up waits for a person.
    fn clarify(&mut self, open: &crate::workflows::watch::state::Cycle) -> Result<(), RunError> {
        if open.triggers.contains(&Trigger::Clarified) {
            if self.state.plan.as_ref().is_some_and(|plan| plan.judge.is_some()) {
                return self.arbitrate(open);
            }
            return self.notice(
                "the clarification did not settle it: `glee watch issues` lists what was raised, `glee watch resume \
                 --reason WHY` lets the work go on",
            );
        }
        let Some((agents, prompt)) = cycle::clarification(open) else {
            return self.notice("there is no agent to ask: `glee watch resume --reason WHY` lets the work go on");
        };
        let asked =
            EventKind::Watch(WatchEvent::ClarificationAsked { cycle: open.number, agents: agents.clone(), prompt });
        self.append(asked)?;
        let prompt = self.state.clarification.as_ref().map(|asked| asked.prompt.clone()).unwrap_or_default();
        for name in &agents {
            if let Some(started) = self.started.get(name) {
                started.tell(&WorkerMessage::Clarify { cycle: open.number, prompt: &prompt });
            }
        }
        self.wait_for_clarification();
        Ok(())
    }

    fn notify(&self, told: &CommandInput) -> Result<(), RunError> {
        for (number, command) in self.setup.settings.watch.notify.iter().cloned().enumerate() {
            let files =
                call::files(&self.setup.journal, &self.run, &format!("notify-{}-{number}", self.state.cycle))?;
            let limits = Limits { call_timeout: NOTIFY, ..self.setup.settings.limits };
            let (agents, root, stop) =
                (self.setup.agents.clone(), self.setup.workspace.root().to_owned(), self.stop.clone());
            let told = told.clone();
            self.notifying.push(Box::pin(async move {
                let checked = agents.run_command(&command, &root, &limits, &files, stop, told).await;
                let why = checked.tail.lines().next().unwrap_or_default().to_owned();
                (!checked.passed).then(|| format!("`{}` (watch.notify) failed: {why}", command.join(" ")))
            }));
        }
        Ok(())
    }
}

/// Records the tree, or takes the one given, and shows what changed since `before`.
fn prepared(workspace: &Workspace, state_dir: &Path, before: Option<String>, tree: Option<String>) -> Prepared {
    let now = tree.map_or_else(|| workspace.snapshot(state_dir), |tree| Ok(TreeId(tree)));
    let changes = now.as_ref().map_err(ToString::to_string).and_then(|now| {
        let changes = before.map_or(Ok(Vec::new()), |before| workspace.changes(&TreeId(before), now, state_dir));
        changes.map(|changes| cycle::shown(&changes)).map_err(|error| error.to_string())
    });
    Prepared { tree: now.ok().map(|now| now.0), changes }
}
