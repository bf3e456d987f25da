//! The resources that a watch is started with.

use std::path::PathBuf;

use tokio::sync::{mpsc, watch};

use crate::domain::Untrusted;
use crate::workflows::run::runner::RunSetup;
use crate::workflows::watch::socket::protocol::{Batch, Intake};
use crate::workflows::watch::status::WatchReport;

pub struct WatchSetup {
    pub run: RunSetup,
    /// The folder of the project's own prompt templates.
    pub templates: PathBuf,
    /// Receives the status whenever it changes.
    pub standing: watch::Sender<WatchReport>,
    pub intake: Intake,
    /// What is sent to the intake.
    pub received: mpsc::Receiver<Batch>,
    /// The socket by which started agents reach the watch.
    pub socket: Option<PathBuf>,
    /// Whether the watch continues when the last agent has ended.
    pub stay: bool,
}

pub(crate) struct TreeChanges {
    pub(crate) tree: Option<String>,
    /// The changes as they are shown to reviewers, or why they cannot be read.
    pub(crate) changes: Result<Untrusted, String>,
}
