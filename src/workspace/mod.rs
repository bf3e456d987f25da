//! The reviewed tree: target selection, git plumbing, before-images, enclosing blocks.
//!
//! A [`Workspace`] is one work tree. Reading it never writes to it and never runs a filter, a hook, a pager or an
//! external diff. What Glee keeps of it lies in the state folder: nothing is added to the user's repository, only
//! [`Workspace::prune`] takes away refs that an older Glee made there, and only [`Workspace::undo`] and
//! [`Workspace::redo`] write to files. Every method may fail because git or the state folder does, or because a recorded
//! tree is gone; what else may go wrong it says itself.

mod address;
pub mod advisories;
mod altered;
mod base;
pub mod blocks;
mod changed;
pub mod citation;
pub mod comments;
mod content;
pub mod control;
mod copy;
mod deeds;
pub mod delta;
pub(crate) mod difference;
mod error;
mod exchange;
mod git;
mod hidden;
mod holds;
mod identity;
mod ignores;
mod image;
mod index;
mod keep;
mod lock;
mod locks;
mod look;
mod modes;
mod names;
mod nested;
mod opened;
mod origin;
mod osv;
mod patch;
mod place;
mod prune;
mod reverse;
mod rulings;
mod scan;
mod shards;
mod sift;
mod since;
mod steer;
mod target;
#[cfg(all(test, unix))]
mod tests;
mod touch;
mod twin;
mod undo;
pub(crate) mod unified;
mod walk;

use std::io::Read as _;
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

pub use base::BaseFiles;
pub use error::{Result, WorkspaceError};
pub use exchange::{Arrival, Arrived, Pushed};
pub use identity::{HistoryPlace, Identity};
pub use image::TreeId;
pub use index::Restaged;
pub use keep::BeforeImage;
pub use lock::TreeLock;
pub use look::{Difference, Fate, Look, Subject};
pub use nested::{Bound, Unfollowed};
pub use origin::SelectionRules;
pub use prune::{Needed, Prunable, remove_folder};
pub use reverse::Clash;
pub use rulings::RulingFile;
pub use since::Since;
pub use steer::Steering;
pub use target::{SelectOptions, Target, TargetSpec};
pub use undo::{Conflict, Decided, Forced, Kept, Undone};

use git::Repository;

/// The bytes of a file that [`Workspace::read`] reads at most.
const READ_CAP: u64 = 4 << 20;

/// One work tree: a git work tree, or a folder outside git.
#[derive(Debug)]
pub struct Workspace {
    root: PathBuf,
    start: PathBuf,
    repository: Option<Repository>,
    /// The files of a commit that say which paths are left out, in the place of the tree's.
    steered_by: Option<ignores::Recorded>,
    /// The root commit of `HEAD`, once it was asked for.
    root_commit: OnceLock<Option<String>>,
}

impl Workspace {
    /// Finds the tree that `start` lies in: the git work tree around it, else the nearest folder upward with a
    /// `.glee` folder, else `start` itself. Fails when `start` cannot be read, lies in a bare repository or inside a
    /// `.git` folder, or git is missing or refuses the repository.
    pub fn discover(start: &Path) -> Result<Self> {
        let start = start
            .canonicalize()
            .map_err(|source| WorkspaceError::Unreadable { path: start.display().to_string(), source })?;
        if let Some(repository) = Repository::around(&start)? {
            return Ok(Self {
                root: repository.top.clone(),
                start,
                repository: Some(repository),
                steered_by: None,
                root_commit: OnceLock::new(),
            });
        }
        let root = start.ancestors().find(|folder| folder.join(".glee").is_dir()).unwrap_or(&start).to_owned();
        Ok(Self { root, start, repository: None, steered_by: None, root_commit: OnceLock::new() })
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn is_git(&self) -> bool {
        self.repository.is_some()
    }

    /// The commit `HEAD` stands on; `None` outside git and before the first commit.
    pub fn head(&self) -> Option<&str> {
        self.repository.as_ref()?.head.as_deref()
    }

    /// The tree and the folders of its repository: what an agent that only reads must not write to.
    pub fn folders(&self) -> Vec<PathBuf> {
        let git = self.repository.iter().flat_map(|git| [git.git_dir.clone(), git.common.clone()]);
        std::iter::once(self.root.clone()).chain(git).collect()
    }

    /// Reads a path as an agent wrote it as a path inside the tree, with `/` between components.
    ///
    /// `None` for anything but a regular file below the root: `..`, absolute paths elsewhere, drive letters, `.git`
    /// in any component, links that lead out, NUL, folders, FIFOs and devices.
    pub fn resolve(&self, path: &str) -> Option<String> {
        let clean = self.clean(path).filter(|clean| self.is_file_inside(clean)).or_else(|| {
            let slashed = path.replace('\\', "/");
            (slashed != path).then(|| self.clean(&slashed)).flatten().filter(|clean| self.is_file_inside(clean))
        })?;
        Some(clean)
    }

    /// The current text of a file that [`Workspace::resolve`] accepts: invalid UTF-8 replaced, 4 MiB at most.
    pub fn read(&self, path: &str) -> Option<String> {
        let path = self.root.join(self.resolve(path)?);
        let file = content::open_regular(&path).ok()?;
        let mut bytes = Vec::new();
        file.take(READ_CAP).read_to_end(&mut bytes).ok()?;
        Some(content::lossy(bytes))
    }

    /// The same path relative to the root and without `.`; `None` if it is not below the root by its letters.
    fn clean(&self, path: &str) -> Option<String> {
        let path = path.trim();
        if path.is_empty() || path.contains('\0') || names::has_drive(path) {
            return None;
        }
        let relative = match Path::new(path).strip_prefix(&self.root) {
            Ok(relative) => relative,
            Err(_) => Path::new(path),
        };
        let mut parts = Vec::new();
        for component in relative.components() {
            match component {
                Component::CurDir => {}
                Component::Normal(part) => {
                    let part = part.to_str()?;
                    if part.eq_ignore_ascii_case(".git") {
                        return None;
                    }
                    parts.push(part);
                }
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
            }
        }
        (!parts.is_empty()).then(|| parts.join("/"))
    }

    /// Whether a clean path is a regular file whose links, if any, stay below the root and outside `.git`.
    fn is_file_inside(&self, clean: &str) -> bool {
        let Ok(real) = self.root.join(clean).canonicalize() else { return false };
        let Ok(relative) = real.strip_prefix(&self.root) else { return false };
        let in_git = relative
            .components()
            .any(|part| part.as_os_str().to_str().is_some_and(|p| p.eq_ignore_ascii_case(".git")));
        !in_git && std::fs::symlink_metadata(&real).is_ok_and(|meta| meta.is_file())
    }
}
