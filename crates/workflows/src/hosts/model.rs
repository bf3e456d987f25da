//! The trait that each host of pull requests implements, and the types that all hosts use. GitLab's merge requests
//! are pull requests, and its discussions are threads.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::{Deserialize, Deserializer};
use thiserror::Error;

use glee_model::domain::Untrusted;

/// A host of pull requests.
///
/// Every method sends one or several HTTP requests to the host. If the host rejects a request because of a rate
/// limit or a temporary failure, the method retries the request. A method fails with [`HostError`] if the host
/// refuses the request, or if all retries fail.
pub trait Host {
    fn kind(&self) -> HostKind;

    /// Reads the pull request. The caller passes the returned value to the other methods. These methods use the
    /// commits in the value.
    fn request(&self) -> Result<PullRequest, HostError>;

    /// Reads an issue of the repository.
    fn issue(&self, number: u64) -> Result<TrackedIssue, HostError>;

    /// Reads all changed files with the lines on which the host accepts comments.
    fn files(&self, request: &PullRequest) -> Result<Vec<ChangedFile>, HostError>;

    /// Reads all threads and comments of the pull request, the oldest first.
    fn conversation(&self, request: &PullRequest) -> Result<Conversation, HostError>;

    /// Starts one thread for each comment. `comments` are comments on lines, or a single comment on a whole
    /// file. Fails without starting a thread if the host rejects one of the comments.
    fn comment(&self, request: &PullRequest, comments: &[NewComment]) -> Result<(), HostError>;

    /// The maximum number of comments in one call of [`Host::comment`].
    fn batch(&self) -> usize {
        30
    }

    fn reply(&self, request: &PullRequest, thread: &Thread, body: &str) -> Result<(), HostError>;

    /// Resolves the thread, or opens the thread again. Returns false if the host cannot change the state of threads.
    fn set_resolved(&self, thread: &Thread, is_resolved: bool) -> Result<bool, HostError>;

    /// Creates a comment that belongs to no line, or replaces the body of the comment `existing`.
    fn summarise(&self, existing: Option<&CommentId>, body: &str) -> Result<(), HostError>;

    /// Deletes comments. Returns the number of those that the host or the token is not able to delete.
    fn delete(&self, comments: &[OwnComment]) -> Result<usize, HostError>;

