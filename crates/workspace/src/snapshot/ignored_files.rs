//! Records which files were ignored before the coder began, so that later rules cannot hide files from snapshots.
//!
//! If the coder adds an ignore rule, the snapshots still include the files that only this rule hides. If the coder
//! removes an ignore rule, the files that become visible do not count as created by the coder.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use crate::git::{GitObject, Lstat, Repository, path_bytes};
use crate::select::{Ignores, SelectionRules, ignores, walk};
use crate::snapshot::content_store::Bytes;
use crate::snapshot::manifest::{Beyond, FileKind, Image, ManifestEntry, run_folder};
use crate::undo::{Occupancy, write};
use crate::{Result, Workspace, WorkspaceError};
use glee_model::domain::RunId;
use glee_system::private;

/// The maximum number of ignored files that a snapshot includes.
const FILES: usize = 10_000;
/// The maximum total size of the ignored files that a snapshot includes, in bytes.
const BYTES: u64 = 256 << 20;

/// The files and folders that existed and were ignored before the coder began.
#[derive(Debug, Default)]
pub struct Ignored(BTreeSet<Vec<u8>>);

impl Ignored {
    pub fn read(run: &RunId, state_dir: &Path) -> Self {
        Self(read_paths(&run_folder(run, state_dir).join("ignored")).unwrap_or_default())
    }

    /// Whether a path, or a folder above the path, was ignored before the coder began.
    pub fn covers(&self, path: &[u8]) -> bool {
        self.0.contains(path)
            || path_bytes::above(path).any(|folder| self.0.contains(&path[..=folder.len()]))
    }
}

impl Workspace {
    /// Records the currently ignored paths, and the ignore rules that are not part of a snapshot.
    pub(crate) fn record_ignored(&self, run: &RunId, state_dir: &Path) -> Result<()> {
        let folder = run_folder(run, state_dir);
        let excludes = self
            .repository
            .as_ref()
            .map(Repository::excludes)
            .transpose()?;
        let excludes = excludes
            .map(|(users, own)| format!("{users}\n{own}"))
            .unwrap_or_default();
        write_paths(run, "ignored", &self.ignored_now()?, state_dir)?;
        private::write(&folder.join("excludes"), excludes.as_bytes())
            .map_err(WorkspaceError::state(&folder))
    }

    /// Records the ignored paths that appeared since a call of the coder. `after` is the snapshot that was taken
    /// after the coder's call.
    pub(crate) fn record_ignored_since(
        &self,
        run: &RunId,
        after: &Image,
        state_dir: &Path,
    ) -> Result<()> {
        let mut ignored = Ignored::read(run, state_dir).0;
        for path in self.ignored_now()? {
            match path.strip_suffix(b"/") {
                Some(folder) if after.keys().any(|known| known.starts_with(&path)) => {
                    let files = walk::files(self.root(), folder, &mut Ignores::none(self.root()));
                    let files = files.unwrap_or_default();
                    ignored.extend(files.into_iter().filter(|path| !after.contains_key(path)));
                }
                _ if after.contains_key(&path) => {}
                _ => drop(ignored.insert(path)),
            }
        }
        write_paths(run, "ignored", &ignored, state_dir)
    }

    fn ignored_now(&self) -> Result<BTreeSet<Vec<u8>>> {
        match &self.repository {
            Some(git) => git.ignored(),
            None => {
                let mut ignores = Ignores::git(self.root(), None);
                Ok(walk::ignored(self.root(), b"", &mut ignores)
                    .unwrap_or_default()
                    .into_iter()
                    .collect())
            }
        }
    }

    /// Finds the files that a snapshot includes even if the current ignore rules hide these files. The snapshot
    /// includes those files of the earlier snapshot `before` that still exist. The snapshot also includes the
    /// files that the ignore rules from the start of the run do not hide.
    pub fn beyond(
        &self,
        run: &RunId,
        before: &Image,
        bytes: &mut Bytes,
        state_dir: &Path,
    ) -> Result<Beyond> {
        let folder = run_folder(run, state_dir);
        let known = Ignored::read(run, state_dir);
        let mut files = BTreeMap::new();
        for (path, entry) in before.iter().filter(|(path, entry)| is_rules(entry, path)) {
            if let GitObject::Bytes(text) = bytes.read(&entry.id, ignores::CAP)? {
                files.insert(path_bytes::shown(path), text);
            }
        }
        let excludes = std::fs::read(folder.join("excludes")).ok();
        let mut rules = Ignores::recorded(self.root(), Arc::new(files), excludes.as_deref());
        let mut found = match &self.repository {
            Some(git) if git.is_there() => git.hidden(&known, &mut rules)?,
            _ => {
                let files = walk::files(self.root(), b"", &mut rules);
                BTreeSet::from_iter(files.map_err(WorkspaceError::unreadable(self.root()))?)
            }
        };
        found.extend(replacements(self.root(), before));
        let mut lstat = Lstat::below(self.root());
        let mut files = 0;
        let mut total = 0;
        found.retain(|path| {
            let size = lstat.get(path).map_or(0, |meta| meta.len());
            let was_there = known.covers(path) && !is_certainly_new(path, before);
            let room = files < FILES && total + size <= BYTES && !was_there;
            if room && !before.contains_key(path) {
                files += 1;
                total += size;
            }
            room
        });
        found.extend(existing_paths(self.root(), before));
        Ok(Beyond {
            paths: found,
            sparse: read_paths(&folder.join("sparse")),
        })
    }

