//! Calls each agent whose program answers one prompt and then ends. Reports each answer as a milestone.

use crate::run::attempts;
use crate::run::error::RunError;
use crate::watch::workflow::WatchWorkflow;
use glee_agents::Call;
use glee_model::domain::event::{CallAnswer, CallId, EventKind, Purpose, WatchEvent};
use glee_model::domain::{AgentEvent, AgentName, EventType, Untrusted};
use glee_protocol::calls::work::WorkCall;
use glee_protocol::request::Task;

/// The maximum length of a milestone's summary, in characters.
const SUMMARY: usize = 2_000;

impl WatchWorkflow {
    pub(super) fn works(&self) -> Vec<CallId> {
        let jobs = self.state.plan.iter().flat_map(|plan| &plan.jobs);
        jobs.filter_map(|job| attempts::next_valid(&self.state.works, &job.agent, Purpose::Work))
            .collect()
    }

    /// Whether the agent succeeded with its task. Returns `None` until the agent's last attempt has ended.
    pub(super) fn worked(&self, name: &AgentName) -> Option<bool> {
        let (call, answer) = attempts::last(&self.state.works, name, &Purpose::Work)?;
        let is_last = call.attempt > 1 || !attempts::is_invalid(answer);
        is_last.then_some(matches!(answer, CallAnswer::Work { .. }))
    }

    pub(super) fn work(&self, id: &CallId) -> Option<Result<Call, RunError>> {
        let plan = self.state.plan.as_ref()?;
        let agent = plan.agents.iter().find(|agent| agent.name == id.agent)?;
        let job = plan.jobs.iter().find(|job| job.agent == id.agent)?;
        let again = (id.attempt > 1).then(|| "your last answer was empty".to_owned());
        Some(self.call(
            id,
            agent,
            Task::Work(WorkCall {
                task: job.task.clone(),
            }),
            again,
        ))
    }

    /// Returns the events that report the end of an agent's task. A success is reported by two events: a milestone
    /// and `done`. A failure is reported by one event: a blocker.
    pub(super) fn reported(&mut self, id: &CallId, answer: &CallAnswer) -> Vec<EventKind> {
        if id.purpose != Purpose::Work {
            return Vec::new();
        }
        let (kinds, text): (&[EventType], Untrusted) = match answer {
            CallAnswer::Work { said } => (
                &[EventType::Milestone, EventType::Done],
                said.first(SUMMARY),
            ),
            CallAnswer::Invalid { .. } if id.attempt == 1 => return Vec::new(),
            CallAnswer::Invalid { error } | CallAnswer::Failed { error, .. } => {
                (&[EventType::Blocker], error.as_str().into())
            }
            _ => return Vec::new(),
        };
        if let Some(started) = self.started.get_mut(&id.agent) {
            started.ended = Some(matches!(answer, CallAnswer::Work { .. }));
        }
        let now = self.now();
        kinds
            .iter()
            .for_each(|kind| self.triggers.event(*kind, now));
        let events = kinds.iter().map(|kind| {
            let said = AgentEvent {
                kind: *kind,
                agent: Some(id.agent.clone()),
                summary: Some(text.clone()),
                files: Vec::new(),
                clarifies: None,
            };
            WatchEvent::EventReceived { said }.into()
        });
        events.collect()
    }
}
