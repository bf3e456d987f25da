//! One call of an agent, from the prepared request to the answer as it is recorded.
//!
//! Whoever owns a run records that a call begins, hands it over here, and records what came of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use std::time::Instant;

use tokio::sync::watch;
use tracing::{Instrument as _, Span, info, info_span, warn};

use crate::agents::error::AgentError;
use crate::agents::{Agents, AnswerText, Ask, CallResult, Session, Stop, TranscriptFiles};
use crate::config::settings::{Limits, Settings};
use crate::domain::event::{CallAnswer, CallId, EventKind, RunEvent, Transcript};
use crate::domain::{Agent, CallMetadata, RunId, Spent, Usage};
use crate::history::JournalError;
use crate::history::store::Journal;
use crate::protocol::prompts::{self, PromptError};
use crate::protocol::request::{Request, Task};
use crate::protocol::secrets;
use crate::protocol::text::nonce;
use crate::rules::budget;
use crate::system::log;
use crate::workflows::run::answers;
use crate::workflows::run::ports::Sink;
use crate::workflows::run::redaction::Redaction;
use crate::workflows::run::write_guard::{Observation, WriteCheck};
use crate::workspace::root::Workspace;

pub(crate) struct AgentCall {
    pub(crate) id: CallId,
    pub(crate) agents: Agents,
    pub(crate) agent: Agent,
    pub(crate) backups: Vec<Agent>,
    pub(crate) request: Request,
    pub(crate) prompt: String,
    pub(crate) session: Option<Session>,
    pub(crate) limits: Limits,
    pub(crate) settings: Settings,
    /// What no agent that only reads may write to.
    pub(crate) protected: Vec<PathBuf>,
    pub(crate) files: TranscriptFiles,
    pub(crate) sink: Sink,
    /// Whether the agent stands still at the moment, where it can be asked to.
    pub(crate) stands: Option<watch::Receiver<bool>>,
    pub(crate) stop: Stop,
    /// Who looks at the tree when the agent has ended, if anybody.
    pub(crate) lookout: Option<WriteCheck>,
    /// What the call is a part of, in the log: a round, a stage, a cycle.
    pub(crate) scope: Span,
}

#[derive(Debug)]
pub(crate) struct CallOutcome {
    pub(crate) answer: CallAnswer,
    pub(crate) sight: Option<Observation>,
    pub(crate) transcript: Option<Transcript>,
    pub(crate) millis: u64,
    pub(crate) usage: Box<Usage>,
    pub(crate) told: Box<CallMetadata>,
}

impl AgentCall {
    /// Asks the agent, or its backups, reads the answer and takes secrets out of what is kept of it.
    pub(crate) async fn make(self) -> CallOutcome {
        let (id, agent) = (self.id.file_stem(), &self.agent.name.0);
        let span = info_span!(parent: &self.scope, "call", id, agent);
        self.made().instrument(span).await
    }

    async fn made(self) -> CallOutcome {
        let Self { id, agents, agent, backups, request, prompt, session, limits, settings, .. } = self;
        let redaction = Redaction::from(settings.redaction);
        let files = self.files;
        let sink = self.sink;
        let activity = |line: &str| sink.lock().unwrap_or_else(PoisonError::into_inner).activity(&id, line);
        let ask = Ask {
            agent: &agent,
            request: &request,
            prompt: &prompt,
            limits: &limits,
            sandbox: settings.sandbox,
            protected: &self.protected,
            files: &files,
            session: session.as_ref(),
            activity: &activity,
            suspended: self.stands,
            stop: self.stop,
        };
        let CallResult { result, transcript, millis, usage, metadata } = agents.ask_or_backup(ask, &backups).await;
        let clerk = AnswerReader { request, files, redaction };
        let answer = tokio::task::spawn_blocking(move || clerk.take(result));
        let sight = self.lookout.map(|lookout| tokio::task::spawn_blocking(move || lookout.look()));
        let answer = answer.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()));
        let sight = match sight {
            Some(sight) => Some(sight.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))),
            None => None,
        };
        let Usage { input_tokens, output_tokens, usd, .. } = usage;
        info!(ms = millis, retries = metadata.retries, input_tokens, output_tokens, usd, "ended");
        CallOutcome { answer, sight, transcript, millis, usage: Box::new(usage), told: Box::new(metadata) }
    }
}

struct AnswerReader {
    request: Request,
    files: TranscriptFiles,
    redaction: Redaction,
}

impl AnswerReader {
    fn take(self, result: Result<AnswerText, AgentError>) -> CallAnswer {
        let answer = match result {
            Ok(text) => text
                .reader()
                .and_then(|reader| answers::read(reader, &self.request))
                .unwrap_or_else(|error| failed(format!("the kept answer cannot be read: {error}"), None)),
            Err(AgentError { kind, message, hint }) => {
                CallAnswer::Failed { error: message, hint, cause: Some(kind) }
            }
        };
        match self.files.all().and_then(|files| files.iter().try_for_each(|file| self.redaction.file(file))) {
            Ok(()) => answer,
            Err(error) => failed(
                format!("the kept output cannot be cleaned of secrets: {error}"),
                Some("is the state folder writable, and the disk not full?".to_owned()),
            ),
        }
    }
}

pub(crate) fn refused(error: String, hint: &str) -> CallOutcome {
    CallOutcome {
        answer: failed(error, Some(hint.to_owned())),
        sight: None,
        transcript: None,
        millis: 0,
        usage: Box::default(),
        told: Box::default(),
    }
}

