//! Guards of the tree: fingerprints that show writes, locks, nested repositories, files that steer Glee.

pub(crate) mod bounds;
pub(crate) mod config_changes;
pub mod control_files;
pub(crate) mod fingerprint;
pub(crate) mod inside_tree;
pub(crate) mod nested_repos;
pub(crate) mod run_lock;
pub(crate) mod tree_identity;
