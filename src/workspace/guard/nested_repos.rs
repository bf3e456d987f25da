//! Repositories inside the tree: populated submodules and folders with a `.git` of their own, to a bounded depth.
//!
//! git lists such a folder as a single entry. Its files are listed here by its own index and ignore rules, so that they
//! are kept, compared and watched like all other files. A submodule without a `.git`, and a repository that git cannot
//! read, are walked by the ignore files instead. A repository is followed as a whole or not at all.

use std::collections::BTreeSet;
use std::path::Path;

use crate::workspace::code::text_files;
use crate::workspace::git::path_bytes;
use crate::workspace::git::plumbing::{self, Repository};
use crate::workspace::git::worktree_scan::{Lstat, SUBMODULE, Scan};
use crate::workspace::guard::bounds::{BYTES, Bound, DEPTH, FILES, REPOSITORIES};
use crate::workspace::guard::nested_repos;
use crate::workspace::root::Workspace;
use crate::workspace::select::ignores::Ignores;
use crate::workspace::select::walk::{self, Hidden, Met};
use crate::workspace::{Result, WorkspaceError};

/// The bytes of a `.git` file that are read at most.
const POINTER: u64 = 64 << 10;

#[derive(Debug)]
pub(crate) struct Nested {
    /// Its folder, relative to the root of the tree.
    pub(crate) folder: Vec<u8>,
    /// The commit its `HEAD` names; `None` before the first one.
    pub(crate) head: Option<String>,
    pub(crate) repository: Repository,
    /// Its index and untracked files; empty where it is not followed or git cannot list it.
    pub(crate) scan: Scan,
}

#[derive(Debug, Default)]
pub(crate) struct Inside {
    /// The files that are tracked, or untracked and not ignored, by their paths in the tree.
    pub(crate) files: BTreeSet<Vec<u8>>,
    pub(crate) repositories: Vec<Nested>,
    pub(crate) unfollowed: Vec<Unfollowed>,
}

/// A repository inside the tree whose files are not kept, compared or watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfollowed {
    /// Its folder, relative to the root of the tree.
    pub folder: String,
    pub bound: Bound,
}

struct Listed {
    files: Vec<Vec<u8>>,
    bytes: u64,
    /// Folders in it that may be repositories.
    candidates: Vec<Vec<u8>>,
    nested: Option<Nested>,
}

/// Lists the repositories in some folders of a tree and those inside of them.
pub(crate) fn inside(root: &Path, candidates: Vec<Vec<u8>>) -> Inside {
    let mut inside = Inside::default();
    let mut level = candidates;
    let (mut repositories, mut bytes) = (0, 0_u64);
    for depth in 1.. {
        level.sort_unstable();
        level.dedup();
        let mut lstat = Lstat::below(root);
        level.retain(|folder| lstat.get(folder).is_some_and(|meta| meta.is_dir()));
        if level.is_empty() {
            break;
        }
        // Git is only needed, and looked for, where there is a repository.
        let program = plumbing::find(root).ok();
        for folder in std::mem::take(&mut level) {
            let place = program.as_ref().and_then(|program| Repository::inside(program, &lstat.full(&folder)));
            let bound = match &place {
                Some(_) if depth > DEPTH => Some(Bound::Depth),
                Some(_) if repositories >= REPOSITORIES => Some(Bound::Repositories),
                _ => None,
            };
            if let Some(bound) = bound {
                inside.leave_out(folder, bound, place);
                continue;
            }
            repositories += usize::from(place.is_some());
            let listed = Listed::of(root, &folder, place);
            bytes = bytes.saturating_add(listed.bytes);
            let bound = match () {
                () if inside.files.len() + listed.files.len() > FILES => Some(Bound::Files),
                () if bytes > BYTES => Some(Bound::Bytes),
                () => None,
            };
            if let Some(bound) = bound {
                bytes -= listed.bytes;
                inside.leave_out(folder, bound, listed.nested.map(|nested| nested.repository));
                continue;
            }
            inside.files.extend(listed.files);
            inside.repositories.extend(listed.nested);
            level.extend(listed.candidates);
        }
    }
    inside.repositories.sort_by(|one, other| one.folder.cmp(&other.folder));
    inside
}

#[derive(Debug, Default)]
pub(crate) struct Walked {
    /// The files that no repository holds.
    pub(crate) files: Vec<Vec<u8>>,
    /// The folders that are repositories.
    pub(crate) candidates: Vec<Vec<u8>>,
}

