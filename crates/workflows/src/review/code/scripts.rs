//! Detects changes of files whose paths occur in agents' commands.

use std::collections::BTreeMap;
use std::path::Path;

use crate::run::resources;
use glee_model::domain::event::{Mode, Plan};
use glee_model::domain::{Agent, AgentName, Role};
use glee_store::config::{files::scripts::Roots, settings::Settings};

/// Hashes of the files whose paths occur in the commands of all agents except the coder. If a hash changes, the coder
/// possibly replaced the program of such an agent.
#[derive(Debug)]
pub(crate) struct Scripts {
    roots: Roots,
    files: BTreeMap<AgentName, BTreeMap<String, String>>,
}

impl Scripts {
    pub(crate) fn of(plan: &Plan, settings: &Settings, root: &Path) -> Self {
        let roots = Roots::of(root);
        let readers = plan
            .agents
            .iter()
            .chain(&plan.comparers)
            .filter(|agent| plan.mode != Mode::Review && agent.role != Role::Coder);
        let files =
            |agent| roots.files([resources::with_secrets(settings, agent).command.as_slice()]);
        let files = readers
            .map(|agent| (agent.name.clone(), files(agent)))
            .collect();
        Self { roots, files }
    }

    pub(crate) fn changed(&self, agent: &Agent) -> Option<String> {
        let before = self.files.get(&agent.name)?;
        let now = self.roots.files([agent.command.as_slice()]);
        let paths = before.keys().chain(now.keys());
        paths
            .into_iter()
            .find(|path| before.get(*path) != now.get(*path))
            .cloned()
    }
}
