//! Fetches the commits of a pull request as git objects. The fetch changes no branch, tag, remote-tracking branch
//! or file.
//!
//! For the duration of a run, a ref below `refs/glee/requests/` protects the commits from `git gc`. The ref is
//! deleted at the end of the run. If a run is killed, the next run deletes the ref.

use std::collections::BTreeSet;
use std::time::Duration;

use nix::sys::signal::kill;
use nix::unistd::Pid;

use crate::git::output::object_id;
use crate::git::plumbing::Repository;
use crate::git::{path_bytes, remote_address};
use crate::guard::control_files::{ControlKind, control_kind};
use crate::{Result, Workspace, WorkspaceError};
use glee_model::domain::Untrusted;

const PINS: &str = "refs/glee/requests/";
/// The maximum duration of one `git fetch`.
const NETWORK: Duration = Duration::from_secs(600);
/// Glee deepens a shallow clone in steps, until the clone contains a merge base. Each entry is the number of
/// commits that one fetch adds to the clone. If the clone still contains no merge base, Glee fetches all remaining
/// commits.
const STEPS: [u32; 4] = [64, 256, 1024, 4096];

/// The repository from which Glee fetches a pull request, with the refs and ids of the head commit and the base
/// commit.
#[derive(Clone, Copy, Debug)]
pub struct ChangeSource<'a> {
    /// The address from which Glee fetches the commits. If a remote of the clone has this address, Glee uses the
    /// clone's git settings for this remote.
    pub repository: &'a str,
    pub head_ref: &'a str,
    pub head: &'a str,
    /// The name of the base branch. Glee fetches the branch only if the remote repository does not send the base
    /// commit by its id.
    pub base_branch: &'a Untrusted,
    pub base: &'a str,
}

/// The commits of a change. Refs protect the commits from `git gc` until this value is dropped.
#[derive(Debug)]
pub struct FetchedChange {
    /// The tip of the base branch.
    pub base: String,
    /// The merge base of `base` and `head`.
    pub from: String,
    pub head: String,
    _pins: Pins,
}

impl Workspace {
    /// Fetches the commits of a change, and enough earlier commits to find the merge base. Fails outside git. Also
    /// fails if the repository cannot be reached in time, or if the commits no longer exist.
    pub fn fetch_change(&self, source: &ChangeSource<'_>) -> Result<FetchedChange> {
        let git = self
            .repository
            .as_ref()
            .ok_or_else(|| WorkspaceError::NotGit("a pull request".to_owned()))?;
        for id in [source.head, source.base] {
            object_id(id.as_bytes()).ok_or_else(|| WorkspaceError::BadRevision {
                revision: id.to_owned(),
                branches: Vec::new(),
                fetch: None,
            })?;
        }
        let fetch = Fetch {
            git,
            from: git.remote_at(source.repository)?,
            source,
        };
        fetch.commits()?;
        let from = fetch.merge_base()?;
        fetch.missing_blobs(&from)?;
        let base = source.base.to_owned();
        let head = source.head.to_owned();
        let pins = Pins::new(git, [&base, &head])?;
        Ok(FetchedChange {
            base,
            from,
            head,
            _pins: pins,
        })
    }

    /// Returns the address of the remote of the current branch. If the branch has no remote, returns the address
    /// of `origin`.
    pub fn remote_address(&self) -> Option<String> {
        let git = self.repository.as_ref()?;
        let mut remotes = git.remotes().ok()?;
        let branch = git
            .call(["symbolic-ref", "--quiet", "--short", "HEAD"])
            .answer()
            .ok()?
            .unwrap_or_default();
        let branch = path_bytes::shown(branch.trim_ascii_end());
        let key = format!("branch.{branch}.remote");
        let name = git
            .call(["config", "--get", &key])
            .answer()
            .ok()?
            .unwrap_or_default();
        remotes
            .remove(&path_bytes::shown(name.trim_ascii_end()))
            .or_else(|| remotes.remove("origin"))
    }

    /// The paths of the files that configure Glee and differ between two commits.
    pub fn edited_control_files(&self, from: &str, to: &str) -> Result<Vec<String>> {
        let changed = self.changed_paths(from, to)?;
        Ok(changed
            .into_iter()
            .filter(|path| control_kind(path) == Some(ControlKind::Glee))
            .collect())
    }

    /// The paths of all files that differ between two commits.
    pub(crate) fn changed_paths(&self, from: &str, to: &str) -> Result<BTreeSet<String>> {
        let Some(git) = &self.repository else {
            return Ok(BTreeSet::new());
        };
        let listed = git
            .call([
                "diff-tree",
                "-r",
                "-z",
                "--no-renames",
                "--name-only",
                from,
                to,
            ])
            .output()?;
        Ok(path_bytes::items(&listed, 0)
            .map(path_bytes::shown)
            .collect())
    }

