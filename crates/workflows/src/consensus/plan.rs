//! Chooses all agents of a stage or a checkpoint before the first call. If an agent is missing, planning fails,
//! because Glee does not replace an agent by another agent.

use std::path::Path;
use std::sync::Arc;

use crate::review::plan::{self, ReviewPlanError};
use glee_model::domain::{Advice, Agent, AgentName, Question, Role, StagePlan, Subject, Untrusted};
use glee_protocol::prompts::{self, PromptError};
use glee_store::config::files::stages::Stage;
use glee_store::config::settings::Settings;

/// The minimum number of agents in a checkpoint, as set by the specification.
const AT_LEAST: usize = 3;

#[derive(Clone, Debug, thiserror::Error)]
pub enum StagePlanError {
    #[error(transparent)]
    Review(#[from] ReviewPlanError),
    #[error(transparent)]
    Prompt(Arc<PromptError>),
    #[error("`{0}` is not connected")]
    Unknown(String),
    #[error("the embedded agent `{0}` cannot answer questions")]
    Embedded(AgentName),
    #[error("{what} requires at least {at_least} agents, but only {found} can be asked")]
    TooFew {
        what: &'static str,
        at_least: usize,
        found: usize,
    },
    #[error("`{0}` cannot decide a stage, because the agent takes part in the stage")]
    Party(AgentName),
}

impl Advice for StagePlanError {
    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Review(error) => return error.hint(),
            Self::Prompt(error) => return error.hint(),
            Self::Unknown(_) => "`glee agents` lists the connected agents".to_owned(),
            Self::Embedded(_) => "choose agents that are not embedded: `--agents a,b,c`".to_owned(),
            Self::TooFew { .. } => {
                "connect more agents with `glee connect <agent> --role reviewer`, or choose agents with `--agents \
                 a,b,c`"
                    .to_owned()
            }
            Self::Party(_) => "choose another agent in the file of the stage".to_owned(),
        })
    }
}

impl From<PromptError> for StagePlanError {
    fn from(error: PromptError) -> Self {
        Self::Prompt(Arc::new(error))
    }
}

#[derive(Clone, Debug)]
pub struct Asking<'a> {
    pub id: &'a str,
    pub agents: &'a [String],
    pub prompt: String,
    pub input: Option<Untrusted>,
    pub resolved: Option<Untrusted>,
}

/// Plans a stage. Fails if an agent is missing or unsuitable, or if fewer than two agents can answer.
pub fn stage(
    settings: &Settings,
    root: &Path,
    stage: &Stage,
    asking: Asking<'_>,
) -> Result<StagePlan, StagePlanError> {
    let named = if asking.agents.is_empty() {
        stage.agents.as_deref()
    } else {
        Some(asking.agents)
    };
    let agents = answering(settings, named, &stage.roles)?;
    if agents.len() < 2 {
        return Err(StagePlanError::TooFew {
            what: "a stage",
            at_least: 2,
            found: agents.len(),
        });
    }
    let aggregator = one(settings, stage.aggregator.as_deref(), Role::Aggregator, &[])?
        .ok_or(ReviewPlanError::MissingRole(Role::Aggregator))?;
    let parties: Vec<&Agent> = agents.iter().chain([&aggregator]).collect();
    let arbiter = one(settings, stage.arbiter.as_deref(), Role::Judge, &parties)?;
    let subject = Subject::Stage {
        instructions: prompts::instructions(
            &stage.prompt,
            asking.id,
            &stage.name,
            &stage.required_fields,
        )?,
        prompt: asking.prompt,
        input: asking.input,
        resolved: asking.resolved,
        required_fields: stage.required_fields.clone(),
    };
    let plan = StagePlan {
        root: root.to_string_lossy().into_owned(),
        id: asking.id.to_owned(),
        stage: stage.name.clone(),
        subject,
        agents,
        aggregator: Some(aggregator),
        arbiter,
        backups: Vec::new(),
    };
    with_backups(settings, plan)
}

/// Plans a checkpoint. Fails if an agent is missing or unsuitable, or if fewer than three agents can answer.
pub fn checkpoint(
    settings: &Settings,
    root: &Path,
    id: &str,
    name: &str,
    agents: &[String],
    questions: Vec<Question>,
) -> Result<StagePlan, StagePlanError> {
    let named = (!agents.is_empty()).then_some(agents);
    let agents = answering(settings, named, &[Role::Reviewer])?;
    if agents.len() < AT_LEAST {
        return Err(StagePlanError::TooFew {
            what: "a checkpoint",
            at_least: AT_LEAST,
            found: agents.len(),
        });
    }
    let validator = one(
        settings,
        None,
        Role::Judge,
        &agents.iter().collect::<Vec<_>>(),
    )?;
    let plan = StagePlan {
        root: root.to_string_lossy().into_owned(),
        id: id.to_owned(),
        stage: name.to_owned(),
        subject: Subject::Checkpoint { questions },
        agents,
        aggregator: None,
        arbiter: validator,
        backups: Vec::new(),
    };
    with_backups(settings, plan)
}

fn with_backups(settings: &Settings, plan: StagePlan) -> Result<StagePlan, StagePlanError> {
    let all: Vec<Agent> = plan.all().cloned().collect();
    Ok(StagePlan {
        backups: plan::backups(settings, &all)?,
        ..plan
    })
}

/// Returns the agents whose names are in `named`. If `named` is `None`, returns all agents that have one of the
/// `roles`, but no embedded agents and no backups.
fn answering(
    settings: &Settings,
    named: Option<&[String]>,
    roles: &[Role],
) -> Result<Vec<Agent>, StagePlanError> {
    let Some(named) = named else {
        let of_roles = plan::first_choice(settings);
        let able = of_roles.filter(|agent| roles.contains(&agent.role) && !agent.is_embedded());
        return Ok(able.cloned().collect());
    };
    let mut agents: Vec<Agent> = Vec::new();
    for name in named {
        let agent = connected(settings, name)?;
        if agents.iter().all(|other| other.name != agent.name) {
            agents.push(agent);
        }
    }
    Ok(agents)
}

/// Returns the agent with the name `named`. Fails if the named agent is in `parties`. If `named` is `None`,
/// returns the first agent that has the role and is not in `parties`.
fn one(
    settings: &Settings,
    named: Option<&str>,
    role: Role,
    parties: &[&Agent],
) -> Result<Option<Agent>, StagePlanError> {
    let is_party = |agent: &Agent| parties.iter().any(|party| party.name == agent.name);
    let Some(name) = named else {
        return Ok(plan::first_choice(settings)
            .find(|agent| agent.role == role && !agent.is_embedded() && !is_party(agent))
            .cloned());
    };
    let agent = connected(settings, name)?;
    if is_party(&agent) {
        Err(StagePlanError::Party(agent.name))
    } else {
        Ok(Some(agent))
    }
}

fn connected(settings: &Settings, name: &str) -> Result<Agent, StagePlanError> {
    let agent = settings.agents.iter().find(|agent| agent.name.0 == name);
    let agent = agent.ok_or_else(|| StagePlanError::Unknown(name.to_owned()))?;
    if agent.is_embedded() {
        Err(StagePlanError::Embedded(agent.name.clone()))
    } else {
        Ok(agent.clone())
    }
}
