//! Images of the tree: every tracked and every untracked, unignored file as raw bytes, with its permissions.
//!
//! In a repository an image is a git tree `{files/, modes}`: `files` is the work tree without any conversion, `modes`
//! lists the permissions that git does not keep. The files of repositories inside it are part of `files`; a third entry,
//! `nested`, lists these repositories with the commits of their `HEAD`. Its objects go to Glee's state folder; the user's
//! repository is read, its index copied, and neither is written.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use crate::domain::FileChange;
use crate::system::private;
use crate::workspace::code::text_files;
use crate::workspace::diff::{metadata_changes, unified};
use crate::workspace::git::path_bytes;
use crate::workspace::git::plumbing::{GitObject, Repository, object_id, records};
use crate::workspace::git::worktree_scan::{self, LINK, Lstat, SUBMODULE, Scan};
use crate::workspace::guard::nested_repos;
use crate::workspace::root::Workspace;
use crate::workspace::select::filter;
use crate::workspace::snapshot::content_store::{self, Bytes};
use crate::workspace::snapshot::manifest::{
    Beyond, COMPARED_CAP, FileKind, Image, ManifestEntry, RecordedTree, TreeId, differing,
};
use crate::workspace::snapshot::permissions::{self, Modes};
use crate::workspace::{Result, WorkspaceError};

/// The bytes of a diff that are recorded at most.
const DIFF_CAP: usize = 256 << 10;
/// How often a scan is repeated when files go away under it.
const ATTEMPTS: usize = 3;

impl Workspace {
    /// Records the tree as it is right now, in the state folder.
    ///
    /// A file that cannot be read is recorded as such; what is ignored is not recorded. Fails when git or the state
    /// folder fails; outside git, the tree is too large.
    pub fn snapshot(&self, state_dir: &Path) -> Result<TreeId> {
        self.record_with(state_dir, &Beyond::default()).map(|recorded| recorded.tree)
    }

    /// What differs between two recorded trees, file by file; a renamed file is removed and added.
    pub fn changes(&self, before: &TreeId, after: &TreeId, state_dir: &Path) -> Result<Vec<FileChange>> {
        if before == after {
            return Ok(Vec::new());
        }
        let (old, new) = (self.image(&before.0, state_dir)?, self.image(&after.0, state_dir)?);
        let mut bytes = self.bytes(state_dir)?;
        differing(&old, &new).map(|(path, old, new)| change(path, old, new, &mut bytes)).collect()
    }

    /// The recorded bytes of a file; `None` if the tree has no such file.
    pub fn read_at(&self, tree: &TreeId, path: &str, state_dir: &Path) -> Option<Vec<u8>> {
        let found = match (self.bytes(state_dir).ok()?, &self.repository) {
            (Bytes::Git(mut objects), Some(_)) if !path.contains(['\n', '\0']) => {
                objects.read_file(&format!("{}:files/{path}", object_id(tree.0.as_bytes())?))
            }
            (mut bytes, _) => {
                let entry = self.image(&tree.0, state_dir).ok()?.remove(path.as_bytes())?;
                bytes.read(&entry.id, u64::MAX)
            }
        };
        found.ok()?.bytes().ok()
    }

    /// The bytes of a file in a commit of the repository; `None` outside of git, and where it is not there.
    pub fn read_at_commit(&self, commit: &str, path: &str) -> Option<Vec<u8>> {
        let mut objects = self.repository.as_ref()?.objects(None).ok()?;
        let is_plain = !path.contains(['\n', '\0']);
        objects
            .read_file(&format!("{}:{path}", object_id(commit.as_bytes()).filter(|_| is_plain)?))
            .ok()?
            .bytes()
            .ok()
    }

    /// The files of a recorded tree, given by its id or by what it is kept as.
    pub(crate) fn image(&self, tree: &str, state_dir: &Path) -> Result<Image> {
        match &self.repository {
            Some(git) => git.image(tree, state_dir),
            None => content_store::image(tree, state_dir),
        }
    }

    pub(crate) fn bytes(&self, state_dir: &Path) -> Result<Bytes> {
        match &self.repository {
            Some(git) => git.objects(Some(&git.objects_in(state_dir))).map(|objects| Bytes::Git(Box::new(objects))),
            None => Ok(Bytes::Copy(state_dir.to_owned())),
        }
    }
}

