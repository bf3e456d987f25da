//! What a run would ask, without asking it: for `--dry-run`.

use std::path::Path;

use crate::agents::Agents;
use crate::agents::calls::price;
use crate::config::settings::Settings;
use crate::domain::event::{CallId, EventKind, Plan, ReviewEvent};
use crate::domain::{AgentName, Coverage, ReusedFrom, Role};
use crate::history::queries::rows::Binding;
use crate::history::store::Journal;
use crate::protocol::prompts;
use crate::protocol::request::Request;
use crate::workflows::review::code::sources::Sources;
use crate::workflows::review::code::templates;
use crate::workflows::review::code::trees::Trees;
use crate::workflows::review::recorded::reuse::{self, Archive};
use crate::workflows::review::requests::RequestBuilder;
use crate::workflows::review::state::ReviewState;
use crate::workflows::run::error::RunError;
use crate::workflows::run::redaction::Redaction;
use crate::workspace::Target;
use crate::workspace::root::Workspace;

/// The bytes of English and code that make a token, as a rule of thumb over the vendors' tokenisers.
const BYTES_A_TOKEN: u64 = 4;

#[derive(Clone, Debug, PartialEq)]
pub struct Preview {
    pub agent: AgentName,
    /// The shard, counted from 1.
    pub shard: u32,
    pub files: Vec<Coverage>,
    /// The files that are asked about, whole or in part; none where everything is known.
    pub asked: usize,
    pub reused: Vec<ReusedFrom>,
    /// The bytes of the prompt; 0 where nobody is asked.
    pub prompt_bytes: usize,
    /// An estimate of the tokens of the prompt.
    pub tokens: u64,
    /// An estimate in US dollars of what these tokens cost, without those of the answer and of what the agent reads by
    /// itself; `None` where the price is not known.
    pub usd: Option<f64>,
}

/// The reviews of the first round, as they would be asked for; the shards of the plan become those of the run. Fails when a prompt cannot be made or the history cannot be
/// read.
pub async fn preview(
    (workspace, settings, agents): (&Workspace, &Settings, &Agents),
    plan: &mut Plan,
    target: &Target,
    (journal, bindings): (Option<&Journal>, &[Binding]),
) -> Result<Vec<Preview>, RunError> {
    let mut state = ReviewState::default();
    let sources = Sources::unsaved(target.files.clone());
    let steering = tempfile::tempdir().map_err(RunError::Sources)?;
    let overrides = templates::templates(workspace, plan, steering.path())?;
    let redaction = Redaction::from(settings.redaction);
    let start = |plan: &Plan| EventKind::Review(ReviewEvent::RunStarted { plan: Box::new(plan.clone()) });
    if let (Some(journal), true) = (journal, settings.review.reuse) {
        let askers = reuse::askers(agents, settings, plan, workspace.root(), &overrides).await?;
        let archive = Archive { journal, askers: &askers, redaction, now: None };
        plan.shards = archive.joined(plan, &sources, bindings, settings.review.max_shard_size)?;
        state.apply(&start(plan));
        let known = archive.reuse(&state, &sources, bindings)?;
        known.iter().for_each(|event| state.apply(event));
    } else {
        state.apply(&start(plan));
    }
    let trees = Trees { workspace, state_dir: Path::new("") };
    let desk = RequestBuilder { state: &state, sources: &sources, trees, bindings };
    let mut previews = Vec::new();
    for (shard, files) in plan.shards.iter().enumerate() {
        for reviewer in state.agents(Role::Reviewer) {
            let call = CallId { agent: reviewer.name.clone(), purpose: reuse::review_of(shard), attempt: 1 };
            let reused = state.reused.get(&(call.agent.clone(), call.purpose.clone()));
            let asked = reused.map_or(files.len(), |reused| reused.asked.len());
            let prompt_bytes = if asked == 0 {
                0
            } else {
                let request = Request {
                    version: Request::VERSION,
                    nonce: "0".repeat(32),
                    agent: reviewer.name.clone(),
                    root: plan.root.clone(),
                    task: desk.task(&call),
                    again: None,
                };
                prompts::render(&redaction.request(reviewer, request), Some(&overrides))?.len()
            };
            // An embedded agent has no model.
            let tokens = if reviewer.is_embedded() { 0 } else { (prompt_bytes as u64).div_ceil(BYTES_A_TOKEN) };
            let usd = match price::of_agent(reviewer) {
                Some(price) => Some(tokens as f64 * price.input / 1e6),
                None => (tokens == 0).then_some(0.0),
            };
            previews.push(Preview {
                agent: reviewer.name.clone(),
                shard: u32::try_from(shard + 1).unwrap_or(u32::MAX),
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
