//! A runner for tests. The runner plays scripted agents, applies limits and stop requests, and records the
//! requests to the agents.

use std::fmt;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::probe::locate::LocateError;
use crate::process::runner::Ran;
use crate::{Cap, Execute, Failed, Invocation, Output, ProcessError, ProcessJob, command_line};
use glee_model::domain::event::Transcript;
use glee_protocol::request::Request;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    stdout: Vec<u8>,
    stderr: String,
    exit_code: i32,
    after: Option<Duration>,
    peak_memory: Option<u64>,
}

impl Script {
    pub fn prints(text: impl Into<Vec<u8>>) -> Self {
        Self {
            stdout: text.into(),
            stderr: String::new(),
            exit_code: 0,
            after: Some(Duration::ZERO),
            peak_memory: None,
        }
    }

    pub fn fails(exit_code: i32, stderr: &str) -> Self {
        Self {
            stdout: Vec::new(),
            stderr: stderr.to_owned(),
            exit_code,
            after: Some(Duration::ZERO),
            peak_memory: None,
        }
    }

    pub fn hangs() -> Self {
        Self {
            after: None,
            ..Self::prints("")
        }
    }

    #[must_use]
    pub fn with_peak_memory(self, bytes: u64) -> Self {
        Self {
            peak_memory: Some(bytes),
            ..self
        }
    }

    #[must_use]
    pub fn after(self, delay: Duration) -> Self {
        Self {
            after: Some(delay),
            ..self
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct ScriptedRequest {
    pub invocation: Invocation,
    pub request: Request,
}

type Memory = Box<dyn Fn() -> Option<u64> + Send + Sync>;
type Part = Box<dyn Fn(&Request) -> Script + Send + Sync>;

#[derive(Default)]
pub struct ScriptedRunner {
    parts: Vec<(String, &'static str, Part)>,
    seen: Mutex<Vec<ScriptedRequest>>,
    memory: Option<Memory>,
}

impl fmt::Debug for ScriptedRunner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<_> = self
            .parts
            .iter()
            .map(|(agent, task, _)| (agent, task))
            .collect();
        f.debug_struct("ScriptedRunner")
            .field("parts", &parts)
            .finish_non_exhaustive()
    }
}

impl ScriptedRunner {
    pub fn new() -> Self {
        Self::default()
    }

    #[must_use]
    pub fn on(
        mut self,
        agent: &str,
        task: &'static str,
        part: impl Fn(&Request) -> Script + Send + Sync + 'static,
    ) -> Self {
        self.parts.push((agent.to_owned(), task, Box::new(part)));
        self
    }

    /// Reads the memory for new processes with this function.
    #[must_use]
    pub fn with_memory(self, memory: impl Fn() -> Option<u64> + Send + Sync + 'static) -> Self {
        Self {
            memory: Some(Box::new(memory)),
            ..self
        }
    }

    pub fn seen(&self) -> Vec<ScriptedRequest> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<ScriptedRequest>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn script(&self, request: &Request) -> Script {
        let part = self
            .parts
            .iter()
            .find(|(agent, task, _)| *agent == request.agent.0 && *task == request.task.kind())
            .map(|(_, _, part)| part);
        match part {
            Some(part) => part(request),
            None => Script::fails(
                70,
                &format!("{} has no part in `{}`", request.agent, request.task.kind()),
            ),
        }
    }
}

impl Execute for ScriptedRunner {
    fn run<'a>(&'a self, job: ProcessJob<'a>) -> Pin<Box<dyn Future<Output = Ran> + Send + 'a>> {
        Box::pin(async move {
            let command = command_line(job.invocation);
            let Some(request) = job.request else {
                return Err(Box::new(Failed {
                    error: ProcessError::NotFound(command),
                    output: None,
                }));
            };
            self.lock().push(ScriptedRequest {
                invocation: job.invocation.clone(),
                request: request.clone(),
            });
            let script = self.script(request);
            let wait = async {
                match script.after {
                    Some(delay) => tokio::time::sleep(delay).await,
                    None => std::future::pending().await,
                }
            };
            let ended = tokio::select! {
                biased;
                () = job.stop.stopped() => Some(ProcessError::Stopped(command.clone())),
                () = wait => None,
                () = tokio::time::sleep(job.limits.call_timeout) => {
                    Some(ProcessError::TimedOut { command: command.clone(), cap: Cap::Total, after: job.limits.call_timeout })
                }
            };
            if let Some(error) = ended {
                return Err(Box::new(Failed {
                    error,
                    output: None,
                }));
            }
            finish(&job, command, &script)
        })
    }

    fn find(&self, command: &[String], _root: &Path) -> Result<PathBuf, LocateError> {
        command.first().map(PathBuf::from).ok_or(LocateError::Empty)
    }

    fn available_memory(&self) -> Option<u64> {
        self.memory.as_ref()?()
    }
}

fn finish(job: &ProcessJob<'_>, command: String, script: &Script) -> Ran {
    let kept = usize::try_from(job.limits.max_output_size)
        .map_or(script.stdout.len(), |cap| cap.min(script.stdout.len()));
    let written = std::fs::write(job.stdout, &script.stdout[..kept])
        .and_then(|()| std::fs::write(job.stderr, script.stderr.as_bytes()));
    if let Err(source) = written {
        return Err(Box::new(Failed {
            error: ProcessError::Io(command, source),
            output: None,
        }));
    }
    let output = Output {
        stdout: job.stdout.to_owned(),
        stderr_tail: script.stderr.clone(),
        ended: jiff::Timestamp::now(),
        failed_requests: 0,
        transcript: Transcript {
            stdout_bytes: script.stdout.len() as u64,
            stdout_hash: blake3::hash(&script.stdout).to_hex().to_string(),
            stderr_bytes: script.stderr.len() as u64,
            exit_code: Some(script.exit_code),
            signal: None,
            held: false,
            peak_memory: script.peak_memory,
        },
    };
    match script.exit_code {
        0 => Ok(output),
        code => {
            let last_line = script.stderr.lines().last().map(ToOwned::to_owned);
            let error = ProcessError::ExitCode {
                command,
                code,
                last_line,
            };
            Err(Box::new(Failed {
                error,
                output: Some(output),
            }))
        }
    }
}
