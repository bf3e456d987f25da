use std::ffi::OsString;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub(crate) const SHARED_MEMORY: &str = "/dev/shm";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Hold {
    #[default]
    Free,
    /// It may write, and is kept from inspecting other processes where the system can.
    Apart,
    /// It may only read, where the system can hold it.
    IfPossible,
    /// It may only read, or is not started.
    Always,
}

impl Hold {
    pub(crate) fn holds(self) -> bool {
        matches!(self, Self::IfPossible | Self::Always)
    }
}

/// The restrictions of an agent. Paths are strings of bytes, so that paths that are not UTF-8 fit into JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    pub hold: Hold,
    /// Whether the system makes namespaces for it.
    pub namespaces: bool,
    /// The folder of the user's caches, which it may write to only in a copy of its own.
    pub cache: Option<OsString>,
    pub hidden: Option<OsString>,
    pub writable: Vec<OsString>,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Surroundings {
    /// The folder of caches, where a private copy covers it.
    pub(crate) cache: Option<PathBuf>,
    /// Whether shared memory is its own.
    pub(crate) has_memory: bool,
    /// Where its cache is instead, where nothing covers the user's.
    pub(crate) instead: Option<PathBuf>,
}
