//! Agents whose program answers a prompt: each is asked once for what a person wants done, and what it says of it in the end
//! is its milestone. Like every answered call it is not asked again when the watch is started again.

use crate::domain::event::{CallAnswer, CallId, EventKind, Purpose, WatchEvent};
use crate::domain::{AgentEvent, AgentName, EventType, Untrusted};
use crate::protocol::request::Task;
use crate::workflows::run::error::RunError;
use crate::workflows::watch::cycle;
use crate::workflows::watch::engine::{PendingCall, WatchEngine};

/// What of an agent's last words becomes the summary of its milestone, in characters.
const SUMMARY: usize = 2_000;

impl WatchEngine {
    pub(crate) fn works(&self) -> Vec<CallId> {
        let jobs = self.state.plan.iter().flat_map(|plan| &plan.jobs);
        let due = jobs.filter_map(|job| {
            let call = |attempt| CallId { agent: job.agent.clone(), purpose: Purpose::Work, attempt };
            cycle::attempt(&self.state.works, call)
        });
        due.collect()
    }

    /// Whether an agent did what it was asked for; `None` while it has not answered for the last time.
    pub(crate) fn worked(&self, name: &AgentName) -> Option<bool> {
        let answer =
            |attempt| self.state.works.get(&CallId { agent: name.clone(), purpose: Purpose::Work, attempt });
        match (answer(1), answer(2)) {
            (None | Some(CallAnswer::Invalid { .. }), None) => None,
            (first, second) => Some(matches!(second.or(first), Some(CallAnswer::Work { .. }))),
        }
    }

    pub(crate) fn work(&mut self, id: CallId) -> Result<Option<PendingCall>, RunError> {
        let Some(plan) = &self.state.plan else { return Ok(None) };
        let agent = plan.agents.iter().find(|agent| agent.name == id.agent).cloned();
        let job = plan.jobs.iter().find(|job| job.agent == id.agent).cloned();
        let (Some(agent), Some(job)) = (agent, job) else { return Ok(None) };
        let again = (id.attempt > 1).then(|| "your last answer was empty".to_owned());
        self.put(id, &agent, Task::Work { task: job.task }, again).map(Some)
    }

    /// The events for the answer of a work call: milestone and done, or a blocker for a failure.
    pub(crate) fn told_of(&mut self, id: &CallId, answer: &CallAnswer) -> Vec<EventKind> {
        if id.purpose != Purpose::Work {
            return Vec::new();
        }
        let (kinds, text): (&[EventType], Untrusted) = match answer {
            CallAnswer::Work { said } => (&[EventType::Milestone, EventType::Done], said.first(SUMMARY)),
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
        kinds.iter().for_each(|kind| self.triggers.event(*kind, now));
        let event = |kind: &EventType| {
            EventKind::Watch(WatchEvent::EventReceived {
                said: AgentEvent {
                    kind: *kind,
                    agent: Some(id.agent.clone()),
                    summary: Some(text.clone()),
                    files: Vec::new(),
                    clarifies: None,
                },
            })
        };
        kinds.iter().map(event).collect()
    }
}