/// Walks a folder by the ignore files, as far as it belongs to no repository.
pub(crate) fn walked(root: &Path, folder: &[u8]) -> std::io::Result<Walked> {
    let mut candidates = Vec::new();
    let mut is_repository = |path: &[u8]| {
        let found = root.join(path_bytes::path(path)).join(".git").exists();
        if found {
            candidates.push(path.to_vec());
        }
        found
    };
    let mut ignores = Ignores::git(root, None);
    let met = walk::walk_until(root, folder, &mut ignores, Hidden::Met, &mut is_repository)?;
    Ok(Walked { files: met.into_iter().filter_map(Met::file).collect(), candidates })
}

impl Inside {
    /// Notes a repository that is not followed; where its `HEAD` is remains known.
    fn leave_out(&mut self, folder: Vec<u8>, bound: Bound, repository: Option<Repository>) {
        self.unfollowed.push(Unfollowed { folder: path_bytes::shown(&folder), bound });
        self.repositories.extend(repository.map(|repository| Nested {
            head: repository.current(),
            folder,
            repository,
            scan: Scan::default(),
        }));
    }
}

impl Listed {
    /// Lists one folder, by its repository if it has one that can be read.
    fn of(root: &Path, folder: &[u8], repository: Option<Repository>) -> Self {
        let mut lstat = Lstat::below(root);
        let below = |path: &[u8]| [folder, b"/", path].concat();
        let mut listed = Self { files: Vec::new(), bytes: 0, candidates: Vec::new(), nested: None };
        let mut found = BTreeSet::new();
        let scan = repository.as_ref().and_then(|repository| repository.scan().ok());
        match &scan {
            Some(scan) => {
                for entry in &scan.entries {
                    if entry.mode == SUBMODULE {
                        listed.candidates.push(below(&entry.path));
                    }
                    found.insert(below(&entry.path));
                }
                listed.candidates.extend(scan.repositories.iter().map(|inner| below(inner)));
                found.extend(scan.untracked.iter().map(|path| below(path)));
            }
            None => {
                let Walked { files, candidates } = walked(root, folder).unwrap_or_default();
                found.extend(files);
                listed.candidates.extend(candidates);
            }
        }
        for path in found {
            if let Some(meta) = lstat.get(&path).filter(|meta| !meta.is_dir()) {
                listed.bytes = listed.bytes.saturating_add(meta.len());
                listed.files.push(path);
            }
        }
        listed.nested = repository.map(|repository| Nested {
            folder: folder.to_vec(),
            head: repository.current(),
            repository,
            scan: scan.unwrap_or_default(),
        });
        listed
    }
}

impl Repository {
    /// The repository whose work tree a folder is; `None` if there is none that git could open.
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
            Ok(path) => git_dir.join(path_bytes::path(path?.trim_ascii_end())).canonicalize().ok()?,
            Err(_) => git_dir.clone(),
        };
        let is_readable = git_dir.join("HEAD").symlink_metadata().is_ok_and(|meta| meta.is_file() || meta.is_symlink())
            && common.join("objects").is_dir()
            // git would wait for a FIFO.
            && ["index", "config", "config.worktree", "info/exclude", "info/sparse-checkout"].iter().all(|name| {
                [&git_dir, &common].iter().all(|place| place.join(name).metadata().is_ok_and(|meta| meta.is_file())
                    || place.join(name).metadata().is_err())
            });
        is_readable.then(|| Self::placed(program, folder, git_dir, common, ""))
    }

    /// The commit that `HEAD` names now.
    pub(crate) fn current(&self) -> Option<String> {
        self.find("HEAD").ok()?
    }

    /// The commit of the repository inside this one whose work tree a folder is.
    pub(crate) fn commit_in(&self, folder: &Path) -> Option<String> {
        Self::inside(&self.program, folder)?.current()
    }

    pub(crate) fn inside_of(&self, scan: &Scan) -> Inside {
        let submodules =
            scan.entries.iter().filter(|entry| entry.mode == SUBMODULE).map(|entry| entry.path.clone());
        inside(&self.top, submodules.chain(scan.repositories.iter().cloned()).collect())
    }
}

impl Workspace {
    /// The repositories inside the tree that are too many, too deep or too large to be kept and watched.
    pub fn unfollowed(&self) -> Result<Vec<Unfollowed>> {
        Ok(match &self.repository {
            Some(git) => git.inside_of(&git.scan()?).unfollowed,
            None => listing(&self.root)?.1.unfollowed,
        })
    }
}

/// All files that `.gitignore` does not leave out, hidden ones too, and those of the repositories among them; with these.
pub(crate) fn listing(root: &Path) -> Result<(BTreeSet<Vec<u8>>, Inside)> {
    let Walked { files, candidates } = nested_repos::walked(root, b"")
        .map_err(|source| WorkspaceError::Unreadable { path: root.display().to_string(), source })?;
    let inside = nested_repos::inside(root, candidates);
    Ok((files.into_iter().chain(inside.files.iter().cloned()).collect(), inside))
}
