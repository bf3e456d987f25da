//! Images of the tree: every tracked and every untracked, unignored file as raw bytes, with its permissions.
//!
//! In a repository an image is a git tree `{files/, modes}`: `files` is the work tree without any conversion, `modes`
//! lists the permissions that git does not keep. A snapshot's objects go to Glee's state folder; only an image that
//! is kept goes to the repository, under a ref of its own. The user's index is copied, never written.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::domain::FileChange;
use crate::rules::side_by_side;

use super::git::{Call, Object, Objects, Repository, object_id};
use super::modes::Modes;
use super::scan::{self, LINK, Lstat, SUBMODULE, Scan};
use super::{Workspace, WorkspaceError, content, copy, difference, names, sift};

/// The bytes of a file that are compared line by line at most.
pub(super) const COMPARED_CAP: u64 = 4 << 20;
/// The bytes of a diff that are recorded at most.
const DIFF_CAP: usize = 256 << 10;
/// How often a scan is repeated when files go away under it.
const ATTEMPTS: usize = 3;

/// The id of a recorded tree: equal ids are equal bytes and permissions.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TreeId(pub String);

/// What a file of an image is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    File,
    Link,
    Submodule,
    /// It was there and could not be read; its content is unknown.
    Unreadable,
}

/// One file of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) kind: Kind,
    /// What its bytes are found under; a link's bytes are its target.
    pub(super) id: String,
    /// The permission bits of a file; 0 for anything else.
    pub(super) permissions: u32,
}

/// The files of an image by path.
pub(super) type Image = BTreeMap<Vec<u8>, Entry>;

/// A reader of the bytes of images.
pub(super) enum Bytes {
    Git(Box<Objects>),
    Copy(PathBuf),
}

impl Bytes {
    pub(super) fn read(&mut self, id: &str, cap: u64) -> Result<Object, WorkspaceError> {
        match self {
            Self::Git(objects) => objects.read(id, cap),
            Self::Copy(state_dir) => Ok(copy::read(state_dir, id, cap)),
        }
    }
}

impl Workspace {
    /// Records the tree as it is right now, in the state folder.
    ///
    /// A file that cannot be read is recorded as such; what is ignored is not recorded.
    ///
    /// # Errors
    /// git or the state folder fails; outside git, the tree is too large.
    pub fn snapshot(&self, state_dir: &Path) -> Result<TreeId, WorkspaceError> {
        match &self.repository {
            Some(git) => git.record(state_dir, Store::State).map(|(tree, _)| tree),
            None => copy::record(self.root(), state_dir).map(|(tree, _)| tree),
        }
    }

    /// What differs between two recorded trees, file by file; a renamed file is removed and added.
    ///
    /// # Errors
    /// A tree is gone.
    pub fn changes(
        &self,
        before: &TreeId,
        after: &TreeId,
        state_dir: &Path,
    ) -> Result<Vec<FileChange>, WorkspaceError> {
        if before == after {
            return Ok(Vec::new());
        }
        let (old, new) = (self.image(&before.0, state_dir)?, self.image(&after.0, state_dir)?);
        let mut bytes = self.bytes(state_dir)?;
        let paths: BTreeSet<&Vec<u8>> = old.keys().chain(new.keys()).collect();
        let mut changes = Vec::new();
        for path in paths {
            let (old, new) = (old.get(path), new.get(path));
            if old != new {
                changes.push(change(path, old, new, &mut bytes)?);
            }
        }
        Ok(changes)
    }

    /// The recorded bytes of a file; `None` if the tree has no such file.
    pub fn read_at(&self, tree: &TreeId, path: &str, state_dir: &Path) -> Option<Vec<u8>> {
        let mut bytes = self.bytes(state_dir).ok()?;
        let id = match &self.repository {
            Some(_) if !path.contains(['\n', '\0']) => format!("{}:files/{path}", object_id(tree.0.as_bytes())?),
            _ => self.image(&tree.0, state_dir).ok()?.remove(path.as_bytes())?.id,
        };
        match bytes.read(&id, u64::MAX).ok()? {
            Object::Bytes(bytes) => Some(bytes),
            Object::Larger(_) | Object::Missing => None,
        }
    }

    /// The files of a recorded tree, given by its id or by what it is kept as.
    pub(super) fn image(&self, tree: &str, state_dir: &Path) -> Result<Image, WorkspaceError> {
        match &self.repository {
            Some(git) => git.image(tree, state_dir),
            None => copy::image(tree, state_dir),
        }
    }

