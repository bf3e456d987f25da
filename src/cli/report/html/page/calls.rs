//! Agent calls with their start and end times, which are computed from the recorded events of a run.

use std::collections::HashMap;

use jiff::Timestamp;

use glee_model::domain::event::{CallAnswer, CallId, Event, EventKind, Purpose, RunEvent};
use glee_model::domain::{AnswerStatus, CallMetadata, Role, Usage};
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
        let work = match &self.id.purpose {
            Purpose::Review { round, shard } => {
                format!("review, round {round}, shard {}", shard + 1)
            }
            Purpose::Close { .. } => "say what its answer means".to_owned(),
            Purpose::Same { .. } => "compare findings".to_owned(),
            Purpose::Examine { .. } => "examine the others' findings".to_owned(),
            Purpose::Defend { .. } => "defend its findings".to_owned(),
            Purpose::Respond { round } => format!("respond to the findings of round {round}"),
            Purpose::Enforce { .. } => "implement the rulings".to_owned(),
            Purpose::Repair { .. } => "repair its edits".to_owned(),
            Purpose::Judge { dispute } => format!("rule on dispute {dispute}"),
            Purpose::Recheck { .. } => "check the changes".to_owned(),
            Purpose::Compare { .. } => "compare with earlier disputes".to_owned(),
            Purpose::Stage { .. } => "answer a stage".to_owned(),
            Purpose::Work => "work".to_owned(),
            Purpose::Peer { cycle } => format!("review cycle {cycle}"),
        };
        if self.id.attempt > 1 {
            format!("{work}, attempt {}", self.id.attempt)
        } else {
            work
        }
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
        match end.answer {
            CallAnswer::Review {
                status: AnswerStatus::Clean,
                ..
            } => "clean".to_owned(),
            CallAnswer::Review {
                status: AnswerStatus::Incomplete,
                ..
            } => "incomplete".to_owned(),
            CallAnswer::Review {
                status: AnswerStatus::NotReviewed,
                ..
            } => "not reviewed".to_owned(),
            CallAnswer::Review { findings, .. } => number(findings.len(), "finding"),
            CallAnswer::Close { findings, read } => crate::cli::style::closed(*findings, *read),
            CallAnswer::Examine { examinations, .. } => number(examinations.len(), "examination"),
            CallAnswer::Defend { defences } => number(defences.len(), "defence"),
            CallAnswer::Respond { responses, .. } => number(responses.len(), "answer"),
            CallAnswer::Judge { ruling } => ruling.ruling.to_string(),
            CallAnswer::Recheck { checks } => {
                let resolved = checks.iter().filter(|check| check.resolved).count();
                format!("{resolved} of {} resolved", checks.len())
            }
            CallAnswer::Compare { comparisons } => number(comparisons.len(), "comparison"),
            CallAnswer::Same { pairs } => number(pairs.len(), "pair"),
            CallAnswer::Stage { .. } | CallAnswer::Work { .. } | CallAnswer::Peer { .. } => {
                "answered".to_owned()
            }
            CallAnswer::Invalid { error } => format!("invalid: {}", secrets::redact(error)),
            CallAnswer::Failed { error, .. } => format!("failed: {}", secrets::redact(error)),
        }
    }
}

fn number(number: usize, noun: &str) -> String {
    crate::cli::style::count(number, noun)
}
