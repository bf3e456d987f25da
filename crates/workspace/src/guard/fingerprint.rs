//! Takes fingerprints of a tree and its repository, and compares fingerprints.
//!
//! A fingerprint covers the content and the permissions of all tracked files, and of all untracked files that are
//! not ignored. A fingerprint also covers ignored files that control agents and editors. For each repository in the
//! tree, a fingerprint covers the index, HEAD, refs, hooks and settings. Taking a fingerprint runs no git filters
//! and writes no files. A file is not read if its timestamps prove that the file is unchanged.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;
use std::{fmt, io};

use crate::code::text_files;
use crate::git::{FileStat, GitObject, Lstat, Repository, SUBMODULE, Scan, path_bytes};
use crate::guard::control_files;
use crate::guard::nested_repos::{Nested, Unfollowed, listing};
use crate::snapshot::{differing, permissions};
use crate::{Result, Workspace};
use glee_system::files;

/// If a file has more bytes than this limit, only its timestamps and size are compared.
const DIGESTED: u64 = 16 << 20;
/// The approximate maximum number of files that a fingerprint covers in one control folder. Some agents store
/// large trees in their control folders.
const CONTROL_FILES: usize = 2_000;
const CONTROL_DEPTH: usize = 4;

#[derive(Clone, Debug, Default)]
pub struct TreeFingerprint {
    files: BTreeMap<Vec<u8>, FileState>,
    /// Maps each part of the repository, such as `HEAD`, the index, a ref or a hook, to the state of this part.
    repository: BTreeMap<String, String>,
    /// The index, with its entry in `repository`.
    index: Option<(Scan, String)>,
    /// Maps the folder of each nested repository to the states of the repository's parts, such as `HEAD` and the
    /// index.
    nested: BTreeMap<Vec<u8>, BTreeMap<String, String>>,
    /// The nested repositories that the fingerprint does not cover because they exceed a bound.
    pub unfollowed: Vec<Unfollowed>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct FileState {
    stat: FileStat,
    permissions: u32,
    /// Whether an equal `stat` in a later fingerprint proves that the content is unchanged.
    is_settled: bool,
    digest: Digest,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Digest {
    /// The id of a git object with the same content as the file.
    Object(String),
    Content(blake3::Hash),
    /// The content was not hashed, so only the timestamps and the size are compared.
    Stat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangedSubject {
    Content,
    /// The permissions of a file changed, but not the file's content.
    Permissions,
    /// HEAD, a ref, the index, a hook or a setting of the repository changed.
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
    pub kind: ChangeKind,
    /// A path in the tree, or a part of the repository such as `HEAD`.
    pub name: String,
}

impl fmt::Display for ObservedChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.subject, self.kind) {
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
    /// Takes a fingerprint of the tree. A file with the same `stat` as in the fingerprint `earlier` is not read
    /// again.
    pub fn fingerprint(&self, earlier: Option<&TreeFingerprint>) -> Result<TreeFingerprint> {
        let now = SystemTime::now();
        let mut found = TreeFingerprint::default();
        let scan = self.repository.as_ref().map(Repository::scan).transpose()?;
        let (others, inside) = match self.repository.as_ref().zip(scan.as_ref()) {
            Some((git, scan)) => {
                let known = earlier.and_then(|earlier| earlier.index.as_ref());
                let index = known
                    .filter(|(known, _)| Arc::ptr_eq(&known.entries, &scan.entries))
                    .map_or_else(|| digest_of_index(scan), |(_, digest)| digest.clone());
                found.repository = git.parts(&index, git.refs()?);
                found.index = Some((scan.clone(), index));
                (scan.untracked.clone(), git.inside_of(scan))
            }
            None => {
                let (files, inside) = listing(&self.root)?;
                (files.into_iter().collect(), inside)
            }
        };
        for nested in &inside.repositories {
            let is_linked = self
                .repository
                .as_ref()
                .is_some_and(|git| git.common == nested.repository.common);
            found
                .nested
                .insert(nested.folder.clone(), nested.parts(is_linked)?);
        }
        found.unfollowed = inside.unfollowed;
        let control = self.control_paths();
        let indexed = scan.iter().flat_map(|scan| scan.entries.iter());
        let mut paths: Vec<&[u8]> = indexed
            .filter(|entry| entry.mode != SUBMODULE)
            .map(|entry| entry.path.as_slice())
            .collect();
        let beside = others.iter().chain(&inside.files).chain(&control);
        paths.extend(beside.map(Vec::as_slice));
        paths.sort_unstable();
        paths.dedup();
        let mut looked = Vec::with_capacity(paths.len());
        let mut lstat = Lstat::below(&self.root);
        for path in paths {
            let Some(meta) = lstat.get(path).filter(|meta| !meta.is_dir()) else {
                continue;
            };
            // What this process prints is no change of an agent.
            if files::is_own_output(&meta) {
                continue;
            }
            let mut state = state_of(&meta, now);
            let before = earlier.and_then(|earlier| earlier.files.get(path));
            state.digest = match before {
                Some(before) if before.is_settled && before.stat == state.stat => {
                    before.digest.clone()
                }
                Some(_) => digest(&lstat.full(path), &meta),
                None => {
                    let clean = scan.as_ref().and_then(|scan| scan.clean(path, &meta));
                    match clean.filter(|_| state.is_settled) {
                        Some(entry) => Digest::Object(entry.id.clone()),
                        None => digest(&lstat.full(path), &meta),
                    }
                }
            };
            looked.push((path.to_vec(), state));
        }
        // The paths are sorted, so the map is built at once.
        found.files = looked.into_iter().collect();
        Ok(found)
    }

    /// Returns the differences between two fingerprints. Requires that one was taken with the other, or with one that goes
    /// back to it, as the argument `earlier`, or that both go back to the same one.
    pub fn differences(
        &self,
        before: &TreeFingerprint,
        after: &TreeFingerprint,
    ) -> Result<Vec<ObservedChange>> {
        let mut found = Vec::new();
        for (path, old, new) in differing(&before.files, &after.files) {
            let subject = match (old, new) {
                (Some(old), Some(new)) if self.is_same(old, new)? => {
                    match old.permissions == new.permissions {
                        true => continue,
                        false => ChangedSubject::Permissions,
                    }
                }
                _ => ChangedSubject::Content,
            };
            found.push(ObservedChange {
                subject,
                kind: change_kind(old, new),
                name: path_bytes::shown(path),
            });
        }
        let parts = differing(&before.repository, &after.repository);
        found.extend(parts.map(|(name, old, new)| repository(change_kind(old, new), name.clone())));
        for (folder, old, new) in differing(&before.nested, &after.nested) {
            let shown = path_bytes::shown(folder);
            let (Some(old), Some(new)) = (old, new) else {
                found.push(repository(
                    change_kind(old, new),
                    format!("the repository in {shown}"),
                ));
                continue;
            };
            let parts = differing(old, new);
            found.extend(parts.map(|(name, old, new)| {
                repository(change_kind(old, new), format!("{name} of {shown}"))
            }));
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
            (Digest::Object(id), Digest::Content(hash))
            | (Digest::Content(hash), Digest::Object(id)) => {
                let Some(git) = &self.repository else {
                    return Ok(false);
                };
                // If git converted the line endings of the file, the file's hash differs from the hash of the git
                // object, and the file counts as changed.
                matches!(git.objects(None)?.read(id, DIGESTED)?, GitObject::Bytes(bytes) if blake3::hash(&bytes) == *hash)
            }
            (Digest::Stat, Digest::Stat) => old.stat == new.stat,
            (old, new) => old == new,
        })
    }

    /// Returns the paths of the control files of agents, editors and Glee, including ignored files.
    fn control_paths(&self) -> Vec<Vec<u8>> {
        let mut paths = Vec::new();
        for name in control_files::PLACES {
            let mut found = Vec::new();
            let mut waiting = vec![(name.as_bytes().to_vec(), 0)];
            while let Some((path, depth)) = waiting.pop() {
                let full = self.root.join(path_bytes::path(&path));
                match std::fs::symlink_metadata(&full) {
                    Ok(meta)
                        if meta.is_dir()
                            && depth < CONTROL_DEPTH
                            && found.len() < CONTROL_FILES =>
                    {
                        let entries = std::fs::read_dir(full).into_iter().flatten().flatten();
                        let names =
                            entries.map(|entry| path_bytes::bytes(Path::new(&entry.file_name())));
                        waiting.extend(
                            names.map(|name| ([&path, b"/".as_slice(), &name].concat(), depth + 1)),
                        );
                    }
                    Ok(meta)
                        if meta.is_file() || meta.is_symlink() || depth == 0 && !meta.is_dir() =>
                    {
                        found.push(path)
                    }
                    Ok(_) | Err(_) => {}
                }
            }
            paths.extend(found);
        }
        paths
    }
}

fn digest_of_index(scan: &Scan) -> String {
    let mut index = blake3::Hasher::new();
    for entry in scan.entries.iter() {
        let words = format!(
            "{:o} {} {} {} ",
            entry.mode, entry.id, entry.stage, entry.is_intent
        );
        index
            .update(words.as_bytes())
            .update(&entry.path)
            .update(&[0]);
    }
    index.finalize().to_hex().to_string()
}

fn repository(kind: ChangeKind, name: String) -> ObservedChange {
    ObservedChange {
        subject: ChangedSubject::Repository,
        kind,
        name,
    }
}

impl Nested {
    /// Returns the state of a nested repository. For a linked work tree, returns only the state of this work tree.
    fn parts(&self, is_linked: bool) -> Result<BTreeMap<String, String>> {
        let refs = if is_linked {
            BTreeMap::new()
        } else {
            self.repository.refs()?
        };
        let index = digest_of_index(&self.scan);
        let mut parts = self.repository.parts(&index, refs);
        if is_linked {
            parts.retain(|name, _| {
                matches!(name.as_str(), "HEAD" | "the index" | ".git/config.worktree")
            });
        }
        Ok(parts)
    }
}

impl Repository {
    /// Returns all refs except Glee's refs (`refs/glee/`).
    pub fn refs(&self) -> Result<BTreeMap<String, String>> {
        let listed = self
            .call([
                "for-each-ref",
                "--format=%(refname) %(objectname) %(symref)",
            ])
            .output()?;
        let listed = path_bytes::shown(&listed);
        let refs = listed.lines().filter_map(|line| line.split_once(' '));
        let refs = refs.filter(|(name, _)| !name.starts_with("refs/glee/"));
        Ok(refs
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect())
    }

