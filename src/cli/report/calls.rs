//! Agent calls with their start and end times, which are computed from the recorded events of a run.

use std::collections::HashMap;

use jiff::Timestamp;

use crate::cli::style::calls;
use glee_model::domain::event::{CallAnswer, CallId, Event, EventKind, Purpose, RunEvent};
use glee_model::domain::{CallMetadata, Role, Usage};
use glee_protocol::secrets;

#[derive(Clone, Debug)]
pub(crate) struct TimedCall<'a> {
    pub(crate) id: &'a CallId,
    pub(crate) role: Option<Role>,
    pub(crate) began: Timestamp,
    pub(crate) ended: Option<CallCompletion<'a>>,
}

#[derive(Clone, Debug)]
pub(crate) struct CallCompletion<'a> {
    pub(crate) at: Timestamp,
    pub(crate) millis: u64,
    pub(crate) answer: &'a CallAnswer,
    pub(crate) usage: &'a Usage,
    pub(crate) told: &'a CallMetadata,
}

/// Returns the calls in the order of their start times.
pub(crate) fn calls(events: &[Event]) -> Vec<TimedCall<'_>> {
    let mut calls: Vec<TimedCall<'_>> = Vec::new();
    let mut running: HashMap<&CallId, usize> = HashMap::new();
    for event in events {
        match &event.kind {
            EventKind::Run(RunEvent::CallStarted { call, role, .. }) => {
                running.insert(call, calls.len());
                calls.push(TimedCall {
                    id: call,
                    role: Some(*role),
                    began: event.at,
                    ended: None,
                });
            }
            EventKind::Run(RunEvent::CallFinished {
                call,
                answer,
                millis,
                usage,
                told,
                ..
            }) => {
                let end = CallCompletion {
                    at: event.at,
                    millis: *millis,
                    answer,
                    usage,
                    told,
                };
                match running.remove(call) {
                    Some(at) => calls[at].ended = Some(end),
                    None => calls.push(TimedCall {
                        id: call,
                        role: None,
                        began: event.at,
                        ended: Some(end),
                    }),
                }
            }
            _ => {}
        }
    }
    calls
}

impl TimedCall<'_> {
    pub(crate) fn work(&self) -> String {
        let part = match self.id.purpose {
            Purpose::Review { round, shard } => format!(", round {round}, shard {}", shard + 1),
            _ => String::new(),
        };
        calls::activity(self.id, &part)
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.ended.as_ref().is_some_and(|end| {
            matches!(
                end.answer,
                CallAnswer::Failed { .. } | CallAnswer::Invalid { .. }
            ) || matches!(end.answer, CallAnswer::Review { status, .. } if !status.is_complete())
        })
    }

    pub(crate) fn result(&self) -> String {
        let Some(end) = &self.ended else {
            return "not ended".to_owned();
        };
        secrets::redact(&calls::summary(end.answer).1).into_owned()
    }
}
