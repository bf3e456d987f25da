//! Images of the tree, and copies of it that outlive a run.

pub(crate) mod backup_repo;
pub(crate) mod before_image;
pub(crate) mod content_store;
pub(crate) mod ignored_files;
pub(crate) mod manifest;
pub(crate) mod note;
pub(crate) mod opened;
pub(crate) mod permissions;
pub(crate) mod prune;
pub(crate) mod restage;
pub(crate) mod tree_image;
