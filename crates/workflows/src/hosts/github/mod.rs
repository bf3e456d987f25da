//! GitHub and GitHub Enterprise Server.
//!
//! Glee reads and resolves threads by GraphQL, and uses the REST API for all other requests.

mod answers;
mod conversation;

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::address::RequestAddress;
use super::model::{
    ChangedFile, Check, CheckState, CommentId, Conversation, Host, HostError, HostKind, NewComment,
    OwnComment, Permission, PullRequest, Thread, TrackedIssue, read_once,
};
use super::transport::Transport;
use answers::{CheckRuns, CreatedAnswer, FileAnswer, PermissionAnswer, PullAnswer};
use conversation::Graph;

/// The headers of all requests.
pub(super) const HEADERS: &[(&str, &str)] = &[
    ("accept", "application/vnd.github+json"),
    ("x-github-api-version", "2022-11-28"),
];

/// The maximum number of files of a pull request that GitHub lists.
const FILES: usize = 3_000;

/// The name and the external id of the check run. The context of the commit status is the same text.
const CHECK: &str = "glee";

/// The maximum number of characters in the description of a commit status.
const DESCRIPTION: usize = 140;

pub(super) struct GitHub {
    transport: Transport,
    address: RequestAddress,
    /// The permissions of members, by login.
    permissions: RefCell<BTreeMap<String, Permission>>,
}

impl GitHub {
    pub(super) fn new(transport: Transport, address: RequestAddress) -> Self {
        Self {
            transport,
            address,
            permissions: RefCell::default(),
        }
    }

    fn repository(&self) -> String {
        format!("/repos/{}/{}", self.address.owner, self.address.repository)
    }

    fn pull(&self) -> String {
        format!("{}/pulls/{}", self.repository(), self.address.number)
    }

    fn graph(&self) -> Graph<'_> {
        Graph {
            transport: &self.transport,
            url: self.address.graphql(),
            owner: &self.address.owner,
            repository: &self.address.repository,
            number: self.address.number,
        }
    }

    /// Returns the permission of a member. If the token is not allowed to read the permission, the member does
    /// not count as a maintainer.
    fn permission(&self, login: &str) -> Result<Permission, HostError> {
        read_once(&self.permissions, login.to_owned(), || {
            let path = format!("{}/collaborators/{login}/permission", self.repository());
            let answer = self
                .transport
                .get::<PermissionAnswer>(&path, "read the permission of a user");
            match answer {
                Ok(answer)
                    if matches!(answer.permission.as_str(), "admin" | "maintain" | "write") =>
                {
                    Ok(Permission::Maintainer)
                }
                Ok(_) | Err(HostError::Forbidden { .. } | HostError::NotFound { .. }) => {
                    Ok(Permission::Member)
                }
                Err(error) => Err(error),
            }
        })
    }

    /// Finds the maintainers among the members who replied in a thread of the token's user.
    fn find_maintainers(&self, thread: &mut Thread) -> Result<(), HostError> {
        if !thread.comments.first().is_some_and(|first| first.is_own) {
            return Ok(());
        }
        let replies = thread.comments.iter_mut().filter(|comment| {
            !comment.is_own
                && comment.permission == Permission::Member
                && is_login(&comment.author.login)
        });
        for comment in replies {
            comment.permission = self.permission(&comment.author.login)?;
        }
        Ok(())
    }

    /// Creates comments on the diff.
    fn start(&self, path: &str, body: &Value, what: &str) -> Result<(), HostError> {
        match self.transport.create::<CreatedAnswer>(path, body, what) {
            Err(HostError::Refused { host, why, .. }) if why.contains("pending review") => {
                Err(HostError::PendingReview { host })
            }
            created => created.map(drop),
        }
    }

    fn check_run(&self, request: &PullRequest, check: &Check) -> Result<(), HostError> {
        let head = &request.head.id;
        let listed = format!(
            "{}/commits/{head}/check-runs?check_name={CHECK}&per_page=100",
            self.repository()
        );
        let runs: CheckRuns = self.transport.get(&listed, "read the checks")?;
        let known = runs
            .check_runs
            .iter()
            .find(|run| run.external_id.as_deref() == Some(CHECK));
        let conclusion = match check.state {
            CheckState::Success => "success",
            CheckState::Failure => "failure",
            CheckState::Neutral => "neutral",
        };
        let mut body = json!({
            "name": CHECK,
            "external_id": CHECK,
            "details_url": request.link,
            "status": "completed",
            "conclusion": conclusion,
            "output": { "title": check.title, "summary": check.summary },
        });
        let what = "write the check";
        match known {
            Some(run) => {
                let path = format!("{}/check-runs/{}", self.repository(), run.id);
                self.transport.patch::<CreatedAnswer>(&path, &body, what)?;
            }
            None => {
                body["head_sha"] = json!(head);
                let path = format!("{}/check-runs", self.repository());
                self.transport.create::<CreatedAnswer>(&path, &body, what)?;
            }
        }
        Ok(())
    }

    /// Creates a commit status. A commit status with the same context replaces the earlier one. Statuses have no
    /// neutral state.
    fn status(&self, request: &PullRequest, check: &Check) -> Result<(), HostError> {
        let state = if check.state == CheckState::Failure {
            "failure"
        } else {
            "success"
        };
        let description: String = check.title.chars().take(DESCRIPTION).collect();
        let body = json!({
            "state": state, "context": CHECK, "description": description, "target_url": request.link,
        });
        let path = format!("{}/statuses/{}", self.repository(), request.head.id);
        self.transport
            .query::<CreatedAnswer>(&path, &body, "write the commit status")
            .map(drop)
    }
}

