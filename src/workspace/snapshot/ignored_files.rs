//! What ignore files hide: which files were ignored before the coder began, and which came since that only a new rule
//! leaves out.
//!
//! A rule that the coder wrote (`.gitignore`, `.git/info/exclude`) does not take a file out of the record of what the coder
//! did, and a rule that the coder removed does not make a file that was there before one of the coder's.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::domain::RunId;
use crate::system::private;
use crate::workspace::git::path_bytes;
use crate::workspace::git::plumbing::{GitObject, Repository};
use crate::workspace::git::worktree_scan::Lstat;
use crate::workspace::root::Workspace;
use crate::workspace::select::ignores::Ignores;
use crate::workspace::select::recorded_rules::SelectionRules;
use crate::workspace::select::walk::{self, Hidden, Met};
use crate::workspace::snapshot::backup_repo;
use crate::workspace::snapshot::content_store::Bytes;
use crate::workspace::snapshot::manifest::{Beyond, FileKind, Image};
use crate::workspace::undo::write::{self, Occupancy};
use crate::workspace::{Result, WorkspaceError};

/// Files that are recorded at most although a rule hides them.
const FILES: usize = 10_000;
/// Their bytes at most.
const BYTES: u64 = 256 << 20;

/// The paths that were there and ignored before the coder began.
#[derive(Debug, Default)]
pub(crate) struct Ignored(BTreeSet<Vec<u8>>);

impl Ignored {
    pub(crate) fn read(run: &RunId, state_dir: &Path) -> Self {
        Self(lines(&backup_repo::folder(run, state_dir).join("ignored")).unwrap_or_default())
    }

    /// Whether a file was there, or lay in a folder that was ignored as a whole.
    pub(crate) fn covers(&self, path: &[u8]) -> bool {
        self.0.contains(path) || path_bytes::above(path).any(|folder| self.0.contains(&path[..=folder.len()]))
    }
}

impl Workspace {
    /// Notes what is ignored right now, and by which rules that stand outside the tree.
    pub(crate) fn note_ignored(&self, run: &RunId, state_dir: &Path) -> Result<()> {
        let folder = backup_repo::folder(run, state_dir);
        let excludes = self.repository.as_ref().map(Repository::excludes).transpose()?;
        let excludes = excludes.map(|(users, own)| format!("{users}\n{own}")).unwrap_or_default();
        note(run, "ignored", &self.ignored_now()?, state_dir)?;
        private::write(&folder.join("excludes"), excludes.as_bytes())
            .map_err(|source| WorkspaceError::State { path: folder, source })
    }

    /// Adds what is ignored now, and came after a call of the coder, to what was noted when the run began.
    pub(crate) fn note_ignored_since(&self, run: &RunId, after: &Image, state_dir: &Path) -> Result<()> {
        let mut ignored = Ignored::read(run, state_dir).0;
        for path in self.ignored_now()? {
            match path.strip_suffix(b"/") {
                Some(folder) if after.keys().any(|known| known.starts_with(&path)) => {
                    let mut none = Ignores::none(self.root());
                    let files = walked(self.root(), folder, &mut none).unwrap_or_default();
                    ignored.extend(files.into_iter().filter(|path| !after.contains_key(path)));
                }
                _ if after.contains_key(&path) => {}
                _ => drop(ignored.insert(path)),
            }
        }
        note(run, "ignored", &ignored, state_dir)
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

    /// What has to be looked at beyond the usual, so that the tree is seen by the rules of a run's beginning too.
    pub(crate) fn beyond(
        &self,
        run: &RunId,
        before: &Image,
        bytes: &mut Bytes,
        state_dir: &Path,
    ) -> Result<Beyond> {
        let folder = backup_repo::folder(run, state_dir);
        let known = Ignored::read(run, state_dir);
        let mut rules = self.rules_of(before, bytes, std::fs::read(folder.join("excludes")).ok())?;
        let mut found = match &self.repository {
            Some(git) if git.is_there() => git.hidden(&known, &mut rules)?,
            _ => walked(self.root(), b"", &mut rules)
                .map_err(|source| WorkspaceError::Unreadable { path: self.root().display().to_string(), source })?,
        };
        found.extend(in_the_place_of(self.root(), before));
        let mut lstat = Lstat::below(self.root());
        let (mut files, mut total) = (0, 0);
        found.retain(|path| {
            let size = lstat.get(path).map_or(0, |meta| meta.len());
            let was_there = known.covers(path) && !is_surely_new(path, before);
            let room = files < FILES && total + size <= BYTES && !was_there;
            if room && !before.contains_key(path) {
                files += 1;
                total += size;
            }
            room
        });
        found.extend(still_there(self.root(), before));
        Ok(Beyond { paths: found, sparse: lines(&folder.join("sparse")) })
    }

    /// The files of the work tree that are ignored now and were not by the earlier rules: `listed` has them not.
    pub(crate) fn hidden_since(&self, rules: &SelectionRules, listed: &Image) -> Result<BTreeSet<Vec<u8>>> {
        let mut ignores = Ignores::recorded(self.root(), rules.recorded(), Some(rules.excludes().as_bytes()));
        let mut found = match &self.repository {
            Some(git) => git.hidden(&Ignored::default(), &mut ignores)?,
            None => walked(self.root(), b"", &mut ignores).unwrap_or_default(),
        };
        found.retain(|path| !listed.contains_key(path));
        Ok(found)
    }

    /// The rules as they stood in an image.
    fn rules_of(&self, before: &Image, bytes: &mut Bytes, excludes: Option<Vec<u8>>) -> Result<Ignores<'_>> {
        let mut files = BTreeMap::new();
        let is_rules = |path: &[u8]| path == b".gitignore" || path.ends_with(b"/.gitignore");
        for (path, entry) in before.iter().filter(|(path, entry)| is_rules(path) && entry.kind == FileKind::File) {
            if let GitObject::Bytes(text) = bytes.read(&entry.id, crate::workspace::select::ignores::CAP)? {
                files.insert(path_bytes::shown(path), text);
            }
        }
        Ok(Ignores::recorded(self.root(), Arc::new(files), excludes.as_deref()))
    }
}

