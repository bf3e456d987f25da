//! Which history belongs to a work tree: by what the repository is, not by where it lies.
//!
//! A history lies in a folder below `repos` in the state folder. A repository has several names: its `project.id`, its root
//! commit, the address of its remote, an id of its own before the first commit, the path of its folder. The strongest one
//! is its identity. A name is the name of a folder, or leads to another one by a file `same-as`; so a history stays where
//! it is when a repository gets a stronger name, and nothing is copied or moved that a crash could tear. What a history
//! knows of its repository is noted beside it, and is checked before a name is believed: a copied `project.id`, or another
//! repository at the same path, does not lead to it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::config;
use crate::config::files::paths;
use crate::history::Extent;
use crate::history::store::{self, Journal};
use crate::system::{files, private};
use crate::workspace::git::plumbing::{GitObject, Repository, object_id};
use crate::workspace::git::{path_bytes, remote_address};
use crate::workspace::root::Workspace;
use crate::workspace::{Result, WorkspaceError};

/// Leads from a name to the folder of another one.
const SAME_AS: &str = "same-as";
/// What a history knows of its repository.
const NOTED: &str = "identity.json";
/// The id of a repository without a commit, in the folder that its work trees share.
const UNBORN: &str = "glee-id";
/// How many names lead on to others at most.
const MOST_LINKS: usize = 8;

/// What a repository is known by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identity {
    /// `project.id` of the project's file.
    Project(String),
    /// The first commit of the first-parent chain of `HEAD`.
    Root(String),
    /// The normalised address of its remote, in a shallow clone.
    Remote(String),
    /// An id of its own, before the first commit; `None` where there is none yet.
    Unborn(Option<String>),
    /// The path of the folder, outside git and where nothing else is known.
    Folder,
}

impl Identity {
    pub fn words(&self) -> String {
        match self {
            Self::Project(id) => format!("project.id `{id}`"),
            Self::Root(commit) => format!("root commit {commit}"),
            Self::Remote(address) => format!("remote {address} (shallow clone)"),
            Self::Unborn(_) => "an id of the repository, until the first commit".to_owned(),
            Self::Folder => "the path of the folder".to_owned(),
        }
    }

    fn key(&self, root: &Path) -> String {
        match self {
            Self::Project(id) => name("project", id.as_bytes()),
            Self::Root(commit) => name("root", commit.as_bytes()),
            Self::Remote(address) => name("remote", address.as_bytes()),
            Self::Unborn(Some(id)) => name("unborn", id.as_bytes()),
            Self::Unborn(None) | Self::Folder => name("folder", &path_bytes::bytes(root)),
        }
    }
}

/// Where the history of a work tree is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryPlace {
    /// The name of its folder below `repos`.
    pub key: String,
    pub identity: Identity,
    /// What the user should know about it, a line each.
    pub notices: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Noted {
    form: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// The root commits under which the history was used.
    #[serde(default)]
    roots: Vec<String>,
    /// The addresses of remotes of the full clones that used it.
    #[serde(default)]
    remotes: Vec<String>,
}

/// The folders of histories.
struct Registry {
    repos: PathBuf,
}

/// What is known of a repository, or of a folder outside git.
struct Facts {
    id: Option<String>,
    root: Option<String>,
    unborn: Option<String>,
    is_shallow: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    Write,
}

impl Workspace {
    /// Where the history of this tree is, to read from; nothing is written. Fails when git does, or `project.id` or a
    /// history that may be this tree's cannot be read.
    pub fn history(&self, state_dir: &Path) -> Result<HistoryPlace> {
        self.place_of_history(state_dir, Access::Read)
    }

    /// As [`Workspace::history`], to write to: what the repository is known by is noted, and a second history of it is
    /// merged into this one as records from elsewhere.
    pub fn claim_history(&self, state_dir: &Path) -> Result<HistoryPlace> {
        self.place_of_history(state_dir, Access::Write)
    }

