use std::ffi::OsString;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub(crate) const SHARED_MEMORY: &str = "/dev/shm";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Hold {
    #[default]
    Free,
    /// It may write but not inspect other processes, if the system can prevent that.
    Isolated,
    /// It may only read, if the system can prevent writing.
    IfPossible,
    /// It may only read, or is not started.
    Always,
}

impl Hold {
    pub(crate) fn holds(self) -> bool {
        matches!(self, Self::IfPossible | Self::Always)
    }
}

/// The restrictions of an agent. Paths are OS strings, which serialise to JSON also if they are not UTF-8.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    pub hold: Hold,
    /// Whether namespaces can be used.
    pub namespaces: bool,
    /// The folder of the user's caches; writes go to a copy of its own.
    pub cache: Option<OsString>,
    pub hidden: Option<OsString>,
    pub writable: Vec<OsString>,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Surroundings {
    /// The folder of caches, if a private copy covers it.
    pub(crate) cache: Option<PathBuf>,
    /// Whether it has shared memory of its own.
    pub(crate) has_memory: bool,
    /// Its cache folder if nothing covers the user's.
    pub(crate) instead: Option<PathBuf>,
}
