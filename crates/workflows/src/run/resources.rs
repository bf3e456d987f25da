//! The resources of a run: its journal, agents, work tree and write guard.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use tracing::{Span, info, info_span, warn};

use crate::run::budget::Pace;
use crate::run::error::RunError;
use crate::run::memory::SessionMemory;
use crate::run::ports::{EventSink, Sink};
use crate::run::redaction::Redaction;
use crate::run::write_guard::{self, Found, Observation, WriteGuard};
use glee_agents::adapters::registry;
use glee_agents::process::sandbox::confinement::Guarded;
use glee_agents::{Agents, Call, CallOutcome, Program, Stop, TranscriptFiles};
use glee_model::domain::event::{CallAnswer, CallId, Event, EventKind, RunEvent};
use glee_model::domain::{Agent, AgentName, RunId, SpentByRuns};
use glee_protocol::prompts;
use glee_protocol::request::{Request, Task};
use glee_protocol::secrets;
use glee_protocol::text::nonce;
use glee_store::config::settings::Settings;
use glee_store::history::JournalError;
use glee_store::history::store::Journal;
use glee_system::log;
use glee_workspace::root::Workspace;
use glee_workspace::{QueuedRun, Turn};

pub struct RunSetup {
    pub workspace: Arc<Workspace>,
    /// The folder that contains Glee's data outside the work tree.
    pub state_dir: PathBuf,
    pub journal: Journal,
    pub agents: Agents,
    pub settings: Settings,
    pub sink: Box<dyn EventSink>,
    /// Stops the run. A stopped run can be resumed.
    pub stop: Stop,
    /// A detached run waits here for its turn.
    pub queue: Option<QueuedRun>,
}

pub fn new_run() -> RunId {
    RunId(uuid::Uuid::now_v7().to_string())
}

pub struct RunResources {
    pub run: RunId,
    pub workspace: Arc<Workspace>,
    pub state_dir: PathBuf,
    pub journal: Journal,
    pub agents: Agents,
    pub settings: Settings,
    pub templates: PathBuf,
    pub sink: Sink,
    pub stop: Stop,
    pub started: Instant,
    pub guard: WriteGuard,
    pub(crate) pace: Pace,
    pub(crate) memory: SessionMemory,
    /// What several runs cost, as far as a cap depends on it. The runner updates it after each call.
    pub(crate) by_runs: SpentByRuns,
    pub span: Span,
    /// The events that are not yet on the disk.
    untold: Vec<Event>,
    /// Other detached runs of the tree wait until this value is dropped.
    queue: Option<QueuedRun>,
}

impl RunResources {
    pub(crate) fn new(setup: RunSetup, run: RunId, templates: PathBuf) -> Result<Self, RunError> {
        let RunSetup {
            workspace,
            state_dir,
            mut journal,
            agents,
            settings,
            sink,
            stop,
            queue,
        } = setup;
        journal.redacts = settings.redaction.secrets;
        for agent in &settings.agents {
            secrets::know(&agent.env);
            secrets::know(&registry::handed_on(agent));
        }
        let span = open_log(&journal, &run)?;
        Ok(Self {
            run,
            workspace,
            state_dir,
            journal,
            agents,
            settings,
            templates,
            sink: Arc::new(Mutex::new(sink)),
            stop,
            started: Instant::now(),
            guard: WriteGuard::default(),
            pace: Pace::default(),
            memory: SessionMemory::default(),
            by_runs: SpentByRuns::default(),
            span,
            untold: Vec::new(),
            queue,
        })
    }

    /// Adds up what several runs cost, as far as a cap depends on it. Returns the number of histories that cannot be read.
    pub(crate) fn count_runs(&mut self) -> Result<u64, RunError> {
        let caps = self.settings.budget.caps();
        let mut unread = 0;
        if caps.month_usd.is_some() {
            let month = Timestamp::now()
                .to_zoned(TimeZone::UTC)
                .date()
                .first_of_month();
            let (usd, missing) = self.journal.spent_in_all(&self.state_dir, month)?;
            self.by_runs.month_usd = Some(usd);
            unread = missing;
        }
        if caps.request_usd.is_some() {
            self.by_runs.request_usd = Some(self.journal.spent_on_request_of(&self.run)?);
        }
        Ok(unread)
    }

