//! Event-driven peer review: long-running agents tell what they do, and triggers, not a clock, begin reviews of it.
//!
//! A watch is a run in the journal whose end is never final: killed or stopped, it stands where it stood when it is
//! started again in the same tree. [`run`] hands over to a loop that takes in what everybody says ([`intake`]), records it in
//! groups, begins the cycles that are due (`rules::triggers`), asks the reviewers side by side and does what their
//! verdicts come to (`rules::peers`). It is reached through a local socket ([`socket`]), by the agents it started, and by
//! the screen, all in the same lines.

mod arbitration;
mod cycle;
mod engine;
pub mod intake;
mod key;
mod orders;
mod peer;
mod reviewing;
mod seats;
pub mod socket;
pub mod standing;
mod started;
mod state;
mod telling;
#[cfg(test)]
mod tests;
mod work;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use tokio::sync::{mpsc, watch};
use tracing::Instrument as _;

use crate::agents::{Agents, Stop};
use crate::config::schema::values::ReviewerChoice;
use crate::config::settings::Settings;
use crate::domain::{Advice, Agent, Job, Role, RunId, WatchPlan};
use crate::history::store::Journal;
use crate::pipeline::ports::EventSink;
use crate::pipeline::{RunError, call, new_run};
use crate::workspace::root::Workspace;
use engine::Engine;
use intake::{Batch, Intake};
use standing::{Issue, Standing};
use state::State;

pub use engine::Ended;

pub struct Setup {
    pub workspace: Arc<Workspace>,
    /// Where Glee keeps what must outlive the tree.
    pub state_dir: PathBuf,
    pub journal: Journal,
    pub agents: Agents,
    pub settings: Settings,
    /// The folder of the project's own templates for prompts.
    pub templates: PathBuf,
    pub sink: Arc<Mutex<Box<dyn EventSink>>>,
    /// Gets how it stands, whenever that changes.
    pub standing: watch::Sender<Standing>,
    pub intake: Intake,
    /// Where agents that are started reach it.
    pub socket: Option<PathBuf>,
    /// Whether it goes on when the last agent has ended.
    pub stay: bool,
    /// Ends it; it can be started again.
    pub stop: Stop,
}

#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    #[error("no reviewer is connected")]
    NoReviewer,
    #[error("`{key}` names `{name}`, which is not connected")]
    Unknown { key: &'static str, name: String },
    #[error("`{name}` is no reviewer")]
    NotReviewer { name: String },
    /// An embedded agent knows code, not what others are at.
    #[error("`{name}` is embedded in Glee and answers no review request of a watch")]
    Embedded { name: String },
    #[error("`watch.arbitrate` is on, and no judge is connected")]
    NoJudge,
    /// A program that answers a prompt has to be asked something.
    #[error("`{name}` is not told what to do: its adapter is `{adapter}`")]
    NoTask { name: String, adapter: String },
    #[error("`{name}` is no coder, and cannot be given a task")]
    NotCoder { name: String },
    #[error("the task of `{name}` is for nobody: it is no agent that this watch starts and that answers prompts")]
    IdleTask { name: String },
}

impl Advice for PlanError {
    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NoReviewer => {
                "connect one: `glee connect codex --role reviewer` (the embedded `builtin:rules` cannot do this)"
                    .to_owned()
            }
            Self::Unknown { .. } => "`glee agents` lists those that are".to_owned(),
            Self::NotReviewer { name } => {
                format!("`glee config set agents.{name}.role reviewer`, or take it out of `watch.reviewers`")
            }
            Self::NoJudge => "connect one: `glee connect claude --role judge`".to_owned(),
            Self::Embedded { .. } => "name others in `watch.reviewers`".to_owned(),
            Self::NoTask { name, .. } => format!("say it with `--task {name}='...'`; the same again carries it on"),
            Self::NotCoder { name } => {
                format!("`glee config set agents.{name}.role coder`, or let it join by `glee emit`")
            }
            Self::IdleTask { name } => {
                format!("name it in `--agents {name}`; a program with `adapter: text` takes no task")
            }
        })
    }
}

/// Whether an agent answers a prompt and ends, and does not tell events by itself.
fn is_asked(agent: &Agent) -> bool {
    agent.adapter != "text"
}

