//! Looks at a tree and its repository, and what differs between two of them.
//!
//! A look takes in the content and permissions of every tracked and every untracked, unignored file, what lies in the
//! places that steer agents and editors even if it is ignored, and of the repository its index, HEAD, refs, hooks and
//! settings; of repositories inside the tree the same. It runs no filter and writes nothing. A file is read only if its times leave room for doubt; a file that
//! is as the index has it stands by its object id.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime};
use std::{fmt, io};

use crate::system::files;
use crate::workspace::Result;
use crate::workspace::code::text_files;
use crate::workspace::git::path_bytes;
use crate::workspace::git::plumbing::{GitObject, Repository};
use crate::workspace::git::worktree_scan::{IndexEntry, Lstat, SUBMODULE, Scan};
use crate::workspace::guard::control_files;
use crate::workspace::guard::nested_repos::{self, Nested, Unfollowed};
use crate::workspace::root::Workspace;
use crate::workspace::snapshot::manifest::differing;
use crate::workspace::snapshot::permissions;

/// Larger files are known by their times and size alone.
const DIGESTED: u64 = 16 << 20;
/// A file whose status changed this short a time before it was looked at may change again without a trace.
const TICK: Duration = Duration::from_millis(20);
/// About how many files are looked at in one folder that steers agents, and how deep: some keep whole trees there.
const STEERING: usize = 2_000;
const STEERING_DEPTH: usize = 4;

#[derive(Clone, Debug, Default)]
pub struct TreeFingerprint {
    files: BTreeMap<Vec<u8>, FileState>,
    /// HEAD, refs and files of the git folders, by name.
    repository: BTreeMap<String, String>,
    /// The same of the repositories inside the tree, by their folders.
    nested: BTreeMap<Vec<u8>, BTreeMap<String, String>>,
    unfollowed: Vec<Unfollowed>,
}