impl Repository {
    pub(crate) fn image(&self, tree: &str, state_dir: &Path) -> Result<Image> {
        let gone = || WorkspaceError::Gone(tree.to_owned());
        let id = match object_id(tree.as_bytes()) {
            Some(id) => id,
            None => self.find(&format!("{tree}^{{tree}}"))?.ok_or_else(gone)?,
        };
        let objects = self.objects_in(state_dir);
        let listed = self.call(["ls-tree", "-r", "-z", "--full-tree", &id]).reading_from(&[&objects]).output();
        let listed = listed.map_err(|_| gone())?;
        let mut reader = self.objects(Some(&objects))?;
        let modes = match reader.read(&format!("{id}:modes"), u64::MAX)? {
            GitObject::Bytes(bytes) => Modes::read(&bytes).ok_or_else(gone)?,
            GitObject::Larger(_) | GitObject::Missing => return Err(gone()),
        };
        let nested = match reader.read(&format!("{id}:nested"), u64::MAX)? {
            GitObject::Bytes(bytes) => read_nested(&bytes).ok_or_else(gone)?,
            GitObject::Larger(_) | GitObject::Missing => Vec::new(),
        };
        let mut image = Image::new();
        for (mode, _, id, path) in records(&listed) {
            let Some(path) = path.strip_prefix(b"files/") else { continue };
            let (kind, permissions) = match mode {
                LINK => (FileKind::Link, 0),
                SUBMODULE => (FileKind::Submodule, 0),
                mode => (FileKind::File, modes.of(path, mode & 0o111 != 0)),
            };
            image.insert(path.to_vec(), ManifestEntry { kind, id: id.to_owned(), permissions });
        }
        for (path, id) in nested {
            image.insert(path, ManifestEntry { kind: FileKind::Submodule, id, permissions: 0 });
        }
        for (path, state) in modes.unreadable {
            image.insert(path, ManifestEntry { kind: FileKind::Unreadable, id: state, permissions: 0 });
        }
        Ok(image)
    }

    /// The folder of the objects of this repository's snapshots.
    pub(crate) fn objects_in(&self, state_dir: &Path) -> PathBuf {
        let key = blake3::hash(&path_bytes::bytes(&self.common)).to_hex();
        state_dir.join("objects").join(&key[..16])
    }

    /// Writes the objects of an image to the state folder.
    pub(crate) fn record(&self, state_dir: &Path, beyond: &Beyond) -> Result<RecordedTree> {
        let index = Some(&self.index).filter(|index| index.exists());
        let mut attempt = 1;
        loop {
            match self.survey(beyond).and_then(|found| self.write(found, index, state_dir)) {
                Err(WorkspaceError::Git { message, .. }) if is_unwritable(&message) => {
                    let source = std::io::Error::other(message);
                    return Err(WorkspaceError::State { path: self.objects_in(state_dir), source });
                }
                // A file that was listed went away before it was read: look again.
                Err(WorkspaceError::Git { command, .. }) if command == "hash-object" && attempt < ATTEMPTS => {
                    attempt += 1;
                }
                result => return result,
            }
        }
    }

    /// Records just these files, for a repository without an index of its own.
    pub(crate) fn record_paths(&self, paths: &BTreeSet<Vec<u8>>, state_dir: &Path) -> Result<TreeId> {
        let mut survey = Survey::default();
        let mut lstat = Lstat::below(&self.top);
        for path in paths {
            if let Some(meta) = lstat.get(path) {
                survey.met(path, &meta, &lstat);
            }
        }
        survey.gone.clear();
        survey.modes.settle();
        self.write(survey, None, state_dir).map(|recorded| recorded.tree)
    }

