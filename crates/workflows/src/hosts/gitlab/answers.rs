//! The fields that Glee reads in the HTTP responses of GitLab.

use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;

use crate::hosts::diff_lines::DiffLines;
use crate::hosts::model::{Account, ChangedFile, Commit, PullRequest, RequestState, or_empty};
use glee_model::domain::Untrusted;

#[derive(Debug, Deserialize)]
pub(crate) struct MergeRequestAnswer {
    iid: u64,
    pub web_url: String,
    title: Untrusted,
    #[serde(default, deserialize_with = "or_empty")]
    description: Untrusted,
    author: Option<GitLabUser>,
    state: String,
    #[serde(default)]
    draft: bool,
    source_branch: Untrusted,
    target_branch: Untrusted,
    /// `None` if the project of a fork was deleted.
    source_project_id: Option<u64>,
    target_project_id: u64,
    /// `None` until GitLab has computed the diff.
    diff_refs: Option<DiffRefs>,
}

#[derive(Debug, Deserialize)]
struct DiffRefs {
    base_sha: Option<String>,
    start_sha: Option<String>,
    head_sha: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ProjectAnswer {
    pub http_url_to_repo: String,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct GitLabUser {
    pub id: i64,
    pub username: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct DiffAnswer {
    old_path: String,
    new_path: String,
    #[serde(default)]
    renamed_file: bool,
    #[serde(default)]
    deleted_file: bool,
    /// The hunks. Empty for binary files, and for files that are collapsed or too large.
    diff: Option<String>,
}

/// A changed file, and the data that the positions of comments contain.
#[derive(Clone, Debug)]
pub(crate) struct DiffFile {
    pub old_path: String,
    pub new_path: String,
    is_renamed: bool,
    pub lines: DiffLines,
}

#[derive(Debug, Deserialize)]
pub(crate) struct DiscussionAnswer {
    pub id: String,
    /// Whether the discussion is a single comment. Such a discussion has no replies and cannot be resolved.
    #[serde(default)]
    pub individual_note: bool,
    pub notes: Vec<NoteAnswer>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct NoteAnswer {
    pub id: u64,
    pub body: Untrusted,
    /// `None` if the user was deleted and GitLab names no other user as the author.
    pub author: Option<GitLabUser>,
    pub created_at: Timestamp,
    updated_at: Option<Timestamp>,
    /// Whether GitLab wrote the comment, for example about a new commit.
    #[serde(default)]
    pub system: bool,
    #[serde(default)]
    pub resolvable: bool,
    #[serde(default)]
    pub resolved: bool,
    pub position: Option<PositionAnswer>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct PositionAnswer {
    pub head_sha: Option<String>,
    pub old_path: Option<String>,
    pub new_path: Option<String>,
    pub new_line: Option<u32>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct MemberAnswer {
    pub access_level: u32,
}

/// A pipeline of the merge request.
#[derive(Debug, Deserialize)]
pub(crate) struct PipelineAnswer {
    pub id: u64,
    pub project_id: Option<u64>,
    pub sha: String,
    #[serde(rename = "ref")]
    pub name: Untrusted,
}

impl MergeRequestAnswer {
    /// Whether GitLab has computed the diff. After a push, GitLab computes the diff in the background.
    pub(crate) fn is_prepared(&self) -> bool {
        self.refs().is_some()
    }

    fn refs(&self) -> Option<(&str, &str, &str)> {
        let DiffRefs {
            base_sha,
            start_sha,
            head_sha,
        } = self.diff_refs.as_ref()?;
        Some((
            base_sha.as_deref()?,
            start_sha.as_deref()?,
            head_sha.as_deref()?,
        ))
    }

    /// Fails if GitLab has not computed the diff yet. `repository` is the address of the project's repository.
    pub(crate) fn into_request(self, repository: String) -> Result<PullRequest, &'static str> {
        let refs = self
            .refs()
            .map(|(base, start, head)| (base.to_owned(), start.to_owned(), head.to_owned()));
        let (base, start, head) = refs.ok_or("the host has not computed the diff yet")?;
        let state = match self.state.as_str() {
            "opened" => RequestState::Open,
            // A locked request is being merged.
            "merged" | "locked" => RequestState::Merged,
            _ => RequestState::Closed,
        };
        Ok(PullRequest {
            number: self.iid,
            link: self.web_url,
            title: self.title,
            body: self.description,
            author: account(self.author.as_ref()),
            state,
            is_draft: self.draft,
            is_fork: self.source_project_id != Some(self.target_project_id),
            base: Commit {
                id: start,
                branch: self.target_branch,
            },
            head: Commit {
                id: head,
                branch: self.source_branch,
            },
            merge_base: Some(base),
            repository,
            head_ref: format!("refs/merge-requests/{}/head", self.iid),
        })
    }
}

impl DiffAnswer {
    pub(crate) fn into_file(self) -> DiffFile {
        // The new version of a deleted file has no lines.
        let hunks = self.diff.filter(|_| !self.deleted_file).unwrap_or_default();
        let lines = DiffLines::of(&hunks);
        DiffFile {
            old_path: self.old_path,
            new_path: self.new_path,
            is_renamed: self.renamed_file,
            lines,
        }
    }
}

impl DiffFile {
    pub(super) fn changed(&self) -> ChangedFile {
        ChangedFile {
            path: self.new_path.clone(),
            previous: self.is_renamed.then(|| self.old_path.clone()),
            lines: self.lines.shown.clone(),
            added: self.lines.added.clone(),
        }
    }
}

impl NoteAnswer {
    /// Whether the text was changed at least a second after the comment was created. GitLab states only the time
    /// of the last update. Neither a push nor a change of the discussion's state changes the time of the last
    /// update. If a user resolves a single comment by the API, the comment counts as edited. Otherwise, a
    /// maintainer could hide an edit of a comment by resolving the comment.
    pub(super) fn is_edited(&self) -> bool {
        self.updated_at
            .is_some_and(|at| at.duration_since(self.created_at) >= SignedDuration::from_secs(1))
    }
}

/// GitLab gives the user of an access token a name such as `project_12_bot_3f9a` or `group_12_bot_3f9a`. A
/// service account has a name such as `service_account_3f9a`, unless an administrator chose another name.
pub(super) fn account(user: Option<&GitLabUser>) -> Account {
    let login = user.map(|user| user.username.clone()).unwrap_or_default();
    let rest = login
        .strip_prefix("project_")
        .or_else(|| login.strip_prefix("group_"));
    let is_of_token = rest
        .and_then(|rest| rest.split_once("_bot"))
        .is_some_and(|(id, _)| id.parse::<u64>().is_ok());
    Account {
        is_bot: is_of_token || login.starts_with("service_account_"),
        login,
    }
}