impl TreeFingerprint {
    /// The repositories inside the tree that were not looked at, because they exceed a bound.
    pub fn unfollowed(&self) -> &[Unfollowed] {
        &self.unfollowed
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct FileState {
    stat: Stat,
    permissions: u32,
    /// Whether an equal `stat` later on is proof of an equal content.
    is_settled: bool,
    digest: Digest,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Stat {
    kind: char,
    size: u64,
    place: (u64, u64),
    modified: (i64, i64),
    changed: (i64, i64),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Digest {
    /// It is this object of the repository.
    Object(String),
    Content(blake3::Hash),
    /// Only its times and size are known.
    Stat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangedSubject {
    Content,
    /// The permissions of a file, its content being the same.
    Permissions,
    /// HEAD, a ref, the index, a hook or a setting of the repository.
    Repository,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    Created,
    Changed,
    Removed,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedChange {
    pub subject: ChangedSubject,
    pub fate: ChangeKind,
    /// A path inside the tree, or the name of a part of the repository.
    pub name: String,
}

impl fmt::Display for ObservedChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.subject, self.fate) {
            (ChangedSubject::Permissions, _) => {
                write!(f, "changed the permissions of `{}`", self.name)
            }
            (_, ChangeKind::Created) => write!(f, "created `{}`", self.name),
            (_, ChangeKind::Changed) => write!(f, "changed `{}`", self.name),
            (_, ChangeKind::Removed) => write!(f, "removed `{}`", self.name),
        }
    }
}

impl Workspace {
    /// Looks at the tree. What stands as it did at an `earlier` look is not read again.
    pub fn look(&self, earlier: Option<&TreeFingerprint>) -> Result<TreeFingerprint> {
        let now = SystemTime::now();
        let mut look = TreeFingerprint::default();
        let scan = match &self.repository {
            Some(git) => {
                let scan = git.scan()?;
                look.repository = git.parts(&scan, git.refs()?);
                Some((git, scan))
            }
            None => None,
        };
        let mut indexed: BTreeMap<&[u8], &IndexEntry> = BTreeMap::new();
        let (mut paths, inside) = match &scan {
            Some((git, scan)) => {
                let entries = scan.entries.iter().filter(|entry| entry.mode != SUBMODULE);
                indexed.extend(entries.map(|entry| (entry.path.as_slice(), entry)));
                (scan.untracked.iter().cloned().collect(), git.inside_of(scan))
            }
            None => nested_repos::listing(&self.root)?,
        };
        for nested in &inside.repositories {
            let is_linked = self.repository.as_ref().is_some_and(|git| git.common == nested.repository.common);
            look.nested.insert(nested.folder.clone(), nested.parts(is_linked)?);
        }
        paths.extend(inside.files);
        look.unfollowed = inside.unfollowed;
        paths.extend(indexed.keys().map(|path| path.to_vec()));
        paths.extend(self.steering());
        let mut lstat = Lstat::below(&self.root);
        for path in paths {
            let Some(meta) = lstat.get(&path).filter(|meta| !meta.is_dir()) else { continue };
            let mut seen = seen(&meta, now);
            let before = earlier.and_then(|look| look.files.get(&path));
            seen.digest = match (before, &scan) {
                (Some(before), _) if before.is_settled && before.stat == seen.stat => before.digest.clone(),
                (None, Some((_, scan))) if seen.is_settled => match indexed.get(path.as_slice()) {
                    Some(entry) if scan.is_clean(entry, &meta) => Digest::Object(entry.id.clone()),
                    _ => digest(&lstat.full(&path), &meta),
                },
                _ => digest(&lstat.full(&path), &meta),
            };
            look.files.insert(path, seen);
        }
        Ok(look)
    }

    /// What differs between two looks, each taken with the other or with the same third one as its `earlier`.
    pub fn differences(&self, before: &TreeFingerprint, after: &TreeFingerprint) -> Result<Vec<ObservedChange>> {
        let mut found = Vec::new();
        let paths: BTreeSet<&Vec<u8>> = before.files.keys().chain(after.files.keys()).collect();
        for path in paths {
            let (old, new) = (before.files.get(path), after.files.get(path));
            let subject = match (old, new) {
                (Some(old), Some(new)) if !self.is_same(old, new)? => ChangedSubject::Content,
                (Some(old), Some(new)) if old.permissions != new.permissions => ChangedSubject::Permissions,
                (Some(_), Some(_)) => continue,
                _ => ChangedSubject::Content,
            };
            found.push(ObservedChange { subject, fate: fate(old, new), name: path_bytes::shown(path) });
        }
        let repository = |fate, name| ObservedChange { subject: ChangedSubject::Repository, fate, name };
        let parts = differing(&before.repository, &after.repository);
        found.extend(parts.map(|(name, old, new)| repository(fate(old, new), name.clone())));
        for (folder, old, new) in differing(&before.nested, &after.nested) {
            let shown = path_bytes::shown(folder);
            let (Some(old), Some(new)) = (old, new) else {
                found.push(repository(fate(old, new), format!("the repository in {shown}")));
                continue;
            };
            let parts = differing(old, new);
            found.extend(parts.map(|(name, old, new)| repository(fate(old, new), format!("{name} of {shown}"))));
        }
        Ok(found)
    }

    fn is_same(&self, old: &FileState, new: &FileState) -> Result<bool> {
        if old.stat.kind != new.stat.kind {
            return Ok(false);
        }
        if old.is_settled && old.stat == new.stat {
            return Ok(true);
        }
        Ok(match (&old.digest, &new.digest) {
            (Digest::Object(id), Digest::Content(hash)) | (Digest::Content(hash), Digest::Object(id)) => {
                let Some(git) = &self.repository else { return Ok(false) };
                // Where git converts line ends this is another content, and a file only touched counts as changed.
                matches!(git.objects(None)?.read(id, DIGESTED)?, GitObject::Bytes(bytes) if blake3::hash(&bytes) == *hash)
            }
            (Digest::Stat, Digest::Stat) => old.stat == new.stat,
            (old, new) => old == new,
        })
    }

    /// The files that steer agents, editors and Glee, ignored or not.
    fn steering(&self) -> Vec<Vec<u8>> {
        let mut paths = Vec::new();
        for name in control_files::PLACES {
            let Ok(meta) = std::fs::symlink_metadata(self.root.join(name)) else { continue };
            if !meta.is_dir() {
                paths.push(name.as_bytes().to_vec());
                continue;
            }
            let mut folders = vec![(name.as_bytes().to_vec(), 1)];
            let mut found = Vec::new();
            while let Some((folder, depth)) = folders.pop().filter(|_| found.len() < STEERING) {
                let entries = std::fs::read_dir(self.root.join(path_bytes::path(&folder)));
                for entry in entries.into_iter().flatten().flatten() {
                    let path =
                        [&folder, b"/".as_slice(), &path_bytes::bytes(Path::new(&entry.file_name()))].concat();
                    match entry.file_type() {
                        Ok(kind) if kind.is_dir() && depth < STEERING_DEPTH => folders.push((path, depth + 1)),
                        Ok(kind) if kind.is_file() || kind.is_symlink() => found.push(path),
                        Ok(_) | Err(_) => {}
                    }
                }
            }
            paths.extend(found);
        }
        paths
    }
}

impl Nested {
    /// What [`Repository::parts`] finds; of a linked work tree of the outer repository what is its own.
    fn parts(&self, is_linked: bool) -> Result<BTreeMap<String, String>> {
        let refs = if is_linked { BTreeMap::new() } else { self.repository.refs()? };
        let mut parts = self.repository.parts(&self.scan, refs);
        if is_linked {
            parts.retain(|name, _| matches!(name.as_str(), "HEAD" | "the index" | ".git/config.worktree"));
        }
        Ok(parts)
    }
}

impl Repository {
    /// Every ref but Glee's own.
    pub(crate) fn refs(&self) -> Result<BTreeMap<String, String>> {
        let listed = self.call(["for-each-ref", "--format=%(refname) %(objectname) %(symref)"]).output()?;
        let lines = listed.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let split = |line| {
            let line = path_bytes::shown(line);
            let (name, value) = line.split_once(' ').unwrap_or((&line, ""));
            (name.to_owned(), value.to_owned())
        };
        Ok(lines.map(split).filter(|(name, _)| !name.starts_with("refs/glee/")).collect())
    }

    /// Everything in the git folders that says what the repository is and does, but its objects.
    fn parts(&self, scan: &Scan, refs: BTreeMap<String, String>) -> BTreeMap<String, String> {
        let mut parts = refs;
        let mut index = blake3::Hasher::new();
        for entry in &scan.entries {
            index
                .update(format!("{:o} {} {} {} ", entry.mode, entry.id, entry.stage, entry.is_intent()).as_bytes());
            index.update(&entry.path);
            index.update(&[0]);
        }
        parts.insert("the index".to_owned(), index.finalize().to_hex().to_string());
        if let Ok(head) = files::read(&self.git_dir.join("HEAD")) {
            parts.insert("HEAD".to_owned(), path_bytes::shown(head.trim_ascii_end()));
        }
        for (folder, name) in [(&self.git_dir, "config.worktree"), (&self.common, "config")] {
            note(&mut parts, folder, name);
        }
        for folder in ["hooks", "info", "objects/info"] {
            let Ok(entries) = std::fs::read_dir(self.common.join(folder)) else { continue };
            for entry in entries.flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                let is_told = match folder {
                    "hooks" => !name.ends_with(".sample"),
                    "info" => matches!(name.as_str(), "attributes" | "exclude" | "grafts" | "sparse-checkout"),
                    _ => name == "alternates",
                };
                if is_told {
                    note(&mut parts, &self.common, &format!("{folder}/{name}"));
                }
            }
        }
        parts
    }
}

/// Notes a file of a git folder by its kind, permissions and content.
fn note(parts: &mut BTreeMap<String, String>, folder: &Path, name: &str) {
    let path = folder.join(name);
    let Ok(meta) = std::fs::symlink_metadata(&path) else { return };
    let seen = seen(&meta, SystemTime::UNIX_EPOCH);
    let content = match digest(&path, &meta) {
        Digest::Content(hash) => hash.to_hex().to_string(),
        Digest::Object(_) | Digest::Stat => format!("{:?}", seen.stat),
    };
    parts.insert(format!(".git/{name}"), format!("{} {:o} {content}", seen.stat.kind, seen.permissions));
}

fn fate<T>(old: Option<T>, new: Option<T>) -> ChangeKind {
    match (old, new) {
        (None, _) => ChangeKind::Created,
        (Some(_), Some(_)) => ChangeKind::Changed,
        (Some(_), None) => ChangeKind::Removed,
    }
}

fn seen(meta: &Metadata, now: SystemTime) -> FileState {
    let kind = match meta.file_type() {
        kind if kind.is_file() => 'f',
        kind if kind.is_symlink() => 'l',
        _ => 'o',
    };
    let stat = Stat {
        kind,
        size: meta.len(),
        place: (meta.dev(), meta.ino()),
        modified: (meta.mtime(), meta.mtime_nsec()),
        changed: (meta.ctime(), meta.ctime_nsec()),
    };
    let permissions = if kind == 'f' { permissions::permissions(meta) } else { 0 };
    FileState { is_settled: is_before(stat.changed, now), stat, permissions, digest: Digest::Stat }
}

/// Whether a time lies a tick or more before another.
fn is_before((seconds, nanos): (i64, i64), now: SystemTime) -> bool {
    let Ok(now) = now.duration_since(SystemTime::UNIX_EPOCH) else { return false };
    let Ok(seconds) = u64::try_from(seconds) else { return true };
    let nanos = u64::try_from(nanos).unwrap_or(0);
    seconds < u64::MAX / 2 && Duration::from_secs(seconds) + Duration::from_nanos(nanos) + TICK < now
}

/// The hash of a file's content, or of a link's target.
fn digest(path: &Path, meta: &Metadata) -> Digest {
    let hash = || -> io::Result<blake3::Hash> {
        if meta.is_symlink() {
            return Ok(blake3::hash(&path_bytes::bytes(&std::fs::read_link(path)?)));
        }
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(text_files::open_regular(path)?)?;
        Ok(hasher.finalize())
    };
    if meta.len() > DIGESTED {
        return Digest::Stat;
    }
    hash().map_or(Digest::Stat, Digest::Content)
}