    fn place_of_history(&self, state_dir: &Path, access: Access) -> Result<HistoryPlace> {
        let registry = Registry { repos: state_dir.join("repos") };
        let state = |source| WorkspaceError::State { path: registry.repos.clone(), source };
        let _lock = (access == Access::Write).then(|| registry.lock()).transpose().map_err(state)?;
        let mut facts = self.facts(access)?;
        let mut notices = Vec::new();
        let mut found = None;
        if let Some(id) = facts.id.take() {
            let folder = registry.follow(&Identity::Project(id.clone()).key(&self.root));
            let is_known = registry.exists(&folder);
            if !is_known || self.may_share(&registry.noted(&folder), &facts)? {
                found = is_known.then_some(folder);
                facts.id = Some(id);
            } else {
                notices.push(format!(
                    "another repository on this machine has the `project.id` `{id}`: this one keeps a history of its own"
                ));
            }
        }
        let identity = self.identity(&facts)?;
        let mut others = Vec::new();
        for is_weak in [false, true] {
            if is_weak && found.is_some() && access == Access::Read {
                break;
            }
            let names = if is_weak { self.weak_names(&facts)? } else { self.strong_names(&facts) };
            for (other, is_proven) in names {
                let folder = registry.follow(&other);
                if found.as_ref() == Some(&folder) || others.contains(&folder) || !registry.exists(&folder) {
                    continue;
                }
                if self.belongs(&registry, &folder, &facts, is_proven)? {
                    if found.is_none() { found = Some(folder) } else { others.push(folder) }
                }
            }
        }
        let key = found.unwrap_or_else(|| identity.key(&self.root));
        if access == Access::Write {
            if matches!(identity, Identity::Remote(_)) {
                notices.push(
                    "a shallow clone: its history is found by the address of the remote; `project.id` in the project's \
                     file (`glee config set project.id <id>`) names it everywhere"
                        .to_owned(),
                );
            }
            self.note(&registry, &key, &facts, &identity).map_err(state)?;
            for other in others {
                registry.merge(&other, &key)?;
            }
        }
        Ok(HistoryPlace { key, identity, notices })
    }

    fn facts(&self, access: Access) -> Result<Facts> {
        let id = config::project_id(&paths::project_root(&self.start))
            .map_err(|error| WorkspaceError::ProjectId(Box::new(error)))?;
        let Some(git) = &self.repository else {
            return Ok(Facts { id, root: None, unborn: None, is_shallow: false });
        };
        let root = match self.root_commit.get() {
            Some(root) => root.clone(),
            None => {
                let root = git.root_commit()?;
                self.root_commit.get_or_init(|| root).clone()
            }
        };
        let unborn = match git.unborn_id()? {
            None if git.head.is_none() && access == Access::Write => Some(git.make_unborn_id()?),
            unborn => unborn,
        };
        Ok(Facts { id, is_shallow: git.head.is_some() && root.is_none(), root, unborn })
    }

    /// The strongest of the names of the tree.
    fn identity(&self, facts: &Facts) -> Result<Identity> {
        if let Some(id) = &facts.id {
            return Ok(Identity::Project(id.clone()));
        }
        if let Some(root) = &facts.root {
            return Ok(Identity::Root(root.clone()));
        }
        let Some(git) = &self.repository else { return Ok(Identity::Folder) };
        if git.head.is_none() {
            return Ok(Identity::Unborn(facts.unborn.clone()));
        }
        Ok(git.address()?.map_or(Identity::Folder, Identity::Remote))
    }

    /// The names that prove that a history is this repository's, each with that.
    fn strong_names(&self, facts: &Facts) -> Vec<(String, bool)> {
        let root = facts.root.clone().map(Identity::Root);
        let unborn = facts.unborn.clone().map(|id| Identity::Unborn(Some(id)));
        root.into_iter().chain(unborn).map(|identity| (identity.key(&self.root), true)).collect()
    }

    /// The names that may be another repository's as well, each with whether nothing better can be known.
    fn weak_names(&self, facts: &Facts) -> Result<Vec<(String, bool)>> {
        let address = match &self.repository {
            Some(git) if git.head.is_some() => git.address()?,
            _ => None,
        };
        let mut names: Vec<_> = address
            .map(|address| (Identity::Remote(address).key(&self.root), facts.is_shallow))
            .into_iter()
            .collect();
        names.push((Identity::Folder.key(&self.root), self.repository.is_none()));
        names.push((self.path_key(), false));
        Ok(names)
    }

    /// The name that an older Glee gave the history: the BLAKE3 hash (hex) of the folder that holds the common `.git`, of
    /// the common folder itself where it has another name, of the root outside git.
    fn path_key(&self) -> String {
        let place = match &self.repository {
            None => &self.root,
            Some(Repository { common, .. }) => match common.parent() {
                Some(parent) if common.file_name().is_some_and(|name| name == ".git") => parent,
                _ => common,
            },
        };
        blake3::hash(&path_bytes::bytes(place)).to_hex().to_string()
    }

    /// Whether a tree that names the same `project.id` is of the same repository, as far as can be known: a full clone by
    /// its root commit, or because it holds one of those that are noted; a shallow one by its remote.
    fn may_share(&self, noted: &Noted, facts: &Facts) -> Result<bool> {
        let Some(git) = &self.repository else { return Ok(noted.roots.is_empty()) };
        if noted.roots.is_empty() || facts.root.as_ref().is_some_and(|root| noted.roots.contains(root)) {
            return Ok(true);
        }
        if facts.is_shallow && !noted.remotes.is_empty() {
            return Ok(git.address()?.is_some_and(|address| noted.remotes.contains(&address)));
        }
        Ok(facts.is_shallow || git.has_any(&noted.roots)?)
    }

