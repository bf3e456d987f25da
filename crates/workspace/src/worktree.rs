//! The git worktree of a run: a linked work tree in the state folder, in which the coder works while the user goes on in
//! the tree from which the run was started, its home.
//!
//! A worktree begins with the commit, the index and the files of its home, uncommitted changes included. Ignored files and
//! the files of nested repositories are not in it. `git worktree list` shows it. It is removed in an order that leaves
//! git's own folder last: that folder tells a later call what is left to remove.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::git::{Repository, path_bytes};
use crate::snapshot::manifest::Beyond;
use crate::snapshot::{Bytes, FileKind, Image, remove_folder};
use crate::undo::restore;
use crate::undo::three_way::FileContent;
use crate::undo::write;
use crate::{Result, Workspace, WorkspaceError};
use glee_model::domain::RunId;
use glee_system::private;

/// The folder of the worktrees in the state folder.
const FOLDER: &str = "worktrees";

impl Workspace {
    /// The tree from which a run was started: this tree, or the home of this worktree.
    pub fn home(&self) -> &Self {
        self.home.as_deref().unwrap_or(self)
    }

    /// Whether this is the worktree of a run.
    pub fn has_home(&self) -> bool {
        self.home.is_some()
    }

    /// Creates the worktree of a run. Also returns the nested repositories, whose files are not in it. Fails outside git,
    /// before the first commit, or with [`WorkspaceError::NotKept`] if a file cannot be read.
    pub fn add_worktree(
        self: &Arc<Self>,
        run: &RunId,
        state_dir: &Path,
    ) -> Result<(Self, Vec<String>)> {
        let git = self.repository.as_ref().ok_or(WorkspaceError::NoWorktree)?;
        let head = git.commit("HEAD")?;
        self.remove_worktree(run, state_dir)?;
        let recorded = self.record_with(state_dir, &Beyond::default())?;
        if let Some(path) = recorded.unreadable.first() {
            return Err(WorkspaceError::NotKept {
                path: path_bytes::shown(path),
                source: io::ErrorKind::PermissionDenied.into(),
            });
        }
        let image = self.image(&recorded.tree.0, state_dir)?;
        let mut bytes = self.bytes(state_dir)?;
        private::folder(&state_dir.join(FOLDER)).map_err(WorkspaceError::state(state_dir))?;
        let place = place(run, state_dir);
        // Without a checkout git runs no hook and no filter.
        git.call(["worktree", "add", "--quiet", "--detach", "--no-checkout"])
            .arg(&place)
            .arg(head)
            .output()?;
        copy_index(git, &git.worktree_folder(run)).map_err(WorkspaceError::state(&place))?;
        let nested = write_files(&place, &image, &mut bytes)?;
        let tree = self.worktree(run, state_dir)?;
        Ok((tree.ok_or_else(|| gone(run))?, nested))
    }

    /// Opens the worktree of a run. `None` if there is none.
    pub fn worktree(self: &Arc<Self>, run: &RunId, state_dir: &Path) -> Result<Option<Self>> {
        let Some(git) = &self.repository else {
            return Ok(None);
        };
        let place = place(run, state_dir);
        let folder = git.worktree_folder(run);
        if !place.is_dir() || !folder.join("HEAD").exists() {
            return Ok(None);
        }
        // A coder can change this file, and it is out of date after a move of the repository.
        let link = place.join(".git");
        let wanted = [b"gitdir: ", &path_bytes::bytes(&folder)[..], b"\n"].concat();
        let is_file = fs::symlink_metadata(&link).is_ok_and(|meta| meta.is_file());
        if !is_file || fs::read(&link).is_ok_and(|found| found != wanted) {
            private::write(&link, &wanted).map_err(WorkspaceError::state(&link))?;
        }
        let mut tree = Self::discover(&place)?;
        match &mut tree.repository {
            // A hook of git can name another index, which is one of the home.
            Some(found) if found.common == git.common => {
                found.index = found.git_dir.join("index");
            }
            _ => return Err(gone(run)),
        }
        if let Ok(below) = self.start.strip_prefix(&self.root) {
            tree.start = tree.root.join(below);
        }
        tree.home = Some(Arc::clone(self));
        Ok(Some(tree))
    }

    /// The path of a run's worktree, whether or not it exists.
    pub fn worktree_path(run: &RunId, state_dir: &Path) -> PathBuf {
        place(run, state_dir)
    }