    /// Writes what was found as a tree on top of an index.
    fn write(&self, found: Survey, user_index: Option<&PathBuf>, state_dir: &Path) -> Result<RecordedTree> {
        let objects = match user_index {
            None if !self.is_found => self.common.join("objects"),
            _ => self.objects_in(state_dir),
        };
        let state = |source| WorkspaceError::State { path: objects.clone(), source };
        private::folder(&objects).map_err(state)?;
        let scratch = tempfile::Builder::new().prefix("image-").tempdir_in(state_dir).map_err(state)?;
        let write = |name: String, bytes: &[u8]| {
            let path = scratch.path().join(name);
            std::fs::write(&path, bytes).map(|()| path_bytes::bytes(&path)).map_err(state)
        };
        let mut hashed: Vec<Vec<u8>> = found.files.iter().map(|(path, _)| path.clone()).collect();
        for (number, (_, target)) in found.links.iter().enumerate() {
            hashed.push(write(format!("link{number}"), target)?);
        }
        hashed.push(write("modes".to_owned(), &found.modes.text())?);
        if !found.nested.is_empty() {
            hashed.push(write("nested".to_owned(), &found.nested)?);
        }
        let input: Vec<u8> =
            hashed.iter().flat_map(|path| path_bytes::quoted(path).into_iter().chain([b'\n'])).collect();
        let ids = self
            .call(["hash-object", "-w", "--no-filters", "--stdin-paths"])
            .writing_to(&objects, self)
            .output_of(&input)?;
        let ids = path_bytes::shown(&ids);
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
        let nested = ids.next().map(|id| format!("100644 blob {id}\tnested\n")).unwrap_or_default();

        let index = scratch.path().join("index");
        if let Some(user_index) = user_index {
            std::fs::copy(user_index, &index).map_err(state)?;
        }
        if !updates.is_empty() {
            self.call(["update-index", "-z", "--index-info"]).index(&index).output_of(&updates)?;
        }
        let files = self.call(["write-tree", "--missing-ok"]).index(&index).writing_to(&objects, self).output()?;
        let files = id_of("write-tree", &files)?;
        let entries = format!("040000 tree {files}\tfiles\n100644 blob {modes}\tmodes\n{nested}");
        let tree = self.call(["mktree", "--missing"]).writing_to(&objects, self).output_of(entries.as_bytes())?;
        let tree = TreeId(id_of("mktree", &tree)?);
        let unreadable = found.modes.unreadable.into_keys().chain(found.unfollowed);
        Ok(RecordedTree { tree, unreadable: unreadable.collect(), sparse: found.sparse })
    }

    /// Looks at every file and decides what has to be read.
    fn survey(&self, beyond: &Beyond) -> Result<Survey> {
        let scan = self.scan()?;
        let files = scan.entries.iter().filter(|entry| !matches!(entry.mode, LINK | SUBMODULE));
        let attributes = self.attributes(files.map(|entry| &entry.path))?;
        let autocrlf = self.autocrlf()?;
        let mut lstat = Lstat::below(&self.top);
        let mut survey = Survey::default();
        let mut merging = BTreeSet::new();
        for entry in &scan.entries {
            let sight = lstat.get(&entry.path);
            if entry.stage > 0 && !merging.insert(&entry.path) {
                continue;
            }
            if entry.mode == SUBMODULE && sight.as_ref().is_some_and(std::fs::Metadata::is_dir) {
                continue;
            }
            if entry.stage > 0 {
                survey.gone.push(entry.path.clone());
            }
            match sight {
                None if entry.may_be_missing()
                    && beyond.sparse.as_ref().is_none_or(|sparse| sparse.contains(&entry.path)) =>
                {
                    survey.sparse.push(entry.path.clone());
                }
                None => survey.gone.push(entry.path.clone()),
                // The work tree may have other bytes than the index where git converted them.
                Some(meta)
                    if scan.is_clean(entry, &meta)
                        && (entry.mode == LINK || !attributes.converts(&entry.path, autocrlf)) =>
                {
                    survey.modes.note(&entry.path, &meta);
                }
                Some(meta) => survey.met(&entry.path, &meta, &lstat),
            }
        }
        let inside = self.inside_of(&scan);
        let mut others: BTreeSet<Vec<u8>> = scan.untracked.iter().chain(&inside.files).cloned().collect();
        if !beyond.paths.is_empty() {
            let tracked: HashSet<&Vec<u8>> = scan.entries.iter().map(|entry| &entry.path).collect();
            others.extend(beyond.paths.iter().filter(|path| !tracked.contains(path)).cloned());
        }
        for path in others {
            if let Some(meta) = lstat.get(&path) {
                survey.met(&path, &meta, &lstat);
            }
        }
        survey.take_nested(&scan, inside);
        survey.modes.settle();
        Ok(survey)
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
    sparse: Vec<Vec<u8>>,
    modes: Modes,
    /// The list of the repositories inside: a line `commit path` for each.
    nested: Vec<u8>,
    unfollowed: Vec<Vec<u8>>,
}

impl Survey {
    fn take_nested(&mut self, scan: &Scan, inside: nested_repos::Inside) {
        // The files of a submodule stand in the place of its entry.
        let has_files = |folder: &[u8]| {
            let start = [folder, b"/"].concat();
            inside.files.range(start.clone()..).next().is_some_and(|path| path.starts_with(&start))
        };
        let replaced = scan.entries.iter().filter(|entry| entry.mode == SUBMODULE && has_files(&entry.path));
        self.gone.extend(replaced.map(|entry| entry.path.clone()));
        for repository in &inside.repositories {
            let head = repository.head.as_deref().unwrap_or(content_store::NO_COMMIT);
            self.nested
                .extend(head.bytes().chain([b' ']).chain(path_bytes::quoted(&repository.folder)).chain([b'\n']));
        }
        self.unfollowed.extend(inside.unfollowed.into_iter().map(|nested| nested.folder.into_bytes()));
    }

