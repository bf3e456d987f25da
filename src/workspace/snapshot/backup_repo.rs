//! Trees that outlive the repository: a coder may rewrite its history, collect its garbage or remove `.git`.
//!
//! The twin of a run is a small repository in the state folder that holds the objects of the run's trees. They are hard
//! links to the user's objects and to those that Glee wrote, so it costs hardly any space and time; where no link can be
//! made (another file system), the objects that a tree consists of are copied into a pack, and no others.

use std::io;
use std::path::{Path, PathBuf};

use crate::domain::RunId;
use crate::system::private;
use crate::workspace::git::path_bytes;
use crate::workspace::git::plumbing::{Repository, object_id, records};
use crate::workspace::git::worktree_scan::SUBMODULE;
use crate::workspace::snapshot::manifest::TreeId;
use crate::workspace::{Result, WorkspaceError};

/// How many repositories may borrow from each other in a row, as with git.
const BORROWED: usize = 5;

/// The folder of everything that is kept for a run.
pub(crate) fn folder(run: &RunId, state_dir: &Path) -> PathBuf {
    state_dir.join("kept").join(&run.0)
}

/// Makes the twin of a run hold a tree that is in the repository or in Glee's store.
pub(crate) fn pin(git: &Repository, run: &RunId, tree: &TreeId, state_dir: &Path) -> Result<()> {
    let folder = folder(run, state_dir);
    let failed = |source| WorkspaceError::State { path: folder.clone(), source };
    begin(git, &folder).map_err(failed)?;
    let store = git.objects_in(state_dir);
    let objects = folder.join("objects");
    let needed = git.objects_of(tree, &store)?;
    let sources = sources(&store, &git.common.join("objects"));
    let packed = link_loose(&needed, &sources, &objects).map_err(failed)?;
    if packed.is_empty() {
        return Ok(());
    }
    for source in &sources {
        link_packs(&source.join("pack"), &objects.join("pack"));
    }
    let missing = Repository::twin(&folder, &git.top, git.empty_tree)?.missing(&packed, None)?;
    if missing.is_empty() {
        return Ok(());
    }
    // What the repository itself lacks, it can do without (a partial clone).
    let lost = git.missing(&missing, Some(&store))?;
    let mut input = Vec::new();
    for id in missing.iter().filter(|id| !lost.contains(id)) {
        input.extend(id.bytes().chain([b'\n']));
    }
    if !input.is_empty() {
        // Its temporary files are made in the folder that it writes to.
        let call = git.call(["pack-objects", "--quiet"]).arg(objects.join("pack/pack")).writing_to(&objects, git);
        call.reading_from(&[&store, &git.common.join("objects")]).output_of(&input)?;
    }
    Ok(())
}

/// The twin of a run, used for the files of `top`; `None` if there is none.
pub(crate) fn open(run: &RunId, top: &Path, state_dir: &Path) -> Result<Option<Repository>> {
    let folder = folder(run, state_dir);
    let Ok(config) = std::fs::read_to_string(folder.join("config")) else { return Ok(None) };
    let empty_tree = if config.contains("sha256") {
        crate::workspace::git::plumbing::EMPTY_SHA256
    } else {
        crate::workspace::git::plumbing::EMPTY_SHA1
    };
    Repository::twin(&folder, top, empty_tree).map(Some)
}

/// The tree that an older Glee noted, with the root that it belongs to.
pub(crate) fn noted(run: &RunId, state_dir: &Path) -> Option<(String, PathBuf)> {
    let note = std::fs::read(folder(run, state_dir).join("tree")).ok()?;
    let mut lines = note.split(|byte| *byte == b'\n');
    let tree = lines.next().and_then(object_id)?;
    Some((tree, path_bytes::path(&path_bytes::unquoted(lines.next()?)?)))
}

/// Makes the twin as an empty repository, unless it is there.
fn begin(git: &Repository, folder: &Path) -> io::Result<()> {
    for name in ["refs", "objects/pack"] {
        private::folder(&folder.join(name))?;
    }
    if folder.join("config").exists() {
        return Ok(());
    }
    private::write(&folder.join("HEAD"), b"ref: refs/heads/none\n")?;
    private::write(&folder.join("config"), git.format().as_bytes())
}

/// The folders that objects come from: Glee's store, the repository, and those it borrows from.
fn sources(store: &Path, objects: &Path) -> Vec<PathBuf> {
    let mut sources = vec![store.to_owned(), objects.to_owned()];
    let mut latest = vec![objects.to_owned()];
    for _ in 0..BORROWED {
        for from in std::mem::take(&mut latest) {
            let text = std::fs::read(from.join("info/alternates")).unwrap_or_default();
            for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty() && !line.starts_with(b"#"))
            {
                let path = path_bytes::unquoted(line).map(|line| from.join(path_bytes::path(&line)));
                if let Some(path) = path.filter(|path| !sources.contains(path)) {
                    sources.push(path.clone());
                    latest.push(path);
                }
            }
        }
    }
    sources
}

/// Links the objects that have a file of their own; returns the others.
fn link_loose<'a>(needed: &'a [String], sources: &[PathBuf], objects: &Path) -> io::Result<Vec<&'a str>> {
    let mut others = Vec::new();
    let mut made = std::collections::HashSet::new();
    for id in needed {
        let (start, rest) = id.split_at(2);
        let folder = objects.join(start);
        if made.insert(start) {
            private::folder(&folder)?;
        }
        let place = folder.join(rest);
        let linked = sources.iter().any(|source| match std::fs::hard_link(source.join(start).join(rest), &place) {
            Ok(()) => true,
            Err(error) => error.kind() == io::ErrorKind::AlreadyExists,
        });
        if !linked && !place.exists() {
            others.push(id.as_str());
        }
    }
    Ok(others)
}

/// Links every pack of a folder; one that cannot be linked is passed over.
fn link_packs(from: &Path, to: &Path) {
    let entries = std::fs::read_dir(from).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
    // An index is linked after its pack, without which it is nothing.
    names.sort_by_key(|name| Path::new(name).extension().is_some_and(|extension| extension == "idx"));
    for name in names {
        let extension = Path::new(&name).extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let is_wanted = match extension {
            "pack" => true,
            "idx" => to.join(&name).with_extension("pack").exists(),
            _ => false,
        };
        if is_wanted {
            drop(std::fs::hard_link(from.join(&name), to.join(&name)));
        }
    }
}

impl Repository {
    /// The ids of a tree and of everything below it.
    fn objects_of(&self, tree: &TreeId, store: &Path) -> Result<Vec<String>> {
        let call = self.call(["ls-tree", "-r", "-t", "-z", "--full-tree", &tree.0]).reading_from(&[store]);
        let listed = call.output()?;
        let mut ids = vec![tree.0.clone()];
        ids.extend(records(&listed).filter(|(mode, ..)| *mode != SUBMODULE).map(|(_, _, id, _)| id.to_owned()));
        ids.sort_unstable();
        ids.dedup();
        Ok(ids)
    }

    fn missing<'a>(&self, ids: &[&'a str], extra: Option<&Path>) -> Result<Vec<&'a str>> {
        let input: Vec<u8> = ids.iter().flat_map(|id| id.bytes().chain([b'\n'])).collect();
        let mut call = self.call(["cat-file", "--batch-check"]);
        if let Some(folder) = extra {
            call = call.reading_from(&[folder]);
        }
        let output = call.output_of(&input)?;
        let lines = output.split(|byte| *byte == b'\n');
        Ok(ids.iter().zip(lines).filter(|(_, line)| line.ends_with(b" missing")).map(|(id, _)| *id).collect())
    }
}
