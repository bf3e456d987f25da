//! Finds the history that belongs to a work tree, even if the repository was moved or cloned.
//!
//! A history is a folder below `repos` in the state folder. A repository can have several names. In descending
//! order of reliability, the names of a repository are `project.id`, the root commit, a generated id, the address
//! of the remote and the path of the folder. Glee generates the id for a repository without commits. Glee
//! identifies a repository by the most reliable name that the repository has. Each name of a repository has a
//! folder below `repos`. The folder of a name contains either the history or a file `same-as`. The file `same-as`
//! contains the name of the history's folder. If the repository later gets a more reliable name, the history stays
//! in its folder. Glee then creates a file `same-as` in the folder of the new name. The folder of a history
//! records the names of its repository, so that Glee can reject a copied `project.id`.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::git::objects::GitObject;
use crate::git::output::object_id;
use crate::git::plumbing::Repository;
use crate::git::{path_bytes, remote_address};
use crate::{Result, Workspace, WorkspaceError};
use glee_store::config;
use glee_store::config::files::paths;
use glee_store::history::shared_log::RepositoryNames;
use glee_store::history::store::Journal;
use glee_store::history::{Extent, store};
use glee_system::{files, private};

const SAME_AS: &str = "same-as";
const RECORD: &str = "identity.json";
/// The file in which Glee stores a generated id for a repository without commits. The file is in the common git
/// folder.
const UNBORN: &str = "glee-id";
/// How the normalised address of a folder of this machine begins.
const LOCAL: &str = "file:";
const MOST_LINKS: usize = 8;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identity {
    /// The `project.id` in the project's configuration.
    Project(String),
    /// The oldest commit of the first-parent chain of `HEAD`.
    Root(String),
    /// The normalised address of the remote, for a shallow clone.
    Remote(String),
    /// A generated id, for a repository without commits. `None` before Glee generates the id.
    Unborn(Option<String>),
    /// The path of the folder. Glee uses this identity only for a project that has no other identity.
    Folder,
}

impl Identity {
    pub fn words(&self) -> String {
        match self {
            Self::Project(id) => format!("project.id `{id}`"),
            Self::Root(commit) => format!("root commit {commit}"),
            Self::Remote(address) => format!("remote {address} (shallow clone)"),
            Self::Unborn(_) => "a generated id, until the first commit".to_owned(),
            Self::Folder => "the path of the folder".to_owned(),
        }
    }

    fn key(&self, root: &Path) -> String {
        let folder = path_bytes::bytes(root);
        let (kind, value) = match self {
            Self::Project(id) => ("project", id.as_bytes()),
            Self::Root(commit) => ("root", commit.as_bytes()),
            Self::Remote(address) => ("remote", address.as_bytes()),
            Self::Unborn(Some(id)) => ("unborn", id.as_bytes()),
            Self::Unborn(None) | Self::Folder => ("folder", folder.as_slice()),
        };
        blake3::hash(&[kind.as_bytes(), b"\0", value].concat())
            .to_hex()
            .to_string()
    }
}

