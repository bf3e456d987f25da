//! The fields that Glee reads in the HTTP responses of Gitea and Forgejo.

use jiff::Timestamp;
use serde::Deserialize;

use crate::hosts::model::{
    Account, Comment, CommentId, Commit, Permission, PullRequest, RequestState, or_empty,
};
use glee_model::domain::Untrusted;

/// The id of the user to whom the host assigns the texts of deleted users.
const GHOST: i64 = -1;

#[derive(Debug, Deserialize)]
pub(crate) struct GiteaPull {
    number: u64,
    html_url: String,
    title: Untrusted,
    #[serde(default, deserialize_with = "or_empty")]
    body: Untrusted,
    user: Option<GiteaUser>,
    state: String,
    #[serde(default)]
    merged: bool,
    /// Gitea sends this field since version 1.20.
    draft: Option<bool>,
    merge_base: Option<String>,
    base: GiteaBranch,
    head: GiteaBranch,
}

#[derive(Debug, Deserialize)]
struct GiteaBranch {
    #[serde(default)]
    sha: String,
    #[serde(rename = "ref")]
    name: Untrusted,
    /// `None` if the repository was deleted.
    repo: Option<GiteaRepository>,
}

#[derive(Debug, Deserialize)]
struct GiteaRepository {
    id: i64,
    clone_url: String,
}

/// A user. The host's own users have negative ids: -1 is the author of deleted users' texts, and -2 is the user
/// of the host's Actions.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct GiteaUser {
    pub id: i64,
    pub login: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct GiteaFile {
    pub filename: String,
    pub previous_filename: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct GiteaReview {
    pub id: u64,
    /// `None` if the review was requested from a team.
    pub user: Option<GiteaUser>,
    #[serde(default)]
    state: String,
    #[serde(default)]
    pub commit_id: String,
    #[serde(default)]
    pub comments_count: u64,
}

/// A comment on a line, or on the pull request.
#[derive(Debug, Deserialize)]
pub(crate) struct GiteaComment {
    pub id: u64,
    pub body: Untrusted,
    pub user: Option<GiteaUser>,
    pub created_at: Timestamp,
    updated_at: Option<Timestamp>,
    /// The user who resolved the thread. Only comments on lines have a resolver.
    pub resolver: Option<GiteaUser>,
    #[serde(default)]
    pub path: String,
    /// The number of the line in the new file. 0 if the comment is about a line of the old file.
    #[serde(default)]
    pub position: u32,
}

#[derive(Debug, Deserialize)]
pub(crate) struct GiteaPermission {
    /// `owner`, `admin`, `write`, `read` or `none`. Everybody can read public repositories.
    pub permission: String,
}

impl GiteaPull {
    /// Fails if the base repository, the base commit or the head commit is missing.
    pub(crate) fn into_request(self) -> Result<PullRequest, &'static str> {
        let repository = self
            .base
            .repo
            .ok_or("the repository of the base commit is missing")?;
        // If the base branch was deleted, the host states no commit of the branch.
        let merge_base = self.merge_base.unwrap_or_default();
        let base = if self.base.sha.is_empty() {
            merge_base
        } else {
            self.base.sha
        };
        if base.is_empty() || self.head.sha.is_empty() {
            return Err("the commit of the base or of the head is missing");
        }
        let title = self.title.as_written().to_lowercase();
        let state = match (self.merged, self.state.as_str()) {
            (true, _) => RequestState::Merged,
            (false, "open") => RequestState::Open,
            (false, _) => RequestState::Closed,
        };
        Ok(PullRequest {
            number: self.number,
            link: self.html_url,
            author: account(self.user.as_ref()),
            state,
            is_draft: self
                .draft
                .unwrap_or_else(|| title.starts_with("wip:") || title.starts_with("[wip]")),
            title: self.title,
            body: self.body,
            is_fork: self.head.repo.is_none_or(|head| head.id != repository.id),
            base: Commit {
                id: base,
                branch: self.base.name,
            },
            head: Commit {
                id: self.head.sha,
                branch: self.head.name,
            },
            merge_base: None,
            repository: repository.clone_url,
            head_ref: format!("refs/pull/{}/head", self.number),
        })
    }
}

impl GiteaReview {
    /// Whether the review is not submitted yet. Only the author and administrators can see a review that is not
    /// submitted yet.
    pub(super) fn is_pending(&self) -> bool {
        self.state == "PENDING"
    }
}

impl GiteaComment {
    pub(super) fn is_own(&self, user: Option<i64>) -> bool {
        user.is_some() && self.user.as_ref().map(|author| author.id) == user
    }

    /// The host states when a comment was last updated, but not whether its text was edited. A push that changes
    /// the line of a comment also updates the comment. Glee treats every updated comment as edited.
    pub(crate) fn into_comment(self, user: Option<i64>) -> Comment {
        Comment {
            id: CommentId(self.id.to_string()),
            is_own: self.is_own(user),
            author: account(self.user.as_ref()),
            permission: Permission::Outsider,
            is_edited: self
                .updated_at
                .is_some_and(|updated| updated > self.created_at),
            body: self.body,
            created: self.created_at,
        }
    }
}

fn account(user: Option<&GiteaUser>) -> Account {
    let user = user.filter(|user| user.id != GHOST);
    Account {
        login: user.map(|user| user.login.clone()).unwrap_or_default(),
        is_bot: user.is_some_and(|user| user.id < GHOST),
    }
}
