//! Lists the requests that a run would send and estimates their cost, for `--dry-run`.

use std::path::Path;

use serde::Serialize;

use crate::review::plan::shard_limit;
use crate::review::recorded::reuse::{self, Archive};
use crate::review::{
    code::coder_changes::Trees, code::guidelines::Guidelines, code::sources::Sources,
    code::templates, requests::RequestBuilder, state::ReviewState,
};
use crate::run::{error::RunError, redaction::Redaction};
use glee_agents::{Agents, calls::price};
use glee_model::domain::event::{CallId, Mode, Plan};
use glee_model::domain::{AgentName, Coverage, ReusedFrom, Role};
use glee_protocol::{prompts, request::Request};
use glee_store::config::schema::values::ReuseMode;
use glee_store::config::settings::Settings;
use glee_store::history::{queries::rows::Binding, store::Journal};
use glee_workspace::{Target, root::Workspace};

#[derive(Clone, Debug, PartialEq)]
pub struct Preview {
    pub agent: AgentName,
    /// The number of the shard to which the request belongs, counted from 1.
    pub shard: u32,
    pub files: Vec<Coverage>,
    /// The number of files that are reviewed completely or in part. For the other files of the shard, Glee reuses
    /// earlier answers.
    pub asked: usize,
    pub reused: Vec<ReusedFrom>,
    /// The size of the prompt in bytes, or 0 if no call is made.
    pub prompt_bytes: usize,
    pub tokens: u64,
    /// The estimated price of the prompt's tokens in US dollars. The estimate does not include the answer, and
    /// does not include files that the agent reads by itself. `usd` is `None` if the price is unknown.
    pub usd: Option<f64>,
}

/// An agent whose calls depend on the findings: a coder, a judge or an aggregator.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LaterCaller {
    pub agent: AgentName,
    pub role: Role,
    /// What a call of the agent in this role cost on average in the history, in US dollars; `null` if no cost is recorded.
    pub usual_usd: Option<f64>,
    /// The number of recorded calls whose cost is known.
    pub recorded_calls: u64,
}

/// Lists the agents whose calls depend on the findings, without the embedded agents.
pub fn later_callers(plan: &Plan, journal: Option<&Journal>) -> Result<Vec<LaterCaller>, RunError> {
    let agents = plan.agents.iter().filter(|agent| match plan.mode {
        Mode::Review => false,
        Mode::Fix => agent.role == Role::Coder,
        Mode::Arbitrate => matches!(agent.role, Role::Coder | Role::Judge),
    });
    let mut callers: Vec<LaterCaller> = Vec::new();
    for agent in agents.chain(&plan.comparers) {
        let is_listed = callers
            .iter()
            .any(|listed| listed.agent == agent.name && listed.role == agent.role);
        if is_listed || agent.is_embedded() {
            continue;
        }
        let usual = match journal {
            Some(journal) => journal.usual_cost(&agent.name, agent.role)?,
            None => None,
        };
        callers.push(LaterCaller {
            agent: agent.name.clone(),
            role: agent.role,
            usual_usd: usual.map(|(usd, _)| usd),
            recorded_calls: usual.map_or(0, |(_, calls)| calls),
        });
    }
    Ok(callers)
}

/// What the requests of a planned run depend on beside the plan and the target.
#[derive(Clone, Copy)]
pub struct PreviewQuery<'a> {
    pub workspace: &'a Workspace,
    pub settings: &'a Settings,
    pub agents: &'a Agents,
    /// `None` if there is no history whose answers could be reused.
    pub journal: Option<&'a Journal>,
    pub bindings: &'a [Binding],
}

/// Lists the calls of the first round. Replaces the plan's shards with the shards that the run would use.
pub async fn preview(
    query: PreviewQuery<'_>,
    plan: &mut Plan,
    target: &Target,
) -> Result<Vec<Preview>, RunError> {
    let PreviewQuery {
        workspace,
        settings,
        agents,
        bindings,
        ..
    } = query;
    let mut sources = Sources::unsaved(target.files.clone());
    sources.guidelines = Guidelines::read(workspace, settings, plan)?;
    let steering = tempfile::tempdir().map_err(RunError::Sources)?;
    let overrides = templates::templates(workspace, plan, steering.path())?;
    let redaction = Redaction::from(settings.redaction);
    let is_reused = settings.review.reuse != ReuseMode::Off;
    let mut state = ReviewState::begun(plan);
    if let Some(journal) = query.journal.filter(|_| is_reused) {
        let root = workspace.root();
        let guidelines = &sources.guidelines;
        let keys =
            reuse::reviewer_keys(agents, settings, plan, root, &overrides, guidelines).await?;
        let archive = Archive {
            journal,
            workspace,
            keys: &keys,
            redaction,
            now: None,
        };
        plan.shards = archive.joined(plan, &sources, bindings, shard_limit(settings))?;
        state = ReviewState::begun(plan);
        state.apply_all(&archive.reuse(&state, &sources, bindings)?);
    }
    let trees = Trees {
        workspace,
        state_dir: Path::new(""),
    };
    let requests = RequestBuilder {
        state: &state,
        sources: &sources,
        trees,
        bindings,
    };
    let mut previews = Vec::new();
    for (shard, files) in (0..).zip(&plan.shards) {
        for reviewer in state.agents(Role::Reviewer) {
            let call = CallId {
                agent: reviewer.name.clone(),
                purpose: reuse::review_of(shard),
                attempt: 1,
            };
            let reused = state.reuse(&call);
            let asked = reused.map_or(files.len(), |reused| reused.asked.len());
            let prompt_bytes = if asked == 0 {
                0
            } else {
                let request = Request {
                    version: Request::VERSION,
                    nonce: "0".repeat(32),
                    agent: reviewer.name.clone(),
                    root: plan.root.clone(),
                    task: requests.task(&call),
                    again: None,
                };
                prompts::render(&redaction.request(reviewer, request), Some(&overrides))?.len()
            };
            let tokens = if reviewer.is_embedded() {
                0
            } else {
                price::tokens(prompt_bytes as u64)
            };
            let usd = match price::of_agent(reviewer, None) {
                Some(price) => Some(tokens as f64 * price.input / 1e6),
                None => (tokens == 0).then_some(0.0),
            };
            previews.push(Preview {
                agent: reviewer.name.clone(),
                shard: shard + 1,
                files: files.clone(),
                asked,
                reused: reused.map(|reused| reused.from.clone()).unwrap_or_default(),
                prompt_bytes,
                tokens,
                usd,
            });
        }
    }
    Ok(previews)
}