pub fn plan(settings: &Settings, workspace: &Workspace, jobs: Vec<Job>) -> Result<WatchPlan, PlanError> {
    let find = |key: &'static str, name: &String| {
        let found = settings.agents.iter().find(|agent| agent.name.0 == *name);
        found.cloned().ok_or_else(|| PlanError::Unknown { key, name: name.clone() })
    };
    let named = match (&settings.watch.reviewers, &settings.review.reviewers) {
        (names, _) if !names.is_empty() => Some(("watch.reviewers", names)),
        (_, ReviewerChoice::Named(names)) => Some(("review.reviewers", names)),
        _ => None,
    };
    let reviewers: Vec<Agent> = match named {
        Some((key, names)) => names.iter().map(|name| find(key, name)).collect::<Result<_, _>>()?,
        None => {
            let all = settings.agents.iter().filter(|agent| agent.role == Role::Reviewer && !agent.is_embedded());
            all.cloned().collect()
        }
    };
    if let Some(other) = reviewers.iter().find(|agent| agent.role != Role::Reviewer) {
        return Err(PlanError::NotReviewer { name: other.name.0.clone() });
    }
    if let Some(embedded) = reviewers.iter().find(|agent| agent.is_embedded()) {
        return Err(PlanError::Embedded { name: embedded.name.0.clone() });
    }
    if reviewers.is_empty() {
        return Err(PlanError::NoReviewer);
    }
    let agents: Vec<Agent> =
        settings.watch.agents.iter().map(|name| find("watch.agents", name)).collect::<Result<_, _>>()?;
    for agent in agents.iter().filter(|agent| is_asked(agent)) {
        let name = agent.name.0.clone();
        if agent.is_embedded() {
            return Err(PlanError::Embedded { name });
        }
        if agent.role != Role::Coder {
            return Err(PlanError::NotCoder { name });
        }
        if jobs.iter().all(|job| job.agent != agent.name) {
            return Err(PlanError::NoTask { name, adapter: agent.adapter.clone() });
        }
    }
    let is_idle = |job: &&Job| !agents.iter().any(|agent| agent.name == job.agent && is_asked(agent));
    if let Some(idle) = jobs.iter().find(is_idle) {
        return Err(PlanError::IdleTask { name: idle.agent.0.clone() });
    }
    let judges = settings.agents.iter().filter(|agent| agent.role == Role::Judge && !agent.is_embedded());
    let judge = judges.take(usize::from(settings.watch.arbitrate)).next().cloned();
    if settings.watch.arbitrate && judge.is_none() {
        return Err(PlanError::NoJudge);
    }
    let named = reviewers.iter().chain(&judge).chain(&agents).filter_map(|agent| agent.backup.as_ref());
    let backups: Vec<Agent> =
        named.filter_map(|name| settings.agents.iter().find(|agent| agent.name == *name).cloned()).collect();
    Ok(WatchPlan {
        root: workspace.root().to_string_lossy().into_owned(),
        agents,
        jobs,
        backups,
        reviewers,
        judge,
        focus_areas: settings.watch.focus_areas.clone(),
        max_words: settings.watch.max_words,
        tree: None,
    })
}

/// Watches until it is stopped: carries on the last watch of the tree, or begins one. `said` is what comes by the
/// intake. Fails when the history or the tree fails; what was recorded until then is there when it is started again.
pub async fn run(
    setup: Setup,
    said: mpsc::Receiver<Batch>,
    plan: WatchPlan,
    fresh: bool,
) -> Result<Ended, RunError> {
    let last = if fresh { None } else { folded(&setup.journal, &plan.root)? };
    let (run, state) = last.unwrap_or_else(|| (new_run(), State::default()));
    let span = call::log(&setup.journal, &run)?;
    Engine::new(run, state, setup).watch(plan, said).instrument(span).await
}

/// How the last watch of a work tree stood when it ended; `None` if there was none.
pub fn recorded(journal: &Journal, root: &str) -> Result<Option<Standing>, RunError> {
    Ok(folded(journal, root)?.map(|(run, state)| standing::standing(&run, &state)))
}

/// All issues of the last watch of a work tree, the closed ones too; `None` if there was none.
pub fn recorded_issues(journal: &Journal, root: &str) -> Result<Option<Vec<Issue>>, RunError> {
    Ok(folded(journal, root)?.map(|(_, state)| state.issues))
}

fn folded(journal: &Journal, root: &str) -> Result<Option<(RunId, State)>, RunError> {
    let Some(run) = journal.last_watch(root)? else { return Ok(None) };
    let mut state = State::default();
    journal.each(&run, |event| state.apply(event))?;
    Ok(Some((run, state)))
}