    pub(super) fn bytes(&self, state_dir: &Path) -> Result<Bytes, WorkspaceError> {
        match &self.repository {
            Some(git) => git.objects(Some(&git.objects_in(state_dir))).map(|objects| Bytes::Git(Box::new(objects))),
            None => Ok(Bytes::Copy(state_dir.to_owned())),
        }
    }
}

/// Where new objects go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Store {
    State,
    Repository,
}

impl Repository {
    pub(super) fn image(&self, tree: &str, state_dir: &Path) -> Result<Image, WorkspaceError> {
        let gone = || WorkspaceError::Gone { tree: tree.to_owned() };
        let id = match object_id(tree.as_bytes()) {
            Some(id) => id,
            None => self.kept(tree)?.ok_or_else(gone)?,
        };
        let objects = self.objects_in(state_dir);
        let listed = self.call(["ls-tree", "-r", "-z", "--full-tree", &id]).reading_also(&objects).output();
        let listed = listed.map_err(|_| gone())?;
        let modes = match self.objects(Some(&objects))?.read(&format!("{id}:modes"), u64::MAX)? {
            Object::Bytes(bytes) => Modes::read(&bytes).ok_or_else(gone)?,
            Object::Larger(_) | Object::Missing => return Err(gone()),
        };
        let mut image = Image::new();
        for record in listed.split(|byte| *byte == 0) {
            let Some(tab) = record.iter().position(|byte| *byte == b'\t') else { continue };
            let Some(path) = record[tab + 1..].strip_prefix(b"files/") else { continue };
            let words = names::shown(&record[..tab]);
            let mut words = words.split(' ');
            let mode = words.next().and_then(|mode| u32::from_str_radix(mode, 8).ok()).ok_or_else(gone)?;
            let id = words.nth(1).ok_or_else(gone)?.to_owned();
            let (kind, permissions) = match mode {
                LINK => (Kind::Link, 0),
                SUBMODULE => (Kind::Submodule, 0),
                mode => (Kind::File, modes.of(path, mode & 0o111 != 0)),
            };
            image.insert(path.to_vec(), Entry { kind, id, permissions });
        }
        for (path, state) in modes.unreadable {
            image.insert(path, Entry { kind: Kind::Unreadable, id: state, permissions: 0 });
        }
        Ok(image)
    }

    /// The folder of the objects of this repository's snapshots.
    pub(super) fn objects_in(&self, state_dir: &Path) -> PathBuf {
        let key = blake3::hash(&names::bytes(&self.common)).to_hex();
        state_dir.join("objects").join(&key[..16])
    }

    /// Writes the objects of an image; returns its id and the files that could not be read.
    pub(super) fn record(&self, state_dir: &Path, store: Store) -> Result<(TreeId, Vec<Vec<u8>>), WorkspaceError> {
        for _ in 1..ATTEMPTS {
            match self.record_once(state_dir, store) {
                // A file that was listed went away before it was read: look again.
                Err(WorkspaceError::Git { command, .. }) if command == "hash-object" => {}
                other => return other,
            }
        }
        self.record_once(state_dir, store)
    }

    fn record_once(&self, state_dir: &Path, store: Store) -> Result<(TreeId, Vec<Vec<u8>>), WorkspaceError> {
        let objects = self.objects_in(state_dir);
        let state = |source| WorkspaceError::State { path: objects.clone(), source };
        std::fs::create_dir_all(&objects).map_err(state)?;
        let scratch = tempfile::Builder::new().prefix("image-").tempdir_in(state_dir).map_err(state)?;
        let write = |name: String, bytes: &[u8]| {
            let path = scratch.path().join(name);
            std::fs::write(&path, bytes).map(|()| names::bytes(&path)).map_err(state)
        };
        let stored = |call: Call| match store {
            Store::State => call.writing_to(&objects, self),
            Store::Repository => call,
        };

        let found = self.survey()?;
        let mut hashed: Vec<Vec<u8>> = found.files.iter().map(|(path, _)| path.clone()).collect();
        for (number, (_, target)) in found.links.iter().enumerate() {
            hashed.push(write(format!("link{number}"), target)?);
        }
        hashed.push(write("modes".to_owned(), &found.modes.text())?);
        let input: Vec<u8> =
            hashed.iter().flat_map(|path| names::quoted(path).into_iter().chain([b'\n'])).collect();
        let ids = stored(self.call(["hash-object", "-w", "--no-filters", "--stdin-paths"])).output_of(&input)?;
        let ids = names::shown(&ids);
        let mut ids = ids.lines();

        let mut updates: Vec<u8> = Vec::new();
        let mut update = |mode: u32, id: &str, path: &[u8]| {
            updates.extend(format!("{mode:06o} {id}\t").bytes().chain(path.iter().copied()).chain([0]));
        };
        let zero = "0".repeat(self.empty_tree.len());
        found.gone.iter().for_each(|path| update(0, &zero, path));
        for (path, mode) in &found.files {
            update(*mode, ids.next().unwrap_or(&zero), path);
        }
        for (path, _) in &found.links {
            update(LINK, ids.next().unwrap_or(&zero), path);
        }
        let modes = ids.next().unwrap_or(&zero).to_owned();

        let index = scratch.path().join("index");
        let user_index = self.git_dir.join("index");
        if user_index.exists() {
            std::fs::copy(&user_index, &index).map_err(state)?;
        }
        if !updates.is_empty() {
            self.call(["update-index", "-z", "--index-info"]).index(&index).output_of(&updates)?;
        }
        let files = stored(self.call(["write-tree", "--missing-ok"]).index(&index)).output()?;
        let files = id_of("write-tree", &files)?;
        let entries = format!("040000 tree {files}\tfiles\n100644 blob {modes}\tmodes\n");
        let tree = stored(self.call(["mktree", "--missing"])).output_of(entries.as_bytes())?;
        Ok((TreeId(id_of("mktree", &tree)?), found.modes.unreadable.into_keys().collect()))
    }