fn failed(error: String, hint: Option<String>) -> CallAnswer {
    CallAnswer::Failed { error, hint, cause: None }
}

/// An agent of a plan with the values of its variables and the secrets among its arguments, which are in the
/// configuration and nowhere else.
pub(crate) fn equipped(settings: &Settings, agent: &Agent) -> Agent {
    let Some(own) = settings.agents.iter().find(|own| own.name == agent.name) else {
        return Agent { env: BTreeMap::new(), ..agent.clone() };
    };
    let command = match secrets::redact_value(own.command.clone()) == agent.command {
        true => own.command.clone(),
        false => agent.command.clone(),
    };
    Agent { env: own.env.clone(), command, ..agent.clone() }
}

/// What no agent that only reads may write to, whatever folder of its own it lies in.
pub(crate) fn protected(workspace: &Workspace, state_dir: &Path, journal: &Journal) -> Vec<PathBuf> {
    let mut protected = workspace.folders();
    protected.push(state_dir.to_owned());
    protected.extend(journal.path().parent().map(PathBuf::from));
    protected
}

/// The span of a run, whose log is kept beside its raw answers from here on. Fails when the folder beside the journal
/// cannot be made.
pub(crate) fn log(journal: &Journal, run: &RunId) -> Result<Span, JournalError> {
    let span = info_span!("run", id = run.short());
    match log::keep_in(&journal.transcripts(run)?) {
        Ok(path) => span.in_scope(|| info!(version = env!("CARGO_PKG_VERSION"), log = %path.display(), "begins")),
        // The log is no reason to do without the run.
        Err(error) => warn!("the log of the run cannot be kept: {error}"),
    }
    Ok(span)
}

/// Where the raw output of a call is kept. Fails when the folder beside the journal cannot be made.
pub(crate) fn files(journal: &Journal, run: &RunId, stem: &str) -> Result<TranscriptFiles, JournalError> {
    let folder = journal.transcripts(run)?;
    Ok(TranscriptFiles {
        stdout: folder.join(format!("{stem}.stdout")),
        stderr: folder.join(format!("{stem}.stderr")),
    })
}

/// Whether as many agents are at work as may be.
pub(crate) fn is_full(settings: &Settings, at_work: usize) -> bool {
    settings.review.jobs.is_some_and(|jobs| usize::try_from(jobs).is_ok_and(|jobs| at_work >= jobs))
}

/// Whether one more agent may work beside those at work.
pub(crate) fn may_ask(settings: &Settings, spent: &Spent, at_work: usize) -> bool {
    !is_full(settings, at_work)
        && calls_left(settings, spent, at_work).is_none_or(|left| left > 0)
        && budget::reached(&settings.budget.caps(), spent).is_empty()
}

/// How many more calls may be begun beside those at work.
fn calls_left(settings: &Settings, spent: &Spent, at_work: usize) -> Option<u64> {
    let used = spent.calls.saturating_add(at_work as u64);
    Some(settings.budget.caps().calls?.saturating_sub(used))
}

pub(crate) fn limits(settings: &Settings, spent: &Spent, at_work: usize) -> Limits {
    let mut limits = settings.limits;
    if let Some(left) = calls_left(settings, spent, at_work) {
        limits.retries = limits.retries.min(u32::try_from(left).unwrap_or(u32::MAX));
    }
    limits
}

/// The request for a task, without secrets, with its prompt and the event that its call begins. Fails when the
/// project's own template of the prompt cannot be used.
pub(crate) fn request(
    run: &RunId,
    (settings, workspace, templates): (&Settings, &Workspace, &Path),
    call: &CallId,
    agent: &Agent,
    task: Task,
    again: Option<String>,
) -> Result<(Request, String, EventKind), PromptError> {
    let nonce = nonce::of_call(run);
    let request = Request {
        version: Request::VERSION,
        task: nonce::without_mark(task, &nonce),
        nonce,
        agent: agent.name.clone(),
        root: workspace.root().to_string_lossy().into_owned(),
        again,
    };
    let request = Redaction::from(settings.redaction).request(agent, request);
    let prompt = prompts::render(&request, Some(templates))?;
    let started = EventKind::Run(RunEvent::CallStarted {
        call: call.clone(),
        role: request.task.role(),
        prompt_bytes: u64::try_from(prompt.len()).unwrap_or(u64::MAX),
        nonce: request.nonce.clone(),
    });
    Ok((request, prompt, started))
}

/// What is told where another agent answered in the place of the one that was to.
pub(crate) fn stand_in(call: &CallId, told: &CallMetadata) -> Option<EventKind> {
    let (by, said) = (told.by.as_ref()?, told.instead.as_ref()?);
    Some(EventKind::Run(RunEvent::Notice {
        text: format!("{by} was asked in the place of {}: {said}", call.agent),
    }))
}

/// The notices of the caps that are reached; `then` says how it goes on once they are raised.
pub(crate) fn over_budget(settings: &Settings, spent: &Spent, then: &str) -> Vec<String> {
    let reached = budget::reached(&settings.budget.caps(), spent).into_iter();
    let notice = |(key, used)| {
        format!("`{key}` is used up ({used}); raise it with `glee config set --user {key} <more>`, then {then}")
    };
    reached.map(notice).collect()
}

pub(crate) fn millis(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}
