//! Lists the files of nested repositories: populated submodules, and other folders with a `.git`.
//!
//! Git lists a nested repository as a single entry. Glee also lists the files inside a nested repository, so
//! that snapshots and fingerprints include these files. The index and the ignore files of the nested repository
//! decide which files are listed. If git cannot read the repository, Glee walks the folder instead. Glee lists
//! no files of a repository that exceeds a bound.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use crate::code::text_files;
use crate::git::{Lstat, Repository, SUBMODULE, Scan, path_bytes, plumbing};
use crate::guard::bounds::{BYTES, Bound, DEPTH, FILES, REPOSITORIES};
use crate::select::{Ignores, walk};
use crate::{Result, WorkspaceError};

/// The maximum size of a `.git` file, in bytes.
const POINTER: u64 = 64 << 10;

#[derive(Debug)]
pub(crate) struct Nested {
    /// The folder of the repository, relative to the root of the tree.
    pub folder: Vec<u8>,
    /// The commit of `HEAD`; `None` if the nested repository has no commit yet.
    pub head: Option<String>,
    pub repository: Repository,
    /// The index entries and the untracked files. The scan is empty if the repository exceeds a bound, or if git
    /// cannot list the files.
    pub scan: Scan,
}

#[derive(Debug, Default)]
pub(crate) struct Inside {
    /// The files of all nested repositories, as paths in the tree. Ignored untracked files are left out.
    pub files: BTreeSet<Vec<u8>>,
    pub repositories: Vec<Nested>,
    pub unfollowed: Vec<Unfollowed>,
}

/// A nested repository that exceeds a bound. Snapshots and fingerprints do not include the files of such a
/// repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfollowed {
    /// The folder of the repository, relative to the root of the tree.
    pub folder: String,
    pub bound: Bound,
}

#[derive(Default)]
struct Listed {
    files: Vec<Vec<u8>>,
    bytes: u64,
    /// The subfolders that can be nested repositories.
    candidates: Vec<Vec<u8>>,
    scan: Scan,
}

/// Lists the nested repositories in the folders `candidates`. Also lists repositories inside nested repositories.
pub(crate) fn inside(root: &Path, candidates: Vec<Vec<u8>>) -> Inside {
    let mut inside = Inside::default();
    let mut level = candidates;
    let mut repositories = 0;
    let mut bytes = 0_u64;
    for depth in 1.. {
        level.sort_unstable();
        level.dedup();
        let mut lstat = Lstat::below(root);
        level.retain(|folder| lstat.get(folder).is_some_and(|meta| meta.is_dir()));
        if level.is_empty() {
            break;
        }
        let program = plumbing::find(root).ok();
        for folder in std::mem::take(&mut level) {
            let repository = program
                .as_ref()
                .and_then(|program| Repository::inside(program, &lstat.full(&folder)));
            let mut bound = match &repository {
                Some(_) if depth > DEPTH => Some(Bound::Depth),
                Some(_) if repositories >= REPOSITORIES => Some(Bound::Repositories),
                _ => None,
            };
            let mut listed = Listed::default();
            if bound.is_none() {
                repositories += usize::from(repository.is_some());
                listed = Listed::of(root, &folder, repository.as_ref());
                if inside.files.len() + listed.files.len() > FILES {
                    bound = Some(Bound::Files);
                } else if bytes.saturating_add(listed.bytes) > BYTES {
                    bound = Some(Bound::Bytes);
                }
            }
            if let Some(bound) = bound {
                inside.unfollowed.push(Unfollowed {
                    folder: path_bytes::shown(&folder),
                    bound,
                });
                listed = Listed::default();
            }
            bytes += listed.bytes;
            inside.files.extend(listed.files);
            level.extend(listed.candidates);
            inside
                .repositories
                .extend(repository.map(|repository| Nested {
                    head: repository.current(),
                    folder,
                    repository,
                    scan: listed.scan,
                }));
        }
    }
    inside
        .repositories
        .sort_by(|one, other| one.folder.cmp(&other.folder));
    inside
}

