//! Runs git, scans work trees, finds the history of a repository, and exchanges histories with remotes.

pub(crate) mod checkout;
pub(crate) mod exchange;
pub(crate) mod fetched_change;
pub(crate) mod hooks;
pub(crate) mod identity;
pub(crate) mod objects;
pub(crate) mod path_bytes;
pub(crate) mod plumbing;
pub(crate) mod remote_address;
pub(crate) mod shared_rulings;
mod stacked;
pub(crate) mod worktree_scan;

pub use exchange::{ExchangeRemote, FetchedRecord};
pub use fetched_change::{ChangeSource, FetchedChange};
pub use hooks::{HooksFolder, PushedCommits, PushedRef};
pub use identity::{HistoryPlace, Identity};
pub(crate) use objects::{GitObject, Objects};
pub(crate) use plumbing::{GitCall, Repository, object_id, records};
pub use shared_rulings::{BlockPlace, RulingFile};
pub(crate) use worktree_scan::{IndexEntry, LINK, Lstat, SUBMODULE, Scan};
