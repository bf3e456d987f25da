//! The sandbox rules of one agent process: what it may write and inspect.

use std::ffi::OsString;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub(crate) const SHARED_MEMORY: &str = "/dev/shm";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Hold {
    #[default]
    Free,
    /// The agent may write. It may not inspect other processes, if the system can enforce that.
    Isolated,
    /// The agent may only read, if the system can enforce that.
    IfPossible,
    /// The agent may only read; it is not started if the system cannot enforce that.
    Always,
}

impl Hold {
    pub(crate) fn holds(self) -> bool {
        matches!(self, Self::IfPossible | Self::Always)
    }
}

/// The restrictions of an agent. Paths are OS strings, which serialise to JSON even if they are invalid UTF-8.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    pub hold: Hold,
    pub namespaces: bool,
    /// The user's cache folder; the agent writes to a private copy.
    pub cache: Option<OsString>,
    pub hidden: Option<OsString>,
    pub writable: Vec<OsString>,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Surroundings {
    pub(crate) cache: Option<PathBuf>,
    pub(crate) has_memory: bool,
    /// A replacement for the user's cache folder, if no private copy covers that folder.
    pub(crate) instead: Option<PathBuf>,
}
