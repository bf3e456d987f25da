//! Commands of the project that are no agents: `review.verify`.
//!
//! They run through the same runner, under the same caps, with the same environment as a plain agent.

use std::path::Path;

use super::adapter::Invocation;
use super::ask::{Agents, TranscriptFiles};
use super::environment;
use super::gate::Gate;
use super::heads::Marks;
use super::process::Job;
use super::stop::Stop;
use crate::config::settings::Limits;

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// Whether it exited 0.
    pub passed: bool,
    /// Why not, with the end of what it said.
    pub tail: String,
}

impl Agents {
    /// Runs a command in the tree to its end.
    pub async fn check_command(
        &self,
        command: &[String],
        root: &Path,
        limits: &Limits,
        files: &TranscriptFiles,
        stop: Stop,
    ) -> Checked {
        let failed = |tail: String| Checked { passed: false, tail };
        let program = match self.runner().find(command, root) {
            Ok(program) => program,
            Err(error) => return failed(error.to_string()),
        };
        let env = environment::allowed(&[], std::env::vars_os());
        let invocation = Invocation::plain(program, command, env, root);
        let job = Job {
            invocation: &invocation,
            request: None,
            gate: Gate::open(),
            stands: None,
            talk: None,
            marks: Marks::default(),
            confinement: None,
            limits: *limits,
            stdout: &files.stdout,
            stderr: &files.stderr,
            activity: &|_| true,
            stop,
        };
        match self.runner().run(job).await {
            Ok(output) => Checked { passed: true, tail: output.stderr_tail },
            Err(error) => failed(error.error.to_string()),
        }
    }
}
