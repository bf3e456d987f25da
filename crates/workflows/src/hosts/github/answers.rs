//! The fields that Glee reads in the HTTP responses of GitHub.

use serde::Deserialize;

use crate::hosts::diff_lines::DiffLines;
use crate::hosts::model::{Account, ChangedFile, Commit, PullRequest, RequestState, or_empty};
use glee_model::domain::Untrusted;

#[derive(Debug, Deserialize)]
pub(crate) struct PullAnswer {
    number: u64,
    html_url: String,
    title: Untrusted,
    #[serde(default, deserialize_with = "or_empty")]
    body: Untrusted,
    user: Option<UserAnswer>,
    state: String,
    #[serde(default)]
    merged: bool,
    #[serde(default)]
    draft: bool,
    base: BranchAnswer,
    head: BranchAnswer,
}

#[derive(Debug, Deserialize)]
struct BranchAnswer {
    sha: String,
    #[serde(rename = "ref")]
    name: Untrusted,
    /// `None` if the repository was deleted.
    repo: Option<RepositoryAnswer>,
}

#[derive(Debug, Deserialize)]
struct RepositoryAnswer {
    id: u64,
    clone_url: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct UserAnswer {
    login: String,
    #[serde(rename = "type", default)]
    kind: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct FileAnswer {
    filename: String,
    status: String,
    previous_filename: Option<String>,
    /// Absent for binary files and for large diffs.
    patch: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct CheckRuns {
    pub check_runs: Vec<CheckRunAnswer>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct CheckRunAnswer {
    pub id: u64,
    pub external_id: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct PermissionAnswer {
    /// `admin`, `write`, `read` or `none`. GitHub reports the role `maintain` as `write`, and the role `triage`
    /// as `read`.
    pub permission: String,
}

/// An object whose fields Glee does not read.
#[derive(Debug, Deserialize)]
pub(crate) struct CreatedAnswer {}

impl PullAnswer {
    /// Fails if the repository of the base commit is missing.
    pub(crate) fn into_request(self) -> Result<PullRequest, &'static str> {
        let Some(repository) = self.base.repo else {
            return Err("the repository of the base commit is missing");
        };
        let state = match (self.merged, self.state.as_str()) {
            (true, _) => RequestState::Merged,
            (false, "open") => RequestState::Open,
            (false, _) => RequestState::Closed,
        };
        let author = self.user.map(|UserAnswer { login, kind }| {
            let is_bot = kind == "Bot";
            // The REST API adds the suffix `[bot]` to a login, but GraphQL does not. The suffix is removed, because
            // Glee compares the logins of both APIs.
            let plain = login.strip_suffix("[bot]").filter(|_| is_bot);
            Account {
                login: plain.unwrap_or(&login).to_owned(),
                is_bot,
            }
        });
        Ok(PullRequest {
            number: self.number,
            link: self.html_url,
            title: self.title,
            body: self.body,
            author: author.unwrap_or_default(),
            state,
            is_draft: self.draft,
            is_fork: self.head.repo.is_none_or(|head| head.id != repository.id),
            base: Commit {
                id: self.base.sha,
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

impl FileAnswer {
    pub(crate) fn into_file(self) -> ChangedFile {
        let DiffLines {
            shown: lines,
            added,
            ..
        } = match &self.patch {
            // The new version of a deleted file has no lines.
            Some(patch) if self.status != "removed" => DiffLines::of(patch),
            _ => DiffLines::default(),
        };
        let previous = self.previous_filename.filter(|_| self.status == "renamed");
        ChangedFile {
            path: self.filename,
            previous,
            lines,
            added,
        }
    }
}
