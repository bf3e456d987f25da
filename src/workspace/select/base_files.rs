//! Reads scripts from the base commit. A script in the tree could be a part of the change, and a change must not
//! control its own review.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::workspace::code::text_files;
use crate::workspace::git::GitObject;
use crate::workspace::select::walk;
use crate::workspace::{Result, Workspace};

/// The maximum size of a file, in bytes.
const CAP: u64 = 16 << 20;

/// The maximum number of files that Glee reads from the folder of a script, in addition to the script.
const NEIGHBOURS: usize = 2_000;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BaseFiles {
    /// Maps the path of a file to the file's content and executable flag.
    files: BTreeMap<String, (Vec<u8>, bool)>,
    /// The requested files that changed since the commit. A requested file in a subfolder is also included if
    /// another file in or below this subfolder was changed or added. For example, a change of `ci/lib.sh` adds the
    /// requested file `ci/test.sh` to this set.
    pub edited: BTreeSet<String>,
    /// The requested files that exist in the tree but not in the commit.
    pub added: BTreeSet<String>,
}

impl Workspace {
    /// Reads the files in the parameter `wanted` from a commit. A script can load other files, so all files in and
    /// below the script's folder are read too. For a script at the root of the tree, only the files at the root
    /// are read, without subfolders.
    pub fn files_at(&self, commit: &str, wanted: &BTreeSet<String>) -> Result<BaseFiles> {
        let mut found = BaseFiles::default();
        let Some(git) = &self.repository else {
            return Ok(found);
        };
        let entries = git.files_of(commit)?;
        let mut objects = git.objects(None)?;
        for path in wanted {
            if !entries.contains_key(path) {
                if self
                    .root
                    .join(path)
                    .symlink_metadata()
                    .is_ok_and(|meta| !meta.is_dir())
                {
                    found.added.insert(path.clone());
                }
                continue;
            }
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            let around = |other: &str| match folder {
                "" => other == path || !other.contains('/'),
                folder => other
                    .strip_prefix(folder)
                    .is_some_and(|rest| rest.starts_with('/')),
            };
            let neighbours: Vec<&String> = entries
                .keys()
                .filter(|other| around(other))
                .take(NEIGHBOURS)
                .collect();
            let mut is_edited = false;
            for other in std::iter::once(path).chain(neighbours) {
                if !found.files.contains_key(other) {
                    let (id, executable) = &entries[other];
                    let GitObject::Bytes(bytes) = objects.read(id, CAP)? else {
                        continue;
                    };
                    found.files.insert(other.clone(), (bytes, *executable));
                }
                let now = text_files::read_capped(&self.root.join(other), CAP)
                    .ok()
                    .flatten();
                // A script at the root of the tree rarely loads other files at the root, so changes of the other
                // files are ignored.
                let counts = other == path || !folder.is_empty();
                is_edited |=
                    counts && now.as_ref() != found.files.get(other).map(|(bytes, _)| bytes);
            }
            is_edited |= !folder.is_empty() && has_more(&self.root, folder, &entries);
            if is_edited {
                found.edited.insert(path.clone());
            }
        }
        Ok(found)
    }
}

/// Whether a folder of the tree contains a file that the commit lacks. An added file matters, because a script
/// in the folder can load the file.
fn has_more(root: &Path, folder: &str, entries: &BTreeMap<String, (String, bool)>) -> bool {
    let below = walk::everything(&root.join(folder))
        .flatten()
        .filter(walk::is_file);
    let mut paths = below.map(|entry| {
        entry
            .path()
            .strip_prefix(root)
            .unwrap_or(entry.path())
            .display()
            .to_string()
    });
    paths
        .by_ref()
        .take(NEIGHBOURS)
        .any(|path| !entries.contains_key(&path))
        || paths.next().is_some()
}

impl BaseFiles {
    /// Writes all files below `folder`. Maps the path of each edited file to the path of the written copy.
    pub fn write(&self, folder: &Path) -> io::Result<BTreeMap<String, PathBuf>> {
        for (path, (bytes, executable)) in &self.files {
            let place = folder.join(path);
            std::fs::create_dir_all(place.parent().unwrap_or(folder))?;
            std::fs::write(&place, bytes)?;
            if *executable {
                std::fs::set_permissions(&place, Permissions::from_mode(0o700))?;
            }
        }
        Ok(self
            .edited
            .iter()
            .map(|path| (path.clone(), folder.join(path)))
            .collect())
    }
}