/// The names of a repository of which only the address is known. `None` if the address is none, or is on this machine.
pub fn names_of_address(address: &str) -> Option<RepositoryNames> {
    let top = Path::new("/");
    let remote = remote_address::normalised(address, top)?;
    if remote.starts_with(LOCAL) {
        return None;
    }
    Some(RepositoryNames {
        project: None,
        proven: vec![Identity::Remote(remote.clone()).key(top)],
        title: remote,
    })
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryPlace {
    /// The name of the folder below `repos` that contains the history.
    pub key: String,
    pub identity: Identity,
    /// Notices for the user, with one line each.
    pub notices: Vec<String>,
    /// The names by which a server knows the repository.
    pub names: RepositoryNames,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct RepositoryRecord {
    form: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// The root commits of all work trees that used this history.
    #[serde(default)]
    roots: Vec<String>,
    /// The addresses of the full clones that used this history, and the addresses of the remotes of these
    /// clones.
    #[serde(default)]
    remotes: Vec<String>,
}

struct Registry {
    repos: PathBuf,
}

struct Facts {
    id: Option<String>,
    root: Option<String>,
    is_unborn: bool,
    unborn: Option<String>,
    /// The normalised address of the remote. `None` if there is no remote, or before the first commit.
    remote: Option<String>,
    is_shallow: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    Write,
}

impl Workspace {
    /// Finds this tree's history, and writes nothing. Fails if git fails, or if `project.id` cannot be read.
    /// Also fails if Glee cannot read a history that possibly belongs to this tree.
    pub fn history(&self, state_dir: &Path) -> Result<HistoryPlace> {
        self.place_of_history(state_dir, Access::Read)
    }

    /// Finds this tree's history, and records the names of the repository. Copies the disputes of all other
    /// histories of this repository into the returned history. Fails like [`Workspace::history`].
    pub fn claim_history(&self, state_dir: &Path) -> Result<HistoryPlace> {
        self.place_of_history(state_dir, Access::Write)
    }

    fn place_of_history(&self, state_dir: &Path, access: Access) -> Result<HistoryPlace> {
        let registry = Registry {
            repos: state_dir.join(store::HISTORIES),
        };
        let state = WorkspaceError::state(&registry.repos);
        let _lock = (access == Access::Write)
            .then(|| registry.lock())
            .transpose()
            .map_err(state)?;
        let mut facts = self.facts(access)?;
        let mut notices = Vec::new();
        let mut found = None;
        if let Some(id) = facts.id.take() {
            let folder = registry.resolve(&Identity::Project(id.clone()).key(&self.root));
            let is_known = registry.exists(&folder);
            if !is_known || self.may_share(&registry.record(&folder), &facts)? {
                found = is_known.then_some(folder);
                facts.id = Some(id);
            } else {
                notices.push(format!(
                    "another repository on this machine has the `project.id` `{id}`, so this repository keeps a \
                     separate history"
                ));
            }
        }
        let identity = facts.identity();
        let mut others = Vec::new();
        for (name, is_proven) in self.candidates(&facts) {
            if found.is_some() && access == Access::Read {
                break;
            }
            let folder = registry.resolve(&name);
            let is_other = found.as_ref() != Some(&folder)
                && !others.contains(&folder)
                && registry.exists(&folder);
            if is_other && self.belongs(&registry, &folder, &facts, is_proven)? {
                if found.is_none() {
                    found = Some(folder)
                } else {
                    others.push(folder)
                }
            }
        }
        let key = found.unwrap_or_else(|| identity.key(&self.root));
        if access == Access::Write {
            if matches!(identity, Identity::Remote(_)) {
                notices.push(
                    "this is a shallow clone, so Glee finds the history by the address of the remote; with `project.id` \
                     in the project's file (`glee config set project.id <id>`), Glee finds the history in every clone"
                        .to_owned(),
                );
            }
            self.record_names(&registry, &key, &facts, &identity)
                .map_err(state)?;
            others
                .iter()
                .try_for_each(|other| registry.merge(other, &key))?;
        }
        Ok(HistoryPlace {
            key,
            identity,
            notices,
            names: self.shared_names(&facts),
        })
    }

    /// An id that this machine generated, a path, and a remote on this machine are no names for other machines.
    fn shared_names(&self, facts: &Facts) -> RepositoryNames {
        let remote = facts
            .remote
            .as_ref()
            .filter(|remote| !remote.starts_with(LOCAL));
        let folder = self.root.file_name().unwrap_or_default().to_string_lossy();
        let proven = facts.root.clone().map(Identity::Root).into_iter();
        let proven = proven.chain(remote.cloned().map(Identity::Remote));
        RepositoryNames {
            project: facts
                .id
                .clone()
                .map(|id| Identity::Project(id).key(&self.root)),
            proven: proven.map(|name| name.key(&self.root)).collect(),
            title: remote.cloned().unwrap_or_else(|| folder.into_owned()),
        }
    }

    fn facts(&self, access: Access) -> Result<Facts> {
        let id = config::project_id(&paths::project_root(&self.start))
            .map_err(|error| WorkspaceError::ProjectId(Box::new(error)))?;
        let Some(git) = &self.repository else {
            return Ok(Facts {
                id,
                root: None,
                is_unborn: false,
                unborn: None,
                remote: None,
                is_shallow: false,
            });
        };
        let root = match self.root_commit.get() {
            Some(root) => root.clone(),
            None => {
                let root = git.root_commit()?;
                self.root_commit.get_or_init(|| root).clone()
            }
        };
        let is_unborn = git.head.is_none();
        let unborn = match git.unborn_id()? {
            None if is_unborn && access == Access::Write => Some(git.create_unborn_id()?),
            unborn => unborn,
        };
        let remote = if is_unborn { None } else { git.address()? };
        Ok(Facts {
            id,
            is_unborn,
            unborn,
            remote,
            is_shallow: !is_unborn && root.is_none(),
            root,
        })
    }

    /// Returns the possible names of the history's folder, the most reliable name first. The boolean of a name
    /// is true if a history with this name certainly belongs to this tree.
    fn candidates(&self, facts: &Facts) -> Vec<(String, bool)> {
        let proven = facts
            .proven_names()
            .map(|name| (name.key(&self.root), true));
        let remote = facts
            .remote
            .clone()
            .map(|remote| (Identity::Remote(remote).key(&self.root), facts.is_shallow));
        let folder = (Identity::Folder.key(&self.root), self.repository.is_none());
        proven.chain(remote).chain([folder]).collect()
    }

    /// Whether this tree is allowed to use the history of a repository with the same `project.id`. If `record`
    /// lists root commits, a full clone must contain at least one of these commits. If `record` also lists
    /// remotes, the remote of a shallow clone must be one of these remotes.
    fn may_share(&self, record: &RepositoryRecord, facts: &Facts) -> Result<bool> {
        let Some(git) = &self.repository else {
            return Ok(record.roots.is_empty());
        };
        if record.roots.is_empty()
            || facts
                .root
                .as_ref()
                .is_some_and(|root| record.roots.contains(root))
        {
            return Ok(true);
        }
        if facts.is_shallow && !record.remotes.is_empty() {
            return Ok(facts
                .remote
                .as_ref()
                .is_some_and(|remote| record.remotes.contains(remote)));
        }
        Ok(facts.is_shallow || git.has_any(&record.roots)?)
    }

    fn belongs(
        &self,
        registry: &Registry,
        folder: &str,
        facts: &Facts,
        is_proven: bool,
    ) -> Result<bool> {
        let record = registry.record(folder);
        let is_other_id =
            matches!((&record.id, &facts.id), (Some(recorded), Some(id)) if recorded != id);
        let is_other_root = facts
            .root
            .as_ref()
            .map_or(self.repository.is_some() && !facts.is_shallow, |root| {
                !record.roots.contains(root)
            });
        if is_other_id || is_other_root && !record.roots.is_empty() {
            return Ok(false);
        }
        let has_lost_git = self.repository.is_none() && !record.roots.is_empty();
        if is_proven && !has_lost_git {
            return Ok(true);
        }
        let Some(journal) = Journal::open_read(&registry.database(folder))? else {
            return Ok(true);
        };
        let Extent { commits, began } = journal.extent()?;
        match &self.repository {
            Some(git) if !commits.is_empty() => git.has_any(&commits),
            // Without a commit to look for, a history belongs to the tree only if the root folder of the tree is older
            // than the history.
            _ => {
                let created = std::fs::metadata(&self.root)
                    .and_then(|meta| meta.created())
                    .ok();
                let created = created.and_then(|at| Timestamp::try_from(at).ok());
                Ok(created
                    .zip(began)
                    .is_none_or(|(created, began)| created <= began))
            }
        }
    }

    fn record_names(
        &self,
        registry: &Registry,
        key: &str,
        facts: &Facts,
        identity: &Identity,
    ) -> io::Result<()> {
        let mut record = RepositoryRecord {
            form: 1,
            ..registry.record(key)
        };
        record.id = record.id.or_else(|| facts.id.clone());
        let mut names = vec![identity.clone()];
        names.extend(facts.proven_names());
        let mut remotes = Vec::new();
        if let (Some(git), Some(_)) = (&self.repository, &facts.root) {
            // For a shallow clone, Glee can find the history only by the address from which the clone was made.
            // The possible addresses are the paths of this repository and the address of its remote. Glee records
            // these addresses as names of the history.
            names.extend(facts.remote.clone().map(Identity::Remote));
            remotes.extend(facts.remote.clone());
            for folder in [&self.root, &git.common] {
                let own = remote_address::folder(folder);
                registry.redirect(&Identity::Remote(own.clone()).key(&self.root), key)?;
                remotes.push(own);
            }
            // By this name, the history is found if somebody removes the git folder.
            registry.redirect(&Identity::Folder.key(&self.root), key)?;
        }
        for (list, new) in [
            (&mut record.roots, facts.root.iter().cloned().collect()),
            (&mut record.remotes, remotes),
        ] {
            for item in new {
                if !list.contains(&item) {
                    list.push(item);
                }
            }
        }
        if record != registry.record(key) {
            let bytes = serde_json::to_vec(&record).map_err(io::Error::other)?;
            private::write(&registry.repos.join(key).join(RECORD), &bytes)?;
        }
        for name in names {
            let name = name.key(&self.root);
            let target = registry.resolve(&name);
            if target == name || !registry.exists(&target) {
                registry.redirect(&name, key)?;
            }
        }
        Ok(())
    }
}

impl Facts {
    fn identity(&self) -> Identity {
        match self {
            Self { id: Some(id), .. } => Identity::Project(id.clone()),
            Self {
                root: Some(root), ..
            } => Identity::Root(root.clone()),
            Self {
                is_unborn: true,
                unborn,
                ..
            } => Identity::Unborn(unborn.clone()),
            Self {
                remote: Some(remote),
                ..
            } => Identity::Remote(remote.clone()),
            _ => Identity::Folder,
        }
    }

    /// The names that prove the identity of a repository: the root commit and the generated id.
    fn proven_names(&self) -> impl Iterator<Item = Identity> {
        let unborn = self.unborn.clone().map(|id| Identity::Unborn(Some(id)));
        self.root
            .clone()
            .map(Identity::Root)
            .into_iter()
            .chain(unborn)
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
        [RECORD, store::DATABASE]
            .iter()
            .any(|file| self.repos.join(folder).join(file).exists())
    }

    fn resolve(&self, name: &str) -> String {
        let mut folder = name.to_owned();
        for _ in 0..MOST_LINKS {
            let next = read_small(&self.repos.join(&folder).join(SAME_AS));
            let Some(next) = next.filter(|next| is_key(next)) else {
                break;
            };
            folder = next;
        }
        folder
    }

    /// Makes the history folder `name` an alias of the history folder `folder`. Does nothing if the folder `name`
    /// already contains a history.
    fn redirect(&self, name: &str, folder: &str) -> io::Result<()> {
        if name == folder || self.resolve(name) == folder || self.database(name).exists() {
            return Ok(());
        }
        private::write(&self.repos.join(name).join(SAME_AS), folder.as_bytes())
    }

    fn record(&self, folder: &str) -> RepositoryRecord {
        let text = read_small(&self.repos.join(folder).join(RECORD));
        text.and_then(|text| serde_json::from_str(&text).ok())
            .unwrap_or_default()
    }

    /// Copies the disputes of the history `second` into the history `key`. The history `second` remains
    /// unchanged.
    fn merge(&self, second: &str, key: &str) -> Result<()> {
        if let Some(other) = Journal::open_read(&self.database(second))? {
            let mut journal = Journal::open(&self.database(key))?;
            let source = format!("history {}", &second[..8]);
            journal.merge_disputes(&other, &source)?;
        }
        let path = self.repos.join(second).join(SAME_AS);
        private::write(&path, key.as_bytes()).map_err(WorkspaceError::state(&path))
    }
}

impl Repository {
    /// Returns `None` before the first commit, and in a shallow clone without the root commit.
    fn root_commit(&self) -> Result<Option<String>> {
        let Some(head) = &self.head else {
            return Ok(None);
        };
        let found = self
            .call(["rev-list", "--first-parent", "--max-parents=0", head])
            .output()?;
        let shallow = std::fs::read(self.common.join("shallow")).unwrap_or_default();
        Ok(path_bytes::items(&found, b'\n')
            .find_map(object_id)
            .filter(|root| !path_bytes::items(&shallow, b'\n').any(|line| line == root.as_bytes())))
    }

    fn has_any(&self, commits: &[String]) -> Result<bool> {
        let mut objects = self.objects(None)?;
        for commit in commits
            .iter()
            .filter(|commit| object_id(commit.as_bytes()).is_some())
        {
            if objects.read(commit, 0)? != GitObject::Missing {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the normalised address of the remote `origin`. If there is no remote `origin`, but exactly one
    /// other remote, returns the address of this remote.
    fn address(&self) -> Result<Option<String>> {
        let remotes = self.remotes()?;
        Ok(remotes
            .get("origin")
            .or_else(|| remotes.values().next().filter(|_| remotes.len() == 1))
            .and_then(|url| remote_address::normalised(url, &self.top)))
    }

    /// Maps the name of each remote to the first address of the remote.
    pub fn remotes(&self) -> Result<BTreeMap<String, String>> {
        let mut remotes = BTreeMap::new();
        for (key, url) in self.config()? {
            if let Some(name) = key
                .strip_prefix("remote.")
                .and_then(|key| key.strip_suffix(".url"))
            {
                remotes
                    .entry(name.to_owned())
                    .or_insert_with(|| url.clone());
            }
        }
        Ok(remotes)
    }

    fn unborn_id(&self) -> Result<Option<String>> {
        Ok(read_small(&self.common.join(UNBORN)).filter(|id| is_key(id)))
    }

    fn create_unborn_id(&self) -> Result<String> {
        let path = self.common.join(UNBORN);
        let failed = WorkspaceError::state(&path);
        let random = [uuid::Uuid::new_v4(), uuid::Uuid::new_v4()]
            .map(|id| id.simple().to_string())
            .concat();
        let mut file = tempfile::NamedTempFile::new_in(&self.common).map_err(failed)?;
        io::Write::write_all(&mut file, random.as_bytes()).map_err(failed)?;
        file.as_file().sync_all().map_err(failed)?;
        match file.persist_noclobber(&path) {
            Ok(_) => Ok(random),
            // If another process created the file first, Glee uses the id in this file. Glee replaces the file
            // only if its content is invalid.
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
                match self.unborn_id()? {
                    Some(id) => Ok(id),
                    None => error
                        .file
                        .persist(&path)
                        .map(|_| random)
                        .map_err(|error| failed(error.error)),
                }
            }
            Err(error) => Err(failed(error.error)),
        }
    }
}

fn is_key(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn read_small(path: &Path) -> Option<String> {
    let mut text = String::new();
    files::regular(path)
        .ok()?
        .take(1 << 20)
        .read_to_string(&mut text)
        .ok()?;
    Some(text.trim().to_owned())
}