    /// The program of an agent, as far as the settings name it.
    pub(crate) fn program(&self, agent: &AgentName) -> String {
        let mut agents = self.settings.agents.iter();
        let command = agents.find_map(|own| (own.name == *agent).then(|| own.command.first()));
        command.flatten().unwrap_or(&agent.0).clone()
    }

    /// The memory for new processes in bytes; `None` if it is unknown, or if no call waits for it.
    pub(crate) fn available_memory(&self) -> Option<u64> {
        if self.memory.is_empty() {
            return None;
        }
        self.agents.runner.available_memory()
    }

    /// Waits until a detached run has its turn or is stopped. Returns the run that supersedes it.
    pub(crate) async fn turn(&mut self) -> Result<Option<RunId>, RunError> {
        let Some(queue) = &mut self.queue else {
            return Ok(None);
        };
        while !self.stop.is_stopped() {
            match queue.turn()? {
                Turn::Begun => return Ok(None),
                Turn::Superseded(by) if self.journal.length(&by)? > 0 => {
                    queue.leave();
                    return Ok(Some(by));
                }
                // The newer run ended before its start was recorded.
                Turn::Superseded(by) if !self.journal.is_held(&by)? => queue.stay()?,
                Turn::Superseded(_) | Turn::Waiting => {}
            }
            tokio::select! {
                () = self.stop.stopped() => {}
                () = tokio::time::sleep(QueuedRun::STEP) => {}
            }
        }
        queue.leave();
        Ok(None)
    }

    pub(crate) fn redaction(&self) -> Redaction {
        self.settings.redaction.into()
    }

