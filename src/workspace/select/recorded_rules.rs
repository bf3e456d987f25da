//! The rules of selection as they were when a run began: a coder does not decide what the next round leaves out.
//!
//! A coder may write ignore and attribute files, in the tree or in `.git`, and settings of git that name others. The
//! ones of the beginning are kept beside the run; git reads them in a tree that holds nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use super::ignores::{self, RecordedIgnores};
use crate::workspace::code::text_files;
use crate::workspace::git::path_bytes;
use crate::workspace::git::plumbing::Repository;
use crate::workspace::guard::nested_repos;
use crate::workspace::root::Workspace;
use crate::workspace::select::attributes::Attributes;
use crate::workspace::{Result, WorkspaceError};

/// The bytes of a file of rules that are read at most.
const CAP: u64 = 1 << 20;

/// The files in any folder of the tree that say what is left out.
const NAMES: [&str; 3] = [ignores::GLEE, ".gitignore", ".gitattributes"];

/// The files that say what is left out, as they were when a run began.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SelectionRules {
    /// Those of the tree, by path.
    files: BTreeMap<String, String>,
    /// `info/exclude` of the repository.
    exclude: String,
    /// The file that `core.excludesFile` named.
    excludes_file: String,
    /// `info/attributes` of the repository.
    attributes: String,
    /// The file that `core.attributesFile` named.
    attributes_file: String,
}

impl Workspace {
    pub fn selection_rules(&self) -> Result<SelectionRules> {
        let mut rules = SelectionRules::default();
        let paths: BTreeSet<Vec<u8>> = match &self.repository {
            Some(git) => {
                let scan = git.scan()?;
                let mut paths = git.untracked(&scan);
                paths.extend(scan.entries.into_iter().map(|entry| entry.path));
                (rules.excludes_file, rules.exclude) = git.excludes()?;
                rules.attributes = text(&git.common.join("info/attributes"));
                rules.attributes_file = git.named_file("core.attributesFile", "attributes")?;
                paths
            }
            None => nested_repos::listing(&self.root)?.0,
        };
        let folders: BTreeSet<&[u8]> =
            paths.iter().flat_map(|path| path_bytes::above(path)).chain([b"".as_slice()]).collect();
        for folder in folders {
            for name in NAMES {
                let path = if folder.is_empty() { name.into() } else { [folder, b"/", name.as_bytes()].concat() };
                if let Ok(Some(bytes)) = text_files::read_capped(&self.root.join(path_bytes::path(&path)), CAP) {
                    rules.files.insert(path_bytes::shown(&path), text_files::lossy(bytes));
                }
            }
        }
        Ok(rules)
    }
}

impl SelectionRules {
    pub(crate) fn recorded(&self) -> RecordedIgnores {
        Arc::new(self.files.iter().map(|(path, text)| (path.clone(), text.clone().into_bytes())).collect())
    }

    /// What ignores outside the tree: the file of the user, then that of the repository, which has the last word.
    pub(crate) fn excludes(&self) -> String {
        format!("{}\n{}", self.excludes_file, self.exclude)
    }

    pub(crate) fn attributes<'a>(
        &self,
        git: &Repository,
        paths: impl Iterator<Item = &'a Vec<u8>>,
    ) -> Result<Attributes> {
        let folder = self.skeleton(git).map_err(WorkspaceError::Start)?;
        let [git_dir, tree, named] = ["git", "tree", "attributes"].map(|name| folder.path().join(name));
        let setting = format!("core.attributesFile={}", named.display());
        let skeleton = Repository::placed(&git.program, &tree, git_dir.clone(), git_dir, git.empty_tree);
        skeleton.call(["-c", &setting, "check-attr", "-z", "--stdin"]).attributes(paths)
    }

    /// A work tree and a repository that hold the rules and nothing else.
    fn skeleton(&self, git: &Repository) -> io::Result<TempDir> {
        let folder = tempfile::tempdir()?;
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap_or(&path))?;
            std::fs::write(path, text)
        };
        for name in ["git/objects", "git/refs", "tree"] {
            std::fs::create_dir_all(folder.path().join(name))?;
        }
        write("git/HEAD", "ref: refs/heads/none\n")?;
        write("git/config", git.format())?;
        write("git/info/attributes", &self.attributes)?;
        write("attributes", &self.attributes_file)?;
        self.files.iter().try_for_each(|(path, text)| write(&format!("tree/{path}"), text))?;
        Ok(folder)
    }
}

impl Repository {
    /// The texts of the files outside the tree that ignore: the one of the user, and the repository's own.
    pub(crate) fn excludes(&self) -> Result<(String, String)> {
        Ok((self.named_file("core.excludesFile", "ignore")?, text(&self.common.join("info/exclude"))))
    }

    /// The text of a file that a setting names; of git's default where it names none.
    fn named_file(&self, key: &str, default: &str) -> Result<String> {
        let named = self.call(["config", "--type=path", "--get", key]).answer()?;
        let named = named.map(|path| self.top.join(path_bytes::path(path.trim_ascii_end())));
        let folder = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let own = || Some(folder("XDG_CONFIG_HOME").or_else(|| Some(folder("HOME")?.join(".config")))?.join("git"));
        Ok(named.or_else(|| Some(own()?.join(default))).map(|path| text(&path)).unwrap_or_default())
    }
}

/// The text of a file of rules, which may be a link as those in a home are; nothing if there is none.
fn text(path: &Path) -> String {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    text_files::read_capped(&real, CAP).ok().flatten().map(text_files::lossy).unwrap_or_default()
}