    /// Takes in what was met at a path. A FIFO, a socket or a device is no content and is not opened.
    fn met(&mut self, path: &[u8], meta: &std::fs::Metadata, lstat: &Lstat<'_>) {
        let full = lstat.full(path);
        if meta.is_symlink() {
            match std::fs::read_link(&full) {
                Ok(target) => self.links.push((path.to_vec(), path_bytes::bytes(&target))),
                Err(_) => self.gone.push(path.to_vec()),
            }
        } else if meta.is_file() && text_files::open_regular(&full).is_ok() {
            self.modes.note(path, meta);
            let mode = if worktree_scan::is_executable(meta) { 0o100_755 } else { 0o100_644 };
            self.files.push((path.to_vec(), mode));
        } else {
            self.gone.push(path.to_vec());
            if meta.is_file() {
                self.modes.unreadable.insert(path.to_vec(), permissions::state(meta));
            }
        }
    }
}

/// Reads the list of repositories inside a tree: their folders with their commits.
fn read_nested(text: &[u8]) -> Option<Vec<(Vec<u8>, String)>> {
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let read = |line: &[u8]| {
        let blank = line.iter().position(|byte| *byte == b' ')?;
        Some((path_bytes::unquoted(&line[blank + 1..])?, object_id(&line[..blank])?))
    };
    lines.map(read).collect()
}

fn change(
    path: &[u8],
    old: Option<&ManifestEntry>,
    new: Option<&ManifestEntry>,
    bytes: &mut Bytes,
) -> Result<FileChange> {
    let mut text_of = |side: Option<&ManifestEntry>| -> Result<Option<String>> {
        let Some(kept) = side else { return Ok(Some(String::new())) };
        Ok(match kept.kind {
            FileKind::Unreadable => None,
            FileKind::Submodule => Some(format!("Subproject commit {}\n", kept.id)),
            FileKind::File | FileKind::Link => match bytes.read(&kept.id, COMPARED_CAP)? {
                GitObject::Bytes(bytes) if !filter::is_binary(&bytes) => Some(text_files::lossy(bytes)),
                GitObject::Bytes(_) | GitObject::Larger(_) | GitObject::Missing => None,
            },
        })
    };
    let mut change = FileChange { file: path_bytes::shown(path), added: 0, removed: 0, diff: None };
    let modes = old.zip(new).and_then(|(old, new)| metadata_changes::modes(path, old.mode(), new.mode()));
    if let (Some(old), Some(new)) = (old, new)
        && old.id == new.id
        && old.kind == new.kind
    {
        change.diff = modes;
        return Ok(change);
    }
    if let (Some(old_text), Some(new_text)) = (text_of(old)?, text_of(new)?) {
        let found = unified::between((old.map(|_| path), &old_text), (new.map(|_| path), &new_text));
        (change.added, change.removed) = (found.added, found.removed);
        let text = modes.unwrap_or_default() + &found.text;
        change.diff = Some(text).filter(|text| text.len() <= DIFF_CAP);
    }
    Ok(change)
}

fn is_unwritable(message: &str) -> bool {
    ["unable to write", "unable to create", "No space left", "Disk quota", "Read-only file system"]
        .iter()
        .any(|words| message.contains(words))
}

pub(crate) fn id_of(command: &str, output: &[u8]) -> Result<String> {
    object_id(output.trim_ascii_end()).ok_or_else(|| WorkspaceError::Git {
        command: command.to_owned(),
        message: format!("it printed `{}`", path_bytes::shown(output).trim()),
    })
}
