use std::fmt;

/// Repositories inside a tree that are followed at most.
pub(crate) const REPOSITORIES: usize = 64;

/// How deep repositories inside of repositories are followed.
pub(crate) const DEPTH: usize = 8;

/// The files that all of them together have at most.
pub(crate) const FILES: usize = 20_000;

/// The bytes that all of them together have at most.
pub(crate) const BYTES: u64 = 1 << 30;

/// A bound on what is followed of the repositories inside a tree.
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
            Self::Repositories => write!(f, "there are more than {REPOSITORIES} nested repositories"),
            Self::Depth => write!(f, "it is nested more than {DEPTH} levels deep"),
            Self::Files => write!(f, "nested repositories have more than {FILES} files"),
            Self::Bytes => write!(f, "nested repositories have more than {} GiB", BYTES >> 30),
        }
    }
}
