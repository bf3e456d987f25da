//! Protects the tree with locks, with fingerprints that reveal changes, and with checks of control files.

pub mod bounds;
pub(crate) mod config_changes;
pub mod control_files;
pub mod fingerprint;
pub mod inside_tree;
pub(crate) mod nested_repos;
pub(crate) mod queue;
pub(crate) mod run_lock;
pub(crate) mod tree_identity;

pub use bounds::Bound;
pub use config_changes::ControlFiles;
pub use fingerprint::{ChangeKind, ChangedSubject, ObservedChange, TreeFingerprint};
pub use nested_repos::Unfollowed;
pub use queue::{QueueSubject, QueuedRun, Turn};
pub use run_lock::TreeLock;
pub use tree_identity::{TreeIdentity, TreeRelation};