    /// Whether the history in a folder is this repository's.
    fn belongs(&self, registry: &Registry, folder: &str, facts: &Facts, is_proven: bool) -> Result<bool> {
        let noted = registry.noted(folder);
        let is_other_id = matches!((&noted.id, &facts.id), (Some(noted), Some(id)) if noted != id);
        let is_other_root = match &facts.root {
            Some(root) => !noted.roots.is_empty() && !noted.roots.contains(root),
            None => !noted.roots.is_empty() && !facts.is_shallow,
        };
        if is_other_id || is_other_root {
            return Ok(false);
        }
        if is_proven {
            return Ok(true);
        }
        let path = registry.database(folder);
        let Some(journal) = Journal::open_read(&path).map_err(WorkspaceError::history)? else { return Ok(true) };
        let Extent { commits, began } = journal.extent().map_err(WorkspaceError::history)?;
        match &self.repository {
            Some(git) if !commits.is_empty() => git.has_any(&commits),
            None if !commits.is_empty() => Ok(false),
            // Nothing but the path speaks for it: the folder is not younger than the history.
            _ => Ok(self.made().zip(began).is_none_or(|(made, began)| made <= began)),
        }
    }

    /// When the root folder was made, where the file system keeps it.
    fn made(&self) -> Option<Timestamp> {
        Timestamp::try_from(std::fs::metadata(&self.root).ok()?.created().ok()?).ok()
    }

    /// Notes what the repository is known by beside its history, and lets its other names lead there.
    fn note(&self, registry: &Registry, key: &str, facts: &Facts, identity: &Identity) -> io::Result<()> {
        let mut noted = Noted { form: 1, ..registry.noted(key) };
        noted.id = noted.id.or_else(|| facts.id.clone());
        let push = |list: &mut Vec<String>, item: &Option<String>| {
            list.extend(item.iter().filter(|item| !list.contains(item)).cloned().collect::<Vec<_>>());
        };
        push(&mut noted.roots, &facts.root);
        let mut leading = vec![identity.key(&self.root)];
        leading.extend(facts.root.clone().map(|root| Identity::Root(root).key(&self.root)));
        leading.extend(facts.unborn.clone().map(|id| Identity::Unborn(Some(id)).key(&self.root)));
        if let (Some(git), Some(_)) = (&self.repository, &facts.root) {
            // A shallow clone finds the history by where it was cloned from: a remote, or this repository itself.
            let remote = git.address().unwrap_or_default();
            push(&mut noted.remotes, &remote);
            leading.extend(remote.map(|address| Identity::Remote(address).key(&self.root)));
            for folder in [&self.root, &git.common] {
                let own = remote_address::folder(folder);
                push(&mut noted.remotes, &Some(own.clone()));
                registry.lead(&Identity::Remote(own).key(&self.root), key)?;
            }
        }
        if noted != registry.noted(key) {
            let bytes = serde_json::to_vec(&noted).map_err(io::Error::other)?;
            private::write(&registry.repos.join(key).join(NOTED), &bytes)?;
        }
        for name in leading {
            let target = registry.follow(&name);
            if target == name || !registry.exists(&target) {
                registry.lead(&name, key)?;
            }
        }
        Ok(())
    }
}

impl Registry {
    fn lock(&self) -> io::Result<File> {
        private::folder(&self.repos)?;
        let mut options = private::options();
        options.write(true).create(true).truncate(false);
        let file = options.open(self.repos.join("lock"))?;
        file.lock()?;
        Ok(file)
    }

    fn database(&self, folder: &str) -> PathBuf {
        self.repos.join(folder).join(store::DATABASE)
    }

    fn exists(&self, folder: &str) -> bool {
        [NOTED, store::DATABASE].iter().any(|file| self.repos.join(folder).join(file).exists())
    }

    /// The folder that a name leads to.
    fn follow(&self, name: &str) -> String {
        let mut folder = name.to_owned();
        for _ in 0..MOST_LINKS {
            let Some(next) = small(&self.repos.join(&folder).join(SAME_AS)).filter(|next| is_key(next)) else {
                break;
            };
            folder = next;
        }
        folder
    }

