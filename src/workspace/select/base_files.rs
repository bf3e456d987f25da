//! Files as they are at the commit that a change is based on: what the commands of a review run while the change itself
//! must not decide how it is reviewed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::walk;
use crate::workspace::Result;
use crate::workspace::code::text_files;
use crate::workspace::git::plumbing::GitObject;
use crate::workspace::root::Workspace;

/// The bytes of one file that are read at most.
const CAP: u64 = 16 << 20;

/// The files around a script that are taken along at most.
const NEIGHBOURS: usize = 2_000;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BaseFiles {
    /// Bytes, and whether the file is executable, by path.
    files: BTreeMap<String, (Vec<u8>, bool)>,
    /// The asked-for files that the tree has otherwise, or whose neighbours it has otherwise.
    pub edited: BTreeSet<String>,
    /// The asked-for files that the tree has and the commit has not.
    pub added: BTreeSet<String>,
}

impl Workspace {
    /// The files at these paths of a commit, each with the files of its folder and the folders below, which a script may
    /// load; at the top of the tree, only with the files beside it.
    pub fn files_at(&self, commit: &str, wanted: &BTreeSet<String>) -> Result<BaseFiles> {
        let mut found = BaseFiles::default();
        let Some(git) = &self.repository else { return Ok(found) };
        let entries = git.files_of(commit)?;
        let mut objects = git.objects(None)?;
        for path in wanted {
            let is_here = self.root.join(path).symlink_metadata().is_ok_and(|found| !found.is_dir());
            if !entries.contains_key(path) {
                if is_here {
                    found.added.insert(path.clone());
                }
                continue;
            }
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            let around = |other: &str| match folder {
                "" => other == path || !other.contains('/'),
                folder => other.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')),
            };
            let neighbours: Vec<&String> = entries.keys().filter(|other| around(other)).take(NEIGHBOURS).collect();
            let mut is_edited = false;
            for other in std::iter::once(path).chain(neighbours) {
                if !found.files.contains_key(other) {
                    let (id, executable) = &entries[other];
                    let GitObject::Bytes(bytes) = objects.read(id, CAP)? else { continue };
                    found.files.insert(other.clone(), (bytes, *executable));
                }
                let now = text_files::read_capped(&self.root.join(other), CAP).ok().flatten();
                // At the top, files beside a script are seldom its own: only the script itself tells.
                let counts = other == path || !folder.is_empty();
                is_edited |= counts && now.as_ref() != found.files.get(other).map(|(bytes, _)| bytes);
            }
            is_edited |= !folder.is_empty() && has_more(&self.root, folder, &entries);
            if is_edited {
                found.edited.insert(path.clone());
            }
        }
        Ok(found)
    }
}

/// Whether a folder of the tree has a file that the commit does not have: a module that is loaded in another's place.
fn has_more(root: &Path, folder: &str, entries: &BTreeMap<String, (String, bool)>) -> bool {
    let below = walk::everything(&root.join(folder)).flatten().filter(walk::is_file);
    let mut paths =
        below.map(|entry| entry.path().strip_prefix(root).unwrap_or(entry.path()).display().to_string());
    paths.by_ref().take(NEIGHBOURS).any(|path| !entries.contains_key(&path)) || paths.next().is_some()
}

impl BaseFiles {
    /// Writes the files below a folder; returns the place of each edited one.
    pub fn write(&self, folder: &Path) -> io::Result<BTreeMap<String, PathBuf>> {
        for (path, (bytes, executable)) in &self.files {
            let place = folder.join(path);
            std::fs::create_dir_all(place.parent().unwrap_or(folder))?;
            std::fs::write(&place, bytes)?;
            if *executable {
                std::fs::set_permissions(&place, Permissions::from_mode(0o700))?;
            }
        }
        Ok(self.edited.iter().map(|path| (path.clone(), folder.join(path))).collect())
    }
}