    /// The text of a file in a commit. `None` if the file is missing, larger than 4 MiB or not text.
    pub fn text_at_commit(&self, commit: &str, path: &str) -> Option<String> {
        let path = self.clean(path).filter(|path| !path.contains('\n'))?;
        let bytes = self.read_at_commit(commit, &path)?;
        (!bytes.contains(&0)).then(|| String::from_utf8_lossy(&bytes).into_owned())
    }
}

struct Fetch<'a> {
    git: &'a Repository,
    /// The name of a remote, or an address.
    from: String,
    source: &'a ChangeSource<'a>,
}

impl Fetch<'_> {
    /// Fetches the head commit and the base commit by their ids. If the remote repository does not send a commit
    /// by its id, Glee fetches the refs that contain the commits.
    fn commits(&self) -> Result<()> {
        let ChangeSource {
            head,
            base,
            head_ref,
            base_branch,
            ..
        } = *self.source;
        if self.has_both() {
            return Ok(());
        }
        let depth = self
            .git
            .is_shallow()
            .then(|| format!("--depth={}", STEPS[0]));
        let options: Vec<&str> = depth.as_deref().into_iter().collect();
        let by_id = self.fetch(&options, &[head, base]);
        if by_id.is_ok() && self.has_both() {
            return Ok(());
        }
        let branch = format!("refs/heads/{}", base_branch.as_written());
        let is_name = self
            .git
            .call(["check-ref-format", &branch])
            .answer()?
            .is_some();
        let is_ref = self
            .git
            .call(["check-ref-format", head_ref])
            .answer()?
            .is_some();
        let named: Vec<&str> = is_ref
            .then_some(head_ref)
            .into_iter()
            .chain(is_name.then_some(branch.as_str()))
            .collect();
        self.fetch(&options, &named)?;
        if self.has_both() {
            Ok(())
        } else {
            Err(WorkspaceError::ChangeMoved)
        }
    }

    fn has_both(&self) -> bool {
        [self.source.head, self.source.base]
            .iter()
            .all(|id| self.git.has(id))
    }

    fn merge_base(&self) -> Result<String> {
        let ChangeSource { head, base, .. } = *self.source;
        let find = || self.git.merge_base(base, head);
        let steps = STEPS.map(|step| format!("--deepen={step}"));
        for step in steps.iter().map(String::as_str).chain(["--unshallow"]) {
            let found = find();
            if found.is_ok() || !self.git.is_shallow() {
                return found;
            }
            self.fetch(&[step], &[head, base])?;
        }
        find()
    }

    /// In a partial clone, fetches the contents of the changed files and of the files that configure Glee.
    /// Without this fetch, git would fetch the content of each file separately.
    fn missing_blobs(&self, from: &str) -> Result<()> {
        let promisor = self
            .git
            .call(["config", "--get-regexp", r"^remote\..*\.promisor$"])
            .answer()?;
        if promisor.is_none_or(|found| found.is_empty()) {
            return Ok(());
        }
        let head = self.source.head;
        let base = self.source.base;
        let raw = [
            "diff-tree",
            "-r",
            "-z",
            "--raw",
            "--no-renames",
            "--no-abbrev",
            from,
            head,
        ];
        let changed = path_bytes::shown(&self.git.call(raw).output()?);
        let blobs = changed
            .split(' ')
            .filter(|word| object_id(word.as_bytes()).is_some())
            .map(str::to_owned);
        let mut wanted: BTreeSet<String> = blobs.collect();
        for commit in [base, from, head] {
            let files = self.git.files_of(commit)?;
            wanted.extend(
                files
                    .into_iter()
                    .filter(|(path, _)| steers(path))
                    .map(|(_, (id, _))| id),
            );
        }
        let list: String = wanted.iter().map(|id| format!("{id}\n")).collect();
        let checked = self
            .git
            .call(["cat-file", "--batch-check"])
            .output_of(list.as_bytes());
        // Debian 12's git (2.39.5) fails at the first missing object. Then all are fetched.
        let missing: BTreeSet<String> = match checked {
            Ok(checked) => path_bytes::shown(&checked)
                .lines()
                .filter_map(|line| line.strip_suffix(" missing"))
                .map(str::to_owned)
                .collect(),
            Err(_) => wanted,
        };
        let missing: String = missing
            .iter()
            .filter(|id| id.bytes().any(|byte| byte != b'0'))
            .map(|id| format!("{id}\n"))
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        let call = self.git.call(
            ["-c", "fetch.negotiationAlgorithm=noop"]
                .into_iter()
                .chain(QUIET),
        );
        let call = ["--filter=blob:none", "--stdin", &self.from]
            .iter()
            .fold(call, |call, arg| call.arg(arg));
        call.over_network(NETWORK)
            .output_of(missing.as_bytes())
            .map(drop)
    }

    fn fetch(&self, options: &[&str], what: &[&str]) -> Result<()> {
        let from = ["--end-of-options", self.from.as_str()];
        let args = QUIET.iter().chain(options).chain(&from).chain(what);
        let call = self.git.call(args.copied()).over_network(NETWORK);
        call.output()?;
        self.git.cat_files.end();
        Ok(())
    }
}

