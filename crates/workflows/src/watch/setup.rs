//! The resources that a watch receives from its caller.

use std::path::PathBuf;

use tokio::sync::{mpsc, watch};

use crate::run::resources::RunSetup;
use crate::watch::socket::protocol::{Batch, Intake};
use crate::watch::status::WatchReport;
use glee_model::domain::Untrusted;

pub struct WatchSetup {
    pub run: RunSetup,
    pub templates: PathBuf,
    pub standing: watch::Sender<WatchReport>,
    pub intake: Intake,
    pub received: mpsc::Receiver<Batch>,
    pub socket: Option<PathBuf>,
    /// Whether the watch continues after the last agent has ended.
    pub stay: bool,
}

pub(crate) struct TreeChanges {
    pub tree: Option<String>,
    /// The diff for the reviewers, or the reason why the diff cannot be computed.
    pub changes: Result<Untrusted, String>,
}
