//! Steps that take time: agents and people are asked, and the project's own commands run.
//!
//! Each is begun here and brings back a `Done`; what it means for the run is decided where that is taken.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError};

use super::{Done, Engine, Work};
use crate::agents::adapter::AgentError;
use crate::agents::{Ask, Asked, Session, TranscriptFiles};
use crate::domain::{Agent, DisputeNumber, Role, Route};
use crate::event::{CallAnswer, CallId, EventKind};
use crate::pipeline::RunError;
use crate::pipeline::asks::{self, Desk};
use crate::pipeline::due::Step;
use crate::pipeline::ports::Question;
use crate::pipeline::redaction::Redaction;
use crate::protocol::prompts;
use crate::protocol::request::Request;

impl Engine {
    /// An agent of the plan with its variables, whose values are in the configuration and nowhere else.
    fn equipped(&self, agent: &Agent) -> Agent {
        let own = self.settings.agents.iter().find(|own| own.name == agent.name);
        Agent { env: own.map(|own| own.env.clone()).unwrap_or_default(), ..agent.clone() }
    }

    pub(super) fn ask(&mut self, step: &Step, call: &CallId) -> Result<Work, RunError> {
        let agent = self.state.plan.iter().flat_map(|plan| &plan.agents).find(|agent| agent.name == call.agent);
        let agent = self.equipped(agent.expect("a call that is due names an agent of the plan"));
        let desk =
            Desk { state: &self.state, sources: &self.sources, trees: self.trees(), bindings: &self.bindings };
        let request = Request {
            version: Request::VERSION,
            nonce: nonce(),
            agent: agent.name.clone(),
            root: self.workspace.root().to_string_lossy().into_owned(),
            task: desk.task(call),
            again: desk.again(call),
        };
        let redaction = Redaction::from(self.settings.redaction);
        let request = redaction.request(&agent, request);
        let prompt = prompts::render(&request, Some(&self.templates))?;
        self.append(EventKind::CallStarted {
            call: call.clone(),
            role: agent.role,
            prompt_bytes: u64::try_from(prompt.len()).unwrap_or(u64::MAX),
            nonce: request.nonce.clone(),
        })?;
        self.watch.begin(&self.workspace, call)?;
        let files = self.files(&call.file_stem())?;
        let (sandbox, protected) = (self.settings.sandbox, self.protected());
        let (agents, mut limits, stop) = (self.agents.clone(), self.settings.limits, self.stop.clone());
        if let Some(left) = self.calls_left(1) {
            limits.retries = limits.retries.min(u32::try_from(left).unwrap_or(u32::MAX));
        }
        let backups = self.state.plan.iter().flat_map(|plan| &plan.backups);
        let backups: Vec<_> = backups.map(|agent| self.equipped(agent)).collect();
        // A reviewer and a judge begin afresh; the coder need not read everything again.
        let session = self.state.coder_session.clone().filter(|_| call.purpose.is_coder());
        let session = session.map(|(agent, id, used)| Session { agent, id, used });
        let (sink, step, call) = (Arc::clone(&self.sink), step.clone(), call.clone());
        // While the agent works, the rules that its prompt needs are compiled: what is kept of the call needs them too.
        let told = prompt.clone();
        drop(tokio::task::spawn_blocking(move || redaction.text(&told)));
        Ok(Box::pin(async move {
            let activity = |line: &str| sink.lock().unwrap_or_else(PoisonError::into_inner).activity(&call, line);
            let ask = Ask {
                agent: &agent,
                request: &request,
                prompt: &prompt,
                limits: &limits,
                sandbox,
                protected: &protected,
                files: &files,
                session: session.as_ref(),
                activity: &activity,
                stop,
            };
            let Asked { result, transcript, millis, usage, told } = agents.ask_or_backup(ask, &backups).await;
            let answer = match result {
                Ok(text) => {
                    let read = tokio::task::spawn_blocking(move || {
                        text.reader().and_then(|reader| asks::read(reader, &request))
                    });
                    let answer = read.await.unwrap_or_else(|error| Err(std::io::Error::other(error)));
                    answer.unwrap_or_else(|error| CallAnswer::Failed {
                        error: format!("the kept answer cannot be read: {error}"),
                        hint: None,
                        cause: None,
                    })
                }
                Err(AgentError { kind, message, hint }) => {
                    CallAnswer::Failed { error: message, hint, cause: Some(kind) }
                }
            };
            let clean = move || files.all()?.iter().try_for_each(|file| redaction.file(file));
            let cleaned = tokio::task::spawn_blocking(clean).await;
            let answer = match cleaned.unwrap_or_else(|error| Err(std::io::Error::other(error))) {
                Ok(()) => answer,
                Err(error) => CallAnswer::Failed {
                    error: format!("the kept output cannot be cleaned of secrets: {error}"),
                    hint: Some("is the state folder writable, and the disk not full?".to_owned()),
                    cause: None,
                },
            };
            let (usage, told) = (Box::new(usage), Box::new(told));
            let done = Done::Called { call, answer, transcript, millis, usage, told };
            (step, done)
        }))
    }

