//! Runs git, scans work trees, and finds the history of a repository.

mod asked_once;
pub mod checkout;
pub mod fetched_change;
pub mod hooks;
pub mod identity;
mod kept_answers;
pub(crate) mod listed_index;
mod messages;
pub mod mirror;
pub mod objects;
mod output;
pub mod path_bytes;
pub(crate) mod plumbing;
pub mod remote_address;
mod revisions;
pub(crate) mod shared_rulings;
mod stacked;
pub(crate) mod worktree_scan;

pub use fetched_change::{ChangeSource, FetchedChange};
pub use hooks::{HooksFolder, PushedCommits, PushedRef};
pub use identity::{HistoryPlace, Identity};
pub use listed_index::{FileStat, IndexEntry, LINK, SUBMODULE, Scan};
pub use mirror::MirrorTree;
pub use objects::{GitObject, Objects};
pub use output::{object_id, records};
pub use plumbing::{GitCall, Repository};
pub use shared_rulings::{BlockPlace, RulingFile};
pub use worktree_scan::Lstat;