    /// Looks at every file and decides what has to be read.
    fn survey(&self) -> Result<Survey, WorkspaceError> {
        let scan = self.scan()?;
        let sights = side_by_side::parts(&scan.entries, |entries| {
            let mut lstat = Lstat::below(&self.top);
            entries.iter().map(|entry| lstat.get(&entry.path)).collect::<Vec<_>>()
        });
        let mut lstat = Lstat::below(&self.top);
        let mut survey = Survey::default();
        let mut clean = Vec::new();
        let mut merging = BTreeSet::new();
        for (entry, sight) in scan.entries.iter().zip(sights.into_iter().flatten()) {
            if entry.mode == SUBMODULE || (entry.stage > 0 && !merging.insert(&entry.path)) {
                continue;
            }
            if entry.stage > 0 {
                survey.gone.push(entry.path.clone());
            }
            match sight {
                None if entry.may_be_missing() => {}
                None => survey.gone.push(entry.path.clone()),
                Some(meta) if scan.is_clean(entry, &meta) => {
                    survey.modes.note(&entry.path, &meta);
                    if entry.mode != LINK {
                        clean.push((&entry.path, entry.mode));
                    }
                }
                Some(meta) => survey.met(&entry.path, &meta, &lstat),
            }
        }
        let converted = self.converted(&scan, clean.iter().map(|(path, _)| *path))?;
        for (path, mode) in clean.into_iter().filter(|(path, _)| converted.contains(*path)) {
            survey.files.push((path.clone(), mode));
        }
        for path in self.untracked(&scan) {
            if let Some(meta) = lstat.get(&path) {
                survey.met(&path, &meta, &lstat);
            }
        }
        survey.modes.settle();
        Ok(survey)
    }

    /// Which of some files git may have converted on their way from the index to the work tree.
    fn converted<'a>(
        &self,
        scan: &Scan,
        paths: impl Iterator<Item = &'a Vec<u8>>,
    ) -> Result<BTreeSet<Vec<u8>>, WorkspaceError> {
        let paths: Vec<&Vec<u8>> = paths.collect();
        let (asked, autocrlf) = std::thread::scope(|scope| {
            let autocrlf = scope.spawn(|| self.autocrlf());
            (self.has_attributes(scan, &paths), autocrlf.join())
        });
        let autocrlf = autocrlf.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        if !asked && !autocrlf {
            return Ok(BTreeSet::new());
        }
        let attributes = self.attributes(paths.iter().copied())?;
        Ok(paths.into_iter().filter(|path| attributes.converts(path, autocrlf)).cloned().collect())
    }
}

impl Repository {
    /// Whether some file says anything of the attributes of these files, or cannot be ruled out to: asking git about
    /// a hundred thousand of them takes longer than looking at them.
    fn has_attributes(&self, scan: &Scan, paths: &[&Vec<u8>]) -> bool {
        // Where it is missing in the work tree, git reads the one in the index.
        let is_tracked = |path: &[u8]| path == b".gitattributes" || path.ends_with(b"/.gitattributes");
        if scan.entries.iter().any(|entry| is_tracked(&entry.path)) {
            return true;
        }
        let mut folders: HashSet<&[u8]> = HashSet::from([b"".as_slice()]);
        for path in paths {
            let mut folder = names::folder(path);
            while folders.insert(folder) {
                folder = names::folder(folder);
            }
        }
        let own = folders.iter().map(|folder| self.top.join(names::path(folder)).join(".gitattributes"));
        let info = [&self.git_dir, &self.common].map(|folder| folder.join("info/attributes"));
        own.chain(info).any(|file| file.symlink_metadata().is_ok())
            || self.call(["config", "--get", "attr.tree"]).output().is_ok()
            || ["GIT_ATTR_GLOBAL", "GIT_ATTR_SYSTEM"].into_iter().any(|name| {
                match self.call(["var", name]).output() {
                    Ok(file) => names::path(file.trim_ascii_end()).exists(),
                    // Older ones do not tell.
                    Err(_) => true,
                }
            })
    }
}

