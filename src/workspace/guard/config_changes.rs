//! What a change does to the files that steer Glee itself: `.glee`, and `.gleeignore` in any folder.
//!
//! A change under review must not decide how it is reviewed. These files are read from the commit that it is based on,
//! as bytes of the repository, and compared with what lies in the tree.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::workspace::code::text_files;
use crate::workspace::git::path_bytes;
use crate::workspace::git::plumbing::{GitObject, Repository};
use crate::workspace::root::Workspace;
use crate::workspace::select::ignores::{self, RecordedIgnores};
use crate::workspace::snapshot::manifest::{FileKind, TreeId};
use crate::workspace::{Result, TargetSpec};

const FOLDER: &str = ".glee";
/// The bytes of one such file that are read at most.
const CAP: u64 = 4 << 20;

/// The files that steer Glee, as they stand at the commit that a change is based on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Steering {
    pub base: String,
    /// The files that the tree has otherwise, by path.
    pub edited: Vec<String>,
    files: RecordedIgnores,
}

impl Workspace {
    /// What steers Glee at the base of a change; `None` for a target that is no change.
    pub fn steering_of(&self, spec: &TargetSpec) -> Result<Option<Steering>> {
        let Some(git) = &self.repository else { return Ok(None) };
        let Some(base) = git.base_of(spec)? else { return Ok(None) };
        self.steering_at(&base).map(Some)
    }

    /// What steers Glee at a commit, given by its id.
    pub fn steering_at(&self, commit: &str) -> Result<Steering> {
        let (files, mut now) = match &self.repository {
            Some(git) => (git.steering_files(commit)?, git.ignore_files()?),
            None => Default::default(),
        };
        below(&self.root, FOLDER, &mut now);
        let paths: BTreeSet<&String> = files.keys().chain(&now).collect();
        let same = |path: &&&String| {
            let text = text_files::read_capped(&self.root.join(path.as_str()), CAP).ok().flatten();
            files.get(path.as_str()) == text.as_ref()
        };
        let edited = paths.iter().filter(|path| !same(path)).map(ToString::to_string).collect();
        Ok(Steering { base: commit.to_owned(), edited, files: Arc::new(files) })
    }

    pub fn steering_in(&self, tree: &TreeId, state_dir: &Path) -> Result<Steering> {
        let image = self.image(&tree.0, state_dir)?;
        let mut bytes = self.bytes(state_dir)?;
        let mut files = BTreeMap::new();
        for (path, entry) in image.iter().filter(|(_, entry)| entry.kind == FileKind::File) {
            let path = path_bytes::shown(path);
            if is_steering(&path)
                && let GitObject::Bytes(text) = bytes.read(&entry.id, CAP)?
            {
                files.insert(path, text);
            }
        }
        Ok(Steering { base: tree.0.clone(), edited: Vec::new(), files: Arc::new(files) })
    }

    /// From now on `.gleeignore` is read as it stood at that commit.
    pub fn go_by(&mut self, steering: &Steering) {
        self.steered_by = Some(Arc::clone(&steering.files));
    }
}

impl Steering {
    /// Writes the files below a folder.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        for (path, bytes) in &*self.files {
            let place = folder.join(path);
            crate::system::private::write(&place, bytes)?;
        }
        Ok(())
    }
}

impl Repository {
    /// The commit that a change is based on; `None` for a target that is no change, and where there is no such commit.
    pub(crate) fn base_of(&self, spec: &TargetSpec) -> Result<Option<String>> {
        Ok(match spec {
            TargetSpec::Uncommitted | TargetSpec::Staged | TargetSpec::Diff { .. } => self.head.clone(),
            TargetSpec::Base(revision) => Some(self.fork_point(revision)?),
            TargetSpec::Commit(revision) => self.commit(&format!("{}^", self.commit(revision)?)).ok(),
            TargetSpec::Range(range) => Some(self.range(range)?.0),
            TargetSpec::Paths(_) => None,
        })
    }

    /// The paths that git knows or does not ignore, each ended by a NUL.
    pub(crate) fn listed(&self) -> Result<Vec<u8>> {
        self.call(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).output()
    }

    fn steering_files(&self, commit: &str) -> Result<BTreeMap<String, Vec<u8>>> {
        let mut objects = self.objects(None)?;
        let mut files = BTreeMap::new();
        for (path, (id, _)) in self.files_of(commit)?.into_iter().filter(|(path, _)| is_steering(path)) {
            if let GitObject::Bytes(bytes) = objects.read(&id, CAP)? {
                files.insert(path, bytes);
            }
        }
        Ok(files)
    }

    /// The `.gleeignore` files of the tree that git does not ignore.
    fn ignore_files(&self) -> Result<BTreeSet<String>> {
        let listed = self.listed()?;
        let paths = listed.split(|byte| *byte == 0).map(path_bytes::shown);
        Ok(paths.filter(|path| path.rsplit('/').next() == Some(ignores::GLEE)).collect())
    }
}

fn is_steering(path: &str) -> bool {
    path.split('/').next() == Some(FOLDER) || path.rsplit('/').next() == Some(ignores::GLEE)
}

/// The regular files at or below a path of the tree.
fn below(root: &Path, path: &str, found: &mut BTreeSet<String>) {
    let Ok(meta) = std::fs::symlink_metadata(root.join(path)) else { return };
    if meta.is_file() {
        found.insert(path.to_owned());
    } else if meta.is_dir() {
        for entry in std::fs::read_dir(root.join(path)).into_iter().flatten().flatten() {
            below(root, &format!("{path}/{}", entry.file_name().to_string_lossy()), found);
        }
    }
}
