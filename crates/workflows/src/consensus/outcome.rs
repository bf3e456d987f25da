//! The outcome of a stage or a checkpoint.

use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::state::StageState;
use crate::run::ports::OpenQuestion;
use glee_model::domain::event::{CallAnswer, Part};
use glee_model::domain::{
    AgentName, Approach, Decision, ExitReason, Resolution, RunId, Settler, Spent, StageAnswer,
    StageStatus, StageVerdict, Synthesis,
};
use glee_model::rules::stages::checkpoint::{self, Tally};
use glee_model::rules::stages::stage;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StageOutcome {
    pub run: RunId,
    pub id: String,
    pub stage: String,
    #[serde(flatten)]
    pub step: NextStep,
    /// The agents that gave no answer, each with the reason for the missing answer.
    pub failures: Vec<(AgentName, String)>,
    pub spent: Spent,
    pub notices: Vec<String>,
    /// The field `ended` is false if the run is in progress or was interrupted.
    pub ended: bool,
    /// The duration of the run in milliseconds, counted from the last resumption. If the run was never resumed,
    /// the duration is counted from the start.
    pub millis: u64,
    pub exit: ExitReason,
    #[serde(serialize_with = "answers", skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<(AgentName, Option<StageAnswer>)>,
}

/// Serialises each answer as an object. The field `content` is null if the agent gave no answer.
fn answers<S: Serializer>(
    answers: &[(AgentName, Option<StageAnswer>)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(answers.iter().map(|(agent, answer)| {
        let missing = answer.as_ref().map(|answer| &answer.missing_fields);
        json!({ "agent": agent, "content": answer.as_ref().map(StageAnswer::value), "missing_fields": missing })
    }))
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "subject", rename_all = "snake_case")]
pub enum NextStep {
    Stage {
        /// The status of the stage. After a decision, the status is no longer `Conflict`.
        status: Option<StageStatus>,
        verdict: Option<Box<StageVerdict>>,
        synthesis: Option<Box<Synthesis>>,
        deadlock: Option<String>,
        decision: Option<(Decision, Settler)>,
        /// A decision that is not binding, because the arbiter's confidence is too low.
        #[serde(skip_serializing_if = "Option::is_none")]
        uncertain: Option<Box<(Decision, AgentName)>>,
        advances: bool,
    },
    Checkpoint {
        resolved: Vec<ResolvedQuestion>,
        open: Vec<OpenQuestion>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ResolvedQuestion {
    /// The text of the question. The field `resolution.question` contains only the question's id.
    pub asked: String,
    #[serde(flatten)]
    pub resolution: Resolution,
}

fn status(state: &StageState) -> Option<StageStatus> {
    let verdict = state.verdict.as_ref()?;
    let whole = verdict.missing_agents.is_empty() && verdict.required_fields_ok;
    Some(match (verdict.status, state.decision.is_some()) {
        (StageStatus::Conflict, true) if whole => StageStatus::Ok,
        (StageStatus::Conflict, true) => StageStatus::Degraded,
        (status, _) => status,
    })
}

pub(super) fn exit(state: &StageState) -> ExitReason {
    let is_exhausted = state.calls.values().any(|answer| {
        matches!(answer, CallAnswer::Failed { cause: Some(cause), .. } if cause.is_exhausted())
    });
    let lacking = if is_exhausted {
        ExitReason::Limited
    } else {
        ExitReason::AgentFailed
    };
    if state.violated {
        return ExitReason::ReadOnlyViolation;
    }
    if state.questions().is_empty() {
        return match status(state) {
            Some(StageStatus::Ok) => ExitReason::Clean,
            Some(StageStatus::Conflict) => ExitReason::DisputeOpen,
            Some(StageStatus::Degraded) | None => lacking,
        };
    }
    let answered = state
        .questions()
        .iter()
        .any(|question| !state.answers(question).is_empty());
    match state
        .questions()
        .iter()
        .all(|question| state.resolutions.contains_key(&question.id))
    {
        true => ExitReason::Clean,
        // If no agent answered, a person cannot choose an answer, so the run counts as failed.
        false if !answered => lacking,
        false => ExitReason::DisputeOpen,
    }
}

pub(super) fn outcome(state: &StageState, run: &RunId, millis: u64) -> Option<StageOutcome> {
    let plan = state.plan.as_ref()?;
    let positions = state.positions();
    let synthesis = state.synthesis();
    let step = if state.questions().is_empty() {
        NextStep::Stage {
            status: status(state),
            verdict: state.verdict.clone().map(Box::new),
            synthesis: synthesis.cloned().map(Box::new),
            deadlock: state.deadlock.clone(),
            decision: state.decision.clone(),
            uncertain: uncertain(state),
            advances: state.verdict.as_ref().is_some_and(|verdict| {
                stage::advances(verdict, synthesis, state.decision.is_some())
            }),
        }
    } else {
        NextStep::Checkpoint {
            resolved: state
                .questions()
                .iter()
                .filter_map(|question| {
                    let resolution = state.resolutions.get(&question.id)?.clone();
                    Some(ResolvedQuestion {
                        asked: question.question.clone(),
                        resolution,
                    })
                })
                .collect(),
            open: state
                .questions()
                .iter()
                .filter_map(|question| open_question(state, &question.id))
                .collect(),
        }
    };
    Some(StageOutcome {
        run: run.clone(),
        id: plan.id.clone(),
        stage: plan.stage.clone(),
        step,
        failures: failures(state),
        spent: state.spent,
        notices: state.notices.clone(),
        ended: state.ended.is_some(),
        millis: state.ended.map_or(millis, |(_, millis)| millis),
        exit: state.ended.map_or_else(|| exit(state), |(exit, _)| exit),
        answers: plan
            .agents
            .iter()
            .map(|agent| {
                let mut positions = positions.iter();
                let said = positions.find(|(name, _)| **name == agent.name);
                (
                    agent.name.clone(),
                    said.map(|(_, answer)| (*answer).clone()),
                )
            })
            .collect(),
    })
}

fn uncertain(state: &StageState) -> Option<Box<(Decision, AgentName)>> {
    state.deadlock.as_ref()?;
    let arbiter = state.plan.as_ref()?.arbiter.as_ref()?;
    Some(Box::new((
        state.arbitration()?.clone(),
        arbiter.name.clone(),
    )))
}

fn failures(state: &StageState) -> Vec<(AgentName, String)> {
    let mut failures = Vec::new();
    let Some(plan) = &state.plan else {
        return failures;
    };
    let parts = [
        Part::Position,
        Part::Questions,
        Part::Aggregate,
        Part::Arbitrate,
    ];
    for (agent, part) in plan
        .all()
        .flat_map(|agent| parts.iter().map(move |part| (agent, part)))
    {
        if let Some((_, CallAnswer::Failed { error, .. } | CallAnswer::Invalid { error })) =
            state.attempts(&agent.name, part).pop()
        {
            failures.push((agent.name.clone(), error.clone()));
        }
    }
    failures
}

pub(crate) fn open_question(state: &StageState, id: &str) -> Option<OpenQuestion> {
    let question = state
        .questions()
        .iter()
        .find(|question| question.id == id)?;
    if state.resolutions.contains_key(id) {
        return None;
    }
    let asked = state.plan.as_ref()?.agents.len();
    let opinions = match checkpoint::tally(question, &state.answers(question), asked) {
        Tally::Unanimous(first) => vec![first],
        Tally::Majority(first, others) => std::iter::once(first).chain(others).collect(),
        Tally::Split(opinions) => opinions,
    };
    let validator = state
        .validation(question)
        .map(|(_, validation)| validation.reasoning.clone());
    Some(OpenQuestion {
        question: question.clone(),
        opinions,
        validator,
    })
}

impl StageOutcome {
    pub(crate) fn verdict_json(&self) -> Option<Value> {
        let NextStep::Stage {
            status,
            verdict,
            deadlock,
            decision,
            uncertain,
            ..
        } = &self.step
        else {
            return None;
        };
        let verdict = verdict.as_ref()?;
        let mut value = json!({
            "id": self.id,
            "stage": self.stage,
            "run": self.run,
            "status": status,
            "consensus_ok": *status == Some(StageStatus::Ok),
            "aggregator_status": verdict.status,
            "agreements": verdict.agreements,
            "conflicts": verdict.conflicts,
            "missing_agents": verdict.missing_agents,
            "required_fields_ok": verdict.required_fields_ok,
        });
        if let Some(deadlock) = deadlock {
            value["deadlock"] = json!(deadlock);
        }
        if let Some((decision, name)) = uncertain.as_deref() {
            value["arbiter_uncertain"] = json!({
                "decision": decision.decision.to_string(),
                "rationale": decision.rationale,
                "modifications": decision.modifications,
                "confidence": decision.confidence,
                "by": Settler::Arbiter { name: name.clone() },
            });
        }
        if let Some((decision, by)) = decision {
            let step = format!("arbiter-{}", self.stage);
            value["arbiter"] = json!({ "step": step, "by": by, "confidence": decision.confidence });
        }
        Some(value)
    }

    /// The content of `synthesis.json`, which is the input of the next stage. Returns `None` if there is no
    /// synthesis.
    pub fn synthesis_json(&self) -> Option<Value> {
        let NextStep::Stage {
            status,
            synthesis: Some(synthesis),
            decision,
            ..
        } = &self.step
        else {
            return None;
        };
        let content: Value = serde_json::from_str(synthesis.content.as_written()).ok()?;
        let mut fields: Map<String, Value> = content.as_object()?.clone();
        fields.insert("id".to_owned(), json!(self.id));
        fields.insert("stage".to_owned(), json!(self.stage));
        fields.insert("status".to_owned(), json!(status));
        if let Some((decision, by)) = decision {
            // The next stage needs the text of the chosen answer, not only the agent's name.
            let approach = match &decision.decision {
                Approach::Of(name) => {
                    let said = self.answers.iter().find(|(other, _)| other == name);
                    said.and_then(|(_, answer)| answer.as_ref().map(StageAnswer::value))
                }
                Approach::Hybrid => None,
            };
            let decided = json!({
                "decision": decision.decision.to_string(),
                "approach": approach,
                "rationale": decision.rationale,
                "modifications": decision.modifications,
                "confidence": decision.confidence,
                "by": by,
            });
            fields.insert("arbiter_decision".to_owned(), decided);
        }
        Some(Value::Object(fields))
    }

    /// Returns the resolutions of a checkpoint, in the format that the next stage reads. Returns `None` if the
    /// outcome belongs to a stage.
    pub(crate) fn resolutions_json(&self) -> Option<Value> {
        let NextStep::Checkpoint { resolved, open } = &self.step else {
            return None;
        };
        let waiting: Vec<&str> = open.iter().map(|open| open.question.id.as_str()).collect();
        Some(
            json!({ "id": self.id, "checkpoint": self.stage, "resolved": resolved, "open": waiting }),
        )
    }
}