    /// Lets a name lead to a folder, unless a history that is not merged lies under it.
    fn lead(&self, name: &str, folder: &str) -> io::Result<()> {
        let is_there = name == folder || self.follow(name) == folder || self.database(name).exists();
        if is_there { Ok(()) } else { private::write(&self.repos.join(name).join(SAME_AS), folder.as_bytes()) }
    }

    fn noted(&self, folder: &str) -> Noted {
        let text = small(&self.repos.join(folder).join(NOTED));
        text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
    }

    /// Takes the disputes of a second history into the one at `key`. The second one stays where it is, with all that it
    /// keeps; its name leads to the first from now on.
    fn merge(&self, second: &str, key: &str) -> Result<()> {
        if let Some(other) = Journal::open_read(&self.database(second)).map_err(WorkspaceError::history)? {
            let mut journal = Journal::open(&self.database(key)).map_err(WorkspaceError::history)?;
            let source = format!("history {}", &second[..8]);
            journal.merge_disputes(&other, &source).map_err(WorkspaceError::history)?;
        }
        let path = self.repos.join(second).join(SAME_AS);
        private::write(&path, key.as_bytes()).map_err(|source| WorkspaceError::State { path, source })
    }
}

impl Repository {
    /// The first commit of the first-parent chain of `HEAD`; `None` before the first commit, and where a shallow clone does
    /// not reach it.
    fn root_commit(&self) -> Result<Option<String>> {
        let Some(head) = &self.head else { return Ok(None) };
        let found = self.call(["rev-list", "--first-parent", "--max-parents=0", head]).output()?;
        let root = found.split(|byte| *byte == b'\n').find_map(object_id);
        let shallow = std::fs::read(self.common.join("shallow")).unwrap_or_default();
        let is_cut = |root: &String| shallow.split(|byte| *byte == b'\n').any(|line| line == root.as_bytes());
        Ok(root.filter(|root| !is_cut(root)))
    }

    /// Whether one of these commits is in the repository.
    fn has_any(&self, commits: &[String]) -> Result<bool> {
        let mut objects = self.objects(None)?;
        for commit in commits.iter().filter(|commit| object_id(commit.as_bytes()).is_some()) {
            if objects.read(commit, 0)? != GitObject::Missing {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The normalised address of `origin`, or of the only remote.
    fn address(&self) -> Result<Option<String>> {
        let remotes = self.remotes()?;
        let only = || remotes.values().next().filter(|_| remotes.len() == 1);
        Ok(remotes.get("origin").or_else(only).and_then(|url| remote_address::normalised(url, &self.top)))
    }

    /// The remotes by their names, each with its first address.
    pub(crate) fn remotes(&self) -> Result<BTreeMap<String, String>> {
        let listed = self.call(["config", "--null", "--get-regexp", r"^remote\..*\.url$"]).answer()?;
        let mut remotes = BTreeMap::new();
        for entry in listed.unwrap_or_default().split(|byte| *byte == 0) {
            let entry = path_bytes::shown(entry);
            let Some((key, url)) = entry.split_once('\n') else { continue };
            if let Some(name) = key.strip_prefix("remote.").and_then(|key| key.strip_suffix(".url")) {
                remotes.entry(name.to_owned()).or_insert_with(|| url.to_owned());
            }
        }
        Ok(remotes)
    }

    fn unborn_id(&self) -> Result<Option<String>> {
        Ok(small(&self.common.join(UNBORN)).filter(|id| is_key(id)))
    }

    fn make_unborn_id(&self) -> Result<String> {
        let path = self.common.join(UNBORN);
        let failed = |source| WorkspaceError::State { path: path.clone(), source };
        let random = [uuid::Uuid::new_v4(), uuid::Uuid::new_v4()].map(|id| id.simple().to_string()).concat();
        let mut file = tempfile::NamedTempFile::new_in(&self.common).map_err(failed)?;
        io::Write::write_all(&mut file, random.as_bytes()).map_err(failed)?;
        file.as_file().sync_all().map_err(failed)?;
        match file.persist_noclobber(&path) {
            Ok(_) => Ok(random),
            // Another process was faster; what stands there and is no id is replaced.
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => match self.unborn_id()? {
                Some(id) => Ok(id),
                None => error.file.persist(&path).map(|_| random).map_err(|error| failed(error.error)),
            },
            Err(error) => Err(failed(error.error)),
        }
    }
}

fn name(kind: &str, value: &[u8]) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(kind.as_bytes()).update(b"\0").update(value);
    hasher.finalize().to_hex().to_string()
}

fn is_key(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The trimmed text of a small regular file.
fn small(path: &Path) -> Option<String> {
    let mut text = String::new();
    files::regular(path).ok()?.take(1 << 20).read_to_string(&mut text).ok()?;
    Some(text.trim().to_owned())
}
