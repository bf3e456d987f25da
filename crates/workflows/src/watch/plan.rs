//! Builds the plan of a watch from the settings.

use glee_model::domain::{Advice, Agent, Job, Role, WatchPlan};
use glee_store::config::choices::Compare;
use glee_store::config::schema::values::ReviewerChoice;
use glee_store::config::settings::Settings;
use glee_workspace::root::Workspace;

#[derive(Debug, thiserror::Error)]
pub enum WatchPlanError {
    #[error("no reviewer is connected")]
    NoReviewer,
    #[error("the agent `{name}` in `{key}` is not connected")]
    Unknown { key: &'static str, name: String },
    #[error("the agent `{name}` is not a reviewer")]
    NotReviewer { name: String },
    /// An embedded agent cannot read the events of other agents.
    #[error("the embedded agent `{name}` cannot answer review requests of a watch")]
    Embedded { name: String },
    #[error("`watch.arbitrate` is enabled, but no judge is connected")]
    NoJudge,
    /// An agent requires a task if the agent's program answers one prompt and then ends.
    #[error("`{name}` requires a task, because its adapter is `{adapter}`")]
    NoTask { name: String, adapter: String },
    #[error("`{name}` cannot have a task, because it is not a coder")]
    NotCoder { name: String },
    #[error(
        "`--task {name}=...` has no effect: this watch starts no agent `{name}` that takes a task"
    )]
    IdleTask { name: String },
}

impl Advice for WatchPlanError {
    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NoReviewer => {
                "connect a reviewer other than the embedded `builtin:rules`: `glee connect codex --role reviewer`"
                    .to_owned()
            }
            Self::Unknown { .. } => "`glee agents` lists the connected agents".to_owned(),
            Self::NotReviewer { name } => {
                format!(
                    "make `{name}` a reviewer with `glee config set agents.{name}.role reviewer`, or remove \
                     `{name}` from `watch.reviewers`"
                )
            }
            Self::NoJudge => "connect a judge: `glee connect claude --role judge`".to_owned(),
            Self::Embedded { .. } => "list other agents in `watch.reviewers`".to_owned(),
            Self::NoTask { name, .. } => {
                format!("add `--task {name}='...'` (use the same text to resume an earlier task)")
            }
            Self::NotCoder { name } => {
                format!(
                    "make `{name}` a coder with `glee config set agents.{name}.role coder`, or start `{name}` \
                     outside of the watch and report events with `glee emit`"
                )
            }
            Self::IdleTask { name } => {
                format!("add the agent with `--agents {name}`, or remove `--task` if the agent has `adapter: text`")
            }
        })
    }
}

/// Whether the agent's program reads one prompt, answers the prompt and ends.
pub fn is_asked(agent: &Agent) -> bool {
    agent.adapter != "text"
}

pub fn plan(
    settings: &Settings,
    workspace: &Workspace,
    jobs: Vec<Job>,
) -> Result<WatchPlan, WatchPlanError> {
    let named = match (&settings.watch.reviewers, &settings.review.reviewers) {
        (names, _) if !names.is_empty() => Some(("watch.reviewers", names)),
        (_, ReviewerChoice::Named(names)) => Some(("review.reviewers", names)),
        _ => None,
    };
    let reviewers: Vec<Agent> = match named {
        Some((key, names)) => names
            .iter()
            .map(|name| named_agent(settings, key, name))
            .collect::<Result<_, _>>()?,
        None => {
            let all = settings
                .agents
                .iter()
                .filter(|agent| agent.role == Role::Reviewer && !agent.is_embedded());
            all.cloned().collect()
        }
    };
    if let Some(other) = reviewers.iter().find(|agent| agent.role != Role::Reviewer) {
        return Err(WatchPlanError::NotReviewer {
            name: other.name.0.clone(),
        });
    }
    if let Some(embedded) = reviewers.iter().find(|agent| agent.is_embedded()) {
        return Err(WatchPlanError::Embedded {
            name: embedded.name.0.clone(),
        });
    }
    if reviewers.is_empty() {
        return Err(WatchPlanError::NoReviewer);
    }
    let agents: Vec<Agent> = settings
        .watch
        .agents
        .iter()
        .map(|name| named_agent(settings, "watch.agents", name))
        .collect::<Result<_, _>>()?;
    for agent in agents.iter().filter(|agent| is_asked(agent)) {
        let name = agent.name.0.clone();
        if agent.is_embedded() {
            return Err(WatchPlanError::Embedded { name });
        }
        if agent.role != Role::Coder {
            return Err(WatchPlanError::NotCoder { name });
        }
        if jobs.iter().all(|job| job.agent != agent.name) {
            return Err(WatchPlanError::NoTask {
                name,
                adapter: agent.adapter.clone(),
            });
        }
    }
    let idle = jobs.iter().find(|job| {
        !agents
            .iter()
            .any(|agent| agent.name == job.agent && is_asked(agent))
    });
    if let Some(idle) = idle {
        return Err(WatchPlanError::IdleTask {
            name: idle.agent.0.clone(),
        });
    }
    let judges = settings
        .agents
        .iter()
        .filter(|agent| agent.role == Role::Judge && !agent.is_embedded());
    let judge = judges
        .take(usize::from(settings.watch.arbitrate))
        .next()
        .cloned();
    if settings.watch.arbitrate && judge.is_none() {
        return Err(WatchPlanError::NoJudge);
    }
    // A watch does not depend on the aggregator, so a missing aggregator is no error.
    let aggregator = settings
        .agents
        .iter()
        .filter(|_| settings.review.compare == Compare::Auto)
        .find(|agent| agent.role == Role::Aggregator && !agent.is_embedded())
        .cloned();
    let named = reviewers
        .iter()
        .chain(&judge)
        .chain(&aggregator)
        .chain(&agents)
        .filter_map(|agent| agent.backup.as_ref());
    let backups: Vec<Agent> = named
        .filter_map(|name| {
            settings
                .agents
                .iter()
                .find(|agent| agent.name == *name)
                .cloned()
        })
        .collect();
    Ok(WatchPlan {
        root: workspace.root().to_string_lossy().into_owned(),
        agents,
        jobs,
        backups,
        reviewers,
        judge,
        aggregator,
        focus_areas: settings.watch.focus_areas.clone(),
        max_words: settings.watch.max_words,
        tree: None,
    })
}

/// The agent that the setting `key` names.
fn named_agent(
    settings: &Settings,
    key: &'static str,
    name: &str,
) -> Result<Agent, WatchPlanError> {
    let found = settings.agents.iter().find(|agent| agent.name.0 == name);
    found.cloned().ok_or_else(|| WatchPlanError::Unknown {
        key,
        name: name.to_owned(),
    })
}
