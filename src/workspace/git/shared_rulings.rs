//! The files of shared rulings: as a commit has them, which is what binds, and as they lie in the tree, which is what
//! `glee disputes check` looks at. Links are never followed.

use std::collections::{BTreeMap, HashSet};
use std::fs;

use crate::config::files::rulings::{FOLDER, MAX_BYTES, is_note};
use crate::domain::Anchor;
use crate::workspace::code::anchors::Blocks;
use crate::workspace::code::text_files;
use crate::workspace::git::path_bytes;
use crate::workspace::git::plumbing::{GitObject, records};
use crate::workspace::root::Workspace;
use crate::workspace::select::ignores::Ignores;
use crate::workspace::select::walk::{self, Hidden, Met};
use crate::workspace::{Result, TargetSpec, WorkspaceError};

/// An entry of the folder of shared rulings: its name and its bytes, or why it is not read.
pub type RulingFile = (String, Result<Vec<u8>, &'static str>);

const LINK: &str = "it is a link";
const FOLDER_INSIDE: &str = "it is a folder";
const LARGE: &str = "it is larger than 64 KiB";
const UNREADABLE: &str = "it cannot be read";

impl Workspace {
    /// The commit whose shared rulings bind in a review: the one that a change is based on, never the change itself; of
    /// files and folders that are reviewed as they lie there, `HEAD`. `None` outside git and before the first commit.
    pub fn rulings_base(&self, spec: &TargetSpec) -> Result<Option<String>> {
        let Some(git) = &self.repository else { return Ok(None) };
        match spec {
            TargetSpec::Paths(_) => Ok(git.head.clone()),
            change => git.base_of(change),
        }
    }

    /// The files of shared rulings at a commit, given by its id; ordered by name. Notes for readers are left out.
    pub fn rulings_at(&self, commit: &str) -> Result<Vec<RulingFile>> {
        let Some(git) = &self.repository else { return Ok(Vec::new()) };
        let listed = git.call(["ls-tree", "-z", "--full-tree", commit, &format!("{FOLDER}/")]).output()?;
        let mut objects = git.objects(None)?;
        let mut files = Vec::new();
        for (mode, _, id, path) in records(&listed) {
            let path = path_bytes::shown(path);
            let name = path.rsplit('/').next().unwrap_or(&path).to_owned();
            if is_note(&name) {
                continue;
            }
            let bytes = match mode & 0o170_000 {
                0o100_000 => match objects.read(id, MAX_BYTES)? {
                    GitObject::Bytes(bytes) => Ok(bytes),
                    GitObject::Larger(_) => Err(LARGE),
                    GitObject::Missing => Err(UNREADABLE),
                },
                0o120_000 => Err(LINK),
                _ => Err(FOLDER_INSIDE),
            };
            files.push((name, bytes));
        }
        Ok(files)
    }

    /// The files of shared rulings as they lie in the tree, ordered by name. Notes for readers are left out.
    pub fn rulings_here(&self) -> Vec<RulingFile> {
        let folder = self.root.join(FOLDER);
        let is_link = |path: &std::path::Path| path.symlink_metadata().is_ok_and(|meta| meta.is_symlink());
        if is_link(&folder) || folder.parent().is_some_and(is_link) {
            return vec![(String::new(), Err(LINK))];
        }
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        let files = entries.filter_map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            if is_note(&name) {
                return None;
            }
            let bytes = match entry.file_type() {
                Ok(kind) if kind.is_symlink() => Err(LINK),
                Ok(kind) if kind.is_dir() => Err(FOLDER_INSIDE),
                Ok(_) => match text_files::read_capped(&entry.path(), MAX_BYTES) {
                    Ok(Some(bytes)) => Ok(bytes),
                    Ok(None) => Err(LARGE),
                    Err(_) => Err(UNREADABLE),
                },
                Err(_) => Err(UNREADABLE),
            };
            Some((name, bytes))
        });
        let sorted: BTreeMap<String, _> = files.collect();
        sorted.into_iter().collect()
    }

    /// The name under which git records what the user does, if one is set.
    pub fn user_name(&self) -> Option<String> {
        let named = self.repository.as_ref()?.call(["config", "--get", "user.name"]).answer().ok()??;
        let name = text_files::lossy(named).trim().to_owned();
        (!name.is_empty()).then_some(name)
    }

    /// For each anchor, whether its block is found nowhere in the tree: neither in its file nor, moved, in another that
    /// git knows or does not ignore; outside git, in any file.
    pub fn gone(&self, anchors: &[&Anchor]) -> Result<Vec<bool>> {
        let mut gone: Vec<bool> = anchors.iter().map(|anchor| !self.has_block(&anchor.file, anchor)).collect();
        let mut left: HashSet<usize> = (0..anchors.len()).filter(|index| gone[*index]).collect();
        if left.is_empty() {
            return Ok(gone);
        }
        for path in self.all_files()? {
            let Some(text) = self.read(&path) else { continue };
            let blocks = Blocks::of(&path, &text);
            left.retain(|index| {
                gone[*index] = blocks.place(anchors[*index]).is_none();
                gone[*index]
            });
            if left.is_empty() {
                break;
            }
        }
        Ok(gone)
    }

    /// The files of the tree that are not ignored.
    fn all_files(&self) -> Result<Vec<String>> {
        let paths: Vec<Vec<u8>> = match &self.repository {
            Some(git) => git.listed()?.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect(),
            None => {
                let mut ignores = Ignores::both(&self.root, self.steered_by.as_ref(), None);
                let met = walk::walk(&self.root, b"", &mut ignores, Hidden::Met);
                let path = self.root.display().to_string();
                let met = met.map_err(|source| WorkspaceError::Unreadable { path, source })?;
                met.into_iter().filter_map(Met::file).collect()
            }
        };
        Ok(paths.iter().filter(|path| !path.is_empty()).map(|path| path_bytes::shown(path)).collect())
    }

    fn has_block(&self, path: &str, anchor: &Anchor) -> bool {
        self.read(path).is_some_and(|text| Blocks::of(path, &text).place(anchor).is_some())
    }
}
