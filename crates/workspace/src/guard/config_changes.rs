//! Reads the files that configure Glee: the files in `.glee`, and `.gleeignore` in any folder.
//!
//! A change must not control its own review. Therefore, Glee reads its configuration from the base commit of the
//! change, and compares the configuration with the files in the tree.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::code::text_files;
use crate::git::{GitObject, Repository, path_bytes};
use crate::guard::control_files::{ControlKind, control_kind};
use crate::select::{RecordedIgnores, SelectOptions, ignores, walk};
use crate::snapshot::{FileKind, TreeId};
use crate::{Result, Target, TargetSpec, Workspace};
use glee_model::domain::{LastChange, SkipReason};
use glee_store::config::files::paths;
use glee_system::private;

const FOLDER: &str = ".glee";
/// The maximum size of a file that configures Glee, in bytes.
const CAP: u64 = 4 << 20;

/// The files that configure Glee, with their contents in the base commit of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlFiles {
    pub base: String,
    /// The paths of the files that differ between the base commit and the tree.
    pub edited: Vec<String>,
    files: RecordedIgnores,
}

impl ControlFiles {
    /// Whether the project's configuration file exists in the tree, but not in the base commit.
    pub fn adds_config(&self) -> bool {
        let is_config = |path: &String| path.ends_with(paths::PROJECT_FILE);
        !self.files.keys().any(is_config) && self.edited.iter().any(is_config)
    }
}

impl ControlFiles {
    /// Whether `path` exists in the base commit.
    pub fn has(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }
}

impl Workspace {
    /// Reads the files that configure Glee from the base commit of a change. Returns `None` if there is no base
    /// commit.
    pub fn control_files_of(&self, spec: &TargetSpec) -> Result<Option<ControlFiles>> {
        let Some(git) = &self.repository else {
            return Ok(None);
        };
        let Some(base) = git.base_of(spec)? else {
            return Ok(None);
        };
        self.control_files_at(&base).map(Some)
    }

    /// Reads the files that configure Glee from the commit with this id.
    pub fn control_files_at(&self, commit: &str) -> Result<ControlFiles> {
        let mut files = BTreeMap::new();
        let mut paths = BTreeSet::new();
        if let Some(git) = &self.repository {
            let mut objects = git.objects(None)?;
            for (path, (id, _)) in git
                .files_of(commit)?
                .into_iter()
                .filter(|(path, _)| self.configures_glee(path))
            {
                if let GitObject::Bytes(bytes) = objects.read(&id, CAP)? {
                    files.insert(path, bytes);
                }
            }
            paths.extend(self.ignore_files()?);
        }
        let folder =
            Some(self.root.join(self.of_project(FOLDER))).filter(|folder| !folder.is_symlink());
        let below = folder
            .iter()
            .flat_map(|folder| walk::everything(folder))
            .flatten();
        let below = below.filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
        paths.extend(below.filter_map(|entry| {
            Some(
                entry
                    .path()
                    .strip_prefix(&self.root)
                    .ok()?
                    .display()
                    .to_string(),
            )
        }));
        paths.extend(files.keys().cloned());
        let edited = paths
            .into_iter()
            .filter(|path| {
                let text = text_files::read_capped(&self.root.join(path), CAP)
                    .ok()
                    .flatten();
                files.get(path) != text.as_ref()
            })
            .collect();
        Ok(ControlFiles {
            base: commit.to_owned(),
            edited,
            files: Arc::new(files),
        })
    }

    pub fn control_files_in(&self, tree: &TreeId, state_dir: &Path) -> Result<ControlFiles> {
        let image = self.image(&tree.0, state_dir)?;
        let mut bytes = self.bytes(state_dir)?;
        let mut files = BTreeMap::new();
        for (path, entry) in image
            .iter()
            .filter(|(_, entry)| entry.kind == FileKind::File)
        {
            let path = path_bytes::shown(path);
            if control_kind(&path) == Some(ControlKind::Glee)
                && let GitObject::Bytes(text) = bytes.read(&entry.id, CAP)?
            {
                files.insert(path, text);
            }
        }
        Ok(ControlFiles {
            base: tree.0.clone(),
            edited: Vec::new(),
            files: Arc::new(files),
        })
    }

