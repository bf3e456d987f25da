//! What a review, a stage and a watch share: the history they record to, the agents they ask, and the guard of the tree.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use tracing::Span;

use crate::agents::{Agents, Stop};
use crate::config::settings::Settings;
use crate::domain::event::{CallAnswer, CallId, Event, EventKind, RunEvent};
use crate::domain::{Agent, RunId, Spent};
use crate::history::store::Journal;
use crate::protocol::request::Task;
use crate::workflows::run::call::{self, AgentCall, CallOutcome};
use crate::workflows::run::error::RunError;
use crate::workflows::run::ports::{EventSink, Sink};
use crate::workflows::run::redaction::Redaction;
use crate::workflows::run::write_guard::{self, Found, WriteGuard};
use crate::workspace::root::Workspace;

pub struct RunSetup {
    pub workspace: Arc<Workspace>,
    /// Where Glee keeps what must outlive the tree.
    pub state_dir: PathBuf,
    pub journal: Journal,
    pub agents: Agents,
    pub settings: Settings,
    pub sink: Box<dyn EventSink>,
    /// Ends the run early; it can be carried on.
    pub stop: Stop,
}

/// A run of any kind at work. Nothing else writes to its part of the history.
pub(crate) struct Runner {
    pub(crate) run: RunId,
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) state_dir: PathBuf,
    pub(crate) journal: Journal,
    pub(crate) agents: Agents,
    pub(crate) settings: Settings,
    /// The folder of the project's own templates for prompts.
    pub(crate) templates: PathBuf,
    pub(crate) sink: Sink,
    pub(crate) stop: Stop,
    pub(crate) started: Instant,
    pub(crate) watch: WriteGuard,
    pub(crate) span: Span,
}

/// What is recorded of a call that has ended.
pub(crate) struct Finished {
    pub(crate) events: Vec<EventKind>,
    /// Files under review that changed while the agent worked, by somebody else.
    pub(crate) stale: Vec<String>,
}

impl Runner {
    /// Opens the log of the run. Fails when the folder beside the journal cannot be made.
    pub(crate) fn new(setup: RunSetup, run: RunId, templates: PathBuf) -> Result<Self, RunError> {
        let RunSetup { workspace, state_dir, journal, agents, settings, sink, stop } = setup;
        let (span, sink) = (call::log(&journal, &run)?, Arc::new(Mutex::new(sink)));
        let (started, watch) = (Instant::now(), WriteGuard::default());
        Ok(Self {
            run,
            workspace,
            state_dir,
            journal,
            agents,
            settings,
            templates,
            sink,
            stop,
            started,
            watch,
            span,
        })
    }

    pub(crate) fn redaction(&self) -> Redaction {
        self.settings.redaction.into()
    }

    /// Records events that belong together, and those of other runs that go with them: all of them or, with an error,
    /// none. Returns the events of this run. Fails when the history cannot be written.
    pub(crate) fn record(
        &mut self,
        kinds: Vec<EventKind>,
        elsewhere: Vec<(RunId, EventKind)>,
    ) -> Result<Vec<Event>, RunError> {
        if kinds.is_empty() {
            return Ok(Vec::new());
        }
        let redaction = self.redaction();
        let kinds = kinds.into_iter().map(|kind| redaction.event(kind));
        let elsewhere = elsewhere.into_iter().map(|(run, kind)| (run, redaction.event(kind))).collect();
        Ok(self.journal.append_with(&self.run, kinds, elsewhere)?)
    }

    /// Passes events to the listeners, after they were recorded and taken into the state.
    pub(crate) fn tell(&self, events: &[Event]) {
        let mut sink = self.sink.lock().unwrap_or_else(PoisonError::into_inner);
        events.iter().for_each(|event| sink.event(event));
    }

    /// The call that puts a task to an agent, and the event that has to be recorded before it is made. Fails when the
    /// project's own template of the prompt cannot be used, or the folder beside the journal cannot be made.
    pub(crate) fn call<'a>(
        &self,
        id: &CallId,
        agent: &Agent,
        backups: impl Iterator<Item = &'a Agent>,
        task: Task,
        again: Option<String>,
        spent: &Spent,
    ) -> Result<(EventKind, AgentCall), RunError> {
        let agent = call::equipped(&self.settings, agent);
        let place = (&self.settings, &*self.workspace, &*self.templates);
        let (request, prompt, started) = call::request(&self.run, place, id, &agent, task, again)?;
        let call = AgentCall {
            id: id.clone(),
            agents: self.agents.clone(),
            agent,
            backups: backups.map(|agent| call::equipped(&self.settings, agent)).collect(),
            request,
            prompt,
            session: None,
            limits: call::limits(&self.settings, spent, 1),
            settings: self.settings.clone(),
            protected: call::protected(&self.workspace, &self.state_dir, &self.journal),
            files: call::files(&self.journal, &self.run, &id.file_stem())?,
            sink: Arc::clone(&self.sink),
            stands: None,
            stop: self.stop.clone(),
            lookout: None,
            scope: Span::current(),
        };
        Ok((started, call))
    }

    /// What is recorded of a call that has ended, after a look at what else its agent did. A call that a stop cut off
    /// has not answered; it is made again when the run is carried on. `covers` tells the files under review. Fails
    /// when what the coder did to the tree cannot be looked at.
    pub(crate) fn ended(
        &mut self,
        id: CallId,
        called: CallOutcome,
        is_stopped: bool,
        covers: impl Fn(&str) -> bool,
    ) -> Result<Finished, RunError> {
        let CallOutcome { mut answer, sight, transcript, millis, usage, told } = called;
        let is_cut_off = is_stopped && matches!(answer, CallAnswer::Failed { .. });
        let notice = |text: String| EventKind::notice(text);
        let (mut events, mut outdated) = (Vec::new(), Vec::new());
        match sight {
            Some(sight) if id.purpose.is_coder() => {
                let did = self.watch.end_of_coder(&self.workspace, &id, sight)?;
                events.extend(did.into_iter().map(|did| notice(format!("{} {did}", id.agent))));
            }
            Some(sight) => {
                // What never ran has not written.
                let held = transcript.as_ref().is_none_or(|transcript| transcript.held);
                let Found { violations, stale } = self.watch.end(&self.workspace, &id, sight, held);
                outdated.extend(stale.into_iter().filter(|file| covers(file)));
                events.extend(outdated.iter().map(|file| {
                    notice(format!(
                        "`{file}` was changed while {} worked, not by it; findings there may be stale",
                        id.agent
                    ))
                }));
                if !violations.is_empty() {
                    answer = write_guard::discarded(&id, &violations);
                    events
                        .push(EventKind::Run(RunEvent::ReadOnlyViolated { call: id.clone(), changes: violations }));
                }
            }
            None => {}
        }
        if !is_cut_off {
            if let (Some(by), Some(said)) = (&told.by, &told.instead) {
                events.push(notice(format!("{by} was asked in the place of {}: {said}", id.agent)));
            }
            events.push(EventKind::Run(RunEvent::CallFinished {
                call: id,
                answer,
                transcript,
                millis,
                usage,
                told,
            }));
        }
        Ok(Finished { events, stale: outdated })
    }
}
