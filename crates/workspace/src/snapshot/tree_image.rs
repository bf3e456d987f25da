//! Takes and compares snapshots of the tree. A snapshot contains the raw bytes and the permissions of the tracked
//! files, and of the untracked files that are not ignored.
//!
//! In a git repository, a snapshot is a git tree object. The entry `files` of the tree object contains the raw
//! bytes of all files, including the files of nested repositories. The entry `modes` lists the permissions that
//! git does not record. The entry `nested` lists the nested repositories with the commits of their `HEAD`. Glee
//! writes the objects of a snapshot to the state folder, and does not change the user's repository and index.

use std::collections::{BTreeSet, HashSet};
use std::fs::Metadata;
use std::path::{Path, PathBuf};

use crate::code::text_files;
use crate::diff::{metadata_changes, unified};
use crate::git::{
    LINK, Lstat, Repository, SUBMODULE, Scan, object_id, path_bytes, records, worktree_scan,
};
use crate::guard::nested_repos;
use crate::select::filter;
use crate::snapshot::content_store::Bytes;
use crate::snapshot::manifest::{
    Beyond, COMPARED_CAP, FileKind, Image, ManifestEntry, RecordedTree, TreeId, differing,
};
use crate::snapshot::permissions::Modes;
use crate::snapshot::restage::index_line;
use crate::snapshot::{content_store, permissions};
use crate::{Result, Workspace, WorkspaceError};
use glee_model::domain::FileChange;
use glee_system::files;
use glee_system::private;

/// The maximum size of a recorded diff, in bytes.
const DIFF_CAP: usize = 256 << 10;
/// The maximum number of attempts to take a snapshot. An attempt fails if a file disappears during the attempt.
const ATTEMPTS: usize = 3;

impl Workspace {
    /// Records the current tree in the state folder.
    ///
    /// An unreadable file is recorded without its content. Ignored files are not recorded. Fails if a tree outside
    /// git is too large.
    pub fn snapshot(&self, state_dir: &Path) -> Result<TreeId> {
        self.record_with(state_dir, &Beyond::default())
            .map(|recorded| recorded.tree)
    }

    /// Compares two recorded trees file by file. A renamed file counts as one removed and one added file.
    pub fn changes(
        &self,
        before: &TreeId,
        after: &TreeId,
        state_dir: &Path,
    ) -> Result<Vec<FileChange>> {
        if before == after {
            return Ok(Vec::new());
        }
        let old = self.image(&before.0, state_dir)?;
        let new = self.image(&after.0, state_dir)?;
        let mut bytes = self.bytes(state_dir)?;
        differing(&old, &new)
            .map(|(path, old, new)| change(path, old, new, &mut bytes))
            .collect()
    }

    /// The recorded bytes of a file. Returns `None` if the tree does not contain the file.
    pub fn read_at(&self, tree: &TreeId, path: &str, state_dir: &Path) -> Option<Vec<u8>> {
        let found = match (self.bytes(state_dir).ok()?, &self.repository) {
            (Bytes::Git(mut objects), Some(_)) if !path.contains(['\n', '\0']) => {
                objects.read_file(&format!("{}:files/{path}", object_id(tree.0.as_bytes())?))
            }
            (mut bytes, _) => {
                let entry = self
                    .image(&tree.0, state_dir)
                    .ok()?
                    .remove(path.as_bytes())?;
                bytes.read(&entry.id, u64::MAX)
            }
        };
        found.ok()?.bytes().ok()
    }

    /// The bytes of a file in a commit. Returns `None` outside git, or if the file is not in the commit.
    pub fn read_at_commit(&self, commit: &str, path: &str) -> Option<Vec<u8>> {
        let mut objects = self.repository.as_ref()?.objects(None).ok()?;
        let commit = object_id(commit.as_bytes()).filter(|_| !path.contains(['\n', '\0']))?;
        objects
            .read_file(&format!("{commit}:{path}"))
            .ok()?
            .bytes()
            .ok()
    }

    /// The files of a recorded tree.
    pub fn image(&self, tree: &str, state_dir: &Path) -> Result<Image> {
        match &self.repository {
            Some(git) => git.image(tree, state_dir),
            None => content_store::image(tree, state_dir),
        }
    }

    pub fn bytes(&self, state_dir: &Path) -> Result<Bytes> {
        match &self.repository {
            Some(git) => git
                .objects(Some(&git.objects_in(state_dir)))
                .map(|objects| Bytes::Git(Box::new(objects))),
            None => Ok(Bytes::Copy(state_dir.to_owned())),
        }
    }
}

