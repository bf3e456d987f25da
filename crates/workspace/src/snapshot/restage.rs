//! Stages the coder's edits after a run on staged changes. Without `--restage`, Glee only lists the edited files.
//!
//! A file is staged only if, before the run, the index and the work tree contained the same version of the file.
//! Glee stages neither partly staged files nor files that a filter converts. Glee runs no filter and no hook when
//! it stages a file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::diff::both_sides;
use crate::git::{GitObject, LINK, Objects, Repository, SUBMODULE, path_bytes, records};
use crate::select::Attributes;
use crate::snapshot::manifest::{FileKind, ManifestEntry, TreeId, differing};
use crate::{Result, Workspace};

/// The maximum size of a file that can be staged, in bytes.
const COMPARED: u64 = 64 << 20;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restaged {
    pub staged: Vec<String>,
    /// The files that were not staged.
    pub left: Vec<String>,
}

impl Workspace {
    /// Lists the files that changed from `before` to `after`. Leaves out a file if its new version is already in
    /// the index. With `restage`, stages a file only if the index still contains the old version and the work tree
    /// still contains the new version.
    pub fn restage(
        &self,
        before: &TreeId,
        after: &TreeId,
        state_dir: &Path,
        restage: bool,
    ) -> Result<Restaged> {
        let Some(git) = &self.repository else {
            return Ok(Restaged::default());
        };
        let now = self.snapshot(state_dir)?;
        let [before, after, now] = [before, after, &now].map(|tree| self.image(&tree.0, state_dir));
        let before = before?;
        let after = after?;
        let now = now?;
        let paths: Vec<&Vec<u8>> = differing(&before, &after).map(|(path, ..)| path).collect();
        if paths.is_empty() {
            return Ok(Restaged::default());
        }
        let mut comparison = Comparison {
            attributes: git.attributes(paths.iter().copied())?,
            autocrlf: git.autocrlf()?,
            objects: git.objects(Some(&git.objects_in(state_dir)))?,
        };
        let indexes = git
            .indexes()
            .into_iter()
            .map(|path| Ok((git.entries(&path)?, path)));
        let indexes = indexes.collect::<Result<Vec<_>>>()?;
        let mut result = Restaged::default();
        let mut updates = Vec::new();
        for path in paths {
            let old = before.get(path);
            let new = after.get(path);
            let indexed: Vec<_> = indexes
                .iter()
                .map(|(entries, _)| entries.get(path))
                .collect();
            if comparison.is_in_all(&indexed, path, new)? {
                continue;
            }
            let is_ours =
                restage && now.get(path) == new && comparison.is_in_all(&indexed, path, old)?;
            match if is_ours {
                comparison.staged(git, path, new)?
            } else {
                None
            } {
                Some(update) => {
                    updates.extend(update);
                    result.staged.push(path_bytes::shown(path));
                }
                None => result.left.push(path_bytes::shown(path)),
            }
        }
        for (_, index) in indexes.iter().filter(|_| !updates.is_empty()) {
            git.call(["update-index", "-z", "--index-info"])
                .index(index)
                .output_of(&updates)?;
        }
        Ok(result)
    }
}

impl Repository {
    /// Returns the paths of the indexes to update. `git commit FILE` creates the commit from a temporary index.
    /// Git also prepares a second index, which replaces the user's index after the commit.
    fn indexes(&self) -> Vec<PathBuf> {
        let is_partial = self
            .index
            .file_name()
            .is_some_and(|name| name.as_encoded_bytes().starts_with(b"next-index"));
        let next = self.git_dir.join("index.lock");
        let next = (is_partial && self.index.parent() == Some(&self.git_dir) && next.is_file())
            .then_some(next);
        std::iter::once(self.index.clone()).chain(next).collect()
    }

    /// A file with a merge conflict gets mode 0, which differs from every valid mode.
    fn entries(&self, index: &Path) -> Result<BTreeMap<Vec<u8>, (u32, String)>> {
        let listed = self
            .call(["ls-files", "-z", "--stage"])
            .index(index)
            .output()?;
        Ok(records(&listed)
            .map(|(mode, id, stage, path)| {
                (
                    path.to_vec(),
                    (if stage == "0" { mode } else { 0 }, id.to_owned()),
                )
            })
            .collect())
    }
}

struct Comparison {
    attributes: Attributes,
    autocrlf: bool,
    objects: Objects,
}

impl Comparison {
    /// Whether each index contains `side`. `indexed` has the entry of each index.
    fn is_in_all(
        &mut self,
        indexed: &[Option<&(u32, String)>],
        path: &[u8],
        side: Option<&ManifestEntry>,
    ) -> Result<bool> {
        for entry in indexed {
            if !self.is_same(path, *entry, side)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn is_same(
        &mut self,
        path: &[u8],
        indexed: Option<&(u32, String)>,
        side: Option<&ManifestEntry>,
    ) -> Result<bool> {
        let (Some((mode, id)), Some(side)) = (indexed, side) else {
            return Ok(indexed.is_none() && side.is_none());
        };
        if mode_of(side) != Some(*mode) {
            return Ok(false);
        }
        if *id == side.id {
            return Ok(true);
        }
        if side.kind != FileKind::File || !self.converts_line_ends(path) {
            return Ok(false);
        }
        let indexed = self.objects.read(id, COMPARED)?.bytes();
        let side = self.objects.read(&side.id, COMPARED)?.bytes();
        Ok(
            matches!((indexed, side), (Ok(indexed), Ok(side)) if indexed == both_sides::without_cr(&side)),
        )
    }

    /// Returns a line of input for `git update-index --index-info`. With this line, git stages the file. Returns
    /// `None` if the file is unreadable or too large, or if git can convert more than the line endings.
    fn staged(
        &mut self,
        git: &Repository,
        path: &[u8],
        side: Option<&ManifestEntry>,
    ) -> Result<Option<Vec<u8>>> {
        let Some(side) = side else {
            let none = "0".repeat(git.empty_tree.len());
            return Ok(Some(index_line(path, 0, &none)));
        };
        let (Some(mode), GitObject::Bytes(bytes)) =
            (mode_of(side), self.objects.read(&side.id, COMPARED)?)
        else {
            return Ok(None);
        };
        if self.attributes.is_filtered(path) {
            return Ok(None);
        }
        let bytes = match side.kind == FileKind::File && self.converts_line_ends(path) {
            true => both_sides::without_cr(&bytes),
            false => bytes,
        };
        let call = git.call(["hash-object", "-w", "--no-filters", "-t", "blob", "--stdin"]);
        Ok(Some(index_line(path, mode, &call.created_id(&bytes)?)))
    }

    fn converts_line_ends(&self, path: &[u8]) -> bool {
        self.attributes
            .converts_line_ends(path)
            .unwrap_or(self.autocrlf)
    }
}

/// A line of input for `git update-index --index-info`.
pub(crate) fn index_line(path: &[u8], mode: u32, id: &str) -> Vec<u8> {
    [format!("{mode:06o} {id}\t").as_bytes(), path, &[0]].concat()
}

fn mode_of(entry: &ManifestEntry) -> Option<u32> {
    match entry.kind {
        FileKind::Link => Some(LINK),
        FileKind::Submodule => Some(SUBMODULE),
        FileKind::File if entry.permissions & 0o100 != 0 => Some(0o100_755),
        FileKind::File => Some(0o100_644),
        FileKind::Unreadable => None,
    }
}
