//! The state of a stage or a checkpoint, computed from its recorded events.

use std::collections::BTreeMap;

use glee_model::domain::event::{
    CallAnswer, CallId, ConsensusEvent, Event, EventKind, Part, Purpose, RunEvent,
};
use glee_model::domain::{
    AgentName, Decision, ExitReason, Question, QuestionAnswer, Resolution, Said, Settler, Spent,
    StageAnswer, StagePlan, StageVerdict, Subject, Synthesis, Untrusted, Validation,
};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct StageState {
    pub plan: Option<StagePlan>,
    pub calls: BTreeMap<CallId, CallAnswer>,
    pub spent: Spent,
    pub verdict: Option<StageVerdict>,
    pub deadlock: Option<String>,
    pub decision: Option<(Decision, Settler)>,
    pub resolutions: BTreeMap<String, Resolution>,
    pub violated: bool,
    pub notices: Vec<String>,
    pub ended: Option<(ExitReason, u64)>,
}

impl StageState {
    pub fn of(events: &[Event]) -> Self {
        let mut state = Self::default();
        for event in events {
            state.apply(event);
        }
        state
    }

    pub fn apply(&mut self, event: &Event) {
        match &event.kind {
            EventKind::Run(event) => match event {
                RunEvent::RunResumed => {
                    // If the stage has no `StageVerdict` yet, a resumed run repeats the failed calls of the stage.
                    if self.verdict.is_none() {
                        self.calls
                            .retain(|_, answer| matches!(answer, CallAnswer::Stage { .. }));
                    }
                    self.violated = false;
                    self.ended = None;
                }
                RunEvent::CallFinished {
                    call,
                    answer,
                    usage,
                    told,
                    ..
                } => {
                    self.spent.add(**usage, told.retries);
                    self.calls.insert(call.clone(), answer.clone());
                }
                RunEvent::ReadOnlyViolated { .. } => self.violated = true,
                RunEvent::Notice { text } => self.notices.push(text.clone()),
                RunEvent::RunEnded { exit, millis } => self.ended = Some((*exit, *millis)),
                _ => {}
            },
            EventKind::Consensus(event) => match event {
                ConsensusEvent::StageStarted { plan } => self.plan = Some((**plan).clone()),
                ConsensusEvent::StageJudged { verdict } => self.verdict = Some(verdict.clone()),
                ConsensusEvent::StageDeadlocked { reason } => self.deadlock = Some(reason.clone()),
                ConsensusEvent::StageDecided { decision, by } => {
                    self.decision = Some((decision.clone(), by.clone()))
                }
                ConsensusEvent::QuestionResolved { resolution } => {
                    self.resolutions
                        .insert(resolution.question.clone(), resolution.clone());
                }
            },
            EventKind::Review(_) | EventKind::Dispute(_) | EventKind::Watch(_) => {}
        }
    }

    pub fn attempts(&self, agent: &AgentName, part: &Part) -> Vec<(&CallId, &CallAnswer)> {
        let is_part =
            |id: &CallId| matches!(&id.purpose, Purpose::Stage { part: other } if other == part);
        self.calls
            .iter()
            .filter(|(id, _)| id.agent == *agent && is_part(id))
            .collect()
    }

    fn said(&self, agent: &AgentName, part: &Part) -> Option<&Said> {
        self.attempts(agent, part)
            .into_iter()
            .rev()
            .find_map(|(_, answer)| match answer {
                CallAnswer::Stage { said } => Some(&**said),
                _ => None,
            })
    }

    pub fn conflicts(&self) -> Vec<Untrusted> {
        self.verdict
            .as_ref()
            .map(|verdict| verdict.conflicts.clone())
            .unwrap_or_default()
    }

    /// The result lists the agents in the order of the plan.
    pub fn positions(&self) -> Vec<(&AgentName, &StageAnswer)> {
        let agents = self.plan.iter().flat_map(|plan| &plan.agents);
        agents
            .filter_map(|agent| match self.said(&agent.name, &Part::Position)? {
                Said::Position(position) => Some((&agent.name, position)),
                _ => None,
            })
            .collect()
    }

    pub fn answered(&self) -> Vec<AgentName> {
        self.positions()
            .into_iter()
            .map(|(name, _)| name.clone())
            .collect()
    }

    pub fn synthesis(&self) -> Option<&Synthesis> {
        let aggregator = self.plan.as_ref()?.aggregator.as_ref()?;
        match self.said(&aggregator.name, &Part::Aggregate)? {
            Said::Synthesis(synthesis) => Some(synthesis),
            _ => None,
        }
    }

    /// The arbiter's decision. The decision is not binding if the arbiter's confidence is too low.
    pub fn arbitration(&self) -> Option<&Decision> {
        let arbiter = self.plan.as_ref()?.arbiter.as_ref()?;
        match self.said(&arbiter.name, &Part::Arbitrate)? {
            Said::Decision(decision) => Some(decision),
            _ => None,
        }
    }

    pub fn questions(&self) -> &[Question] {
        match self.plan.as_ref().map(|plan| &plan.subject) {
            Some(Subject::Checkpoint { questions }) => questions,
            _ => &[],
        }
    }

    /// The result lists the agents in the order of the plan.
    pub fn answers(&self, question: &Question) -> Vec<(AgentName, &QuestionAnswer)> {
        let agents = self.plan.iter().flat_map(|plan| &plan.agents);
        agents
            .filter_map(|agent| match self.said(&agent.name, &Part::Questions)? {
                Said::Answers { answers } => {
                    let answer = answers.iter().find(|answer| answer.id == question.id)?;
                    Some((agent.name.clone(), answer))
                }
                _ => None,
            })
            .collect()
    }

    pub fn validation(&self, question: &Question) -> Option<(&AgentName, &Validation)> {
        let validator = &self.plan.as_ref()?.arbiter.as_ref()?.name;
        match self.said(
            validator,
            &Part::Validate {
                question: question.id.clone(),
            },
        )? {
            Said::Validation(validation) => Some((validator, validation)),
            _ => None,
        }
    }
}