impl Repository {
    pub fn image(&self, tree: &str, state_dir: &Path) -> Result<Image> {
        let gone = || WorkspaceError::Gone(tree.to_owned());
        let id = object_id(tree.as_bytes()).ok_or_else(gone)?;
        let objects = self.objects_in(state_dir);
        let listed = self
            .call(["ls-tree", "-r", "-z", "--full-tree", &id])
            .reading_from(&[&objects])
            .output();
        let listed = listed.map_err(|_| gone())?;
        let mut reader = self.objects(Some(&objects))?;
        let modes = reader.read(&format!("{id}:modes"), u64::MAX)?.bytes().ok();
        let modes = modes
            .and_then(|bytes| Modes::read(&bytes))
            .ok_or_else(gone)?;
        let nested = reader
            .read(&format!("{id}:nested"), u64::MAX)?
            .bytes()
            .unwrap_or_default();
        let mut image = Image::new();
        for (mode, _, id, path) in records(&listed) {
            let Some(path) = path.strip_prefix(b"files/") else {
                continue;
            };
            let (kind, permissions) = match mode {
                LINK => (FileKind::Link, 0),
                SUBMODULE => (FileKind::Submodule, 0),
                mode => (FileKind::File, modes.of(path, mode & 0o111 != 0)),
            };
            image.insert(
                path.to_vec(),
                ManifestEntry {
                    kind,
                    id: id.to_owned(),
                    permissions,
                },
            );
        }
        for line in path_bytes::items(&nested, b'\n') {
            let (id, path) = path_bytes::word_and_path(line).ok_or_else(gone)?;
            image.insert(
                path,
                ManifestEntry {
                    kind: FileKind::Submodule,
                    id,
                    permissions: 0,
                },
            );
        }
        for (path, state) in modes.unreadable {
            image.insert(
                path,
                ManifestEntry {
                    kind: FileKind::Unreadable,
                    id: state,
                    permissions: 0,
                },
            );
        }
        Ok(image)
    }

    pub(crate) fn objects_in(&self, state_dir: &Path) -> PathBuf {
        let key = blake3::hash(&path_bytes::bytes(&self.common)).to_hex();
        state_dir.join("objects").join(&key[..16])
    }

    pub fn record(&self, state_dir: &Path, beyond: &Beyond) -> Result<RecordedTree> {
        let index = Some(&self.index).filter(|index| index.exists());
        let mut attempt = 1;
        loop {
            match self
                .survey(beyond)
                .and_then(|found| self.write(found, index, state_dir))
            {
                Err(WorkspaceError::Git { message, .. }) if is_unwritable(&message) => {
                    let source = std::io::Error::other(message);
                    return Err(WorkspaceError::State {
                        path: self.objects_in(state_dir),
                        source,
                    });
                }
                // A listed file has disappeared, so Glee takes the snapshot again.
                Err(WorkspaceError::Git { command, .. })
                    if command == "hash-object" && attempt < ATTEMPTS =>
                {
                    attempt += 1;
                }
                result => return result,
            }
        }
    }

    /// Takes a snapshot of the work tree of a repository that has no index. The snapshot contains only the files
    /// and links in `paths`.
    pub(crate) fn record_paths(
        &self,
        paths: &BTreeSet<Vec<u8>>,
        state_dir: &Path,
    ) -> Result<TreeId> {
        let mut survey = Survey::default();
        let mut lstat = Lstat::below(&self.top);
        for path in paths {
            if let Some(meta) = lstat.get(path) {
                survey.add(path, &meta, &lstat);
            }
        }
        survey.gone.clear();
        survey.modes.settle();
        self.write(survey, None, state_dir)
            .map(|recorded| recorded.tree)
    }

