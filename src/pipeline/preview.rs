//! What a run would ask, without asking it: for `--dry-run`.

use std::path::Path;

use crate::domain::{AgentName, Coverage};
use crate::event::{CallId, EventKind, Plan, Purpose};
use crate::journal::Binding;
use crate::pipeline::RunError;
use crate::pipeline::asks::Desk;
use crate::pipeline::sources::Sources;
use crate::pipeline::state::State;
use crate::pipeline::trees::Trees;
use crate::protocol::prompts;
use crate::protocol::request::Request;
use crate::workspace::{Target, Workspace};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preview {
    pub agent: AgentName,
    /// The shard, counted from 1.
    pub shard: u32,
    pub files: Vec<Coverage>,
    pub prompt_bytes: usize,
}

/// The reviews of the first round, as they would be asked for. Fails when a prompt cannot be made.
pub fn preview(
    workspace: &Workspace,
    plan: &Plan,
    target: &Target,
    bindings: &[Binding],
) -> Result<Vec<Preview>, RunError> {
    let mut state = State::default();
    state.apply(&EventKind::RunStarted { plan: Box::new(plan.clone()) });
    let sources = Sources::unsaved(target.files.clone());
    let desk =
        Desk { state: &state, sources: &sources, trees: Trees { workspace, state_dir: Path::new("") }, bindings };
    let steering = tempfile::tempdir().map_err(RunError::Sources)?;
    let overrides = super::templates(workspace, plan, steering.path())?;
    let mut previews = Vec::new();
    for (shard, files) in (0_u32..).zip(&plan.shards) {
        for reviewer in state.agents(crate::domain::Role::Reviewer) {
            let purpose = Purpose::Review { round: 1, shard };
            let call = CallId { agent: reviewer.name.clone(), purpose, attempt: 1 };
            let request = Request {
                version: Request::VERSION,
                nonce: "0".repeat(32),
                agent: reviewer.name.clone(),
                root: plan.root.clone(),
                task: desk.task(&call),
                again: None,
            };
            let prompt = prompts::render(&request, Some(&overrides))?;
            previews.push(Preview {
                agent: reviewer.name.clone(),
                shard: shard + 1,
                files: files.clone(),
                prompt_bytes: prompt.len(),
            });
        }
    }
    Ok(previews)
}