/// What an image consists of besides what the index has already.
#[derive(Default)]
struct Survey {
    /// Files to read, with their mode in git.
    files: Vec<(Vec<u8>, u32)>,
    /// Links with their targets.
    links: Vec<(Vec<u8>, Vec<u8>)>,
    /// Paths to take out of the index.
    gone: Vec<Vec<u8>>,
    modes: Modes,
}

impl Survey {
    /// Takes in what was met at a path. A FIFO, a socket or a device is no content and is not opened.
    fn met(&mut self, path: &[u8], meta: &std::fs::Metadata, lstat: &Lstat<'_>) {
        let full = lstat.full(path);
        if meta.is_symlink() {
            match std::fs::read_link(&full) {
                Ok(target) => self.links.push((path.to_vec(), names::bytes(&target))),
                Err(_) => self.gone.push(path.to_vec()),
            }
        } else if meta.is_file() && content::open_regular(&full).is_ok() {
            self.modes.note(path, meta);
            let mode = if scan::is_executable(meta) { 0o100_755 } else { 0o100_644 };
            self.files.push((path.to_vec(), mode));
        } else {
            self.gone.push(path.to_vec());
            if meta.is_file() {
                let state = format!("{}/{:?}", meta.len(), meta.modified().ok());
                self.modes.unreadable.insert(path.to_vec(), blake3::hash(state.as_bytes()).to_hex().to_string());
            }
        }
    }
}

/// One difference between two images.
fn change(
    path: &[u8],
    old: Option<&Entry>,
    new: Option<&Entry>,
    bytes: &mut Bytes,
) -> Result<FileChange, WorkspaceError> {
    let mut text_of = |side: Option<&Entry>| -> Result<Option<String>, WorkspaceError> {
        let Some(kept) = side else { return Ok(Some(String::new())) };
        Ok(match kept.kind {
            Kind::Unreadable => None,
            Kind::Submodule => Some(format!("Subproject commit {}\n", kept.id)),
            Kind::File | Kind::Link => match bytes.read(&kept.id, COMPARED_CAP)? {
                Object::Bytes(bytes) if !sift::is_binary(&bytes) => Some(content::lossy(bytes)),
                Object::Bytes(_) | Object::Larger(_) | Object::Missing => None,
            },
        })
    };
    let mut change = FileChange { file: names::shown(path), added: 0, removed: 0, diff: None };
    if let (Some(old), Some(new)) = (old, new)
        && old.id == new.id
        && old.kind == new.kind
    {
        change.diff = Some(format!("old mode {:03o}\nnew mode {:03o}\n", old.permissions, new.permissions));
        return Ok(change);
    }
    if let (Some(old_text), Some(new_text)) = (text_of(old)?, text_of(new)?) {
        let found = difference::between((old.map(|_| path), &old_text), (new.map(|_| path), &new_text));
        (change.added, change.removed) = (found.added, found.removed);
        change.diff = Some(found.text).filter(|text| text.len() <= DIFF_CAP);
    }
    Ok(change)
}

pub(super) fn id_of(command: &str, output: &[u8]) -> Result<String, WorkspaceError> {
    object_id(output.trim_ascii_end()).ok_or_else(|| WorkspaceError::Git {
        command: command.to_owned(),
        message: format!("it printed `{}`", names::shown(output).trim()),
    })
}

impl Workspace {
    /// The paths of all files that are tracked, or untracked and not ignored, right now.
    pub(super) fn paths_now(&self) -> Result<BTreeSet<Vec<u8>>, WorkspaceError> {
        let Some(git) = &self.repository else { return copy::paths(self.root()) };
        let scan: Scan = git.scan()?;
        let mut lstat = Lstat::below(&git.top);
        let mut paths = git.untracked(&scan);
        paths.extend(scan.entries.into_iter().filter(|entry| entry.mode != SUBMODULE).map(|entry| entry.path));
        paths.retain(|path| lstat.get(path).is_some_and(|meta| !meta.is_dir()));
        Ok(paths)
    }
}
