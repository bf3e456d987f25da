//! Backup repositories keep snapshots available even if a coder rewrites commits, runs `git gc` or removes `.git`.
//!
//! The backup repository of a run is a small git repository in the state folder. The backup repository contains
//! all objects of the run's snapshots. To save space and time, the objects in the backup repository are hard links
//! to files in the user's repository and in the state folder. If the state folder is on another file system, the
//! backup repository contains a pack with copies of the objects.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use crate::git::plumbing::{EMPTY_SHA1, EMPTY_SHA256};
use crate::git::{Repository, SUBMODULE, path_bytes, records};
use crate::snapshot::manifest::{TreeId, run_folder};
use crate::{Result, WorkspaceError};
use glee_model::domain::RunId;
use glee_system::private;

/// Adds a tree to the backup repository of a run. The objects of the tree must be in the user's repository or in
/// the state folder.
pub(crate) fn pin(git: &Repository, run: &RunId, tree: &TreeId, state_dir: &Path) -> Result<()> {
    let folder = run_folder(run, state_dir);
    let failed = WorkspaceError::state(&folder);
    git.create_empty(&folder).map_err(failed)?;
    let store = git.objects_in(state_dir);
    let objects = folder.join("objects");
    let needed = git.objects_of(tree, &store)?;
    let own = git.common.join("objects");
    let mut sources = vec![store.clone(), own.clone()];
    sources.extend(git.alternates()?);
    let packed = link_loose(&needed, &sources, &objects).map_err(failed)?;
    if packed.is_empty() {
        return Ok(());
    }
    for source in &sources {
        link_packs(&source.join("pack"), &objects.join("pack"));
    }
    let missing = Repository::backup(&folder, &git.top, git.empty_tree)?.missing(&packed, None)?;
    if missing.is_empty() {
        return Ok(());
    }
    // In a partial clone, some objects can be missing, so only the existing objects are packed.
    let lost = git.missing(&missing, Some(&store))?;
    let mut input = Vec::new();
    for id in missing.iter().filter(|id| !lost.contains(id)) {
        input.extend(id.bytes().chain([b'\n']));
    }
    if !input.is_empty() {
        // `pack-objects` renames its temporary files to move them to the backup repository. A file can be renamed
        // only within one file system, so git's object folder must be on the same file system as the backup
        // repository.
        let call = git
            .call(["pack-objects", "--quiet"])
            .arg(objects.join("pack/pack"))
            .writing_to(&objects, git);
        call.reading_from(&[&store, &own]).output_of(&input)?;
    }
    Ok(())
}

/// Opens the backup repository of a run, with `top` as the work tree. Returns `None` if the run has no backup
/// repository.
pub(crate) fn open(run: &RunId, top: &Path, state_dir: &Path) -> Result<Option<Repository>> {
    let folder = run_folder(run, state_dir);
    let Ok(config) = std::fs::read_to_string(folder.join("config")) else {
        return Ok(None);
    };
    let empty_tree = if config.contains("sha256") {
        EMPTY_SHA256
    } else {
        EMPTY_SHA1
    };
    Repository::backup(&folder, top, empty_tree).map(Some)
}

/// Creates hard links to the needed objects that are loose. Returns the ids of the needed objects that cannot be
/// linked.
fn link_loose<'a>(
    needed: &'a [String],
    sources: &[PathBuf],
    objects: &Path,
) -> io::Result<Vec<&'a str>> {
    let mut others = Vec::new();
    let mut created = HashSet::new();
    for id in needed {
        let (start, rest) = id.split_at(2);
        let folder = objects.join(start);
        if created.insert(start) {
            private::folder(&folder)?;
        }
        let place = folder.join(rest);
        let linked = sources.iter().any(|source| {
            match std::fs::hard_link(source.join(start).join(rest), &place) {
                Ok(()) => true,
                Err(error) => error.kind() == io::ErrorKind::AlreadyExists,
            }
        });
        if !linked && !place.exists() {
            others.push(id.as_str());
        }
    }
    Ok(others)
}

/// Creates hard links to all packs of a folder and to their indexes. Each pack is linked before its index. If a
/// pack cannot be linked, its index is skipped.
fn link_packs(from: &Path, to: &Path) {
    for extension in ["pack", "idx"] {
        for entry in std::fs::read_dir(from).into_iter().flatten().flatten() {
            let place = to.join(entry.file_name());
            let has_pack = extension == "pack" || place.with_extension("pack").exists();
            if has_pack && place.extension().is_some_and(|found| found == extension) {
                drop(std::fs::hard_link(entry.path(), place));
            }
        }
    }
}

impl Repository {
    fn alternates(&self) -> Result<Vec<PathBuf>> {
        let counted = self.call(["count-objects", "-v"]).output()?;
        let paths =
            path_bytes::items(&counted, b'\n').filter_map(|line| line.strip_prefix(b"alternate: "));
        Ok(paths
            .filter_map(path_bytes::unquoted)
            .map(|path| path_bytes::path(&path))
            .collect())
    }

    fn objects_of(&self, tree: &TreeId, store: &Path) -> Result<Vec<String>> {
        let call = self
            .call(["ls-tree", "-r", "-t", "-z", "--full-tree", &tree.0])
            .reading_from(&[store]);
        let listed = call.output()?;
        let mut ids = vec![tree.0.clone()];
        ids.extend(
            records(&listed)
                .filter(|(mode, ..)| *mode != SUBMODULE)
                .map(|(_, _, id, _)| id.to_owned()),
        );
        ids.sort_unstable();
        ids.dedup();
        Ok(ids)
    }

    fn missing<'a>(&self, ids: &[&'a str], extra: Option<&Path>) -> Result<Vec<&'a str>> {
        let input: Vec<u8> = ids
            .iter()
            .flat_map(|id| id.bytes().chain([b'\n']))
            .collect();
        let mut call = self.call(["cat-file", "--batch-check"]);
        if let Some(folder) = extra {
            call = call.reading_from(&[folder]);
        }
        let output = call.output_of(&input)?;
        let lines = output.split(|byte| *byte == b'\n');
        Ok(ids
            .iter()
            .zip(lines)
            .filter(|(_, line)| line.ends_with(b" missing"))
            .map(|(id, _)| *id)
            .collect())
    }
}