    /// What no agent that only reads may write to, whatever folder of its own it lies in.
    fn protected(&self) -> Vec<PathBuf> {
        let mut protected = self.workspace.folders();
        protected.push(self.state_dir.clone());
        protected.extend(self.journal.path().parent().map(PathBuf::from));
        protected
    }

    fn question(&self, dispute: DisputeNumber) -> Option<Question> {
        let dispute = self.state.disputes.get(&dispute)?;
        let judges: Vec<&str> = self.state.agents(Role::Judge).map(|judge| judge.name.0.as_str()).collect();
        let judge = (!judges.is_empty()).then(|| judges.join(", "));
        let configured = self.settings.review.on_dispute;
        let default = if judge.is_none() && configured == Route::Judge { Route::Human } else { configured };
        let undecided = self.state.disputes.values().filter(|other| other.is_open() && other.route.is_none());
        Some(Question {
            excerpt: self.sources.excerpt(&dispute.finding),
            dispute: dispute.clone(),
            judge,
            default,
            waiting: undecided.filter(|other| other.number != dispute.number).count(),
        })
    }

    pub(super) fn choose(&mut self, step: &Step, dispute: DisputeNumber) -> Option<Work> {
        let question = self.question(dispute)?;
        let mut decider = self.decider.take()?;
        let step = step.clone();
        let asked = tokio::task::spawn_blocking(move || (decider.choose(&question), decider));
        Some(Box::pin(async move {
            let (choice, decider) = asked.await.expect("a decider does not panic");
            (step, Done::Chosen { dispute, choice, decider })
        }))
    }

    pub(super) fn ask_person(&mut self, step: &Step, dispute: DisputeNumber) -> Option<Work> {
        let question = self.question(dispute)?;
        let mut decider = self.decider.take()?;
        let step = step.clone();
        let asked = tokio::task::spawn_blocking(move || (decider.rule(&question), decider));
        Some(Box::pin(async move {
            let (ruling, decider) = asked.await.expect("a decider does not panic");
            (step, Done::Ruled { dispute, ruling, decider })
        }))
    }

    /// Where the raw output of a call is kept.
    fn files(&self, stem: &str) -> Result<TranscriptFiles, RunError> {
        let folder = self.journal.transcripts(&self.run)?;
        Ok(TranscriptFiles {
            stdout: folder.join(format!("{stem}.stdout")),
            stderr: folder.join(format!("{stem}.stderr")),
        })
    }

    pub(super) fn verify(&self, step: &Step, round: u32) -> Result<Work, RunError> {
        let commands: Vec<Vec<String>> =
            self.settings.review.verify.iter().skip(self.state.verified.len()).cloned().collect();
        let (agents, limits, stop) = (self.agents.clone(), self.settings.limits, self.stop.clone());
        let files = self.files(&format!("verify-{round}"))?;
        let (root, step) = (self.workspace.root().to_owned(), step.clone());
        Ok(Box::pin(async move {
            let mut results = Vec::new();
            for command in commands {
                let checked = agents.check_command(&command, &root, &limits, &files, stop.clone()).await;
                results.push((command.join(" "), checked));
            }
            (step, Done::Verified { round, results })
        }))
    }
}

/// 128 random bits as hexadecimal digits.
fn nonce() -> String {
    uuid::Uuid::new_v4().simple().to_string()
}
