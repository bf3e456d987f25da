//! Reads the messages of the commits that are under review.

use crate::code::text_files;
use crate::git::{GitObject, Repository};
use crate::{Result, TargetSpec, Workspace};
use glee_model::domain::{Intent, Untrusted};

/// The maximum number of commits whose messages are read.
const COMMITS: &str = "--max-count=50";

/// The maximum size of a commit object, in bytes.
const CAP: u64 = 64 << 10;

impl Workspace {
    /// The messages of the commits of a target, the oldest first; merges are left out. Empty if the target is not made of
    /// commits.
    pub fn messages(&self, spec: &TargetSpec) -> Result<Vec<Intent>> {
        let Some(git) = &self.repository else {
            return Ok(Vec::new());
        };
        let tip = match spec {
            TargetSpec::Base(_) => git.head.clone(),
            TargetSpec::Commit(revision) => Some(git.commit(revision)?),
            TargetSpec::Range(range) => Some(git.range(range)?.1),
            TargetSpec::Uncommitted
            | TargetSpec::Staged
            | TargetSpec::Diff { .. }
            | TargetSpec::Paths(_) => None,
        };
        match tip {
            Some(tip) => git.messages(git.base_of(spec)?.as_deref(), &tip),
            None => Ok(Vec::new()),
        }
    }
}

impl Repository {
    fn messages(&self, base: Option<&str>, tip: &str) -> Result<Vec<Intent>> {
        let without = base.map(|base| format!("^{base}"));
        let words = ["rev-list", "--reverse", "--no-merges", COMMITS, tip];
        let listed = self
            .call(words.into_iter().chain(without.as_deref()))
            .output()?;
        let mut objects = self.objects(None)?;
        let mut found = Vec::new();
        for id in text_files::lossy(listed).lines() {
            let GitObject::Bytes(bytes) = objects.read(id, CAP)? else {
                continue;
            };
            let object = text_files::lossy(bytes);
            let message = object
                .split_once("\n\n")
                .map_or("", |(_, message)| message.trim());
            if !message.is_empty() {
                let short: String = id.chars().take(12).collect();
                found.push(Intent {
                    from: format!("commit {short}"),
                    text: Untrusted::from(message.to_owned()),
                });
            }
        }
        Ok(found)
    }
}
