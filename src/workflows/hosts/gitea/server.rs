//! A server of Gitea or Forgejo, and what was read from it.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use serde::de::IgnoredAny;
use serde_json::json;

use super::diff;
use super::threads::ThreadPlace;
use crate::workflows::hosts::address::RequestAddress;
use crate::workflows::hosts::diff_lines::DiffLines;
use crate::workflows::hosts::model::{HostError, Permission, PullRequest, ThreadId};
use crate::workflows::hosts::origin::path_part;
use crate::workflows::hosts::transport::Transport;

/// The maximum number of files, and of reviews, that Glee reads.
pub(crate) const MOST: usize = 10_000;

/// What is known of the token's user and of other people.
#[derive(Default)]
pub(crate) struct People {
    /// The id of the token's user, after it was read. `None` inside without a token.
    pub(crate) user: RefCell<Option<Option<i64>>>,
    /// By login in lower case.
    pub(crate) permissions: RefCell<BTreeMap<String, Permission>>,
    /// The logins of the users to whom the host can assign the pull request, in lower case.
    pub(crate) assignees: RefCell<Option<BTreeSet<String>>>,
}

pub(crate) struct Gitea {
    pub(crate) transport: Transport,
    pub(crate) address: RequestAddress,
    pub(crate) people: People,
    /// The lines of the diff to a head commit, by path.
    diff: RefCell<Option<(String, BTreeMap<String, DiffLines>)>>,
    /// The places of the threads that were read.
    pub(crate) places: RefCell<BTreeMap<ThreadId, ThreadPlace>>,
}

impl Gitea {
    pub(crate) fn new(transport: Transport, address: RequestAddress) -> Self {
        Self { transport, address, people: People::default(), diff: RefCell::default(), places: RefCell::default() }
    }

    pub(crate) fn repository(&self) -> String {
        format!("/repos/{}/{}", path_part(&self.address.owner), path_part(&self.address.repository))
    }

    pub(crate) fn pull(&self) -> String {
        format!("{}/pulls/{}", self.repository(), self.address.number)
    }

    /// The lines of the changed files. Files without shown lines are left out.
    pub(crate) fn lines(&self, request: &PullRequest) -> Result<BTreeMap<String, DiffLines>, HostError> {
        if let Some((head, files)) = &*self.diff.borrow()
            && *head == request.head.id
        {
            return Ok(files.clone());
        }
        let text = self.transport.get_text(&format!("{}.diff", self.pull()), "read the diff")?;
        let files = diff::files(&text);
        self.diff.replace(Some((request.head.id.clone(), files.clone())));
        Ok(files)
    }

    pub(crate) fn create_comment(&self, body: &str, what: &str) -> Result<(), HostError> {
        let path = format!("{}/issues/{}/comments", self.repository(), self.address.number);
        self.transport.create::<IgnoredAny>(&path, &json!({ "body": body }), what).map(drop)
    }
}