    /// Writes the tree of a snapshot: the entries in the user's index, with the changes in `found`.
    fn write(
        &self,
        found: Survey,
        user_index: Option<&PathBuf>,
        state_dir: &Path,
    ) -> Result<RecordedTree> {
        let objects = match user_index {
            None if !self.is_discovered => self.common.join("objects"),
            _ => self.objects_in(state_dir),
        };
        let state = WorkspaceError::state(&objects);
        private::folder(&objects).map_err(state)?;
        let scratch = tempfile::Builder::new()
            .prefix("image-")
            .tempdir_in(state_dir)
            .map_err(state)?;
        // The paths of the files that `git hash-object` reads. The target of each link is in a temporary file.
        let mut hashed: Vec<Vec<u8>> = found.files.iter().map(|(path, _)| path.clone()).collect();
        let modes = found.modes.text();
        let targets = found.links.iter().map(|(_, target)| target);
        for (number, bytes) in targets.chain([&modes, &found.nested]).enumerate() {
            let path = scratch.path().join(number.to_string());
            std::fs::write(&path, bytes).map_err(state)?;
            hashed.push(path_bytes::bytes(&path));
        }
        let input: Vec<u8> = hashed
            .iter()
            .flat_map(|path| [&path_bytes::quoted(path)[..], b"\n"].concat())
            .collect();
        let call = self
            .call(["hash-object", "-w", "--no-filters", "--stdin-paths"])
            .writing_to(&objects, self);
        let ids = path_bytes::shown(&call.output_of(&input)?);
        let mut ids = ids.lines();

        let mut updates: Vec<u8> = Vec::new();
        let zero = "0".repeat(self.empty_tree.len());
        for path in &found.gone {
            updates.extend(index_line(path, 0, &zero));
        }
        let entries = found.files.iter().map(|(path, mode)| (path, *mode));
        for (path, mode) in entries.chain(found.links.iter().map(|(path, _)| (path, LINK))) {
            updates.extend(index_line(path, mode, ids.next().unwrap_or(&zero)));
        }
        let [modes, nested] = [(); 2].map(|()| ids.next().unwrap_or(&zero));
        let nested = match found.nested.is_empty() {
            true => String::new(),
            false => format!("100644 blob {nested}\tnested\n"),
        };

        let index = scratch.path().join("index");
        if let Some(user_index) = user_index {
            std::fs::copy(user_index, &index).map_err(state)?;
        }
        if !updates.is_empty() {
            self.call(["update-index", "-z", "--index-info"])
                .index(&index)
                .output_of(&updates)?;
        }
        let call = self
            .call(["write-tree", "--missing-ok"])
            .index(&index)
            .writing_to(&objects, self);
        let files = call.created_id(&[])?;
        let entries = format!("040000 tree {files}\tfiles\n100644 blob {modes}\tmodes\n{nested}");
        let call = self
            .call(["mktree", "--missing"])
            .writing_to(&objects, self);
        let tree = TreeId(call.created_id(entries.as_bytes())?);
        let unreadable = found.modes.unreadable.into_keys().chain(found.unfollowed);
        Ok(RecordedTree {
            tree,
            unreadable: unreadable.collect(),
            sparse: found.sparse,
        })
    }

    fn survey(&self, beyond: &Beyond) -> Result<Survey> {
        let scan = self.scan()?;
        let files = scan
            .entries
            .iter()
            .filter(|entry| !matches!(entry.mode, LINK | SUBMODULE));
        let attributes = self.attributes(files.map(|entry| &entry.path))?;
        let autocrlf = self.autocrlf()?;
        let mut lstat = Lstat::below(&self.top);
        let mut survey = Survey::default();
        let mut merging = BTreeSet::new();
        for entry in scan.entries.iter() {
            let meta = lstat.get(&entry.path);
            if entry.stage > 0 && !merging.insert(&entry.path) {
                continue;
            }
            if entry.mode == SUBMODULE && meta.as_ref().is_some_and(Metadata::is_dir) {
                continue;
            }
            if entry.stage > 0 {
                survey.gone.push(entry.path.clone());
            }
            match meta {
                None if entry.is_sparse
                    && beyond
                        .sparse
                        .as_ref()
                        .is_none_or(|sparse| sparse.contains(&entry.path)) =>
                {
                    survey.sparse.push(entry.path.clone());
                }
                None => survey.gone.push(entry.path.clone()),
                // The index already contains the blob of an unchanged file. If git converts the file, the blob can
                // differ from the raw bytes, so Glee hashes the file again.
                Some(meta)
                    if scan.is_clean(entry, &meta)
                        && (entry.mode == LINK || !attributes.converts(&entry.path, autocrlf)) =>
                {
                    survey.modes.note(&entry.path, &meta);
                }
                Some(meta) => survey.add(&entry.path, &meta, &lstat),
            }
        }
        let inside = self.inside_of(&scan);
        let mut others: BTreeSet<Vec<u8>> = scan
            .untracked
            .iter()
            .chain(&inside.files)
            .cloned()
            .collect();
        if !beyond.paths.is_empty() {
            let tracked: HashSet<&Vec<u8>> = scan.entries.iter().map(|entry| &entry.path).collect();
            others.extend(
                beyond
                    .paths
                    .iter()
                    .filter(|path| !tracked.contains(path))
                    .cloned(),
            );
        }
        for path in others {
            if let Some(meta) = lstat.get(&path).filter(|meta| !files::is_own_output(meta)) {
                survey.add(&path, &meta, &lstat);
            }
        }
        survey.add_nested(&scan, inside);
        survey.modes.settle();
        Ok(survey)
    }
}

