//! Defines the sandbox of an agent: to which files the agent can write, and which processes the agent can
//! inspect.

use std::ffi::OsString;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub(crate) const SHARED_MEMORY: &str = "/dev/shm";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Hold {
    #[default]
    Free,
    /// The agent is allowed to write. On systems that support isolation, the agent cannot inspect other
    /// processes.
    Isolated,
    /// The agent is allowed only to read, but runs even on a system that cannot prevent writes.
    IfPossible,
    /// The agent is allowed only to read, and is not started on a system that cannot prevent writes.
    Always,
}

impl Hold {
    pub(crate) fn holds(self) -> bool {
        matches!(self, Self::IfPossible | Self::Always)
    }
}

/// The restrictions that a sandbox imposes on an agent's process. Paths are `OsString`s, which serialise to JSON
/// even if a path is not UTF-8.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    pub hold: Hold,
    /// Whether the program has a sandbox that works inside read-only mounts, but not inside Landlock.
    pub nests: bool,
    pub namespaces: bool,
    /// The user's cache folder. The agent writes to a private copy of the folder.
    pub cache: Option<OsString>,
    pub hidden: Option<OsString>,
    pub writable: Vec<OsString>,
    /// The first folder is mounted over the second. The agent is not started if the mount fails.
    pub over: Option<(OsString, OsString)>,
    /// Whether the agent has no network except its own loopback device, if the system supports this.
    pub is_offline: bool,
}

impl Confinement {
    /// Whether Glee omits Landlock, so that the program's own sandbox does not fail.
    pub(crate) fn is_omitted(&self) -> bool {
        self.nests && !self.namespaces && self.hold != Hold::Always && self.over.is_none()
    }

    pub(crate) fn needs_namespaces(&self) -> bool {
        self.hold.holds() || self.over.is_some() || self.is_offline
    }
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Surroundings {
    pub(crate) cache: Option<PathBuf>,
    pub(crate) has_memory: bool,
    /// An empty folder that replaces the user's cache folder if no private copy could be mounted.
    pub(crate) instead: Option<PathBuf>,
    /// Whether a mount failed without which the agent must not start.
    pub(crate) has_failed: bool,
}
