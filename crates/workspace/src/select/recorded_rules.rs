//! Records the ignore and attribute rules at the start of a run, so that a coder cannot hide files.
//!
//! A coder can change ignore and attribute files in the tree and in `.git`. A coder can also change the git
//! settings that contain the paths of ignore and attribute files. Changes of these files and settings have no
//! effect on later rounds, because Glee applies the rules from the start of the run. To apply the recorded
//! attributes, Glee runs git in a temporary work tree that contains only the recorded rules.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use crate::code::text_files;
use crate::git::{Repository, path_bytes};
use crate::guard::nested_repos;
use crate::select::attributes::Attributes;
use crate::select::ignores;
use crate::select::ignores::RecordedIgnores;
use crate::{Result, Workspace, WorkspaceError};

/// The maximum size of an ignore or attribute file, in bytes.
const CAP: u64 = 1 << 20;

/// The names of ignore and attribute files in the tree.
const NAMES: [&str; 3] = [ignores::GLEE, ".gitignore", ".gitattributes"];

/// The ignore and attribute files at the start of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SelectionRules {
    /// The ignore and attribute files in the tree, by path.
    files: BTreeMap<String, String>,
    /// The content of the repository's `info/exclude`.
    exclude: String,
    /// The content of the user's ignore file (`core.excludesFile`).
    excludes_file: String,
    /// The content of the repository's `info/attributes`.
    attributes: String,
    /// The content of the user's attribute file (`core.attributesFile`).
    attributes_file: String,
}

impl Workspace {
    pub fn selection_rules(&self) -> Result<SelectionRules> {
        let mut rules = SelectionRules::default();
        let paths: BTreeSet<Vec<u8>> = match &self.repository {
            Some(git) => {
                let scan = git.scan()?;
                let mut paths = git.untracked(&scan);
                paths.extend(scan.entries.iter().map(|entry| entry.path.clone()));
                (rules.excludes_file, rules.exclude) = git.excludes()?;
                rules.attributes = text(&git.common.join("info/attributes"));
                rules.attributes_file = git.named_file("core.attributesFile", "attributes")?;
                paths
            }
            None => nested_repos::listing(&self.root)?.0,
        };
        let folders: BTreeSet<&[u8]> = paths
            .iter()
            .flat_map(|path| path_bytes::above(path))
            .chain([b"".as_slice()])
            .collect();
        for folder in folders {
            for name in NAMES {
                let path = path_bytes::joined(folder, name.as_bytes());
                if let Ok(Some(bytes)) =
                    text_files::read_capped(&self.root.join(path_bytes::path(&path)), CAP)
                {
                    rules
                        .files
                        .insert(path_bytes::shown(&path), text_files::lossy(bytes));
                }
            }
        }
        Ok(rules)
    }
}

impl SelectionRules {
    pub fn recorded(&self) -> RecordedIgnores {
        Arc::new(
            self.files
                .iter()
                .map(|(path, text)| (path.clone(), text.clone().into_bytes()))
                .collect(),
        )
    }

    /// Returns the user's ignore rules, followed by the repository's rules. The repository's rules take precedence.
    pub fn excludes(&self) -> String {
        format!("{}\n{}", self.excludes_file, self.exclude)
    }

    pub fn attributes<'a>(
        &self,
        git: &Repository,
        paths: impl Iterator<Item = &'a Vec<u8>>,
    ) -> Result<Attributes> {
        let folder = self.skeleton(git).map_err(WorkspaceError::Start)?;
        let [git_dir, tree, named] =
            ["git", "tree", "attributes"].map(|name| folder.path().join(name));
        let setting = format!("core.attributesFile={}", named.display());
        let skeleton = Repository::placed(
            &git.program,
            &tree,
            git_dir.clone(),
            git_dir,
            git.empty_tree,
        );
        skeleton
            .call(["-c", &setting, "check-attr", "-z", "--stdin"])
            .attributes(paths)
    }

    /// Creates a temporary repository and work tree that contain only the recorded rules.
    fn skeleton(&self, git: &Repository) -> io::Result<TempDir> {
        let folder = tempfile::tempdir()?;
        git.create_empty(&folder.path().join("git"))?;
        std::fs::create_dir(folder.path().join("tree"))?;
        write(folder.path(), "git/info/attributes", &self.attributes)?;
        write(folder.path(), "attributes", &self.attributes_file)?;
        self.files
            .iter()
            .try_for_each(|(path, text)| write(folder.path(), &format!("tree/{path}"), text))?;
        Ok(folder)
    }
}

fn write(folder: &Path, path: &str, text: &str) -> std::io::Result<()> {
    let path = folder.join(path);
    std::fs::create_dir_all(path.parent().unwrap_or(&path))?;
    std::fs::write(path, text)
}

impl Repository {
    /// Returns the contents of the user's ignore file and of the repository's `info/exclude`.
    pub fn excludes(&self) -> Result<(String, String)> {
        Ok((
            self.named_file("core.excludesFile", "ignore")?,
            text(&self.common.join("info/exclude")),
        ))
    }

    /// Returns the content of the file whose path is in the git setting `key`. The parameter `default` is the name
    /// of a file in the user's configuration folder of git. If the setting is missing, returns the content of this
    /// file.
    fn named_file(&self, key: &str, default: &str) -> Result<String> {
        let named = self
            .call(["config", "--type=path", "--get", key])
            .answer()?;
        let named = named.map(|path| self.top.join(path_bytes::path(path.trim_ascii_end())));
        Ok(named
            .or_else(|| Some(config_folder()?.join("git").join(default)))
            .map(|path| text(&path))
            .unwrap_or_default())
    }
}

fn config_folder() -> Option<PathBuf> {
    folder("XDG_CONFIG_HOME").or_else(|| Some(folder("HOME")?.join(".config")))
}

fn folder(name: &str) -> Option<PathBuf> {
    std::env::var_os(name)
        .filter(|value| !value.is_empty())
        .map(PathBuf::from)
}

/// Reads an ignore or attribute file. If the path is a link, reads the target of the link. Returns an empty text
/// if the file cannot be read.
fn text(path: &Path) -> String {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    text_files::read_capped(&real, CAP)
        .ok()
        .flatten()
        .map(text_files::lossy)
        .unwrap_or_default()
}
