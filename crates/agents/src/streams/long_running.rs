//! Runs an agent's process for the whole duration of a watch. Glee and the agent exchange many messages over the
//! process's stdin and stdout.

use std::path::Path;

use tokio::sync::watch;

use crate::process::sandbox::confinement::Guarded;
use crate::process::{environment, sandbox};
use crate::{AdapterKind, Agents, Dialogue, Invocation, ProcessJob, Stop, TranscriptFiles};
use glee_model::domain::{Agent, Role};
use glee_store::config::choices::Sandbox;
use glee_store::config::settings::Limits;

impl Agents {
    /// Runs the agent's command until the command ends or `stop` is requested. The command is allowed to write
    /// to the tree.
    #[expect(clippy::too_many_arguments, reason = "independent values")]
    pub async fn keep_running(
        &self,
        agent: &Agent,
        root: &Path,
        variables: impl IntoIterator<Item = (String, String)>,
        limits: Limits,
        sandbox: Sandbox,
        files: &TranscriptFiles,
        dialogue: &dyn Dialogue,
        suspended: watch::Receiver<bool>,
        stop: Stop,
    ) -> Result<(), String> {
        let program = self
            .runner
            .find(&agent.command, root)
            .map_err(|error| error.to_string())?;
        let mut env = environment::allowed(&environment::NETWORK, std::env::vars_os());
        let own = [
            ("GLEE_AGENT", agent.name.0.as_str()),
            ("GLEE_ROLE", agent.role.as_str()),
        ];
        env.extend(own.map(|(name, value)| (name.into(), value.into())));
        env.extend(
            variables
                .into_iter()
                .map(|(name, value)| (name.into(), value.into())),
        );
        env.extend(
            agent
                .env
                .iter()
                .map(|(name, value)| (name.into(), value.into())),
        );
        let invocation = Invocation::plain(program, agent.command.iter().skip(1), env, root);
        let kind = AdapterKind::of(agent).unwrap_or(AdapterKind::Text);
        let job = ProcessJob {
            suspended: Some(suspended),
            dialogue: Some(dialogue),
            confinement: sandbox::confinement(
                sandbox,
                Role::Coder,
                kind,
                agent,
                &invocation,
                &Guarded::default(),
            ),
            ..ProcessJob::plain(&invocation, limits, files, stop)
        };
        self.runner
            .run(job)
            .await
            .map(drop)
            .map_err(|failed| failed.error.to_string())
    }
}
