//! Limits how many nested repositories and files Glee includes in snapshots and fingerprints.

use std::fmt;

/// The maximum number of nested repositories.
pub(crate) const REPOSITORIES: usize = 64;
/// The maximum depth of nested repositories.
pub(crate) const DEPTH: usize = 8;
/// The maximum number of files in all nested repositories together.
pub const FILES: usize = 20_000;
/// The maximum size of all nested repositories together, in bytes.
pub const BYTES: u64 = 1 << 30;

/// A limit that the nested repositories of a tree can exceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    Repositories,
    Depth,
    Files,
    Bytes,
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Repositories => {
                write!(f, "there are more than {REPOSITORIES} nested repositories")
            }
            Self::Depth => write!(f, "it is nested more than {DEPTH} levels deep"),
            Self::Files => write!(f, "nested repositories have more than {FILES} files"),
            Self::Bytes => write!(f, "nested repositories have more than {} GiB", BYTES >> 30),
        }
    }
}
