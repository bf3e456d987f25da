//! What a watch is started with.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use tokio::sync::watch;

use crate::agents::{Agents, Stop};
use crate::config::settings::Settings;
use crate::domain::Untrusted;
use crate::history::store::Journal;
use crate::workflows::run::ports::EventSink;
use crate::workflows::watch::socket::protocol::Intake;
use crate::workflows::watch::status::WatchReport;
use crate::workspace::root::Workspace;

pub struct WatchSetup {
    pub workspace: Arc<Workspace>,
    /// Where Glee keeps what must outlive the tree.
    pub state_dir: PathBuf,
    pub journal: Journal,
    pub agents: Agents,
    pub settings: Settings,
    /// The folder of the project's own templates for prompts.
    pub templates: PathBuf,
    pub sink: Arc<Mutex<Box<dyn EventSink>>>,
    /// Gets how it stands, whenever that changes.
    pub standing: watch::Sender<WatchReport>,
    pub intake: Intake,
    /// Where agents that are started reach it.
    pub socket: Option<PathBuf>,
    /// Whether it goes on when the last agent has ended.
    pub stay: bool,
    /// Ends it; it can be started again.
    pub stop: Stop,
}

pub(crate) struct Prepared {
    pub(crate) tree: Option<String>,
    /// What is shown of the changes, or why it cannot be.
    pub(crate) changes: Result<Untrusted, String>,
}
