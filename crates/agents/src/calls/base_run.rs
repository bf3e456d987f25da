//! Runs the commands of a project in a checkout of the base of the reviewed change.
//!
//! What a command reads cannot be found by looking at its words: a target of `make`, a module, a helper that a script
//! calls. A change must not control its own review, so the command sees the base commit in the place of the tree, and
//! the change as data beside it, in the folder `$GLEE_CHANGE`.
//!
//! If the system has mount namespaces, the checkout is mounted at the tree's path, with the tree's `.git` inside.
//! Otherwise, the command runs in the folder of the checkout. A coder also runs there, because the coder edits the
//! tree, whose path is `$GLEE_TREE`.
//!
//! A reviewer that searches the current folder finds the old code, and would be clean about a change that it never saw.
//! The times of access tell: see [`Agents::read_old_code`].

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;
use std::{fs, io};

use crate::Agents;
use crate::calls::checkouts::{BaseRun, Checkout};
use glee_model::domain::{Agent, AgentName, Role};
use glee_protocol::request::SourceFile;
use glee_system::private;
use glee_workspace::root::Workspace;
use glee_workspace::select::walk;
use glee_workspace::{Result, WorkspaceError};

const DIFF: &str = "change.diff";
const FILES: &str = "files";

impl Agents {
    /// Lets the commands of `agents` run in checkouts of a commit. The checkouts are written to a new folder in the
    /// folder `state`, and removed with the last clone of the returned value.
    pub fn at_base(
        mut self,
        workspace: &Workspace,
        commit: &str,
        agents: &[AgentName],
        state: &Path,
    ) -> Result<Self> {
        let failed = WorkspaceError::unreadable(state);
        private::folder(state).map_err(failed)?;
        let folder = tempfile::Builder::new()
            .prefix("base-")
            .tempdir_in(state)
            .map_err(failed)?;
        let mut places = BTreeMap::new();
        let is_mounted = self.runner.mounts();
        let mut names_tree = false;
        for (number, name) in agents.iter().enumerate() {
            let place = |name: &str| folder.path().join(number.to_string()).join(name);
            let checkout = place("tree");
            let change = place("change");
            fs::create_dir_all(&checkout).map_err(failed)?;
            workspace.write_commit(commit, &checkout, |_| true)?;
            if !is_mounted {
                names_tree |= names(&checkout, workspace.root());
            }
            link_repository(workspace, &checkout, is_mounted).map_err(failed)?;
            let reviewed = Mutex::default();
            places.insert(
                name.clone(),
                Checkout {
                    checkout,
                    change,
                    reviewed,
                },
            );
        }
        self.base = Some(Arc::new(BaseRun {
            commit: commit.to_owned(),
            tree: workspace.root().to_owned(),
            places,
            is_mounted,
            names_tree,
            _folder: folder,
        }));
        Ok(self)
    }

