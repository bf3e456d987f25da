//! Distinguishes files that were ignored before the coder began from files that are ignored only by a later rule.
//!
//! An ignore rule that the coder adds (in `.gitignore` or `.git/info/exclude`) does not exclude a file from the
//! snapshots. If the coder removes a rule, the files that become visible do not count as created by the coder.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use crate::domain::RunId;
use crate::system::private;
use crate::workspace::git::{GitObject, Lstat, Repository, path_bytes};
use crate::workspace::select::{Ignores, SelectionRules, ignores, walk};
use crate::workspace::snapshot::content_store::Bytes;
use crate::workspace::snapshot::manifest::{Beyond, FileKind, Image, ManifestEntry, run_folder};
use crate::workspace::undo::{Occupancy, write};
use crate::workspace::{Result, Workspace, WorkspaceError};

/// The maximum number of ignored files in a snapshot.
const FILES: usize = 10_000;
/// The maximum size of all ignored files in a snapshot, in bytes.
const BYTES: u64 = 256 << 20;

/// The paths that existed and were ignored before the coder began.
#[derive(Debug, Default)]
pub(crate) struct Ignored(BTreeSet<Vec<u8>>);

impl Ignored {
    pub(crate) fn read(run: &RunId, state_dir: &Path) -> Self {
        Self(read_paths(&run_folder(run, state_dir).join("ignored")).unwrap_or_default())
    }

    /// Whether a path was ignored before the coder began, by itself or as part of an ignored folder.
    pub(crate) fn covers(&self, path: &[u8]) -> bool {
        self.0.contains(path) || path_bytes::above(path).any(|folder| self.0.contains(&path[..=folder.len()]))
    }
}

impl Workspace {
    /// Records the currently ignored paths, and the ignore rules that are not part of the tree.
    pub(crate) fn record_ignored(&self, run: &RunId, state_dir: &Path) -> Result<()> {
        let folder = run_folder(run, state_dir);
        let excludes = self.repository.as_ref().map(Repository::excludes).transpose()?;
        let excludes = excludes.map(|(users, own)| format!("{users}\n{own}")).unwrap_or_default();
        write_paths(run, "ignored", &self.ignored_now()?, state_dir)?;
        private::write(&folder.join("excludes"), excludes.as_bytes()).map_err(WorkspaceError::state(&folder))
    }

    /// Adds to the recorded paths the ignored ones that appeared since the coder's call after which `after` was
    /// taken.
    pub(crate) fn record_ignored_since(&self, run: &RunId, after: &Image, state_dir: &Path) -> Result<()> {
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
                Ok(walk::ignored(self.root(), b"", &mut ignores).unwrap_or_default().into_iter().collect())
            }
        }
    }

    /// The additional paths for a snapshot: files that the current ignore rules hide, but those at the start of the
    /// run do not.
    pub(crate) fn beyond(
        &self,
        run: &RunId,
        before: &Image,
        bytes: &mut Bytes,
        state_dir: &Path,
    ) -> Result<Beyond> {
        let folder = run_folder(run, state_dir);
        let known = Ignored::read(run, state_dir);
        let mut files = BTreeMap::new();
        let is_rules =
            |entry: &ManifestEntry, path| entry.kind == FileKind::File && path_bytes::name(path) == b".gitignore";
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
        let (mut files, mut total) = (0, 0);
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
        Ok(Beyond { paths: found, sparse: read_paths(&folder.join("sparse")) })
    }

    /// The files of the work tree that current ignore rules hide, that the earlier `rules` do not hide, and that
    /// are not in `listed`.
    pub(crate) fn hidden_since(&self, rules: &SelectionRules, listed: &Image) -> Result<BTreeSet<Vec<u8>>> {
        let mut ignores = Ignores::recorded(self.root(), rules.recorded(), Some(rules.excludes().as_bytes()));
        let mut found = match &self.repository {
            Some(git) => git.hidden(&Ignored::default(), &mut ignores)?,
            None => BTreeSet::from_iter(walk::files(self.root(), b"", &mut ignores).unwrap_or_default()),
        };
        found.retain(|path| !listed.contains_key(path));
        Ok(found)
    }
}

/// The paths of an image at which a file or a link exists now.
pub(crate) fn existing_paths(root: &Path, image: &Image) -> Vec<Vec<u8>> {
    let mut lstat = Lstat::below(root);
    let is_there = |path: &&Vec<u8>| lstat.get(path).is_some_and(|meta| !meta.is_dir());
    image.keys().filter(is_there).cloned().collect()
}

/// Whether a file cannot have existed when the image was taken, because its path was a folder, or one of its parent
/// folders was a file.
pub(crate) fn is_certainly_new(path: &[u8], before: &Image) -> bool {
    let below = [path, b"/"].concat();
    let was_folder = before.range(below.clone()..).next().is_some_and(|(next, _)| next.starts_with(&below));
    was_folder || path_bytes::above(path).any(|folder| before.contains_key(folder))
}

/// The files that are now at the path of a folder of the image, or below the path of a file of it. Ignore rules do
/// not apply to these files.
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

/// Writes paths to a file of a run, each terminated by NUL.
pub(crate) fn write_paths<'a>(
    run: &RunId,
    name: &str,
    paths: impl IntoIterator<Item = &'a Vec<u8>>,
    state_dir: &Path,
) -> Result<()> {
    let path = run_folder(run, state_dir).join(name);
    let text: Vec<u8> = paths.into_iter().flat_map(|path| path.iter().copied().chain([0])).collect();
    private::write(&path, &text).map_err(WorkspaceError::state(&path))
}

fn read_paths(file: &Path) -> Option<BTreeSet<Vec<u8>>> {
    let text = std::fs::read(file).ok()?;
    Some(path_bytes::items(&text, 0).map(<[u8]>::to_vec).collect())
}

impl Repository {
    pub(crate) fn is_there(&self) -> bool {
        self.common.join("HEAD").exists() && self.common.join("objects").is_dir() && self.git_dir.exists()
    }

    /// The paths that git lists as ignored. The path of a folder ends with a slash; its files are all ignored,
    /// though the folder itself may not be.
    fn listed_as_ignored(&self) -> Result<Vec<Vec<u8>>> {
        let call = self.call(["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"]);
        let listed = call.output()?;
        Ok(path_bytes::items(&listed, 0).map(<[u8]>::to_vec).collect())
    }

    /// The ignored files, and the folders that are ignored as a whole; the path of a folder ends with a slash.
    fn ignored(&self) -> Result<BTreeSet<Vec<u8>>> {
        let mut rules = Ignores::git(&self.top, Some(self.common.join("info/exclude")));
        let mut all = BTreeSet::new();
        for path in self.listed_as_ignored()? {
            match path.strip_suffix(b"/") {
                // All current files of the folder are ignored, but a future file in it may not be.
                Some(folder) if !rules.is_ignored_folder(folder) => {
                    all.extend(walk::files(&self.top, folder, &mut Ignores::none(&self.top)).unwrap_or_default());
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

    /// The files that current ignore rules hide but the earlier `rules` do not, and the files of nested
    /// repositories that `rules` do not hide.
    fn hidden(&self, known: &Ignored, rules: &mut Ignores<'_>) -> Result<BTreeSet<Vec<u8>>> {
        let mut found = BTreeSet::new();
        for path in self.listed_as_ignored()? {
            match path.strip_suffix(b"/") {
                Some(folder) if known.covers(&path) || rules.is_ignored_folder(folder) => {}
                Some(folder) => found.extend(walk::files(&self.top, folder, rules).unwrap_or_default()),
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