fn steers(path: &str) -> bool {
    control_kind(path) == Some(ControlKind::Glee)
        || path.rsplit('/').next() == Some(".gitattributes")
}

/// The arguments of a `git fetch` that changes no ref, starts no maintenance, and uses no transport that runs a
/// command.
pub(super) const QUIET: [&str; 20] = [
    "-c",
    "gc.auto=0",
    "-c",
    "maintenance.auto=false",
    "-c",
    "fetch.writeCommitGraph=false",
    "-c",
    "protocol.ext.allow=never",
    "-c",
    "fetch.bundleURI=",
    "fetch",
    "--quiet",
    "--no-tags",
    "--no-prune",
    "--no-recurse-submodules",
    "--no-write-fetch-head",
    "--no-auto-maintenance",
    "--refmap=",
    "--no-show-forced-updates",
    "--no-progress",
];

impl Repository {
    /// Returns the name of the remote with this address, or the address itself if no remote has the address.
    fn remote_at(&self, address: &str) -> Result<String> {
        let wanted = remote_address::normalised(address, &self.top);
        let known = self.remotes()?.into_iter().find(|(name, url)| {
            !name.starts_with('-')
                && (wanted.is_some() && remote_address::normalised(url, &self.top) == wanted)
        });
        Ok(known.map_or_else(|| address.to_owned(), |(name, _)| name))
    }

    fn has(&self, commit: &str) -> bool {
        self.find(&format!("{commit}^{{tree}}"))
            .is_ok_and(|tree| tree.is_some())
    }

    fn is_shallow(&self) -> bool {
        self.common.join("shallow").exists()
    }

    /// Deletes the refs of runs that have ended.
    fn unpin_ended(&self) -> Result<()> {
        let listed = self
            .call(["for-each-ref", "--format=%(refname)", PINS])
            .output()?;
        let listed = path_bytes::shown(&listed);
        let commands: String = listed
            .lines()
            .filter(|name| {
                let process = name
                    .strip_prefix(PINS)
                    .and_then(|rest| rest.split(['-', '/']).next()?.parse().ok());
                process.is_none_or(|id| id <= 0 || kill(Pid::from_raw(id), None).is_err())
            })
            .map(|name| format!("delete {name}\n"))
            .collect();
        if commands.is_empty() {
            return Ok(());
        }
        self.call(["update-ref", "--no-deref", "--stdin"])
            .output_of(commands.as_bytes())
            .map(drop)
    }
}

/// The refs that protect the commits of a change.
#[derive(Debug)]
struct Pins {
    git: Repository,
    names: Vec<String>,
}

impl Pins {
    fn new(git: &Repository, commits: [&str; 2]) -> Result<Self> {
        git.refuse_links(["refs/glee", "refs/glee/requests"])?;
        git.unpin_ended()?;
        let folder = format!(
            "{PINS}{}-{}",
            std::process::id(),
            uuid::Uuid::new_v4().simple()
        );
        let names = ["base", "head"].map(|name| format!("{folder}/{name}"));
        let commands: String = names
            .iter()
            .zip(commits)
            .map(|(name, commit)| format!("create {name} {commit}\n"))
            .collect();
        git.call(["update-ref", "--no-deref", "--stdin"])
            .output_of(commands.as_bytes())?;
        Ok(Self {
            git: git.clone(),
            names: names.into(),
        })
    }
}

impl Drop for Pins {
    fn drop(&mut self) {
        let commands: String = self
            .names
            .iter()
            .map(|name| format!("delete {name}\n"))
            .collect();
        // An error is ignored, because the next run deletes the refs.
        drop(
            self.git
                .call(["update-ref", "--no-deref", "--stdin"])
                .output_of(commands.as_bytes()),
        );
    }
}
