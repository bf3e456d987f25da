//! Asks git what revisions mean: commits, ranges, common ancestors, and the files of a commit.

use std::collections::BTreeMap;

use crate::git::output::{object_id, records};
use crate::git::path_bytes;
use crate::git::plumbing::Repository;
use crate::{Result, WorkspaceError};
use glee_system::files;

impl Repository {
    pub fn commit(&self, revision: &str) -> Result<String> {
        let bad = || self.bad_revision(revision);
        if revision.is_empty() || revision.starts_with('-') || revision.contains(['\0', '\n']) {
            return Err(bad());
        }
        if revision == "HEAD" {
            return self.head.clone().ok_or(WorkspaceError::NoCommit);
        }
        self.find(&format!("{revision}^{{commit}}"))?
            .ok_or_else(bad)
    }

    /// Resolves a range to two commit ids. The range `A..B` resolves to A and B. The range `A...B` resolves to two
    /// commits: first the common ancestor of A and B, and then B. If A or B is omitted, `HEAD` is used.
    pub fn range(&self, range: &str) -> Result<(String, String)> {
        let (from, to) = range
            .split_once("..")
            .ok_or_else(|| self.bad_revision(range))?;
        match to.strip_prefix('.') {
            Some(to) => {
                let from = self.side(from)?;
                let to = self.side(to)?;
                Ok((self.merge_base(&from, &to)?, to))
            }
            None => Ok((self.side(from)?, self.side(to)?)),
        }
    }

    fn side(&self, revision: &str) -> Result<String> {
        self.commit(if revision.is_empty() {
            "HEAD"
        } else {
            revision
        })
    }

    fn bad_revision(&self, revision: &str) -> WorkspaceError {
        // In a clone, `main` is often known as `origin/main` only.
        let remote = format!("refs/remotes/*/{revision}");
        let mut branches = Vec::new();
        for pattern in [remote.as_str(), "refs/heads"] {
            let listed = self
                .call([
                    "for-each-ref",
                    "--sort=-committerdate",
                    "--count=4",
                    "--format=`%(refname:short)`",
                    pattern,
                ])
                .output();
            let listed = path_bytes::shown(&listed.unwrap_or_default());
            branches.extend(listed.lines().map(str::to_owned));
        }
        WorkspaceError::BadRevision {
            revision: revision.to_owned(),
            branches,
            fetch: self.fetch_of(revision),
        }
    }

    /// The command that fetches a branch such as `origin/main`, which a clone of a single branch lacks.
    fn fetch_of(&self, revision: &str) -> Option<String> {
        let (remote, branch) = revision.split_once('/')?;
        let is_branch = branch.starts_with(char::is_alphanumeric)
            && branch
                .chars()
                .all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/'));
        (is_branch && self.remotes().ok()?.contains_key(remote))
            .then(|| format!("git fetch {remote} {branch}:refs/remotes/{revision}"))
    }

    pub fn find(&self, revision: &str) -> Result<Option<String>> {
        self.objects(None)?.find(revision)
    }

    pub fn merge_base(&self, one: &str, other: &str) -> Result<String> {
        let base = match self.ask_once(&["merge-base", one, other]) {
            Ok(base) => object_id(base.trim_ascii_end()),
            Err(WorkspaceError::Git { .. }) => None,
            Err(error) => return Err(error),
        };
        base.ok_or_else(|| WorkspaceError::NoMergeBase {
            one: one.to_owned(),
            other: other.to_owned(),
        })
    }

    /// Whether the history of the commit `newer` contains the commit `older`. Commits without a common ancestor, or that do
    /// not exist any more, contain nothing of each other.
    pub(crate) fn is_ancestor(&self, older: &str, newer: &str) -> Result<bool> {
        let base = self.call(["merge-base", older, newer]).id();
        Ok(base.is_ok_and(|base| base.as_deref() == Some(older)))
    }

    pub(crate) fn fork_point(&self, revision: &str) -> Result<String> {
        let head = self.commit("HEAD")?;
        self.merge_base(&self.commit(revision)?, &head)
    }

    /// Lists the files and links of a commit: mode, object id and path. Submodules are left out.
    pub(crate) fn entries_of(&self, commit: &str) -> Result<Vec<(u32, String, Vec<u8>)>> {
        let listed = self.listed_in(commit)?;
        let files = records(&listed).filter(|(_, kind, ..)| *kind == "blob");
        Ok(files
            .map(|(mode, _, id, path)| (mode, id.to_owned(), path.to_vec()))
            .collect())
    }

    /// Maps the path of each regular file in a commit to the file's blob id and executable flag.
    pub fn files_of(&self, commit: &str) -> Result<BTreeMap<String, (String, bool)>> {
        let listed = self.listed_in(commit)?;
        let files = records(&listed).filter(|(mode, ..)| mode & 0o170_000 == 0o100_000);
        Ok(files
            .map(|(mode, _, id, path)| {
                (path_bytes::shown(path), (id.to_owned(), mode == 0o100_755))
            })
            .collect())
    }

    fn listed_in(&self, commit: &str) -> Result<Vec<u8>> {
        self.ask_once(&["ls-tree", "-r", "-z", "--full-tree", commit])
    }

    pub(crate) fn parent_and_tree(&self, commit: &str) -> Result<(Option<String>, String)> {
        let output = self
            .call([
                "rev-parse",
                &format!("{commit}^@"),
                &format!("{commit}^{{tree}}"),
            ])
            .output()?;
        let mut ids: Vec<String> = path_bytes::shown(&output)
            .lines()
            .map(str::to_owned)
            .collect();
        let tree = ids
            .pop()
            .ok_or_else(|| WorkspaceError::Gone(commit.to_owned()))?;
        if ids.is_empty() {
            let cut = files::read_to_string(&self.common.join("shallow")).unwrap_or_default();
            if cut.lines().any(|line| line == commit) {
                return Err(WorkspaceError::Shallow(commit.to_owned()));
            }
        }
        Ok((ids.into_iter().next(), tree))
    }
}
