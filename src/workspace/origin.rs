//! The rules of selection as they were when a run began: a coder does not decide what the next round leaves out.
//!
//! A coder may write ignore and attribute files, in the tree or in `.git`, and settings of git that name others. The
//! ones of the beginning are kept beside the run; git reads them in a tree that holds nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::git::{Call, Repository};
use super::ignores::{self, Ignores, Recorded};
use super::image::Image;
use super::target::Attributes;
use super::walk::{self, Hidden, Met};
use super::{Result, Workspace, WorkspaceError, content, copy, names};

/// The bytes of a file of rules that are read at most.
const CAP: u64 = 1 << 20;

/// The files in any folder of the tree that say what is left out.
const NAMES: [&str; 3] = [ignores::GLEE, ".gitignore", ".gitattributes"];

/// A path that is asked about and always ignored, so that git does not end as if nothing were.
const ALWAYS: &str = "glee-always-ignored";

/// What is put before paths that git reads.
const HERE: &[u8] = b"./";

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
    /// The rules of selection as they are now.
    ///
    /// # Errors
    /// git fails, or the tree cannot be read.
    pub fn selection_rules(&self) -> Result<SelectionRules> {
        let mut rules = SelectionRules::default();
        let paths: BTreeSet<Vec<u8>> = match &self.repository {
            Some(git) => {
                let scan = git.scan()?;
                let mut paths = git.untracked(&scan);
                paths.extend(scan.entries.into_iter().map(|entry| entry.path));
                rules.exclude = text(&git.common.join("info/exclude"));
                rules.attributes = text(&git.common.join("info/attributes"));
                rules.excludes_file = git.named_file("core.excludesFile", "ignore")?;
                rules.attributes_file = git.named_file("core.attributesFile", "attributes")?;
                paths
            }
            None => copy::paths(&self.root)?,
        };
        let mut folders: BTreeSet<&[u8]> = BTreeSet::from([b"".as_slice()]);
        for path in &paths {
            let mut folder = names::folder(path);
            while folders.insert(folder) {
                folder = names::folder(folder);
            }
        }
        for folder in folders {
            for name in NAMES {
                let path = if folder.is_empty() { name.into() } else { [folder, b"/", name.as_bytes()].concat() };
                if let Ok(Some(bytes)) = content::read_capped(&self.root.join(names::path(&path)), CAP) {
                    rules.files.insert(names::shown(&path), content::lossy(bytes));
                }
            }
        }
        Ok(rules)
    }

    /// The files of the work tree that git leaves out now and did not by the earlier rules: `listed` has them not.
    pub(super) fn hidden_since(&self, rules: &SelectionRules, listed: &Image) -> Result<BTreeSet<Vec<u8>>> {
        let Some(git) = &self.repository else {
            let mut ignores = Ignores::recorded(&self.root, rules.recorded(), Some(b""));
            let met = walk::walk(&self.root, b"", &mut ignores, Hidden::Met).unwrap_or_default();
            return Ok(files(met).filter(|path| !listed.contains_key(path)).collect());
        };
        let ignored =
            git.call(["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"]).output()?;
        let nested = git.scan()?.others.into_iter().filter(|path| path.ends_with(b"/"));
        let all = ignored.split(|byte| *byte == 0).map(<[u8]>::to_vec).chain(nested);
        let (folders, files): (Vec<Vec<u8>>, Vec<Vec<u8>>) =
            all.filter(|path| !path.is_empty()).partition(|path| path.ends_with(b"/"));
        let skeleton = Skeleton::of(git, rules)?;
        let folders: Vec<Vec<u8>> =
            folders.into_iter().map(|path| path.strip_suffix(b"/").unwrap_or(&path).to_vec()).collect();
        let mut found = files;
        for folder in skeleton.kept(git, &folders, true)? {
            let mut none = Ignores::none(&self.root);
            found.extend(self::files(walk::walk(&self.root, &folder, &mut none, Hidden::Met).unwrap_or_default()));
        }
        found.retain(|path| !listed.contains_key(path));
        Ok(skeleton.kept(git, &found, false)?.into_iter().collect())
    }
}

impl SelectionRules {
    /// The files of the tree by path, as bytes.
    pub(super) fn recorded(&self) -> Recorded {
        Arc::new(self.files.iter().map(|(path, text)| (path.clone(), text.clone().into_bytes())).collect())
    }

