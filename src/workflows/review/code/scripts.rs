//! The files of the tree that agents are started with, as they are when a run begins or is carried on.

use std::collections::BTreeMap;
use std::path::Path;

use crate::config::files::scripts::Roots;
use crate::config::settings::Settings;
use crate::domain::event::{Mode, Plan};
use crate::domain::{Agent, AgentName, Role};
use crate::workflows::run::runner;

/// Of each agent that only reads the files that its command names, by path, each with the hash of its bytes: a coder does
/// not decide what reviewers and judges are.
#[derive(Debug)]
pub(crate) struct Scripts {
    roots: Roots,
    files: BTreeMap<AgentName, BTreeMap<String, String>>,
}

impl Scripts {
    /// Those of a plan; none where no coder takes part.
    pub(crate) fn of(plan: &Plan, settings: &Settings, root: &Path) -> Self {
        let roots = Roots::of(root);
        let readers = plan.agents.iter().filter(|agent| plan.mode != Mode::Review && agent.role != Role::Coder);
        let files = |agent| roots.files(&runner::with_secrets(settings, agent).command);
        let files = readers.map(|agent| (agent.name.clone(), files(agent))).collect();
        Self { roots, files }
    }

    /// The first file of an agent's that is another now, was added or is gone.
    pub(crate) fn changed(&self, agent: &Agent) -> Option<String> {
        let before = self.files.get(&agent.name)?;
        let now = self.roots.files(&agent.command);
        let paths = before.keys().chain(now.keys());
        paths.into_iter().find(|path| before.get(*path) != now.get(*path)).cloned()
    }
}
