//! Gitea and Forgejo, by version 1 of their REST API.
//!
//! `threads` describes how the comments on lines form threads, and `reviews` how they are published. `people` finds
//! permissions. Only Gitea can resolve threads by its API (from version 1.26 on).

mod answers;
mod diff;
mod people;
mod reviews;
mod server;
#[cfg(test)]
mod tests;
mod threads;

use serde::de::IgnoredAny;
use serde_json::json;

use super::diff_lines::DiffLines;
use super::model::{
    ChangedFile, Check, CheckState, CommentId, Conversation, Host, HostError, HostKind, NewComment, PullRequest,
    Thread,
};
use super::origin::path_part;
use answers::{GiteaComment, GiteaFile, GiteaPull};
use server::MOST;
use threads::LineComment;

pub(crate) use server::Gitea;

/// The maximum number of comments in a review.
const BATCH: usize = 30;

/// The context of the commit status, and the maximum number of characters of its description.
const CHECK: &str = "glee";
const DESCRIPTION: usize = 255;

impl Host for Gitea {
    fn kind(&self) -> HostKind {
        HostKind::Gitea
    }

    fn request(&self) -> Result<PullRequest, HostError> {
        let what = "read the pull request";
        let answer: GiteaPull = self.transport.get(&self.pull(), what)?;
        answer.into_request().map_err(|why| self.transport.unexpected(what, why))
    }

    fn files(&self, request: &PullRequest) -> Result<Vec<ChangedFile>, HostError> {
        let path = format!("{}/files?limit=50", self.pull());
        let files: Vec<GiteaFile> = self.transport.get_numbered(&path, MOST, "read the changed files")?;
        let lines = self.lines(request)?;
        let file = |file: GiteaFile| {
            let DiffLines { shown, added, .. } = lines.get(&file.filename).cloned().unwrap_or_default();
            let previous =
                file.previous_filename.filter(|previous| !previous.is_empty() && *previous != file.filename);
            ChangedFile { path: file.filename, previous, lines: shown, added }
        };
        Ok(files.into_iter().map(file).collect())
    }

    fn conversation(&self, request: &PullRequest) -> Result<Conversation, HostError> {
        let (user, what) = (self.user()?, "read the conversation");
        let mut on_lines = Vec::new();
        // Comments of a review that is not submitted are not yet a part of the conversation.
        for review in self.reviews()?.into_iter().filter(|review| review.comments_count > 0 && !review.is_pending())
        {
            for comment in self.review_comments(review.id)? {
                on_lines.push(LineComment { comment, review: review.id, commit: review.commit_id.clone() });
            }
        }
        // The host sends all comments at once.
        let path = format!("{}/issues/{}/comments", self.repository(), self.address.number);
        let on_request: Vec<GiteaComment> = self.transport.get(&path, what)?;
        let (mut conversation, places) = threads::of(on_lines, on_request, user, &request.head.id);
        self.places.replace(places);
        conversation.threads.iter_mut().try_for_each(|thread| self.find_members(thread))?;
        Ok(conversation)
    }

    fn comment(&self, request: &PullRequest, comments: &[NewComment]) -> Result<(), HostError> {
        let what = "comment on the pull request";
        let files = self.lines(request)?;
        let is_in_diff = |comment: &NewComment| {
            comment
                .line
                .is_none_or(|line| files.get(&comment.path).is_some_and(|lines| lines.shown.contains(&line)))
        };
        // The host accepts any line, but shows a comment outside of the diff nowhere in the diff.
        if !comments.iter().all(is_in_diff) {
            return Err(self.transport.refused(what, "the line is not in the diff"));
        }
        for review in reviews::split(comments) {
            self.create_review(request, &review, what)?;
        }
        let mut of_files = comments.iter().filter(|comment| comment.line.is_none());
        of_files.try_for_each(|comment| self.create_comment(&threads::file_body(&comment.body), what))
    }

    fn batch(&self) -> usize {
        BATCH
    }

    fn reply(&self, request: &PullRequest, thread: &Thread, body: &str) -> Result<(), HostError> {
        let what = "reply in a thread";
        let place = self.places.borrow().get(&thread.id).cloned();
        let place = place.ok_or_else(|| self.transport.unexpected(what, "the thread was not read before"))?;
        self.reply_at(request, &place, &threads::reply_body(place.first, body), what)
    }

    /// Returns false if the version of the host cannot resolve threads, if the token is not allowed to resolve threads,
    /// and for a comment on a whole file.
    fn set_resolved(&self, _request: &PullRequest, thread: &Thread, is_resolved: bool) -> Result<bool, HostError> {
        if thread.path.is_none() {
            return Ok(false);
        }
        let verb = if is_resolved { "resolve" } else { "unresolve" };
        let path = format!("{}/pulls/comments/{}/{verb}", self.repository(), path_part(&thread.id.0));
        match self.transport.set(&path, "change a thread") {
            Ok(()) => Ok(true),
            Err(HostError::NotFound { .. } | HostError::Forbidden { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn summarise(&self, _request: &PullRequest, existing: Option<&CommentId>, body: &str) -> Result<(), HostError> {
        let what = "write the summary";
        let Some(comment) = existing else { return self.create_comment(body, what) };
        let path = format!("{}/issues/comments/{}", self.repository(), path_part(&comment.0));
        self.transport.patch::<IgnoredAny>(&path, &json!({ "body": body }), what).map(drop)
    }

    /// Creates a commit status, which replaces the earlier status with the same context. A neutral check is a success
    /// whose description states the result, because branch protection can reject every other state.
    fn check(&self, request: &PullRequest, check: &Check) -> Result<(), HostError> {
        let state = if check.state == CheckState::Failure { "failure" } else { "success" };
        let description: String = check.title.chars().take(DESCRIPTION).collect();
        let body =
            json!({ "context": CHECK, "state": state, "description": description, "target_url": request.link });
        let path = format!("{}/statuses/{}", self.repository(), path_part(&request.head.id));
        self.transport.query::<IgnoredAny>(&path, &body, "write the commit status").map(drop)
    }
}