    /// Returns the files of a target that the `.gleeignore` files of the tree hide, but the `.gleeignore` files in the
    /// parameter `than` do not. If `than` is `None`, no ignore file of Glee is the measure.
    pub fn hidden_files(
        &mut self,
        spec: &TargetSpec,
        options: &SelectOptions,
        than: Option<&ControlFiles>,
    ) -> Result<Vec<String>> {
        let measure = than.map_or_else(Arc::default, |than| Arc::clone(&than.files));
        let now = self.selected(spec, options)?;
        let recorded = self.recorded_ignores.replace(measure);
        let all = self.selected(spec, options);
        self.recorded_ignores = recorded;
        Ok(all?.difference(&now).cloned().collect())
    }

    fn configures_glee(&self, path: &str) -> bool {
        let kind = control_kind(path).or_else(|| control_kind(self.in_project(path)));
        kind == Some(ControlKind::Glee)
    }

    /// The paths of the `.gleeignore` files. Outside git, only the file at the root is found.
    pub fn ignore_files(&self) -> Result<Vec<String>> {
        let Some(git) = &self.repository else {
            let is_there = self.root.join(ignores::GLEE).is_file();
            return Ok(is_there
                .then(|| ignores::GLEE.to_owned())
                .into_iter()
                .collect());
        };
        let listed = git
            .listed()?
            .into_iter()
            .map(|path| path_bytes::shown(&path));
        Ok(listed
            .filter(|path| path.rsplit('/').next() == Some(ignores::GLEE))
            .collect())
    }

    fn selected(&self, spec: &TargetSpec, options: &SelectOptions) -> Result<BTreeSet<String>> {
        let Target { files, skipped, .. } = self.select(spec, options)?;
        let seen = skipped
            .into_iter()
            .filter(|skip| skip.reason != SkipReason::Ignored);
        let skipped = seen.map(|skip| skip.file);
        Ok(files
            .into_iter()
            .map(|file| file.path)
            .chain(skipped)
            .collect())
    }

    /// Returns the commit that last changed a file of the tree. Returns `None` if the file differs from the last
    /// commit, or if there is no commit.
    pub fn last_change(&self, path: &str) -> Result<Option<LastChange>> {
        let Some((git, head)) = self.repository.as_ref().zip(self.head()) else {
            return Ok(None);
        };
        let entries = git.files_of(head)?;
        let now = text_files::read_capped(&self.root.join(path), CAP)
            .ok()
            .flatten();
        let Some((id, _)) = entries.get(path) else {
            return Ok(None);
        };
        match git.objects(None)?.read(id, CAP)? {
            GitObject::Bytes(bytes) if Some(&bytes) == now.as_ref() => {}
            _ => return Ok(None),
        }
        let args = ["rev-list", "--max-count=1", "--timestamp", head, "--", path];
        let listed = git.call(args).output()?;
        let listed = text_files::lossy(listed);
        let found = listed.split_once(' ').and_then(|(seconds, commit)| {
            let at = Timestamp::from_second(seconds.parse().ok()?).ok()?;
            Some(LastChange {
                commit: commit.trim().to_owned(),
                on: at.to_zoned(TimeZone::UTC).date(),
            })
        });
        Ok(found)
    }

    /// Uses the `.gleeignore` files in the parameter `recorded` instead of the files in the tree.
    pub fn use_recorded_ignores(&mut self, recorded: &ControlFiles) {
        self.recorded_ignores = Some(Arc::clone(&recorded.files));
    }
}

impl ControlFiles {
    /// Writes each file to the same relative path below `folder`.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        self.files
            .iter()
            .try_for_each(|(path, bytes)| private::write(&folder.join(path), bytes))
    }
}

impl Repository {
    /// Returns the base commit of a change; `None` if the target is not a change or has no base commit.
    pub fn base_of(&self, spec: &TargetSpec) -> Result<Option<String>> {
        Ok(match spec {
            TargetSpec::Uncommitted | TargetSpec::Staged | TargetSpec::Diff { .. } => {
                self.head.clone()
            }
            TargetSpec::Base(revision) => Some(self.fork_point(revision)?),
            TargetSpec::Commit(revision) => {
                self.commit(&format!("{}^", self.commit(revision)?)).ok()
            }
            TargetSpec::Range(range) => Some(self.range(range)?.0),
            TargetSpec::Paths(_) => None,
        })
    }

    /// Returns the paths of all tracked files, and of all untracked files that are not ignored.
    pub fn listed(&self) -> Result<Vec<Vec<u8>>> {
        let scan = self.scan()?;
        let tracked = scan.entries.iter().map(|entry| entry.path.clone());
        Ok(tracked
            .chain(scan.untracked)
            .chain(scan.repositories)
            .collect())
    }
}
