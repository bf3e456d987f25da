//! GitLab, by version 4 of its REST API. Comments on whole files need GitLab 16.4. On a GitLab server older than
//! 16.4, Glee publishes a comment on a whole file as a comment without a file.
//!
//! One request to GitLab creates one thread. Therefore, a batch contains one comment, and an interruption never
//! leaves a batch partly published.
//!
//! The token of a CI job (`CI_JOB_TOKEN`) can read the merge request and has no user. This token cannot read the
//! project, the diff or the discussions, and cannot publish.

mod answers;
mod conversation;
mod position;
mod status;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::Duration;

use serde::de::IgnoredAny;
use serde_json::json;

use super::address::RequestAddress;
use super::model::{
    ChangedFile, Check, CommentId, Conversation, Host, HostError, HostKind, NewComment, OwnComment,
    Permission, PullRequest, Thread, TrackedIssue,
};
use super::transport::Transport;
use answers::{DiffAnswer, DiffFile, MergeRequestAnswer, ProjectAnswer};
use glee_system::uri;

/// The maximum number of files, and of discussions, that Glee reads.
const FILES: usize = 10_000;
const DISCUSSIONS: usize = 20_000;

/// The waiting times before Glee asks again for a diff that GitLab has not computed yet, in seconds.
const UNTIL_PREPARED: [u64; 3] = [1, 2, 4];

pub(super) struct GitLab {
    transport: Transport,
    address: RequestAddress,
    /// The permissions of users, by id.
    permissions: RefCell<BTreeMap<i64, Permission>>,
    /// The head commit whose diff was read last, with the files of the diff.
    diff: RefCell<Option<(String, Vec<DiffFile>)>>,
}

impl GitLab {
    pub(super) fn new(transport: Transport, address: RequestAddress) -> Self {
        Self {
            transport,
            address,
            permissions: RefCell::default(),
            diff: RefCell::default(),
        }
    }

    fn project(&self) -> String {
        let path = format!("{}/{}", self.address.owner, self.address.repository);
        format!("/projects/{}", uri::segment(&path))
    }

    fn merge_request(&self) -> String {
        format!("{}/merge_requests/{}", self.project(), self.address.number)
    }

    /// The address of the repository. `link` is the address of the merge request's page.
    fn repository(&self, link: &str) -> Result<String, HostError> {
        let what = "read the project";
        if !self.transport.is_read_only() {
            return Ok(self
                .transport
                .get::<ProjectAnswer>(&self.project(), what)?
                .http_url_to_repo);
        }
        let project = link
            .split_once("/-/merge_requests/")
            .map(|(project, _)| project);
        let project = project.ok_or_else(|| {
            self.transport
                .unexpected(what, "the address of the page is unknown")
        })?;
        Ok(format!("{project}.git"))
    }

    /// Fails if the token can never publish anything.
    fn require_writer(&self) -> Result<(), HostError> {
        if self.transport.is_read_only() {
            return Err(self.transport.forbidden(
                "the token of a CI job cannot publish comments; set GITLAB_TOKEN to a project access token with the \
                 scope `api`",
            ));
        }
        Ok(())
    }

    fn read_diff(&self, request: &PullRequest) -> Result<Vec<DiffFile>, HostError> {
        let path = format!("{}/diffs?per_page=100", self.merge_request());
        let files: Vec<DiffAnswer> =
            self.transport
                .get_all(&path, FILES, "read the changed files")?;
        let files: Vec<DiffFile> = files.into_iter().map(DiffAnswer::into_file).collect();
        self.diff
            .replace(Some((request.head.id.clone(), files.clone())));
        Ok(files)
    }

    /// Finds a changed file by its path. Returns `None` if the merge request does not change the file.
    fn changed(&self, request: &PullRequest, path: &str) -> Result<Option<DiffFile>, HostError> {
        let is_known = self
            .diff
            .borrow()
            .as_ref()
            .is_some_and(|(head, _)| *head == request.head.id);
        if !is_known {
            self.read_diff(request)?;
        }
        let known = self.diff.borrow();
        let files = known
            .as_ref()
            .map(|(_, files)| files.as_slice())
            .unwrap_or_default();
        Ok(files.iter().find(|file| file.new_path == path).cloned())
    }