    /// Writes the files under review for the commands that run at the base.
    pub fn keep_change<'a>(
        &self,
        files: impl IntoIterator<Item = &'a SourceFile> + Clone,
    ) -> io::Result<()> {
        let places = self.base.iter().flat_map(|base| base.places.values());
        for place in places {
            let Checkout {
                checkout, change, ..
            } = place;
            if change.exists() {
                fs::remove_dir_all(change)?;
            }
            let folder = change.join(FILES);
            private::folder(&folder)?;
            let mut diff = String::new();
            for file in files.clone() {
                if let Some(text) = &file.diff {
                    diff.push_str(text);
                    if !text.ends_with('\n') {
                        diff.push('\n');
                    }
                }
                let path = Path::new(&file.path);
                if !file.is_deleted()
                    && path
                        .components()
                        .all(|part| matches!(part, Component::Normal(_)))
                {
                    let place = folder.join(path);
                    fs::create_dir_all(place.parent().unwrap_or(&folder))?;
                    fs::write(place, &file.text)?;
                }
            }
            fs::write(change.join(DIFF), diff)?;
            forget_reads(checkout)?;
            forget_reads(change)?;
            let mut reviewed = place
                .reviewed
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            *reviewed = files
                .clone()
                .into_iter()
                .map(|file| file.path.clone())
                .collect();
        }
        Ok(())
    }

    /// Returns a file under review that an agent read only as it was before the change. The agent read nothing of the
    /// change's folder, and read the file in the checkout. For a file that the change adds, the agent read all files of
    /// this kind in the file's folder. `None` if the file system records no times of access.
    pub fn read_old_code(&self, agent: &AgentName) -> Option<String> {
        let place = self.base.as_ref()?.places.get(agent)?;
        let is_change_read = fs::read_dir(&place.change).ok()?.flatten().any(|entry| {
            let path = entry.path();
            path.is_file() && was_read(&path)
                || path.is_dir() && files_below(&path).any(|file| was_read(&file))
        });
        if is_change_read || !records_reads(&place.change) {
            return None;
        }
        let reviewed = place
            .reviewed
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        reviewed
            .iter()
            .find(|path| {
                let old = place.checkout.join(path);
                if old.is_file() {
                    return was_read(&old);
                }
                let beside = old.parent().and_then(|folder| fs::read_dir(folder).ok());
                let mut beside = beside
                    .into_iter()
                    .flatten()
                    .flatten()
                    .map(|entry| entry.path())
                    .filter(|other| other.is_file() && other.extension() == old.extension())
                    .peekable();
                beside.peek().is_some() && beside.all(|other| was_read(&other))
            })
            .cloned()
    }

    /// The sentence that tells an agent where the change is; empty for an agent that runs in the tree.
    pub(crate) fn place_of_change(&self, agent: &AgentName) -> String {
        let place = self.base.as_ref().and_then(|base| base.places.get(agent));
        place.map_or_else(String::new, |place| {
            format!(
                "The current folder contains the code before the change. The files under review, as they are after the \
                 change, are in the folder {}, and the diff is {}. Read the changed files there.\n\n",
                place.change.join(FILES).display(),
                place.change.join(DIFF).display()
            )
        })
    }

    /// The commit at which the command of this agent runs. `None` if the command runs in the tree.
    pub fn base_of(&self, agent: &AgentName) -> Option<&str> {
        let base = self.base.as_ref()?;
        base.places
            .contains_key(agent)
            .then_some(base.commit.as_str())
    }

    /// The folder in which the program of an agent is looked up.
    pub(crate) fn root_of<'a>(&'a self, agent: &AgentName, tree: &'a Path) -> &'a Path {
        let place = self.base.as_ref().and_then(|base| base.places.get(agent));
        place.map_or(tree, |place| &place.checkout)
    }

    /// Returns the first agent whose command names the tree's own path, if the checkout cannot be mounted there.
    pub fn needs_tree<'a>(&self, agents: impl IntoIterator<Item = &'a Agent>) -> Option<&'a Agent> {
        let base = self.base.as_ref()?;
        let tree = base.tree.to_string_lossy();
        agents.into_iter().find(|agent| {
            let is_mounted = base.is_mounted && agent.role != Role::Coder;
            let mut words = agent.command.iter().chain(agent.env.values());
            base.places.contains_key(&agent.name)
                && !is_mounted
                && (base.names_tree || words.any(|word| word.contains(&*tree)))
        })
    }
}

/// With a mount, `.git` is the place at which the tree's repository is mounted. Without one, `.git` names the
/// repository.
fn link_repository(workspace: &Workspace, checkout: &Path, is_mounted: bool) -> io::Result<()> {
    let own = workspace.root().join(".git");
    let link = checkout.join(".git");
    if own.symlink_metadata().is_err() {
        return Ok(());
    }
    match is_mounted {
        true if own.is_dir() => fs::create_dir(link),
        true => fs::write(link, ""),
        false => match workspace.folders().get(1) {
            Some(folder) => fs::write(link, format!("gitdir: {}\n", folder.display())),
            None => Ok(()),
        },
    }
}

/// Whether a file below `folder` contains the path `tree`.
fn names(folder: &Path, tree: &Path) -> bool {
    let tree = tree.as_os_str().as_encoded_bytes();
    files_below(folder)
        .any(|file| fs::read(file).is_ok_and(|text| memchr::memmem::find(&text, tree).is_some()))
}

/// The regular files below a folder, without those of git.
fn files_below(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = walk::everything(folder).flatten().filter(walk::is_file);
    entries.map(|entry| entry.path().to_owned())
}

/// Sets the times of access to a moment long ago, so that a later time means a read. A file system with the usual option
/// `relatime` updates a time of access that is before the last change.
fn forget_reads(folder: &Path) -> io::Result<()> {
    for file in files_below(folder) {
        let times = fs::FileTimes::new().set_accessed(SystemTime::UNIX_EPOCH);
        fs::File::open(file)?.set_times(times)?;
    }
    Ok(())
}

fn was_read(file: &Path) -> bool {
    let accessed = fs::metadata(file).and_then(|meta| meta.accessed());
    accessed.is_ok_and(|accessed| accessed != SystemTime::UNIX_EPOCH)
}

/// Whether the file system of a folder records reads.
fn records_reads(folder: &Path) -> bool {
    let file = folder.join(DIFF);
    let probed = fs::read(&file).is_ok()
        && (fs::metadata(&file).is_ok_and(|meta| meta.len() == 0) || was_read(&file));
    // The probe is no read of the agent.
    let times = fs::FileTimes::new().set_accessed(SystemTime::UNIX_EPOCH);
    drop(fs::File::open(&file).and_then(|file| file.set_times(times)));
    probed
}
