//! Agents that a watch starts: long-running programs that print events as lines of JSON and hear of pauses on stdin.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde::Serialize;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::{mpsc, watch};

use crate::agents::streams::dialogue::{Dialogue, StdinWriter, StdoutReader};
use crate::agents::{Stop, TranscriptFiles};
use crate::config::settings::{Limits, Pause, Settings};
use crate::domain::{Agent, AgentName, Untrusted};
use crate::workflows::watch::setup::WatchSetup;
use crate::workflows::watch::socket::SocketLines;
use crate::workflows::watch::socket::protocol::{self, Intake};

const FOR_EVER: Duration = Duration::from_secs(10 * 365 * 24 * 3600);
/// What may wait to be written to an agent's stdin.
const UNHEARD: usize = 16;

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(crate) enum WorkerMessage<'a> {
    Pause {
        reason: &'a Untrusted,
    },
    Resume,
    /// A judge ruled that this has to be done.
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

/// What all agents of a watch are started with.
#[derive(Debug)]
pub(crate) struct Worker {
    stands: watch::Sender<bool>,
    words: mpsc::Sender<String>,
    pause: Pause,
    /// Whether it succeeded; `None` while it runs.
    pub(crate) ended: Option<bool>,
}

/// A running agent; resolves to its name and how it ended.
pub(crate) type Working = Pin<Box<dyn Future<Output = (AgentName, Result<(), String>)>>>;

impl Worker {
    /// Starts an agent; it works while the future is awaited.
    pub(crate) fn start(
        (setup, stop): (&WatchSetup, Stop),
        agent: Agent,
        files: TranscriptFiles,
    ) -> (Self, Working) {
        let (stands, still) = watch::channel(false);
        let (words, heard) = mpsc::channel(UNHEARD);
        let Settings { limits, sandbox, watch, .. } = &setup.settings;
        let started = Self { stands, words, pause: watch.pause, ended: None };
        let (limits, sandbox) = (Limits { call_timeout: FOR_EVER, ..*limits }, *sandbox);
        let socket = setup.socket.as_ref();
        let variables =
            socket.map(|path| (crate::workflows::watch::socket::VARIABLE.to_owned(), path.display().to_string()));
        let (agents, workspace) = (setup.agents.clone(), Arc::clone(&setup.workspace));
        let intake = setup.intake.clone();
        let working = async move {
            let name = agent.name.clone();
            let talk = Conversation { name: name.clone(), intake, words: Mutex::new(Some(heard)) };
            let (root, how) = (workspace.root(), (&limits, sandbox));
            (name, agents.keep_running(&agent, root, variables, how, &files, &talk, still, stop).await)
        };
        (started, Box::pin(working))
    }

    /// An agent that answers a prompt: it gets no messages meanwhile, but can be suspended.
    pub(crate) fn by_prompt(pause: Pause) -> (Self, watch::Receiver<bool>) {
        let (stands, still) = watch::channel(false);
        (Self { stands, words: mpsc::channel(1).0, pause, ended: None }, still)
    }

    pub(crate) fn tell(&self, word: &WorkerMessage<'_>) {
        // Who is asked something, or was, has to hear it whatever else pauses agents.
        let is_heard = matches!(word, WorkerMessage::Clarify { .. } | WorkerMessage::Enforce { .. })
            || self.pause == Pause::Signal && matches!(word, WorkerMessage::Resume);
        if self.pause == Pause::Signal {
            // Who stands still cannot answer.
            self.stands.send_replace(matches!(word, WorkerMessage::Pause { .. }));
        }
        if self.pause == Pause::Message || is_heard {
            // An agent that does not read its stdin misses what it was told.
            drop(self.words.try_send(format!("{}\n", json!(word))));
        }
    }

    pub(crate) fn stands(&self) -> bool {
        *self.stands.borrow()
    }
}

/// Passes an agent's events to the watch and the watch's messages to the agent.
struct Conversation {
    name: AgentName,
    intake: Intake,
    words: Mutex<Option<mpsc::Receiver<String>>>,
}

impl Dialogue for Conversation {
    fn drive<'a>(
        &'a self,
        mut stdout: StdoutReader,
        mut stdin: StdinWriter,
        stop: Stop,
    ) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(async move {
            let words = self.words.lock().ok().and_then(|mut words| words.take());
            let hear = async {
                let mut lines = SocketLines::default();
                let mut piece = vec![0; 64 << 10];
                loop {
                    // What is there is heard even after the stop.
                    let read = tokio::select! {
                        biased;
                        read = stdout.read(&mut piece) => read,
                        () = stop.stopped() => return,
                    };
                    let Ok(length @ 1..) = read else { break };
                    let lines = lines.take(&piece[..length]);
                    // What a program prints beside its events is not meant for the watch.
                    let events = lines.iter().filter(|line| line.starts_with(b"{"));
                    let items: Vec<_> =
                        events.map(|line| protocol::for_agent(protocol::read(line, Some(&self.name)))).collect();
                    if !items.is_empty() && protocol::hand_over(&self.intake, items, &self.name.0).await.is_none() {
                        return;
                    }
                }
                // It has closed its stdout and may work on all the same: its end is its process's.
                stop.stopped().await;
            };
            let speak = async {
                if let Some(mut words) = words {
                    while let Some(word) = words.recv().await {
                        if stdin.write_all(word.as_bytes()).await.is_err() || stdin.flush().await.is_err() {
                            break;
                        }
                    }
                }
                std::future::pending::<()>().await;
            };
            // What was said is heard to its end, even when nobody is to be told anything any more.
            tokio::select! {
                () = hear => {}
                () = speak => {}
            }
        })
    }
}