/// The changes that convert the user's index to the index of a snapshot.
#[derive(Default)]
struct Survey {
    /// The files to hash, with their git modes.
    files: Vec<(Vec<u8>, u32)>,
    links: Vec<(Vec<u8>, Vec<u8>)>,
    /// The index entries to remove before the files and links are added.
    gone: Vec<Vec<u8>>,
    sparse: Vec<Vec<u8>>,
    modes: Modes,
    /// The text of the snapshot's entry `nested`, with a line `commit path` for each nested repository.
    nested: Vec<u8>,
    unfollowed: Vec<Vec<u8>>,
}

impl Survey {
    fn add_nested(&mut self, scan: &Scan, inside: nested_repos::Inside) {
        let replaced = scan
            .entries
            .iter()
            .filter(|entry| entry.mode == SUBMODULE && has_files(&inside.files, &entry.path));
        self.gone.extend(replaced.map(|entry| entry.path.clone()));
        for repository in &inside.repositories {
            let head = repository
                .head
                .as_deref()
                .unwrap_or(content_store::NO_COMMIT);
            let path = path_bytes::quoted(&repository.folder);
            self.nested
                .extend([head.as_bytes(), b" ", &path, b"\n"].concat());
        }
        self.unfollowed.extend(
            inside
                .unfollowed
                .into_iter()
                .map(|nested| nested.folder.into_bytes()),
        );
    }

    /// Adds the file at `path` to the snapshot. A FIFO, a socket or a device is not opened and counts as missing.
    fn add(&mut self, path: &[u8], meta: &Metadata, lstat: &Lstat<'_>) {
        let full = lstat.full(path);
        if meta.is_symlink() {
            match std::fs::read_link(&full) {
                Ok(target) => self.links.push((path.to_vec(), path_bytes::bytes(&target))),
                Err(_) => self.gone.push(path.to_vec()),
            }
        } else if meta.is_file() && text_files::open_regular(&full).is_ok() {
            self.modes.note(path, meta);
            let mode = if worktree_scan::is_executable(meta) {
                0o100_755
            } else {
                0o100_644
            };
            self.files.push((path.to_vec(), mode));
        } else {
            self.gone.push(path.to_vec());
            if meta.is_file() {
                self.modes
                    .unreadable
                    .insert(path.to_vec(), permissions::state(meta));
            }
        }
    }
}

// If the snapshot contains the files of a submodule, these files replace the submodule's index entry.
fn has_files(files: &BTreeSet<Vec<u8>>, folder: &[u8]) -> bool {
    let start = [folder, b"/"].concat();
    files
        .range(start.clone()..)
        .next()
        .is_some_and(|path| path.starts_with(&start))
}

fn change(
    path: &[u8],
    old: Option<&ManifestEntry>,
    new: Option<&ManifestEntry>,
    bytes: &mut Bytes,
) -> Result<FileChange> {
    let mut change = FileChange {
        file: path_bytes::shown(path),
        added: 0,
        removed: 0,
        diff: None,
    };
    let modes = old
        .zip(new)
        .and_then(|(old, new)| metadata_changes::modes(path, old.mode(), new.mode()));
    if let (Some(old), Some(new)) = (old, new)
        && old.id == new.id
        && old.kind == new.kind
    {
        change.diff = modes;
        return Ok(change);
    }
    if let (Some(old_text), Some(new_text)) = (text(old, bytes)?, text(new, bytes)?) {
        let found = unified::between(
            (old.map(|_| path), &old_text),
            (new.map(|_| path), &new_text),
        );
        (change.added, change.removed) = (found.added, found.removed);
        let text = modes.unwrap_or_default() + &found.text;
        change.diff = Some(text).filter(|text| text.len() <= DIFF_CAP);
    }
    Ok(change)
}

/// The text of one side of a change. Returns `None` if the side has bytes that are not text, or that cannot be read.
fn text(side: Option<&ManifestEntry>, bytes: &mut Bytes) -> Result<Option<String>> {
    let Some(entry) = side else {
        return Ok(Some(String::new()));
    };
    let compared = bytes.compared(entry, COMPARED_CAP)?.ok();
    let text = compared.filter(|bytes| !filter::is_binary(bytes));
    Ok(text.map(text_files::lossy))
}

fn is_unwritable(message: &str) -> bool {
    let causes = [
        "unable to write",
        "unable to create",
        "No space left",
        "Disk quota",
        "Read-only file system",
    ];
    causes.iter().any(|cause| message.contains(cause))
}
