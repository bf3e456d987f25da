//! Which paths the tree's ignore files leave out.
//!
//! The deepest folder decides, as in git; below an ignored folder nothing is looked at again. Ignore files are read
//! as any other file of the tree: a FIFO or a link in their place is not opened. Where the base of a change steers its
//! review, `.gleeignore` is read from there.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::gitignore::{Gitignore, GitignoreBuilder, gitconfig_excludes_path};

use crate::system::files;
use crate::workspace::code::text_files;
use crate::workspace::git::path_bytes;

/// The bytes of an ignore file that are read at most.
pub(crate) const CAP: u64 = 1 << 20;

pub(crate) const GLEE: &str = ".gleeignore";

/// Files of a commit that are read in the place of the tree's, by path.
pub(crate) type RecordedIgnores = Arc<BTreeMap<String, Vec<u8>>>;

pub(crate) struct Ignores<'a> {
    root: &'a Path,
    names: &'static [&'static str],
    /// What stands for the `.gleeignore` files of the tree.
    recorded: Option<RecordedIgnores>,
    /// Whether it stands for those of git, too.
    all_recorded: bool,
    folders: HashMap<Vec<u8>, Arc<[Gitignore]>>,
    /// Whether what git ignores everywhere counts.
    is_git: bool,
    /// The file of the repository that ignores, outside the tree.
    exclude: Option<PathBuf>,
    /// What lies outside the tree, read when it is first needed.
    fallback: OnceCell<Vec<Gitignore>>,
}

impl<'a> Ignores<'a> {
    /// Only `.gleeignore`: for files that git names.
    pub(crate) fn glee(root: &'a Path, recorded: Option<&RecordedIgnores>) -> Self {
        Self {
            root,
            names: &[GLEE],
            recorded: recorded.cloned(),
            all_recorded: false,
            folders: HashMap::new(),
            is_git: false,
            exclude: None,
            fallback: OnceCell::new(),
        }
    }

    /// What git leaves out by recorded `.gitignore` files and by rules outside the tree: `excludes`, or those of today.
    pub(crate) fn recorded(root: &'a Path, recorded: RecordedIgnores, excludes: Option<&[u8]>) -> Self {
        let rules =
            Self { names: &[".gitignore"], all_recorded: true, is_git: true, ..Self::glee(root, Some(&recorded)) };
        if let Some(excludes) = excludes {
            let outside = self::rules(root, &String::from_utf8_lossy(excludes));
            drop(rules.fallback.set(outside.into_iter().collect()));
        }
        rules
    }

    pub(crate) fn none(root: &'a Path) -> Self {
        Self { names: &[], ..Self::glee(root, None) }
    }

    /// Only what git ignores: for copies of the tree.
    pub(crate) fn git(root: &'a Path, exclude: Option<PathBuf>) -> Self {
        Self { names: &[".gitignore"], is_git: true, exclude, ..Self::glee(root, None) }
    }

    /// Both: for folders that are walked.
    pub(crate) fn both(root: &'a Path, recorded: Option<&RecordedIgnores>, exclude: Option<PathBuf>) -> Self {
        Self { names: &[GLEE, ".gitignore"], is_git: true, exclude, ..Self::glee(root, recorded) }
    }

    /// Whether a path of which no folder is ignored is ignored itself.
    pub(crate) fn is_ignored_here(&mut self, path: &[u8], is_dir: bool) -> bool {
        let full = self.root.join(path_bytes::path(path));
        let mut folder = path_bytes::folder(path);
        loop {
            for rules in self.of(folder).iter() {
                let found = rules.matched(&full, is_dir);
                if !found.is_none() {
                    return found.is_ignore();
                }
            }
            if folder.is_empty() {
                break;
            }
            folder = path_bytes::folder(folder);
        }
        let relative = path_bytes::path(path);
        let found =
            self.fallback().iter().map(|rules| rules.matched(&relative, is_dir)).find(|found| !found.is_none());
        found.is_some_and(|found| found.is_ignore())
    }

    fn fallback(&self) -> &[Gitignore] {
        self.fallback.get_or_init(|| {
            let own = self.exclude.as_ref().and_then(|file| read(self.root, file));
            own.into_iter().chain(self.is_git.then(|| everywhere(self.root)).flatten()).collect()
        })
    }

    /// Whether a folder is ignored, or one of those it lies in.
    pub(crate) fn is_ignored_folder(&mut self, path: &[u8]) -> bool {
        self.is_ignored_here(path, true) || self.is_ignored(path)
    }

    /// Whether a file is ignored, or one of the folders it lies in.
    pub(crate) fn is_ignored(&mut self, path: &[u8]) -> bool {
        let slashes: Vec<usize> = (0..path.len()).filter(|index| path[*index] == b'/').collect();
        slashes.into_iter().any(|end| self.is_ignored_here(&path[..end], true)) || self.is_ignored_here(path, false)
    }

    fn of(&mut self, folder: &[u8]) -> Arc<[Gitignore]> {
        if let Some(known) = self.folders.get(folder) {
            return Arc::clone(known);
        }
        let place = self.root.join(path_bytes::path(folder));
        let rule = |name: &&str| match &self.recorded {
            Some(recorded) if *name == GLEE || self.all_recorded => {
                let path = if folder.is_empty() {
                    (*name).into()
                } else {
                    format!("{}/{name}", path_bytes::shown(folder))
                };
                rules(&place, &text_files::lossy(recorded.get(&path)?.clone()))
            }
            _ => read(&place, &place.join(name)),
        };
        let rules: Arc<[Gitignore]> = self.names.iter().filter_map(rule).collect();
        self.folders.insert(folder.to_vec(), Arc::clone(&rules));
        rules
    }
}

/// Reads an ignore file whose patterns count from `place`.
fn read(place: &Path, file: &Path) -> Option<Gitignore> {
    rules(place, &text_files::lossy(text_files::read_capped(file, CAP).ok()??))
}

/// What the user's git ignores everywhere; the file may be a link.
fn everywhere(root: &Path) -> Option<Gitignore> {
    let mut bytes = Vec::new();
    files::regular(&gitconfig_excludes_path()?).ok()?.take(CAP).read_to_end(&mut bytes).ok()?;
    rules(root, &text_files::lossy(bytes))
}

/// The patterns of a text; lines that are none are passed over, as git does.
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
        assert!(ignored("x.log") && ignored("a/x.log") && !ignored("a/keep.log") && ignored("keep.log"));
        assert!(ignored("build/x") && ignored("build/a/b") && !ignored("a/build/x"));
        assert!(ignored("a/x.md") && !ignored("x.md"));
        assert!(!Ignores::glee(tree.path(), None).is_ignored(b"x.log"));
    }
}