/// The paths of an image at which there is a file or a link now.
pub(crate) fn still_there(root: &Path, image: &Image) -> Vec<Vec<u8>> {
    let mut lstat = Lstat::below(root);
    let is_there = |path: &&Vec<u8>| lstat.get(path).is_some_and(|meta| !meta.is_dir());
    image.keys().filter(is_there).cloned().collect()
}

/// Whether a file cannot have been there besides those of an image: it is where a folder was, or below a file.
pub(crate) fn is_surely_new(path: &[u8], before: &Image) -> bool {
    let below = [path, b"/"].concat();
    let was_folder = before.range(below.clone()..).next().is_some_and(|(next, _)| next.starts_with(&below));
    was_folder || path_bytes::above(path).any(|folder| before.contains_key(folder))
}

/// The files that are where a folder of an image was, or below one of its files: no rule hides them.
fn in_the_place_of(root: &Path, before: &Image) -> BTreeSet<Vec<u8>> {
    let mut found = BTreeSet::new();
    let mut lstat = Lstat::below(root);
    for path in before.keys() {
        match lstat.get(path) {
            Some(meta) if meta.is_dir() => {
                found.extend(walked(root, path, &mut Ignores::none(root)).unwrap_or_default());
            }
            Some(_) => {}
            None => {
                if let Ok((_, Occupancy::Above(above))) = write::spot(root, path) {
                    found.insert(above);
                }
            }
        }
    }
    found
}

/// Notes some paths for a run, each ended by NUL.
pub(crate) fn note<'a>(
    run: &RunId,
    name: &str,
    paths: impl IntoIterator<Item = &'a Vec<u8>>,
    state_dir: &Path,
) -> Result<()> {
    let path = backup_repo::folder(run, state_dir).join(name);
    let text: Vec<u8> = paths.into_iter().flat_map(|path| path.iter().copied().chain([0])).collect();
    private::write(&path, &text).map_err(|source| WorkspaceError::State { path, source })
}

/// The paths in a file, each ended by NUL.
fn lines(file: &Path) -> Option<BTreeSet<Vec<u8>>> {
    let text = std::fs::read(file).ok()?;
    Some(text.split(|byte| *byte == 0).filter(|path| !path.is_empty()).map(<[u8]>::to_vec).collect())
}

/// The files and links below a folder that some rules do not leave out.
fn walked(root: &Path, folder: &[u8], rules: &mut Ignores<'_>) -> io::Result<BTreeSet<Vec<u8>>> {
    Ok(walk::walk(root, folder, rules, Hidden::Met)?.into_iter().filter_map(Met::file).collect())
}

impl Repository {
    pub(crate) fn is_there(&self) -> bool {
        self.common.join("HEAD").exists() && self.common.join("objects").is_dir() && self.git_dir.exists()
    }

    /// What git lists as ignored; a folder that is ignored as a whole, or has nothing else in it, ends with a slash.
    fn listed_as_ignored(&self) -> Result<Vec<Vec<u8>>> {
        let call = self.call(["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"]);
        let listed = call.output()?;
        Ok(listed.split(|byte| *byte == 0).filter(|path| !path.is_empty()).map(<[u8]>::to_vec).collect())
    }

    /// The ignored files that are there, and the folders that are ignored as a whole, with a slash at the end.
    fn ignored(&self) -> Result<BTreeSet<Vec<u8>>> {
        let mut rules = Ignores::git(&self.top, Some(self.common.join("info/exclude")));
        let mut all = BTreeSet::new();
        for path in self.listed_as_ignored()? {
            match path.strip_suffix(b"/") {
                // Everything in it is ignored now, but what comes to lie there need not be.
                Some(folder) if !rules.is_ignored_folder(folder) => {
                    let mut none = Ignores::none(&self.top);
                    all.extend(walked(&self.top, folder, &mut none).unwrap_or_default());
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

    /// The files that are ignored now and were not by the rules before, or lie in repositories of their own.
    fn hidden(&self, known: &Ignored, rules: &mut Ignores<'_>) -> Result<BTreeSet<Vec<u8>>> {
        let mut found = BTreeSet::new();
        for path in self.listed_as_ignored()? {
            match path.strip_suffix(b"/") {
                Some(folder) if known.covers(&path) || rules.is_ignored_folder(folder) => {}
                Some(folder) => found.extend(walked(&self.top, folder, rules).unwrap_or_default()),
                None if rules.is_ignored(&path) => {}
                None => drop(found.insert(path)),
            }
        }
        for folder in &self.scan()?.repositories {
            found.extend(walked(&self.top, folder, rules).unwrap_or_default());
        }
        Ok(found)
    }
}
