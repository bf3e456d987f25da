//! Reads the files with shared rulings. A review applies the rulings in a commit, and `glee disputes check` reads
//! the rulings in the work tree. Symbolic links are never followed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::RangeInclusive;

use crate::code::anchors::Blocks;
use crate::code::text_files;
use crate::git::objects::GitObject;
use crate::git::output::records;
use crate::git::path_bytes;
use crate::select::{Ignores, walk};
use crate::{Result, TargetSpec, Workspace, WorkspaceError};
use glee_model::domain::{Anchor, Person};
use glee_store::config::files::rulings::{FOLDER, MAX_BYTES, is_note};

/// The name of a file with a shared ruling, and either the bytes of the file or the reason why the file was not
/// read.
pub type RulingFile = (String, Result<Vec<u8>, &'static str>);

const LINK: &str = "it is a link";
const FOLDER_INSIDE: &str = "it is a folder";
const LARGE: &str = "it is larger than 64 KiB";
const UNREADABLE: &str = "it cannot be read";

impl Workspace {
    /// The commit whose shared rulings apply to a review. For a change, the commit is the base of the change, so
    /// that a change cannot add rulings about itself. For files and folders, the commit is `HEAD`. Returns `None`
    /// outside git, or if the commit does not exist.
    pub fn rulings_base(&self, spec: &TargetSpec) -> Result<Option<String>> {
        let Some(git) = &self.repository else {
            return Ok(None);
        };
        match spec {
            TargetSpec::Paths(_) => Ok(git.head.clone()),
            change => git.base_of(change),
        }
    }

    /// The files with shared rulings in a commit, ordered by name. Markdown files and hidden files are excluded.
    pub fn rulings_at(&self, commit: &str) -> Result<Vec<RulingFile>> {
        let Some(git) = &self.repository else {
            return Ok(Vec::new());
        };
        let folder = format!("{FOLDER}/");
        let listed = git.ask_once(&["ls-tree", "-z", "--full-tree", commit, &folder])?;
        let mut objects = git.objects(None)?;
        let mut files = Vec::new();
        for (mode, _, id, path) in records(&listed) {
            let name = path_bytes::shown(path_bytes::name(path));
            if is_note(&name) {
                continue;
            }
            let bytes = match mode & 0o170_000 {
                0o100_000 => match objects.read(id, MAX_BYTES)? {
                    GitObject::Bytes(bytes) => Ok(bytes),
                    GitObject::Larger => Err(LARGE),
                    GitObject::Missing => Err(UNREADABLE),
                },
                0o120_000 => Err(LINK),
                _ => Err(FOLDER_INSIDE),
            };
            files.push((name, bytes));
        }
        Ok(files)
    }

    /// The files with shared rulings in the tree, ordered by name. Markdown files and hidden files are excluded.
    pub fn rulings_in_tree(&self) -> Vec<RulingFile> {
        let folder = self.root.join(FOLDER);
        if is_link(&folder) || folder.parent().is_some_and(is_link) {
            return vec![(String::new(), Err(LINK))];
        }
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        let files = entries.filter_map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            if is_note(&name) {
                return None;
            }
            let bytes = match entry.file_type() {
                Ok(kind) if kind.is_symlink() => Err(LINK),
                Ok(kind) if kind.is_dir() => Err(FOLDER_INSIDE),
                Ok(_) => match text_files::read_capped(&entry.path(), MAX_BYTES) {
                    Ok(Some(bytes)) => Ok(bytes),
                    Ok(None) => Err(LARGE),
                    Err(_) => Err(UNREADABLE),
                },
                Err(_) => Err(UNREADABLE),
            };
            Some((name, bytes))
        });
        files.collect::<BTreeMap<String, _>>().into_iter().collect()
    }

    /// The person who runs Glee: the name and the mail address that git is told, or else the name of the account.
    pub fn person(&self) -> Person {
        match self.told("GIT_AUTHOR_NAME", "user.name") {
            Some(name) => Person {
                name,
                email: self
                    .told("GIT_AUTHOR_EMAIL", "user.email")
                    .unwrap_or_default(),
            },
            None => Person {
                name: account(),
                email: String::new(),
            },
        }
    }

    /// The value of a variable, or else of a key of git's configuration. `git var GIT_AUTHOR_IDENT` makes up a value
    /// where neither exists.
    fn told(&self, variable: &str, key: &str) -> Option<String> {
        let value = std::env::var(variable).unwrap_or_default();
        if !value.trim().is_empty() {
            return Some(value.trim().to_owned());
        }
        let git = self.repository.as_ref()?;
        let value = git.call(["config", "--get", key]).answer().ok()??;
        let value = text_files::lossy(value).trim().to_owned();
        (!value.is_empty()).then_some(value)
    }

    /// Looks for the blocks of anchors in a file, and sets the places of the blocks that it contains.
    fn search<'a>(
        &self,
        path: &str,
        missing: impl Iterator<Item = (&'a mut Option<BlockPlace>, &'a &'a Anchor)>,
    ) {
        let Some(text) = self.read(path) else { return };
        let blocks = Blocks::of(path, &text);
        for (place, anchor) in missing {
            *place = blocks.place(anchor).map(|lines| BlockPlace {
                file: path.to_owned(),
                lines,
            });
        }
    }

    /// For each anchor, returns the file and the lines of the anchor's block, or `None` if the block no longer
    /// exists. The anchor's file is searched first, and then all files that are not ignored.
    pub fn places(&self, anchors: &[&Anchor]) -> Result<Vec<Option<BlockPlace>>> {
        let mut places: Vec<Option<BlockPlace>> = vec![None; anchors.len()];
        let own: BTreeSet<&str> = anchors.iter().map(|anchor| anchor.file.as_str()).collect();
        for path in own {
            let missing = places.iter_mut().zip(anchors);
            self.search(path, missing.filter(|(_, anchor)| anchor.file == path));
        }
        if places.iter().all(Option::is_some) {
            return Ok(places);
        }
        let paths: Vec<Vec<u8>> = match &self.repository {
            Some(git) => git.listed()?,
            None => {
                let mut ignores = Ignores::both(&self.root, self.recorded_ignores.as_ref(), None);
                let files = walk::files(&self.root, b"", &mut ignores);
                files.map_err(WorkspaceError::unreadable(&self.root))?
            }
        };
        for path in paths.iter().map(|path| path_bytes::shown(path)) {
            let missing = places.iter_mut().zip(anchors);
            self.search(&path, missing.filter(|(place, _)| place.is_none()));
            if places.iter().all(Option::is_some) {
                break;
            }
        }
        Ok(places)
    }
}

fn is_link(path: &std::path::Path) -> bool {
    path.symlink_metadata().is_ok_and(|meta| meta.is_symlink())
}

/// The file and the lines (1-based) that contain the block of an anchor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockPlace {
    pub file: String,
    pub lines: RangeInclusive<u32>,
}

/// The login name of the account, or its number if the account has no name.
fn account() -> String {
    #[cfg(unix)]
    {
        use nix::unistd::{User, getuid};
        let user = User::from_uid(getuid()).ok().flatten();
        user.map_or_else(|| getuid().to_string(), |user| user.name)
    }
    #[cfg(not(unix))]
    std::env::var("USERNAME").unwrap_or_default()
}
