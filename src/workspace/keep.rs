//! Keeping the tree before a coder's first byte: an image under a ref of Glee's own, or copies outside git.

use std::path::{Path, PathBuf};

use crate::domain::RunId;

use super::git::{Object, Repository, object_id};
use super::image::{COMPARED_CAP, Store, TreeId, id_of};
use super::{Workspace, WorkspaceError, copy, names, twin};

/// What stands before the root of the work tree in the message of a kept commit.
const ROOT: &str = "Root: ";

/// The tree as it was kept before a coder's first byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BeforeImage {
    /// The git ref, or the file in the state folder that lists the copies.
    pub kept_as: String,
    /// Its id.
    pub tree: TreeId,
    /// Whether it comes back even if the repository's `.git` is removed. It does not where the state folder lies on
    /// another file system and the repository is larger than 256 MiB.
    pub outlives_git: bool,
}

impl Workspace {
    /// Keeps the tree as it is right now until it is undone: under `refs/glee/run/<id>/before`, or outside git as a
    /// list with copies in the state folder. A tree that is kept already for this run is left as it is.
    ///
    /// # Errors
    /// As [`Workspace::snapshot`]; [`WorkspaceError::NotKept`] for a file that cannot be read.
    pub fn keep(&self, run: &RunId, state_dir: &Path) -> Result<BeforeImage, WorkspaceError> {
        self.keep_as(run, "before", state_dir)
    }

    pub(super) fn keep_as(&self, run: &RunId, name: &str, state_dir: &Path) -> Result<BeforeImage, WorkspaceError> {
        match &self.repository {
            Some(git) => git.keep(run, name, state_dir),
            None => copy::keep(self.root(), run, name, state_dir),
        }
    }
}

impl Repository {
    fn keep(&self, run: &RunId, name: &str, state_dir: &Path) -> Result<BeforeImage, WorkspaceError> {
        let kept_as = format!("refs/glee/run/{run}/{name}");
        let tree = match self.kept(&kept_as)? {
            Some(tree) => TreeId(tree),
            None => self.keep_anew(run, &kept_as, state_dir)?,
        };
        let outlives_git = name == "before" && twin::make(self, run, &tree, state_dir)?;
        Ok(BeforeImage { kept_as, tree, outlives_git })
    }

    fn keep_anew(&self, run: &RunId, kept_as: &str, state_dir: &Path) -> Result<TreeId, WorkspaceError> {
        self.refuse_linked_refs()?;
        let (tree, unreadable) = self.record(state_dir, Store::Repository)?;
        if let Some(path) = unreadable.first() {
            let source = std::io::ErrorKind::PermissionDenied.into();
            return Err(WorkspaceError::NotKept { path: names::shown(path), source });
        }
        let root = names::shown(&names::quoted(&names::bytes(&self.top)));
        let message = format!("The tree around Glee's run {run}\n\n{ROOT}{root}\n");
        let commit = self.call(["commit-tree", &tree.0]).signed().output_of(message.as_bytes())?;
        let commit = id_of("commit-tree", &commit)?;
        self.call(["update-ref", "--no-deref", kept_as, &commit, &"0".repeat(commit.len())]).output()?;
        Ok(tree)
    }

    /// A repository out of an archive may bring a link where Glee's refs belong; git would write through it.
    fn refuse_linked_refs(&self) -> Result<(), WorkspaceError> {
        let places = ["refs/glee", "refs/glee/run"].map(|place| self.common.join(place));
        let linked = places.into_iter().find(|path| path.is_symlink());
        linked.map_or(Ok(()), |path| Err(WorkspaceError::LinkedRefs { path }))
    }

    /// The root of the work tree that a ref of Glee's keeps.
    pub(super) fn kept_root(&self, kept_as: &str) -> Result<Option<PathBuf>, WorkspaceError> {
        let Object::Bytes(commit) = self.objects(None)?.read(kept_as, COMPARED_CAP)? else { return Ok(None) };
        let root = commit.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(ROOT.as_bytes()));
        Ok(root.and_then(names::unquoted).map(|root| names::path(&root)))
    }

    /// The tree that a ref of Glee's keeps.
    pub(super) fn kept(&self, kept_as: &str) -> Result<Option<String>, WorkspaceError> {
        let wanted = format!("{kept_as}^{{tree}}");
        match self.call(["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted]).output() {
            Ok(id) => Ok(object_id(id.trim_ascii_end())),
            Err(WorkspaceError::Git { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