    /// The attributes of files by these rules.
    pub(super) fn attributes<'a>(
        &self,
        git: &Repository,
        paths: impl Iterator<Item = &'a Vec<u8>>,
    ) -> Result<Attributes> {
        let skeleton = Skeleton::of(git, self)?;
        skeleton.call(git, &["check-attr", "-z", "--stdin"]).attributes(paths)
    }
}

impl Repository {
    /// The text of a file that a setting names; of git's default where it names none.
    fn named_file(&self, key: &str, default: &str) -> Result<String> {
        let named = match self.call(["config", "--type=path", "--get", key]).output() {
            Ok(path) => Some(self.top.join(names::path(path.trim_ascii_end()))),
            Err(WorkspaceError::Git { .. }) => None,
            Err(error) => return Err(error),
        };
        let folder = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let own = || Some(folder("XDG_CONFIG_HOME").or_else(|| Some(folder("HOME")?.join(".config")))?.join("git"));
        Ok(named.or_else(|| Some(own()?.join(default))).map(|path| text(&path)).unwrap_or_default())
    }
}

/// The regular files of a walk.
fn files(met: Vec<Met>) -> impl Iterator<Item = Vec<u8>> {
    met.into_iter().filter_map(|met| match met {
        Met::File(path) => Some(path),
        Met::Link(_) | Met::Other(_) | Met::Unreadable(_) => None,
    })
}

/// The text of a file of rules, which may be a link as those in a home are; nothing if there is none.
fn text(path: &Path) -> String {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    content::read_capped(&real, CAP).ok().flatten().map(content::lossy).unwrap_or_default()
}

/// A work tree and a repository that hold the rules and nothing else.
struct Skeleton {
    folder: tempfile::TempDir,
}

impl Skeleton {
    fn of(git: &Repository, rules: &SelectionRules) -> Result<Self> {
        let failed = WorkspaceError::Start;
        let folder = tempfile::tempdir().map_err(failed)?;
        let write = |path: &str, text: &str| -> std::io::Result<()> {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap_or(&path))?;
            std::fs::write(path, text)
        };
        let format = match git.empty_tree.len() {
            64 => "[core]\n\trepositoryFormatVersion = 1\n[extensions]\n\tobjectFormat = sha256\n",
            _ => "[core]\n\trepositoryFormatVersion = 0\n",
        };
        let make = || {
            for folder_name in ["git/objects", "git/refs", "tree"] {
                std::fs::create_dir_all(folder.path().join(folder_name))?;
            }
            write("git/HEAD", "ref: refs/heads/none\n")?;
            write("git/config", format)?;
            write("git/info/exclude", &format!("{}\n/{ALWAYS}\n", rules.exclude))?;
            write("git/info/attributes", &rules.attributes)?;
            write("excludes", &rules.excludes_file)?;
            write("attributes", &rules.attributes_file)?;
            rules.files.iter().try_for_each(|(path, text)| write(&format!("tree/{path}"), text))
        };
        make().map_err(failed)?;
        Ok(Self { folder })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn call(&self, git: &Repository, command: &[&str]) -> Call {
        let named = |key: &str, file: &str| format!("{key}={}", self.path(file).display());
        let (excludes, attributes) =
            (named("core.excludesFile", "excludes"), named("core.attributesFile", "attributes"));
        // `check-ignore` knows no literal paths.
        let settings = ["--no-literal-pathspecs", "-c", excludes.as_str(), "-c", attributes.as_str()];
        Call::at(git.program(), &self.path("tree"), settings.into_iter().chain(command.iter().copied()))
            .repository(&self.path("git"), &self.path("tree"))
    }

    /// Those of some paths that the rules do not leave out.
    fn kept(&self, git: &Repository, paths: &[Vec<u8>], are_folders: bool) -> Result<Vec<Vec<u8>>> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        // A name that begins with a colon would be a pattern.
        let mut input: Vec<u8> = [HERE, ALWAYS.as_bytes(), &[0]].concat();
        for path in paths {
            if are_folders {
                // A pattern for folders counts for what is one.
                drop(std::fs::create_dir_all(self.path("tree").join(names::path(path))));
            }
            input.extend([HERE, path, &[0]].concat());
        }
        let output = self.call(git, &["check-ignore", "--no-index", "-z", "--stdin"]).output_of(&input)?;
        let ignored: BTreeSet<&[u8]> =
            output.split(|byte| *byte == 0).filter_map(|path| path.strip_prefix(HERE)).collect();
        Ok(paths.iter().filter(|path| !ignored.contains(path.as_slice())).cloned().collect())
    }
}
