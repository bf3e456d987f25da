use std::io::Read as _;
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

use crate::workspace::code::text_files;
use crate::workspace::error::{Result, WorkspaceError};
use crate::workspace::git::path_bytes;
use crate::workspace::git::plumbing::Repository;
use crate::workspace::select::ignores;

/// The bytes of a file that [`Workspace::read`] reads at most.
pub(crate) const READ_CAP: u64 = 4 << 20;

/// One work tree: a git work tree, or a folder outside git.
#[derive(Debug)]
pub struct Workspace {
    pub(crate) root: PathBuf,
    pub(crate) start: PathBuf,
    pub(crate) repository: Option<Repository>,
    /// The files of a commit that say which paths are left out, in the place of the tree's.
    pub(crate) steered_by: Option<ignores::RecordedIgnores>,
    /// The root commit of `HEAD`, once it was asked for.
    pub(crate) root_commit: OnceLock<Option<String>>,
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
        let file = text_files::open_regular(&path).ok()?;
        let mut bytes = Vec::new();
        file.take(READ_CAP).read_to_end(&mut bytes).ok()?;
        Some(text_files::lossy(bytes))
    }

    /// The same path relative to the root and without `.`; `None` if it is not below the root by its letters.
    pub(crate) fn clean(&self, path: &str) -> Option<String> {
        let path = path.trim();
        if path.is_empty() || path.contains('\0') || path_bytes::has_drive(path) {
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