/// Returns two lists for a folder: the files that are not ignored, and the folders of nested repositories.
fn walked(root: &Path, folder: &[u8]) -> io::Result<[Vec<Vec<u8>>; 2]> {
    let mut candidates = Vec::new();
    let mut ignores = Ignores::git(root, None);
    let entries = walk::walk(root, folder, &mut ignores, &mut |path, is_dir| {
        let found = is_dir && root.join(path_bytes::path(path)).join(".git").exists();
        if found {
            candidates.push(path.to_vec());
        }
        found
    })?;
    Ok([
        entries.into_iter().filter_map(walk::file).collect(),
        candidates,
    ])
}

impl Listed {
    fn of(root: &Path, folder: &[u8], repository: Option<&Repository>) -> Self {
        let mut lstat = Lstat::below(root);
        let below = |path: &Vec<u8>| [folder, b"/", path].concat();
        let mut listed = Self::default();
        let mut found: BTreeSet<Vec<u8>> = BTreeSet::new();
        match repository.and_then(|repository| repository.scan().ok()) {
            Some(scan) => {
                let submodules = scan.entries.iter().filter(|entry| entry.mode == SUBMODULE);
                let submodules = submodules.map(|entry| &entry.path);
                listed
                    .candidates
                    .extend(submodules.chain(&scan.repositories).map(below));
                found.extend(
                    scan.entries
                        .iter()
                        .map(|entry| &entry.path)
                        .chain(&scan.untracked)
                        .map(below),
                );
                listed.scan = scan;
            }
            None => {
                let [files, candidates] = walked(root, folder).unwrap_or_default();
                found.extend(files);
                listed.candidates = candidates;
            }
        }
        for path in found {
            if let Some(meta) = lstat.get(&path).filter(|meta| !meta.is_dir()) {
                listed.bytes = listed.bytes.saturating_add(meta.len());
                listed.files.push(path);
            }
        }
        listed
    }
}

impl Repository {
    /// Opens the repository whose work tree is `folder`. Returns `None` if git could not open the repository.
    fn inside(program: &Path, folder: &Path) -> Option<Self> {
        let place = folder.join(".git").canonicalize().ok()?;
        let git_dir = if place.is_dir() {
            place
        } else {
            let pointer = text_files::read_capped(&place, POINTER).ok()??;
            let target = pointer.strip_prefix(b"gitdir: ")?.trim_ascii_end();
            folder.join(path_bytes::path(target)).canonicalize().ok()?
        };
        let common = match text_files::read_capped(&git_dir.join("commondir"), POINTER) {
            Ok(path) => git_dir
                .join(path_bytes::path(path?.trim_ascii_end()))
                .canonicalize()
                .ok()?,
            Err(_) => git_dir.clone(),
        };
        let is_readable = git_dir.join("HEAD").symlink_metadata().is_ok_and(|meta| meta.is_file() || meta.is_symlink())
            && common.join("objects").is_dir()
            // If one of these files were a FIFO, git would wait forever while reading the file.
            && ["index", "config", "config.worktree", "info/exclude", "info/sparse-checkout"].iter().all(|name| {
                [&git_dir, &common].iter().all(|place| place.join(name).metadata().is_ok_and(|meta| meta.is_file())
                    || place.join(name).metadata().is_err())
            });
        is_readable.then(|| Self::placed(program, folder, git_dir, common, ""))
    }

    pub fn current(&self) -> Option<String> {
        self.find("HEAD").ok()?
    }

    /// Opens a repository inside this one, such as a submodule. Returns `None` if it is not checked out.
    pub fn nested(&self, folder: &Path) -> Option<Self> {
        Self::inside(&self.program, folder)
    }

    pub(crate) fn commit_in(&self, folder: &Path) -> Option<String> {
        self.nested(folder)?.current()
    }

    pub(crate) fn inside_of(&self, scan: &Scan) -> Inside {
        let submodules = scan
            .entries
            .iter()
            .filter(|entry| entry.mode == SUBMODULE)
            .map(|entry| entry.path.clone());
        inside(
            &self.top,
            submodules
                .chain(scan.repositories.iter().cloned())
                .collect(),
        )
    }
}

/// Lists a folder outside git. Returns the files that `.gitignore` does not exclude, and the nested repositories.
pub(crate) fn listing(root: &Path) -> Result<(BTreeSet<Vec<u8>>, Inside)> {
    let [files, candidates] = walked(root, b"").map_err(WorkspaceError::unreadable(root))?;
    let inside = inside(root, candidates);
    Ok((
        files
            .into_iter()
            .chain(inside.files.iter().cloned())
            .collect(),
        inside,
    ))
}
