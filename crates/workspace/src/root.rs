//! Finds the work tree for a command, and resolves paths in this tree.

use std::io::Read as _;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crate::code::text_files;
use crate::error::{Result, WorkspaceError};
use crate::git::{Repository, path_bytes};
use crate::select::ignores;
use glee_store::config::files::paths;

/// The maximum number of bytes that [`Workspace::read`] reads from a file.
pub(crate) const READ_CAP: u64 = 4 << 20;

/// A git work tree, or a folder outside git.
#[derive(Debug)]
pub struct Workspace {
    pub root: PathBuf,
    pub start: PathBuf,
    pub repository: Option<Repository>,
    /// The recorded `.gleeignore` files, which replace the `.gleeignore` files in the tree.
    pub(crate) recorded_ignores: Option<ignores::RecordedIgnores>,
    /// The commit from which [`Workspace::read`] and [`Workspace::resolve`] read. If the field is `None`, these
    /// methods read the tree.
    pub(crate) read_commit: Option<String>,
    pub(crate) root_commit: OnceLock<Option<String>>,
    /// The tree from which a run was started, if this is the run's worktree.
    pub(crate) home: Option<Arc<Self>>,
}

impl Workspace {
    /// Finds the tree that contains `start`. In a git repository, the tree is the git work tree. Outside git, the
    /// tree is the nearest folder, at or above `start`, that contains a `.glee` folder. If no folder at or above
    /// `start` has a `.glee` folder, the tree is `start` itself. Fails if `start` is unreadable, or if `start` is
    /// inside a bare repository or a `.git` folder. Also fails if git is missing or refuses the repository.
    pub fn discover(start: &Path) -> Result<Self> {
        let start = start
            .canonicalize()
            .map_err(WorkspaceError::unreadable(start))?;
        let repository = Repository::around(&start)?;
        let root = match &repository {
            Some(git) => &git.top,
            None => start
                .ancestors()
                .find(|folder| folder.join(".glee").is_dir())
                .unwrap_or(&start),
        };
        let root = root.to_owned();
        let root_commit = OnceLock::new();
        Ok(Self {
            root,
            start,
            repository,
            recorded_ignores: None,
            read_commit: None,
            root_commit,
            home: None,
        })
    }

    /// The tree of a history whose repository is on other machines only. `root` does not exist, so no file is read.
    pub fn absent(root: PathBuf) -> Self {
        Self {
            start: root.clone(),
            root,
            repository: None,
            recorded_ignores: None,
            read_commit: None,
            root_commit: OnceLock::new(),
            home: None,
        }
    }

    /// Whether the tree is on other machines only.
    pub fn is_absent(&self) -> bool {
        !self.root.exists()
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the path of a file of the project, relative to the root. The project can be a folder of the tree.
    pub fn of_project(&self, path: &str) -> String {
        let project = paths::project_root(&self.start);
        match project.strip_prefix(&self.root).ok().and_then(Path::to_str) {
            Some("") | None => path.to_owned(),
            Some(prefix) => format!("{prefix}/{path}"),
        }
    }

    /// The inverse of [`Workspace::of_project`]. A path outside the project stays as it is.
    pub fn in_project<'a>(&self, path: &'a str) -> &'a str {
        path.strip_prefix(&self.of_project("")).unwrap_or(path)
    }

    pub fn is_git(&self) -> bool {
        self.repository.is_some()
    }

    /// The id of the commit at `HEAD`. `None` outside git or before the first commit.
    pub fn head(&self) -> Option<&str> {
        self.repository.as_ref()?.head.as_deref()
    }

    /// The folders that read-only agents must not write to: the tree and the folders of its repository.
    pub fn folders(&self) -> Vec<PathBuf> {
        let git = self
            .repository
            .iter()
            .flat_map(|git| [git.git_dir.clone(), git.common.clone()]);
        std::iter::once(self.root.clone()).chain(git).collect()
    }

    /// Reads files from a commit instead of the tree, because the reviewed commit is not checked out.
    pub fn use_commit(&mut self, commit: &str) {
        self.read_commit = Some(commit.to_owned());
    }

    /// Converts a path in an agent's answer to a path relative to the root, with `/` between components.
    ///
    /// Returns `None` if the path does not lead to a regular file below the root. Rejects `..`, `.git`, NUL, drive
    /// letters, absolute paths outside the tree, and links to files outside the tree.
    pub fn resolve(&self, path: &str) -> Option<String> {
        self.resolved(path)
            .or_else(|| self.resolved(&path.replace('\\', "/")))
    }

    fn resolved(&self, path: &str) -> Option<String> {
        self.clean(path).filter(|clean| match &self.read_commit {
            Some(commit) => self.read_at_commit(commit, clean).is_some(),
            None => self.is_file_inside(clean),
        })
    }

    /// The first 4 MiB of a file's current text. Invalid UTF-8 is replaced. Returns `None` if
    /// [`Workspace::resolve`] rejects the path.
    pub fn read(&self, path: &str) -> Option<String> {
        if let Some(commit) = &self.read_commit {
            let mut bytes = self.read_at_commit(commit, &self.resolve(path)?)?;
            bytes.truncate(usize::try_from(READ_CAP).unwrap_or(usize::MAX));
            return Some(text_files::lossy(bytes));
        }
        let file = text_files::open_regular(&self.root.join(self.resolve(path)?)).ok()?;
        let mut bytes = Vec::new();
        file.take(READ_CAP).read_to_end(&mut bytes).ok()?;
        Some(text_files::lossy(bytes))
    }

    /// Makes a path relative to the root, and removes `.` components. Returns `None` if the path contains `..` or
    /// `.git`, or is an absolute path outside the root.
    pub fn clean(&self, path: &str) -> Option<String> {
        let path = path.trim();
        if path.is_empty() || path.contains('\0') || path_bytes::has_drive(path) {
            return None;
        }
        let path = Path::new(path);
        let relative = path.strip_prefix(&self.root).unwrap_or(path);
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

    /// Whether a path leads to a regular file below the root and outside `.git`. Links are followed.
    fn is_file_inside(&self, clean: &str) -> bool {
        let path = self.root.join(clean);
        // Rulings name many files that are gone, and each folder of a canonical path is looked at.
        if !std::fs::metadata(&path).is_ok_and(|meta| meta.is_file()) {
            return false;
        }
        let Ok(real) = path.canonicalize() else {
            return false;
        };
        let Ok(relative) = real.strip_prefix(&self.root) else {
            return false;
        };
        let is_in_git = relative
            .components()
            .any(|part| part.as_os_str().eq_ignore_ascii_case(".git"));
        !is_in_git
    }
}
