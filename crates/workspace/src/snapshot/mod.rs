//! Snapshots of the tree, and backup repositories that keep the snapshots available after a run.

pub(crate) mod backup_repo;
pub mod before_image;
pub(crate) mod content_store;
pub(crate) mod ignored_files;
pub mod manifest;
pub mod opened;
pub mod permissions;
pub mod prune;
pub mod restage;
pub(crate) mod tree_image;

pub use before_image::BeforeImage;
pub use content_store::Bytes;
pub use ignored_files::Ignored;
pub use manifest::TreeId;
pub use manifest::{
    COMPARED_CAP, FileKind, Image, ManifestEntry, SnapshotNote, differing, run_folder,
};
pub use prune::{Needed, Prunable, remove_folder};
pub use restage::Restaged;
