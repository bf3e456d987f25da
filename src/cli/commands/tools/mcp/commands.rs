//! Runs Glee's own commands for the tools, so that a tool can do nothing that the command line cannot.

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use tokio::process::Command;
use tokio::sync::Semaphore;

use crate::cli::context::{Globals, session_variables};
use glee_protocol::text::printable;

/// The maximum number of commands that run at the same time; others wait.
const COMMANDS: usize = 16;

/// How a command ended.
pub(super) struct EndedCommand {
    /// The exit code; -1 after a signal.
    pub(super) code: i32,
    stdout: Vec<u8>,
    pub(super) stderr: String,
}

impl EndedCommand {
    /// Reads the JSON that the command printed. Fails with what it said instead.
    pub(super) fn json<T: DeserializeOwned>(&self) -> Result<T, String> {
        serde_json::from_slice(&self.stdout).map_err(|_| self.failure())
    }

    pub(super) fn failure(&self) -> String {
        match self.stderr.trim() {
            "" => format!("glee ended with exit code {}", self.code),
            said => format!("exit code {}: {said}", self.code),
        }
    }
}

#[derive(Clone)]
pub(super) struct Commands {
    globals: Vec<String>,
    directory: PathBuf,
    slots: Arc<Semaphore>,
}

impl Commands {
    pub(super) fn new(globals: &Globals) -> Self {
        let mut words = vec!["--no-input".to_owned(), "--color=never".to_owned()];
        if let Some(history) = &globals.history {
            words.push(format!("--history={}", history.display()));
        }
        if let Some(hash) = &globals.trust {
            words.push(format!("--trust={hash}"));
        }
        Self {
            globals: words,
            directory: globals.directory(),
            slots: Arc::new(Semaphore::new(COMMANDS)),
        }
    }

    /// Runs `glee` with these words. A command is ended when the returned future is dropped.
    pub(super) async fn run(&self, words: &[&str]) -> Result<EndedCommand, String> {
        self.ended(self.command(words)).await
    }

    /// Like [`Commands::run`], for what a person whom the client asked has decided: this is not the session of the agent.
    pub(super) async fn run_for_person(&self, words: &[&str]) -> Result<EndedCommand, String> {
        let mut command = self.command(words);
        for variable in session_variables() {
            command.env_remove(variable);
        }
        self.ended(command).await
    }

    fn command(&self, words: &[&str]) -> Command {
        // A failure to find the own program is the failure to start it.
        let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("glee"));
        let mut command = Command::new(program);
        command
            .args(&self.globals)
            .arg("-C")
            .arg(&self.directory)
            .args(words)
            .stdin(Stdio::null())
            .kill_on_drop(true);
        command
    }

    async fn ended(&self, mut command: Command) -> Result<EndedCommand, String> {
        let _slot = self
            .slots
            .acquire()
            .await
            .map_err(|error| error.to_string())?;
        let output = command.output().await;
        let output = output.map_err(|error| format!("glee cannot be started: {error}"))?;
        let stderr = String::from_utf8_lossy(&output.stderr);
        Ok(EndedCommand {
            code: output.status.code().unwrap_or(-1),
            stdout: output.stdout,
            stderr: printable::block(&stderr).to_string(),
        })
    }
}