    /// Creates or replaces the check of Glee on the head commit.
    fn check(&self, request: &PullRequest, check: &Check) -> Result<(), HostError>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HostKind {
    GitHub,
    GitLab,
    /// Gitea and Forgejo.
    Gitea,
}

/// An error of a host. The error texts contain no access token and no HTTP header.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum HostError {
    #[error("{host} cannot be reached: {why}")]
    Unreachable { host: String, why: String },
    /// The HTTP status 401, or an expired token.
    #[error("{host} refuses the token: {why}")]
    Unauthorised { host: String, why: String },
    /// The HTTP status 423, or the HTTP status 403 if the cause is not a rate limit. In CI, the token for a pull
    /// request from a fork often has no permission to write.
    #[error("{host} does not allow this: {why}")]
    Forbidden { host: String, why: String },
    /// The status 404, 405 or 410. Hosts also return 404 if a token is not allowed to see a private repository.
    #[error("{host} has no {what}")]
    NotFound { host: String, what: String },
    /// The host rejects the content of the request: an HTTP status such as 400, 409 or 422, or an error of
    /// GraphQL.
    #[error("{host} refuses the request to {what}: {why}")]
    Refused {
        host: String,
        what: String,
        why: String,
    },
    /// The user of the token has an unsubmitted review of this pull request. Until the user submits the review,
    /// GitHub accepts no other comment of the user. Gitea would submit the review together with Glee's comments.
    #[error("{host} accepts no comments, because the user of the token has a pending review")]
    PendingReview { host: String },
    /// The wait until the end of the host's rate limit would be longer than Glee's maximum.
    #[error("the rate limit of {host} ends at {until}")]
    RateLimited { host: String, until: Timestamp },
    #[error("{host} sent an unexpected answer to {what}: {why}")]
    Unexpected {
        host: String,
        what: String,
        why: String,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RequestState {
    Open,
    Closed,
    Merged,
}

/// A commit of a pull request, on a branch that possibly no longer exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// The object id in hexadecimal digits.
    pub id: String,
    pub branch: Untrusted,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PullRequest {
    pub number: u64,
    /// The address of the web page of the pull request.
    pub link: String,
    pub title: Untrusted,
    /// The description that the author wrote.
    pub body: Untrusted,
    pub author: Account,
    pub state: RequestState,
    pub is_draft: bool,
    /// Whether the head commit is in another repository.
    pub is_fork: bool,
    pub base: Commit,
    pub head: Commit,
    /// The common ancestor of `base` and `head`. GitLab requires this commit to locate a comment. `None` on other
    /// hosts.
    pub merge_base: Option<String>,
    /// The repository that receives the change, as an address for `git fetch`. The address contains no
    /// credentials.
    pub repository: String,
    /// The ref of `repository` that contains the head commit, such as `refs/pull/7/head`.
    pub head_ref: String,
}

/// An issue in the tracker of a host.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct TrackedIssue {
    pub title: Untrusted,
    /// GitLab calls it the description.
    #[serde(default, alias = "description", deserialize_with = "or_empty")]
    pub body: Untrusted,
}

/// Returns what is known under a key. What is not known yet is read.
pub(super) fn read_once<K: Ord, V: Copy>(
    known: &RefCell<BTreeMap<K, V>>,
    key: K,
    read: impl FnOnce() -> Result<V, HostError>,
) -> Result<V, HostError> {
    if let Some(value) = known.borrow().get(&key) {
        return Ok(*value);
    }
    let value = read()?;
    known.borrow_mut().insert(key, value);
    Ok(value)
}

/// Reads a text that a host sends as `null` where it is empty.
pub(super) fn or_empty<'de, D: Deserializer<'de>>(text: D) -> Result<Untrusted, D::Error> {
    Ok(Option::deserialize(text)?.unwrap_or_default())
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    pub path: String,
    /// The old path of a renamed file.
    pub previous: Option<String>,
    /// The lines on which the host accepts comments, as line numbers in the new file. Empty for binary files and
    /// for diffs that the host does not show.
    pub lines: BTreeSet<u32>,
    /// The subset of `lines` that the change adds. For a comment on an unchanged line, GitLab also needs the
    /// number of the line in the old file.
    pub added: BTreeSet<u32>,
}

/// A user of the host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// The login name. Names of deleted users are empty.
    pub login: String,
    pub is_bot: bool,
}

/// A user's permission in the repository, as stated by the host. Glee never derives the permission from text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Permission {
    /// A user who does not belong to the repository.
    Outsider,
    /// A user who belongs to the repository. The user is an OWNER, MEMBER or COLLABORATOR on GitHub, or a
    /// Developer on GitLab.
    Member,
    /// A member with the permission to write to the repository and to merge changes.
    Maintainer,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommentId(pub String);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadId(pub String);

#[derive(Clone, Debug, PartialEq)]
pub struct Comment {
    pub id: CommentId,
    pub author: Account,
    pub permission: Permission,
    pub body: Untrusted,
    pub created: Timestamp,
    /// Whether the host's answer shows that the text was changed after the comment was created.
    pub is_edited: bool,
    /// Whether the host states that the user of the token wrote the comment. Glee reads hidden markers only in
    /// comments of this user.
    pub is_own: bool,
}

/// A comment of the token's user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnComment {
    pub id: CommentId,
    /// `None` if the comment belongs to no line.
    pub thread: Option<ThreadId>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Thread {
    pub id: ThreadId,
    /// `None` if the thread belongs to no file.
    pub path: Option<String>,
    /// The line in the new file. `None` for a comment on the whole file, and for a line that is no longer in the
    /// diff.
    pub line: Option<u32>,
    pub is_resolved: bool,
    /// At least one comment, the oldest first.
    pub comments: Vec<Comment>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conversation {
    pub threads: Vec<Thread>,
    /// The comments that belong to no line, the oldest first.
    pub comments: Vec<Comment>,
}

/// A comment that starts a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewComment {
    pub path: String,
    /// `None` for a comment on the whole file.
    pub line: Option<u32>,
    /// For a comment on several lines, the number of the first line, which is less than `line`.
    pub start_line: Option<u32>,
    pub body: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CheckState {
    Success,
    Failure,
    /// The review failed, or `pr.mode` is `warn`.
    Neutral,
}

/// The result of a review. The host shows this result on the web page of the pull request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    pub state: CheckState,
    /// One line.
    pub title: String,
    /// Markdown, at most 65,000 characters.
    pub summary: String,
}
