//! Defines the sandbox of an agent: which files the agent can open, to which files the agent can write, and which
//! processes the agent can inspect.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub(crate) const SHARED_MEMORY: &str = "/dev/shm";

/// Whether what is at a path takes no space and is written on a read-only mount, too.
pub(crate) fn is_device(path: &Path) -> bool {
    path.starts_with("/dev") && !path.starts_with(SHARED_MEMORY)
}

/// What a read-only agent never writes to.
#[derive(Clone, Debug, Default)]
pub struct Guarded {
    /// The tree and the folders of its repository, which the agent can read.
    pub tree: Vec<PathBuf>,
    /// Glee's own files and folders, which the agent cannot read either.
    pub records: Vec<PathBuf>,
}

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
    pub fn holds(self) -> bool {
        matches!(self, Self::IfPossible | Self::Always)
    }
}

/// What a program and its descendants are allowed to take together. A program that takes more is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allowance {
    /// In bytes. A single process cannot allocate more either.
    pub memory: u64,
    /// The bytes by which the folders to which the program can write grow, with its open files. A single file cannot
    /// grow larger either.
    pub disk: u64,
    pub processes: usize,
}

/// What a program took more of than its [`Allowance`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Scarce {
    Memory,
    Disk,
    Processes,
}

impl fmt::Display for Scarce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Memory => "memory",
            Self::Disk => "disk space",
            Self::Processes => "processes",
        })
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
    pub writable: Vec<OsString>,
    /// The places that the agent cannot open, except for the places in `open`.
    pub closed: Vec<OsString>,
    pub open: Vec<OsString>,
    /// The symbolic links on the ways to the places in `open`.
    pub links: Vec<OsString>,
    /// The folders in which Glee sees by the times of access what the agent read. A read-only mount would keep the times.
    pub timed: Vec<OsString>,
    /// The first folder is mounted over the second. The agent is not started if the mount fails.
    pub over: Option<(OsString, OsString)>,
    /// Whether the agent has no network except its own loopback device, if the system supports this.
    pub is_offline: bool,
    /// The program is not started if the system cannot hold it to this.
    pub allowance: Option<Allowance>,
}

impl Confinement {
    /// Whether Glee omits Landlock, so that the program's own sandbox does not fail.
    pub(crate) fn is_omitted(&self) -> bool {
        self.nests && !self.namespaces && self.hold != Hold::Always && self.over.is_none()
    }

    /// Whether the agent can open a path without symbolic links. The deepest place that contains the path decides.
    pub fn opens(&self, path: &Path) -> bool {
        let closed = depth(&self.closed, path);
        closed.is_none() || depth(&self.open, path) > closed
    }

    /// The first existing path in an agent's output that the agent cannot open.
    pub fn refused<'a>(&self, output: &'a str) -> Option<&'a Path> {
        let words = output
            .split(|c: char| c.is_whitespace() || "'\"`‘’:,;()=".contains(c))
            .map(Path::new);
        let mut paths = words.filter(|path| path.is_absolute());
        paths.find(|path| path.canonicalize().is_ok_and(|real| !self.opens(&real)))
    }

    /// The largest folders, and the files, that the agent can open as a whole.
    pub fn readable(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut waiting: Vec<PathBuf> = self.open.iter().map(PathBuf::from).collect();
        waiting.push(PathBuf::from("/"));
        while let Some(path) = waiting.pop() {
            if !self.opens(&path) {
                continue;
            }
            if self
                .closed
                .iter()
                .all(|place| !Path::new(place).starts_with(&path))
            {
                found.push(path);
                continue;
            }
            let entries = std::fs::read_dir(&path).into_iter().flatten().flatten();
            // What a link leads to is readable by its own path, or not at all.
            let entries =
                entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()));
            waiting.extend(entries.map(|entry| entry.path()));
        }
        found
    }

    pub(crate) fn needs_namespaces(&self) -> bool {
        self.hold.holds() || self.over.is_some() || self.is_offline
    }
}

/// The number of components of the deepest place that contains the path.
fn depth(places: &[OsString], path: &Path) -> Option<usize> {
    let around = places.iter().map(Path::new);
    let around = around.filter(|place| path.starts_with(place));
    around.map(|place| place.components().count()).max()
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Surroundings {
    pub cache: Option<PathBuf>,
    pub(crate) has_memory: bool,
    /// Whether the closed places are covered by mounts.
    pub(crate) has_covers: bool,
    /// An empty folder that replaces the user's cache folder if no private copy could be mounted.
    pub instead: Option<PathBuf>,
    /// Whether a mount failed without which the agent must not start.
    pub has_failed: bool,
}