    /// Finds the files that the current ignore rules hide, and that the earlier rules in the parameter `rules` did
    /// not hide. Files in `listed` are omitted.
    pub(crate) fn hidden_since(
        &self,
        rules: &SelectionRules,
        listed: &Image,
    ) -> Result<BTreeSet<Vec<u8>>> {
        let mut ignores = Ignores::recorded(
            self.root(),
            rules.recorded(),
            Some(rules.excludes().as_bytes()),
        );
        let mut found = match &self.repository {
            Some(git) => git.hidden(&Ignored::default(), &mut ignores)?,
            None => {
                BTreeSet::from_iter(walk::files(self.root(), b"", &mut ignores).unwrap_or_default())
            }
        };
        found.retain(|path| !listed.contains_key(path));
        Ok(found)
    }
}

fn is_rules(entry: &ManifestEntry, path: &[u8]) -> bool {
    entry.kind == FileKind::File && path_bytes::name(path) == b".gitignore"
}

/// The paths of the snapshot that still lead to a file or a link.
pub(crate) fn existing_paths(root: &Path, image: &Image) -> Vec<Vec<u8>> {
    let mut lstat = Lstat::below(root);
    image
        .keys()
        .filter(|path| lstat.get(path).is_some_and(|meta| !meta.is_dir()))
        .cloned()
        .collect()
}

/// Whether the file at `path` was certainly created after the snapshot `before`. A file is certainly new if
/// `before` contains a folder at `path`, or a file at the path of a parent folder.
pub(crate) fn is_certainly_new(path: &[u8], before: &Image) -> bool {
    let below = [path, b"/"].concat();
    let was_folder = before
        .range(below.clone()..)
        .next()
        .is_some_and(|(next, _)| next.starts_with(&below));
    was_folder || path_bytes::above(path).any(|folder| before.contains_key(folder))
}

/// Finds two kinds of new files: files at the path of a former folder, and files below the path of a former file.
/// `before` contains the former folders and files. The result includes ignored files.
fn replacements(root: &Path, before: &Image) -> BTreeSet<Vec<u8>> {
    let mut found = BTreeSet::new();
    let mut lstat = Lstat::below(root);
    for path in before.keys() {
        match lstat.get(path) {
            Some(meta) if meta.is_dir() => {
                found.extend(walk::files(root, path, &mut Ignores::none(root)).unwrap_or_default());
            }
            Some(_) => {}
            None => {
                if let Ok((_, Occupancy::Above(above))) = write::inspect(root, path) {
                    found.insert(above);
                }
            }
        }
    }
    found
}

pub(crate) fn write_paths<'a>(
    run: &RunId,
    name: &str,
    paths: impl IntoIterator<Item = &'a Vec<u8>>,
    state_dir: &Path,
) -> Result<()> {
    let path = run_folder(run, state_dir).join(name);
    let text: Vec<u8> = paths
        .into_iter()
        .flat_map(|path| path.iter().copied().chain([0]))
        .collect();
    private::write(&path, &text).map_err(WorkspaceError::state(&path))
}

fn read_paths(file: &Path) -> Option<BTreeSet<Vec<u8>>> {
    let text = std::fs::read(file).ok()?;
    Some(path_bytes::items(&text, 0).map(<[u8]>::to_vec).collect())
}

impl Repository {
    pub fn is_there(&self) -> bool {
        self.common.join("HEAD").exists()
            && self.common.join("objects").is_dir()
            && self.git_dir.exists()
    }

    /// The paths that git lists as ignored. The path of a folder ends with a slash. If all files in a folder are
    /// ignored, git lists only the folder, even if no rule ignores the folder itself.
    fn listed_as_ignored(&self) -> Result<Vec<Vec<u8>>> {
        let call = self.call([
            "ls-files",
            "-z",
            "--others",
            "--ignored",
            "--exclude-standard",
            "--directory",
        ]);
        let listed = call.output()?;
        Ok(path_bytes::items(&listed, 0).map(<[u8]>::to_vec).collect())
    }

    /// The ignored files and the completely ignored folders. The path of a folder ends with a slash.
    fn ignored(&self) -> Result<BTreeSet<Vec<u8>>> {
        let mut rules = Ignores::git(&self.top, Some(self.common.join("info/exclude")));
        let mut all = BTreeSet::new();
        for path in self.listed_as_ignored()? {
            match path.strip_suffix(b"/") {
                // If no rule ignores the folder itself, the result contains the folder's current files instead
                // of the folder.
                Some(folder) if !rules.is_ignored_folder(folder) => {
                    all.extend(
                        walk::files(&self.top, folder, &mut Ignores::none(&self.top))
                            .unwrap_or_default(),
                    );
                }
                _ => drop(all.insert(path)),
            }
        }
        for folder in &self.scan()?.repositories {
            let mut rules = Ignores::git(&self.top, None);
            all.extend(walk::ignored(&self.top, folder, &mut rules).unwrap_or_default());
        }
        Ok(all)
    }

    /// Finds the files that the current ignore rules hide, and that the earlier rules in the parameter `rules` did
    /// not hide. In untracked nested repositories, the current ignore rules have no effect on the result.
    fn hidden(&self, known: &Ignored, rules: &mut Ignores<'_>) -> Result<BTreeSet<Vec<u8>>> {
        let mut found = BTreeSet::new();
        for path in self.listed_as_ignored()? {
            match path.strip_suffix(b"/") {
                Some(folder) if known.covers(&path) || rules.is_ignored_folder(folder) => {}
                Some(folder) => {
                    found.extend(walk::files(&self.top, folder, rules).unwrap_or_default())
                }
                None if rules.is_ignored(&path) => {}
                None => drop(found.insert(path)),
            }
        }
        for folder in &self.scan()?.repositories {
            found.extend(walk::files(&self.top, folder, rules).unwrap_or_default());
        }
        Ok(found)
    }
}