    /// Removes the worktree of a run. A missing worktree is not an error.
    pub fn remove_worktree(&self, run: &RunId, state_dir: &Path) -> Result<()> {
        let place = place(run, state_dir);
        let state = WorkspaceError::state(&place);
        if remove_folder(&place).is_err() {
            // A coder can leave folders that cannot be written to, as the module cache of Go is.
            open_folders(&place).map_err(state)?;
            remove_folder(&place).map_err(state)?;
        }
        if let Some(git) = &self.repository {
            let folder = git.worktree_folder(run);
            if is_own(&folder, &place) {
                remove_folder(&folder).map_err(state)?;
            }
        }
        Ok(())
    }

    /// The runs that have a worktree of this repository, also those that are half removed.
    pub fn worktrees(&self, state_dir: &Path) -> Vec<RunId> {
        let git = self.repository.as_ref();
        let folder = git.map(|git| git.common.join("worktrees"));
        let folders = folder.and_then(|folder| fs::read_dir(folder).ok());
        let mut found = Vec::new();
        for entry in folders.into_iter().flatten().flatten() {
            let run = RunId(entry.file_name().to_string_lossy().into_owned());
            if is_own(&entry.path(), &place(&run, state_dir)) {
                found.push(run);
            }
        }
        found
    }
}

impl Repository {
    /// Git's own folder of the worktree of a run.
    fn worktree_folder(&self, run: &RunId) -> PathBuf {
        self.common.join("worktrees").join(&run.0)
    }
}

fn place(run: &RunId, state_dir: &Path) -> PathBuf {
    // Git records the real path.
    let real = state_dir.canonicalize();
    real.unwrap_or_else(|_| state_dir.to_owned())
        .join(FOLDER)
        .join(&run.0)
}

fn gone(run: &RunId) -> WorkspaceError {
    WorkspaceError::WorktreeGone(run.short().to_owned())
}

/// Whether git's folder belongs to the worktree at `place`. A worktree of the user can have any name.
fn is_own(folder: &Path, place: &Path) -> bool {
    fs::read(folder.join("gitdir"))
        .is_ok_and(|text| path_bytes::path(text.trim_ascii_end()) == place.join(".git"))
}

/// Copies the index, and the shared part of a split index, which git looks for beside it.
fn copy_index(git: &Repository, folder: &Path) -> io::Result<()> {
    if git.index.exists() {
        fs::copy(&git.index, folder.join("index"))?;
    }
    for entry in fs::read_dir(&git.git_dir)? {
        let entry = entry?;
        if entry
            .file_name()
            .as_encoded_bytes()
            .starts_with(b"sharedindex.")
        {
            fs::copy(entry.path(), folder.join(entry.file_name()))?;
        }
    }
    Ok(())
}

/// Writes the files of a snapshot below `root`, as they are. Returns the nested repositories, which stay empty folders.
fn write_files(root: &Path, image: &Image, bytes: &mut Bytes) -> Result<Vec<String>> {
    let kind = |kind: FileKind| image.iter().filter(move |(_, entry)| entry.kind == kind);
    let nested: BTreeSet<&[u8]> = kind(FileKind::Submodule)
        .map(|(path, _)| &path[..])
        .collect();
    for folder in &nested {
        let folder = root.join(path_bytes::path(folder));
        fs::create_dir_all(&folder).map_err(WorkspaceError::state(&folder))?;
    }
    // Links come last, so that no file is written through a link.
    for (path, entry) in kind(FileKind::File).chain(kind(FileKind::Link)) {
        if path_bytes::above(path).any(|folder| nested.contains(folder)) {
            continue;
        }
        let full = root.join(path_bytes::path(path));
        let state = WorkspaceError::state(&full);
        let content: Option<FileContent> = restore::content(Some(entry), bytes)?;
        let content = content.ok_or_else(|| WorkspaceError::Gone(entry.id.clone()))?;
        fs::create_dir_all(full.parent().unwrap_or(root)).map_err(state)?;
        write::create(&full, &content).map_err(state)?;
    }
    Ok(nested.into_iter().map(path_bytes::shown).collect())
}

/// Makes all folders below `folder` writable. Links are not followed.
fn open_folders(folder: &Path) -> io::Result<()> {
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            open_folders(&entry.path())?;
        }
    }
    Ok(())
}