impl Host for GitHub {
    fn kind(&self) -> HostKind {
        HostKind::GitHub
    }

    fn request(&self) -> Result<PullRequest, HostError> {
        let what = "read the pull request";
        let answer: PullAnswer = self.transport.get(&self.pull(), what)?;
        answer
            .into_request()
            .map_err(|why| self.transport.unexpected(what, why))
    }

    fn issue(&self, number: u64) -> Result<TrackedIssue, HostError> {
        let path = format!("{}/issues/{number}", self.repository());
        self.transport.get(&path, "read an issue")
    }

    fn files(&self, _request: &PullRequest) -> Result<Vec<ChangedFile>, HostError> {
        let path = format!("{}/files?per_page=100", self.pull());
        let files: Vec<FileAnswer> =
            self.transport
                .get_all(&path, FILES, "read the changed files")?;
        Ok(files.into_iter().map(FileAnswer::into_file).collect())
    }

    fn conversation(&self, _request: &PullRequest) -> Result<Conversation, HostError> {
        let mut threads = self.graph().threads()?;
        for thread in &mut threads {
            self.find_maintainers(thread)?;
        }
        Ok(Conversation {
            threads,
            comments: self.graph().comments()?,
        })
    }

    fn comment(&self, request: &PullRequest, comments: &[NewComment]) -> Result<(), HostError> {
        let what = "comment on the pull request";
        let on_lines: Vec<Value> = comments.iter().filter_map(on_line).collect();
        if !on_lines.is_empty() {
            // GitHub rejects a review if the field `event` is `COMMENT` and the field `body` is missing. The body
            // can be empty.
            let body = json!({ "commit_id": request.head.id, "event": "COMMENT", "body": "", "comments": on_lines });
            self.start(&format!("{}/reviews", self.pull()), &body, what)?;
        }
        for comment in comments.iter().filter(|comment| comment.line.is_none()) {
            let body = json!({
                "commit_id": request.head.id,
                "path": comment.path,
                "subject_type": "file",
                "body": comment.body,
            });
            self.start(&format!("{}/comments", self.pull()), &body, what)?;
        }
        Ok(())
    }

    fn reply(&self, _request: &PullRequest, thread: &Thread, body: &str) -> Result<(), HostError> {
        let what = "reply in a thread";
        let first = thread
            .comments
            .first()
            .ok_or_else(|| self.transport.unexpected(what, "the thread is empty"))?;
        let path = format!("{}/comments/{}/replies", self.pull(), first.id.0);
        self.start(&path, &json!({ "body": body }), what)
    }

    /// Returns false if the token is not allowed to resolve threads. To resolve threads, the token of GitHub
    /// Actions needs the permission to write contents.
    fn set_resolved(&self, thread: &Thread, is_resolved: bool) -> Result<bool, HostError> {
        match self.graph().set_resolved(&thread.id, is_resolved) {
            Ok(()) => Ok(true),
            Err(HostError::Forbidden { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn summarise(&self, existing: Option<&CommentId>, body: &str) -> Result<(), HostError> {
        let content = json!({ "body": body });
        let what = "write the summary";
        match existing {
            Some(comment) => {
                let path = format!("{}/issues/comments/{}", self.repository(), comment.0);
                self.transport
                    .patch::<CreatedAnswer>(&path, &content, what)
                    .map(drop)
            }
            None => {
                let number = self.address.number;
                let path = format!("{}/issues/{number}/comments", self.repository());
                self.transport
                    .create::<CreatedAnswer>(&path, &content, what)
                    .map(drop)
            }
        }
    }

    fn delete(&self, comments: &[OwnComment]) -> Result<usize, HostError> {
        self.transport.delete_each(comments, |comment| {
            let kind = match comment.thread {
                Some(_) => "pulls",
                None => "issues",
            };
            format!("{}/{kind}/comments/{}", self.repository(), comment.id.0)
        })
    }

    /// Writes a check run, or a commit status if the token cannot write check runs. Only tokens of GitHub Apps,
    /// such as those of GitHub Actions, can write check runs.
    fn check(&self, request: &PullRequest, check: &Check) -> Result<(), HostError> {
        match self.check_run(request, check) {
            Err(HostError::Forbidden { .. } | HostError::NotFound { .. }) => {
                self.status(request, check)
            }
            done => done,
        }
    }
}

/// Returns a comment on lines as JSON, in the form that GitHub requires in a review. Returns `None` for a comment
/// on the whole file.
fn on_line(comment: &NewComment) -> Option<Value> {
    let line = comment.line?;
    let mut form =
        json!({ "path": comment.path, "line": line, "side": "RIGHT", "body": comment.body });
    if let Some(start) = comment.start_line.filter(|start| *start < line) {
        form["start_line"] = json!(start);
        form["start_side"] = json!("RIGHT");
    }
    Some(form)
}

/// Whether a login can be inserted into the path of a URL. The login of a deleted user is empty.
fn is_login(login: &str) -> bool {
    !login.is_empty()
        && login
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
}
