//! Finds the branch on which the current branch is stacked.

use std::collections::HashMap;

use crate::Result;
use crate::git::path_bytes;
use crate::git::plumbing::Repository;
use crate::root::Workspace;

/// Only this number of commits is searched for the tips of other branches.
const COMMITS: &str = "--max-count=10000";

impl Workspace {
    /// The name of the local branch, or of the upstream, that is the nearest between `base` and `HEAD`. Without it, a
    /// review since `base` also reads the commits of that branch. `None` outside git.
    pub fn branch_between(&self, base: &str) -> Result<Option<String>> {
        match &self.repository {
            Some(git) => git.branch_between(base),
            None => Ok(None),
        }
    }
}

impl Repository {
    fn branch_between(&self, base: &str) -> Result<Option<String>> {
        let head = self.commit("HEAD")?;
        let base = self.commit(base)?;
        let mut tips = self.upstream(&head)?;
        let merged = format!("--merged={head}");
        let format = "--format=%(objectname) %(refname:short)";
        let listed = self
            .call(["for-each-ref", &merged, format, "refs/heads"])
            .output()?;
        for (commit, branch) in path_bytes::shown(&listed)
            .lines()
            .filter_map(|line| line.split_once(' '))
        {
            tips.insert(commit.to_owned(), branch.to_owned());
        }
        // Branches that were merged into this branch do not lie between, so only first parents are followed.
        let from = head.clone();
        let not = format!("^{base}");
        let commits = self
            .call(["rev-list", "--first-parent", COMMITS, &from, &not])
            .output()?;
        let commits = path_bytes::shown(&commits);
        let mut between = commits.lines().filter(|commit| *commit != head);
        Ok(between.find_map(|commit| tips.remove(commit)))
    }

    /// The commit at which the current branch left its upstream, with the name of the upstream. Empty if the upstream is
    /// the same branch on a remote.
    fn upstream(&self, head: &str) -> Result<HashMap<String, String>> {
        let mut found = HashMap::new();
        let branch = self.call(["symbolic-ref", "--quiet", "HEAD"]).answer()?;
        let Some(branch) = branch.map(|name| path_bytes::shown(name.trim_ascii_end())) else {
            return Ok(found);
        };
        let format = "--format=%(upstream) %(upstream:remoteref) %(upstream:short)";
        let listed = self.call(["for-each-ref", format, &branch]).output()?;
        let listed = path_bytes::shown(&listed);
        let mut words = listed.split_whitespace();
        if let (Some(full), Some(remote), Some(short)) = (words.next(), words.next(), words.next())
            && remote != branch
            && let Some(tip) = self.find(full)?
            && let Ok(left) = self.merge_base(&tip, head)
        {
            found.insert(left, short.to_owned());
        }
        Ok(found)
    }
}