    fn start_thread(&self, request: &PullRequest, comment: &NewComment) -> Result<(), HostError> {
        let what = "comment on the merge request";
        let file = self.changed(request, &comment.path)?;
        let file =
            file.ok_or_else(|| self.transport.refused(what, "the file is not in the diff"))?;
        let position = position::of(request, &file, comment)
            .ok_or_else(|| self.transport.refused(what, "the line is not in the diff"))?;
        let path = format!("{}/discussions", self.merge_request());
        let body = json!({ "body": position::body(comment), "position": position });
        match self.transport.create::<IgnoredAny>(&path, &body, what) {
            // Servers before 16.4 reject positions without a line.
            Err(HostError::Refused { why, .. })
                if comment.line.is_none() && why.contains("position") =>
            {
                let body = json!({ "body": comment.body });
                self.transport
                    .create::<IgnoredAny>(&path, &body, what)
                    .map(drop)
            }
            done => done.map(drop),
        }
    }
}

impl Host for GitLab {
    fn kind(&self) -> HostKind {
        HostKind::GitLab
    }

    fn request(&self) -> Result<PullRequest, HostError> {
        let what = "read the merge request";
        let mut pauses = UNTIL_PREPARED.into_iter();
        let answer = loop {
            let answer: MergeRequestAnswer = self.transport.get(&self.merge_request(), what)?;
            let pause = pauses.next().filter(|_| !answer.is_prepared());
            if !pause.is_some_and(|seconds| self.transport.wait(Duration::from_secs(seconds))) {
                break answer;
            }
        };
        let repository = self.repository(&answer.web_url)?;
        answer
            .into_request(repository)
            .map_err(|why| self.transport.unexpected(what, why))
    }

    fn issue(&self, number: u64) -> Result<TrackedIssue, HostError> {
        let path = format!("{}/issues/{number}", self.project());
        self.transport.get(&path, "read an issue")
    }

    /// Returns no files if the token is not allowed to read the diff. The publication of a comment then fails
    /// with [`HostError::Forbidden`].
    fn files(&self, request: &PullRequest) -> Result<Vec<ChangedFile>, HostError> {
        if self.transport.is_read_only() {
            return Ok(Vec::new());
        }
        Ok(self
            .read_diff(request)?
            .iter()
            .map(DiffFile::changed)
            .collect())
    }

    fn conversation(&self, request: &PullRequest) -> Result<Conversation, HostError> {
        self.read_conversation(request)
    }

    fn comment(&self, request: &PullRequest, comments: &[NewComment]) -> Result<(), HostError> {
        self.require_writer()?;
        comments
            .iter()
            .try_for_each(|comment| self.start_thread(request, comment))
    }

    fn batch(&self) -> usize {
        1
    }

    fn reply(&self, _request: &PullRequest, thread: &Thread, body: &str) -> Result<(), HostError> {
        self.require_writer()?;
        let path = format!(
            "{}/discussions/{}/notes",
            self.merge_request(),
            uri::segment(&thread.id.0)
        );
        self.transport
            .create::<IgnoredAny>(&path, &json!({ "body": body }), "reply in a thread")
            .map(drop)
    }

    /// Returns false if the token is not allowed to resolve threads.
    fn set_resolved(&self, thread: &Thread, is_resolved: bool) -> Result<bool, HostError> {
        self.require_writer()?;
        let path = format!(
            "{}/discussions/{}",
            self.merge_request(),
            uri::segment(&thread.id.0)
        );
        let body = json!({ "resolved": is_resolved });
        match self
            .transport
            .put::<IgnoredAny>(&path, &body, "change a thread")
        {
            Ok(_) => Ok(true),
            Err(HostError::Forbidden { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn summarise(&self, existing: Option<&CommentId>, body: &str) -> Result<(), HostError> {
        self.require_writer()?;
        let content = json!({ "body": body });
        let what = "write the summary";
        let notes = format!("{}/notes", self.merge_request());
        match existing {
            Some(note) => self
                .transport
                .put::<IgnoredAny>(
                    &format!("{notes}/{}", uri::segment(&note.0)),
                    &content,
                    what,
                )
                .map(drop),
            None => self
                .transport
                .create::<IgnoredAny>(&notes, &content, what)
                .map(drop),
        }
    }

    /// A discussion without notes is no longer there.
    fn delete(&self, comments: &[OwnComment]) -> Result<usize, HostError> {
        self.require_writer()?;
        let notes = format!("{}/notes", self.merge_request());
        self.transport.delete_each(comments, |comment| {
            format!("{notes}/{}", uri::segment(&comment.id.0))
        })
    }

    fn check(&self, request: &PullRequest, check: &Check) -> Result<(), HostError> {
        self.require_writer()?;
        self.write_status(request, check)
    }
}