    /// The time since this process started or resumed the run, in milliseconds.
    pub(crate) fn millis(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Records events of this run and of other runs in one transaction. Returns the events of this run.
    pub(crate) fn record(
        &mut self,
        kinds: Vec<EventKind>,
        elsewhere: Vec<(RunId, EventKind)>,
    ) -> Result<Vec<Event>, RunError> {
        if kinds.is_empty() {
            return Ok(Vec::new());
        }
        Ok(self.journal.append_with(&self.run, kinds, elsewhere)?)
    }

    /// Passes events to the listeners as soon as they are on the disk.
    pub(crate) fn tell(&mut self, events: &[Event]) {
        if self.journal.has_begun() {
            self.untold.extend_from_slice(events);
            return;
        }
        let mut sink = lock(&self.sink);
        events.iter().for_each(|event| sink.event(event));
    }

    /// Writes the events since [`Journal::begin`] to the disk.
    pub(crate) fn commit(&mut self) -> Result<(), RunError> {
        self.journal.commit()?;
        let untold = std::mem::take(&mut self.untold);
        self.tell(&untold);
        Ok(())
    }

    /// Prepares a call. Fails if a prompt template of the project is invalid.
    pub(crate) fn call(
        &self,
        id: &CallId,
        agent: &Agent,
        backups: &[Agent],
        task: Task,
        again: Option<String>,
    ) -> Result<Call, RunError> {
        let agent = with_secrets(&self.settings, agent);
        let nonce = nonce::of_call(&self.run);
        let request = Request {
            version: Request::VERSION,
            task: nonce::without_mark(task, &nonce),
            nonce,
            agent: agent.name.clone(),
            root: self.workspace.root().to_string_lossy().into_owned(),
            again,
        };
        let request = self.redaction().request(&agent, request);
        let prompt = prompts::render(&request, Some(&self.templates))?;
        let (skip, stop) = self.stop.of_call();
        lock(&self.sink).skippable(id, skip);
        let sink = Arc::clone(&self.sink);
        let shown = id.clone();
        Ok(Call {
            agent,
            backups: backups
                .iter()
                .map(|agent| with_secrets(&self.settings, agent))
                .collect(),
            program: Program::default(),
            request: Arc::new(request),
            prompt: prompt.into(),
            session: None,
            limits: self.settings.limits,
            sandbox: self.settings.sandbox,
            protected: Arc::new(self.guarded()),
            files: self.files(&id.file_stem())?,
            activity: Arc::new(move |line| lock(&sink).activity(&shown, line)),
            suspended: None,
            stop,
        })
    }

    /// The tree, and Glee's own records.
    pub(crate) fn guarded(&self) -> Guarded {
        Guarded {
            tree: self.workspace.folders(),
            records: self.records(),
        }
    }

    /// Glee's state folder, and the files of a history outside of this folder.
    fn records(&self) -> Vec<PathBuf> {
        let history = self.journal.path();
        let beside = ["-wal", "-shm"].map(|end| {
            let mut name = history.as_os_str().to_owned();
            name.push(end);
            PathBuf::from(name)
        });
        let mut records = vec![self.state_dir.clone(), history.to_owned()];
        records.extend(beside);
        records.extend(
            self.journal
                .folder_of(&self.run)
                .parent()
                .map(PathBuf::from),
        );
        records
    }

    pub(crate) fn files(&self, stem: &str) -> Result<TranscriptFiles, JournalError> {
        let folder = self.journal.transcripts(&self.run)?;
        Ok(TranscriptFiles::new(&folder, stem))
    }

    /// Returns the changes in the tree during a call.
    pub(crate) fn changes(
        &mut self,
        id: &CallId,
        outcome: &CallOutcome<CallAnswer>,
        observation: Option<Observation>,
    ) -> Result<Found, RunError> {
        Ok(match observation {
            Some(observation) if id.purpose.is_coder() => {
                self.guard.end_of_coder(&self.workspace, id, observation)?
            }
            Some(observation) => {
                // If a call has no transcript, no process was started, so the agent changed no files.
                let is_held = outcome
                    .transcript
                    .as_ref()
                    .is_none_or(|transcript| transcript.held);
                self.guard.end(&self.workspace, id, observation, is_held)
            }
            None => Found::default(),
        })
    }

    /// Converts the outcome of a call to events. An interrupted call gets no recorded answer, and the call is
    /// repeated when the run is resumed.
    pub(crate) fn ended(
        id: CallId,
        mut outcome: CallOutcome<CallAnswer>,
        found: &Found,
        is_stopped: bool,
    ) -> Vec<EventKind> {
        let is_cut_off = is_stopped && matches!(outcome.answer, CallAnswer::Failed { .. });
        let beyond = found
            .beyond
            .iter()
            .map(|did| EventKind::notice(format!("{} {did}", id.agent)));
        let stale = found.stale.iter().map(|file| {
            EventKind::notice(format!(
                "`{file}` was changed during the call of {} by another process; findings on it may be stale",
                id.agent
            ))
        });
        let mut events: Vec<EventKind> = beyond.chain(stale).collect();
        if !found.violations.is_empty() {
            outcome.answer = write_guard::discarded(&id, &found.violations);
            events.push(
                RunEvent::ReadOnlyViolated {
                    call: id.clone(),
                    changes: found.violations.clone(),
                }
                .into(),
            );
        }
        if !is_cut_off {
            if let Some(by) = &outcome.metadata.by
                && let Some(why) = &outcome.metadata.instead
            {
                events.push(EventKind::notice(format!(
                    "{by} was asked instead of {}: {why}",
                    id.agent
                )));
            }
            events.push(
                RunEvent::CallFinished {
                    call: id,
                    answer: outcome.answer,
                    transcript: outcome.transcript,
                    millis: outcome.millis,
                    usage: Box::new(outcome.usage),
                    told: Box::new(outcome.metadata),
                }
                .into(),
            );
        }
        events
    }
}

fn lock(sink: &Sink) -> MutexGuard<'_, Box<dyn EventSink>> {
    sink.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds the values of the agent's environment variables and the agent's secret arguments to a copy of the agent.
/// The recorded plan contains neither.
pub(crate) fn with_secrets(settings: &Settings, agent: &Agent) -> Agent {
    let Some(own) = settings.agents.iter().find(|own| own.name == agent.name) else {
        return Agent {
            env: BTreeMap::new(),
            ..agent.clone()
        };
    };
    let is_same = secrets::redact_value(own.command.clone()) == agent.command;
    let command = if is_same {
        &own.command
    } else {
        &agent.command
    };
    Agent {
        env: own.env.clone(),
        command: command.clone(),
        ..agent.clone()
    }
}

/// Creates the log span of a run. The log is stored in the folder of the run's transcripts.
fn open_log(journal: &Journal, run: &RunId) -> Result<Span, JournalError> {
    let span = info_span!("run", id = run.short());
    match log::keep_in(&journal.transcripts(run)?) {
        Ok(path) => span.in_scope(
            || info!(version = env!("CARGO_PKG_VERSION"), log = %path.display(), "begins"),
        ),
        Err(error) => warn!("the log of the run cannot be written: {error}"),
    }
    Ok(span)
}