    /// Returns the states of the repository's parts, such as `HEAD`, the index, hooks, settings and the refs in
    /// the parameter `refs`.
    fn parts(&self, index: &str, refs: BTreeMap<String, String>) -> BTreeMap<String, String> {
        let mut parts = refs;
        parts.insert("the index".to_owned(), index.to_owned());
        if let Ok(head) = files::read(&self.git_dir.join("HEAD")) {
            parts.insert("HEAD".to_owned(), path_bytes::shown(head.trim_ascii_end()));
        }
        add_file(&mut parts, &self.git_dir, "config.worktree");
        let hooks = std::fs::read_dir(self.common.join("hooks"))
            .into_iter()
            .flatten()
            .flatten();
        let hooks = hooks.map(|entry| format!("hooks/{}", entry.file_name().to_string_lossy()));
        let info = ["attributes", "exclude", "grafts", "sparse-checkout"]
            .map(|name| format!("info/{name}"));
        let others = ["config", "objects/info/alternates"].map(str::to_owned);
        for name in hooks
            .filter(|name| !name.ends_with(".sample"))
            .chain(info)
            .chain(others)
        {
            add_file(&mut parts, &self.common, &name);
        }
        parts
    }
}

fn add_file(parts: &mut BTreeMap<String, String>, folder: &Path, name: &str) {
    let path = folder.join(name);
    let Ok(meta) = std::fs::symlink_metadata(&path) else {
        return;
    };
    let state = state_of(&meta, SystemTime::UNIX_EPOCH);
    let content = match digest(&path, &meta) {
        Digest::Content(hash) => hash.to_hex().to_string(),
        Digest::Object(_) | Digest::Stat => format!("{:?}", state.stat),
    };
    parts.insert(
        format!(".git/{name}"),
        format!("{} {:o} {content}", state.stat.kind, state.permissions),
    );
}

fn change_kind<T>(old: Option<T>, new: Option<T>) -> ChangeKind {
    match (old, new) {
        (None, _) => ChangeKind::Created,
        (Some(_), Some(_)) => ChangeKind::Changed,
        (Some(_), None) => ChangeKind::Removed,
    }
}

fn state_of(meta: &Metadata, now: SystemTime) -> FileState {
    let stat = FileStat::of(meta);
    FileState {
        is_settled: stat.is_settled(now),
        permissions: match stat.kind {
            'f' => permissions::permissions(meta),
            _ => 0,
        },
        stat,
        digest: Digest::Stat,
    }
}

fn digest(path: &Path, meta: &Metadata) -> Digest {
    let is_small = meta.len() <= DIGESTED;
    is_small
        .then(|| -> io::Result<blake3::Hash> {
            if meta.is_symlink() {
                return Ok(blake3::hash(&path_bytes::bytes(&std::fs::read_link(path)?)));
            }
            Ok(blake3::Hasher::new()
                .update_reader(text_files::open_regular(path)?)?
                .finalize())
        })
        .and_then(Result::ok)
        .map_or(Digest::Stat, Digest::Content)
}
