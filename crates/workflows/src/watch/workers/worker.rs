//! Runs agents for a watch: the agents print events as lines of JSON, and read messages from stdin.

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde::Serialize;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::{mpsc, watch};

use crate::run::resources::RunResources;
use crate::watch::socket::protocol::{self, Intake};
use crate::watch::socket::{self, SocketLines};
use glee_agents::streams::dialogue::{Dialogue, StdinWriter, StdoutReader};
use glee_agents::{Stop, TranscriptFiles};
use glee_model::domain::{Agent, AgentName, Untrusted};
use glee_store::config::choices::Pause;
use glee_store::config::settings::{Limits, Settings};

const FOREVER: Duration = Duration::from_secs(10 * 365 * 24 * 3600);
const UNREAD: usize = 16;

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(crate) enum WorkerMessage<'a> {
    Pause {
        reason: &'a Untrusted,
    },
    Resume,
    /// A judge ruled that the agents have to resolve the issue.
    Enforce {
        issue: u32,
        description: &'a Untrusted,
        rationale: &'a Untrusted,
    },
    Clarify {
        cycle: u32,
        prompt: &'a Untrusted,
    },
}

#[derive(Debug)]
pub(crate) struct Worker {
    suspend: watch::Sender<bool>,
    messages: mpsc::Sender<String>,
    pause: Pause,
    /// Whether the agent succeeded. `ended` is `None` while the agent is running.
    pub ended: Option<bool>,
}

pub(crate) type Working = Pin<Box<dyn Future<Output = (AgentName, Result<(), String>)>>>;

impl Worker {
    /// Creates a worker. The agent's process runs while the returned future is polled.
    pub(crate) fn start(
        resources: &RunResources,
        intake: Intake,
        socket: Option<&PathBuf>,
        agent: Agent,
        files: TranscriptFiles,
    ) -> (Self, Working) {
        let (suspend, suspended) = watch::channel(false);
        let (messages, received) = mpsc::channel(UNREAD);
        let Settings {
            limits,
            sandbox,
            watch,
            ..
        } = &resources.settings;
        let started = Self {
            suspend,
            messages,
            pause: watch.pause,
            ended: None,
        };
        let sandbox = *sandbox;
        let limits = Limits {
            call_timeout: FOREVER,
            ..*limits
        };
        let variables =
            socket.map(|path| (socket::VARIABLE.to_owned(), path.display().to_string()));
        let agents = resources.agents.clone();
        let workspace = Arc::clone(&resources.workspace);
        let stop = resources.stop.clone();
        let working = async move {
            let name = agent.name.clone();
            let dialogue = Conversation {
                name: name.clone(),
                intake,
                messages: Mutex::new(Some(received)),
            };
            (
                name,
                agents
                    .keep_running(
                        &agent,
                        workspace.root(),
                        variables,
                        limits,
                        sandbox,
                        &files,
                        &dialogue,
                        suspended,
                        stop,
                    )
                    .await,
            )
        };
        (started, Box::pin(working))
    }

    /// Creates a worker for an agent that answers a prompt. The worker can suspend the agent, but sends no
    /// messages.
    pub(crate) fn by_prompt(pause: Pause) -> (Self, watch::Receiver<bool>) {
        let (suspend, suspended) = watch::channel(false);
        (
            Self {
                suspend,
                messages: mpsc::channel(1).0,
                pause,
                ended: None,
            },
            suspended,
        )
    }

    pub(crate) fn tell(&self, message: &WorkerMessage<'_>) {
        // A question or a ruling is sent as a message, regardless of the setting `watch.pause`.
        let is_sent = matches!(
            message,
            WorkerMessage::Clarify { .. } | WorkerMessage::Enforce { .. }
        ) || self.pause == Pause::Signal && matches!(message, WorkerMessage::Resume);
        if self.pause == Pause::Signal {
            // Every message other than `Pause` resumes the agent, so that the agent can answer.
            self.suspend
                .send_replace(matches!(message, WorkerMessage::Pause { .. }));
        }
        if self.pause == Pause::Message || is_sent {
            // If the agent does not read its stdin, the channel becomes full and the message is dropped.
            drop(self.messages.try_send(format!("{}\n", json!(message))));
        }
    }

    pub(crate) fn is_suspended(&self) -> bool {
        *self.suspend.borrow()
    }
}

struct Conversation {
    name: AgentName,
    intake: Intake,
    messages: Mutex<Option<mpsc::Receiver<String>>>,
}

impl Dialogue for Conversation {
    fn drive<'a>(
        &'a self,
        mut stdout: StdoutReader,
        mut stdin: StdinWriter,
        stop: Stop,
    ) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(async move {
            let messages = self
                .messages
                .lock()
                .ok()
                .and_then(|mut messages| messages.take());
            let read = async {
                let mut lines = SocketLines::default();
                let mut piece = vec![0; 64 << 10];
                loop {
                    // If output is available when a stop is requested, the output is read first.
                    let length = tokio::select! {
                        biased;
                        length = stdout.read(&mut piece) => length,
                        () = stop.stopped() => return,
                    };
                    let Ok(length @ 1..) = length else { break };
                    let lines = lines.take(&piece[..length]);
                    let events = lines.iter().filter(|line| line.starts_with(b"{"));
                    let items: Vec<_> = events
                        .map(|line| protocol::for_agent(protocol::read(line, Some(&self.name))))
                        .collect();
                    if !items.is_empty()
                        && protocol::hand_over(&self.intake, items, &self.name.0)
                            .await
                            .is_none()
                    {
                        return;
                    }
                }
                // After the agent closes its stdout, messages are still sent to the agent, because the agent can
                // still run.
                stop.stopped().await;
            };
            let write = async {
                if let Some(mut messages) = messages {
                    while let Some(message) = messages.recv().await {
                        if stdin.write_all(message.as_bytes()).await.is_err()
                            || stdin.flush().await.is_err()
                        {
                            break;
                        }
                    }
                }
                std::future::pending::<()>().await;
            };
            // If the agent accepts no more messages, `write` waits forever, but `read` continues to read the
            // output.
            tokio::select! {
                () = read => {}
                () = write => {}
            }
        })
    }
}
