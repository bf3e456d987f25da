//! Decides which paths are excluded by the ignore files.
//!
//! As in git, the ignore file in the deepest folder takes precedence, and everything below an ignored folder is
//! ignored. Glee does not open an ignore file that is a FIFO or a link. In the review of a change, Glee can use
//! the `.gleeignore` files of the base commit instead of the files in the tree.

use std::collections::{BTreeMap, HashMap};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::gitignore::{Gitignore, GitignoreBuilder, gitconfig_excludes_path};

use crate::code::text_files;
use crate::git::path_bytes;
use glee_system::files;

/// The maximum size of an ignore file, in bytes.
pub(crate) const CAP: u64 = 1 << 20;

pub const GLEE: &str = ".gleeignore";

/// Maps the path of each recorded ignore file to the content of the file. Glee applies the recorded files instead
/// of the ignore files in the tree.
pub type RecordedIgnores = Arc<BTreeMap<String, Vec<u8>>>;

pub struct Ignores<'a> {
    root: &'a Path,
    names: &'static [&'static str],
    /// The recorded files that replace the `.gleeignore` files of the tree.
    recorded: Option<RecordedIgnores>,
    /// Whether the recorded `.gitignore` files also replace the `.gitignore` files of the tree.
    all_recorded: bool,
    folders: HashMap<Vec<u8>, Arc<[Gitignore]>>,
    /// The rules of ignore files outside the tree, in the order of precedence. If two rules contradict each
    /// other, the rule that is earlier in the list applies.
    outside: Vec<Gitignore>,
}

impl<'a> Ignores<'a> {
    fn of_names(
        root: &'a Path,
        names: &'static [&'static str],
        recorded: Option<&RecordedIgnores>,
    ) -> Self {
        let folders = HashMap::new();
        let outside = Vec::new();
        Self {
            root,
            names,
            recorded: recorded.cloned(),
            all_recorded: false,
            folders,
            outside,
        }
    }

    pub fn none(root: &'a Path) -> Self {
        Self::of_names(root, &[], None)
    }

    /// Applies only the `.gleeignore` files, because git has already applied its own ignore rules to the paths.
    pub fn glee(root: &'a Path, recorded: Option<&RecordedIgnores>) -> Self {
        Self::of_names(root, &[GLEE], recorded)
    }

    /// Applies the recorded `.gitignore` files and the rules in the parameter `excludes`. If `excludes` is `None`,
    /// the user's current ignore file applies.
    pub fn recorded(root: &'a Path, recorded: RecordedIgnores, excludes: Option<&[u8]>) -> Self {
        let outside = match excludes {
            Some(excludes) => rules(root, &String::from_utf8_lossy(excludes))
                .into_iter()
                .collect(),
            None => outside(root, None),
        };
        Self {
            all_recorded: true,
            outside,
            ..Self::of_names(root, &[".gitignore"], Some(&recorded))
        }
    }

    /// Applies only git's ignore rules. `exclude` is the path of the repository's `info/exclude`.
    pub fn git(root: &'a Path, exclude: Option<PathBuf>) -> Self {
        Self {
            outside: outside(root, exclude),
            ..Self::of_names(root, &[".gitignore"], None)
        }
    }

    pub fn both(
        root: &'a Path,
        recorded: Option<&RecordedIgnores>,
        exclude: Option<PathBuf>,
    ) -> Self {
        Self {
            outside: outside(root, exclude),
            ..Self::of_names(root, &[GLEE, ".gitignore"], recorded)
        }
    }

    /// Whether a path is ignored. The caller ensures that no parent folder of the path is ignored.
    pub(crate) fn is_ignored_here(&mut self, path: &[u8], is_dir: bool) -> bool {
        let full = self.root.join(path_bytes::path(path));
        for folder in path_bytes::above(path).rev().chain([b"".as_slice()]) {
            let rules = self.of(folder);
            if let Some(found) = rules
                .iter()
                .map(|rules| rules.matched(&full, is_dir))
                .find(|found| !found.is_none())
            {
                return found.is_ignore();
            }
        }
        let relative = path_bytes::path(path);
        let found = self
            .outside
            .iter()
            .map(|rules| rules.matched(&relative, is_dir))
            .find(|found| !found.is_none());
        found.is_some_and(|found| found.is_ignore())
    }

    /// Whether a folder or one of its parent folders is ignored.
    pub(crate) fn is_ignored_folder(&mut self, path: &[u8]) -> bool {
        self.is_ignored_here(path, true) || self.is_ignored(path)
    }

    /// Whether a file or one of its parent folders is ignored.
    pub fn is_ignored(&mut self, path: &[u8]) -> bool {
        path_bytes::above(path).any(|folder| self.is_ignored_here(folder, true))
            || self.is_ignored_here(path, false)
    }

    fn of(&mut self, folder: &[u8]) -> Arc<[Gitignore]> {
        if let Some(known) = self.folders.get(folder) {
            return Arc::clone(known);
        }
        let place = self.root.join(path_bytes::path(folder));
        let found = self.names.iter().filter_map(|name| match &self.recorded {
            Some(recorded) if *name == GLEE || self.all_recorded => {
                let path = path_bytes::shown(&path_bytes::joined(folder, name.as_bytes()));
                rules(&place, &text_files::lossy(recorded.get(&path)?.clone()))
            }
            _ => read(&place, &place.join(name)),
        });
        let rules: Arc<[Gitignore]> = found.collect();
        self.folders.insert(folder.to_vec(), Arc::clone(&rules));
        rules
    }
}

/// Reads an ignore file with patterns relative to the folder `place`.
fn read(place: &Path, file: &Path) -> Option<Gitignore> {
    rules(
        place,
        &text_files::lossy(text_files::read_capped(file, CAP).ok()??),
    )
}

/// Reads the repository's `info/exclude` and the user's ignore file. The user's ignore file can be a link.
fn outside(root: &Path, exclude: Option<PathBuf>) -> Vec<Gitignore> {
    exclude
        .and_then(|file| read(root, &file))
        .into_iter()
        .chain(users(root))
        .collect()
}

fn users(root: &Path) -> Option<Gitignore> {
    let mut bytes = Vec::new();
    files::regular(&gitconfig_excludes_path()?)
        .ok()?
        .take(CAP)
        .read_to_end(&mut bytes)
        .ok()?;
    rules(root, &text_files::lossy(bytes))
}

/// Parses the patterns of an ignore file. Like git, skips invalid lines.
fn rules(place: &Path, text: &str) -> Option<Gitignore> {
    let mut builder = GitignoreBuilder::new(place);
    for line in text.trim_start_matches('\u{feff}').lines() {
        drop(builder.add_line(None, line));
    }
    builder.build().ok()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn the_deepest_folder_decides_and_ignored_folders_end_it() {
        let tree = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = tree.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write(".gitignore", "*.log\n/build/\n");
        write("a/.gitignore", "!keep.log\n");
        write("a/.gleeignore", "*.md\n");
        write("build/.gitignore", "!*\n");
        let mut ignores = Ignores::both(tree.path(), None, None);
        let mut ignored = |path: &str| ignores.is_ignored(path.as_bytes());
        assert!(
            ignored("x.log") && ignored("a/x.log") && !ignored("a/keep.log") && ignored("keep.log")
        );
        assert!(ignored("build/x") && ignored("build/a/b") && !ignored("a/build/x"));
        assert!(ignored("a/x.md") && !ignored("x.md"));
        assert!(!Ignores::glee(tree.path(), None).is_ignored(b"x.log"));
    }
}
