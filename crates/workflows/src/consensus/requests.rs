//! Builds the requests of a stage or a checkpoint from its state.

use std::collections::BTreeSet;

use crate::consensus::state::StageState;
use crate::run::attempts;
use crate::run::error::RunError;
use crate::run::resources::RunResources;
use glee_agents::Call;
use glee_model::domain::event::{CallAnswer, CallId, Part, Purpose};
use glee_model::domain::{AgentName, Said, StagePlan, Subject};
use glee_model::rules::stages::checkpoint::{self, Tally};
use glee_protocol::calls::aggregate::AggregateCall;
use glee_protocol::calls::arbitrate::ArbitrateCall;
use glee_protocol::calls::questions::QuestionsCall;
use glee_protocol::calls::stage::StageCall;
use glee_protocol::calls::validate::ValidateCall;
use glee_protocol::request::{StagePosition, StageSubject, Task};

pub fn request(
    resources: &RunResources,
    state: &StageState,
    id: &CallId,
) -> Result<Call, RunError> {
    let plan = state
        .plan
        .as_ref()
        .expect("a call is due only where there is a plan");
    let agent = plan
        .all()
        .find(|agent| agent.name == id.agent)
        .expect("a call that is due names an agent of the plan");
    let again = attempts::before(&state.calls, id).and_then(why_again);
    resources.call(id, agent, &plan.backups, task(state, plan, id), again)
}

fn task(state: &StageState, plan: &StagePlan, call: &CallId) -> Task {
    let Purpose::Stage { part } = &call.purpose else {
        unreachable!("only parts of a stage are due")
    };
    match (part, &plan.subject) {
        (
            Part::Position,
            Subject::Stage {
                input, resolved, ..
            },
        ) => Task::Stage(StageCall {
            about: about(plan),
            input: input.clone(),
            resolved: resolved.clone(),
        }),
        (Part::Aggregate, _) => {
            let positions = positions(state);
            let answered: BTreeSet<&AgentName> =
                positions.iter().map(|position| &position.agent).collect();
            let missing = plan
                .agents
                .iter()
                .map(|agent| &agent.name)
                .filter(|name| !answered.contains(name));
            Task::Aggregate(AggregateCall {
                about: about(plan),
                missing: missing.cloned().collect(),
                positions,
            })
        }
        (Part::Arbitrate, _) => Task::Arbitrate(ArbitrateCall {
            about: about(plan),
            positions: positions(state),
            aggregator: plan
                .aggregator
                .as_ref()
                .map(|agent| agent.name.clone())
                .unwrap_or_else(|| "".into()),
            summary: state
                .synthesis()
                .map(|synthesis| synthesis.summary.clone())
                .unwrap_or_default(),
            conflicts: state.conflicts(),
        }),
        (Part::Validate { question }, _) => validate(state, plan, question),
        (Part::Questions | Part::Position, _) => Task::Questions(QuestionsCall {
            id: plan.id.clone(),
            checkpoint: plan.stage.clone(),
            questions: state.questions().to_vec(),
        }),
    }
}

fn validate(state: &StageState, plan: &StagePlan, question: &str) -> Task {
    let asked = state.questions().iter().find(|asked| asked.id == question);
    let asked = asked.expect("a validator is asked about a question of the plan");
    match checkpoint::tally(asked, &state.answers(asked), plan.agents.len()) {
        Tally::Majority(majority, minority) => Task::Validate(ValidateCall {
            id: plan.id.clone(),
            checkpoint: plan.stage.clone(),
            question: asked.clone(),
            majority,
            minority,
        }),
        Tally::Unanimous(_) | Tally::Split(_) => unreachable!("only a majority is validated"),
    }
}

pub fn positions(state: &StageState) -> Vec<StagePosition> {
    let positions = state.positions().into_iter();
    positions
        .map(|(name, answer)| StagePosition {
            agent: name.clone(),
            content: answer.content.clone(),
        })
        .collect()
}

fn about(plan: &StagePlan) -> StageSubject {
    let (instructions, prompt, required_fields) = match &plan.subject {
        Subject::Stage {
            instructions,
            prompt,
            required_fields,
            ..
        } => (
            instructions.clone(),
            prompt.clone(),
            required_fields.clone(),
        ),
        Subject::Checkpoint { .. } => Default::default(),
    };
    StageSubject {
        id: plan.id.clone(),
        stage: plan.stage.clone(),
        instructions,
        prompt,
        required_fields,
    }
}

/// The reason why the agent has to answer again. Returns `None` if the answer is sufficient or the call failed
/// after all retries.
pub(crate) fn why_again(answer: &CallAnswer) -> Option<String> {
    match answer {
        CallAnswer::Invalid { error } => Some(error.clone()),
        CallAnswer::Stage { said } => {
            let missing = match &**said {
                Said::Position(position) => &position.missing_fields,
                Said::Synthesis(synthesis) if synthesis.summary.is_blank() => {
                    return Some("your last answer has no `summary`".to_owned());
                }
                Said::Synthesis(synthesis) => &synthesis.missing_fields,
                Said::Decision(_) | Said::Answers { .. } | Said::Validation(_) => return None,
            };
            (!missing.is_empty()).then(|| {
                format!(
                    "your last answer lacks these fields: {}",
                    missing.join(", ")
                )
            })
        }
        _ => None,
    }
}
