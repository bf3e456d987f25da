//! Gitea and Forgejo, by version 1 of their REST API.
//!
//! The module `threads` describes how comments on lines form threads, and the module `reviews` describes how Glee
//! publishes the comments. `people` finds permissions. The API of Gitea can resolve threads since version 1.26.
//! The API of Forgejo cannot resolve threads.

mod answers;
mod api;
mod diff;
mod people;
mod reviews;
#[cfg(test)]
mod tests;
mod threads;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use serde::de::IgnoredAny;
use serde_json::json;

use super::address::RequestAddress;
use super::diff_lines::DiffLines;
use super::model::{
    ChangedFile, Check, CheckState, CommentId, Conversation, Host, HostError, HostKind, NewComment,
    OwnComment, PullRequest, Thread, ThreadId, TrackedIssue,
};
use super::transport::Transport;
use answers::{GiteaComment, GiteaFile, GiteaPull};
use api::{GiteaApi, MOST};
use glee_system::uri;
use people::People;
use threads::{LineComment, ThreadPlace};

/// The context of the commit status, and the maximum number of characters of the status's description.
const CHECK: &str = "glee";
const DESCRIPTION: usize = 255;

pub(super) struct Gitea {
    api: GiteaApi,
    people: People,
    /// The head commit whose diff was read last, with the lines of the diff by path.
    diff: RefCell<Option<(String, BTreeMap<String, DiffLines>)>>,
    /// The places of the threads that were read.
    places: RefCell<BTreeMap<ThreadId, ThreadPlace>>,
}

impl Gitea {
    pub(super) fn new(transport: Transport, address: RequestAddress) -> Self {
        Self {
            api: GiteaApi { transport, address },
            people: People::default(),
            diff: RefCell::default(),
            places: RefCell::default(),
        }
    }

    /// Returns the lines of the changed files. Omits files whose lines the host does not show.
    fn lines(&self, request: &PullRequest) -> Result<BTreeMap<String, DiffLines>, HostError> {
        if let Some((head, files)) = &*self.diff.borrow()
            && *head == request.head.id
        {
            return Ok(files.clone());
        }
        let text = self
            .api
            .transport
            .get_text(&format!("{}.diff", self.api.pull()), "read the diff")?;
        let files = diff::files(&text);
        self.diff
            .replace(Some((request.head.id.clone(), files.clone())));
        Ok(files)
    }
}

impl Host for Gitea {
    fn kind(&self) -> HostKind {
        HostKind::Gitea
    }

    fn request(&self) -> Result<PullRequest, HostError> {
        let what = "read the pull request";
        let answer: GiteaPull = self.api.transport.get(&self.api.pull(), what)?;
        answer
            .into_request()
            .map_err(|why| self.api.transport.unexpected(what, why))
    }

    fn issue(&self, number: u64) -> Result<TrackedIssue, HostError> {
        let path = format!("{}/issues/{number}", self.api.repository());
        self.api.transport.get(&path, "read an issue")
    }

    fn files(&self, request: &PullRequest) -> Result<Vec<ChangedFile>, HostError> {
        let path = format!("{}/files?limit=50", self.api.pull());
        let files: Vec<GiteaFile> =
            self.api
                .transport
                .get_numbered(&path, MOST, "read the changed files")?;
        let lines = self.lines(request)?;
        let files = files.into_iter().map(|file| {
            let DiffLines { shown, added, .. } =
                lines.get(&file.filename).cloned().unwrap_or_default();
            let previous = file
                .previous_filename
                .filter(|previous| !previous.is_empty() && *previous != file.filename);
            ChangedFile {
                path: file.filename,
                previous,
                lines: shown,
                added,
            }
        });
        Ok(files.collect())
    }

    fn conversation(&self, request: &PullRequest) -> Result<Conversation, HostError> {
        let user = self.api.transport.user()?;
        let what = "read the conversation";
        let mut on_lines = Vec::new();
        // Comments of a review that is not submitted are not yet a part of the conversation.
        for review in self
            .api
            .reviews()?
            .into_iter()
            .filter(|review| review.comments_count > 0 && !review.is_pending())
        {
            for comment in self.api.review_comments(review.id)? {
                on_lines.push(LineComment {
                    comment,
                    review: review.id,
                    commit: review.commit_id.clone(),
                });
            }
        }
        // The host sends all comments at once.
        let path = format!(
            "{}/issues/{}/comments",
            self.api.repository(),
            self.api.address.number
        );
        let on_request: Vec<GiteaComment> = self.api.transport.get(&path, what)?;
        let (mut conversation, places) = threads::of(on_lines, on_request, user, &request.head.id);
        self.places.replace(places);
        conversation
            .threads
            .iter_mut()
            .try_for_each(|thread| self.people.find_members(&self.api, thread))?;
        Ok(conversation)
    }

    fn comment(&self, request: &PullRequest, comments: &[NewComment]) -> Result<(), HostError> {
        let what = "comment on the pull request";
        let files = self.lines(request)?;
        let are_in_diff = comments.iter().all(|comment| {
            comment.line.is_none_or(|line| {
                files
                    .get(&comment.path)
                    .is_some_and(|lines| lines.shown.contains(&line))
            })
        });
        // The host accepts a comment on any line, but does not show the comment if the line is outside of the
        // diff.
        if !are_in_diff {
            return Err(self
                .api
                .transport
                .refused(what, "the line is not in the diff"));
        }
        for review in reviews::split(comments) {
            self.api.create_review(request, &review, what)?;
        }
        let mut of_files = comments.iter().filter(|comment| comment.line.is_none());
        of_files.try_for_each(|comment| {
            self.api
                .create_comment(&threads::file_body(&comment.body), what)
        })
    }

    fn reply(&self, request: &PullRequest, thread: &Thread, body: &str) -> Result<(), HostError> {
        let what = "reply in a thread";
        let place = self.places.borrow().get(&thread.id).cloned();
        let place = place.ok_or_else(|| {
            self.api
                .transport
                .unexpected(what, "the thread was not read before")
        })?;
        let body = threads::reply_body(place.first, body);
        self.api.reply_at(request, &place, &body, what)
    }

    /// Returns false if the version of the host cannot resolve threads, if the token is not allowed to resolve threads,
    /// and for a comment on a whole file.
    fn set_resolved(&self, thread: &Thread, is_resolved: bool) -> Result<bool, HostError> {
        if thread.path.is_none() {
            return Ok(false);
        }
        let verb = if is_resolved { "resolve" } else { "unresolve" };
        let path = format!(
            "{}/pulls/comments/{}/{verb}",
            self.api.repository(),
            uri::segment(&thread.id.0)
        );
        match self.api.transport.set(&path, "change a thread") {
            Ok(()) => Ok(true),
            Err(HostError::NotFound { .. } | HostError::Forbidden { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn summarise(&self, existing: Option<&CommentId>, body: &str) -> Result<(), HostError> {
        let what = "write the summary";
        let Some(comment) = existing else {
            return self.api.create_comment(body, what);
        };
        let path = format!(
            "{}/issues/comments/{}",
            self.api.repository(),
            uri::segment(&comment.0)
        );
        self.api
            .transport
            .patch::<IgnoredAny>(&path, &json!({ "body": body }), what)
            .map(drop)
    }

    /// The host deletes a comment on a line only with its review. A review that has other comments stays.
    fn delete(&self, comments: &[OwnComment]) -> Result<usize, HostError> {
        let places = self.places.borrow();
        let place = |comment: &OwnComment| places.get(comment.thread.as_ref()?)?.line.as_ref();
        let (on_lines, on_request): (Vec<OwnComment>, Vec<OwnComment>) = comments
            .iter()
            .cloned()
            .partition(|comment| place(comment).is_some());
        let threads = on_lines
            .iter()
            .filter_map(|comment| comment.thread.as_ref());
        let reviews: BTreeSet<u64> = threads
            .filter_map(|thread| places.get(thread))
            .flat_map(ThreadPlace::reviews)
            .collect();
        let ids = on_lines
            .iter()
            .map(|comment| comment.id.0.clone())
            .collect();
        let deleted = self.api.delete_reviews(&reviews, &ids)?;
        let left = self.api.transport.delete_each(&on_request, |comment| {
            let id = uri::segment(&comment.id.0);
            format!("{}/issues/comments/{id}", self.api.repository())
        })?;
        Ok(on_lines.len() - deleted + left)
    }

    /// Creates a commit status, which replaces the earlier status with the same context. A neutral check becomes
    /// a success whose description states the result, because branch protection can reject every other state.
    fn check(&self, request: &PullRequest, check: &Check) -> Result<(), HostError> {
        let state = if check.state == CheckState::Failure {
            "failure"
        } else {
            "success"
        };
        let description: String = check.title.chars().take(DESCRIPTION).collect();
        let body = json!({ "context": CHECK, "state": state, "description": description, "target_url": request.link });
        let path = format!(
            "{}/statuses/{}",
            self.api.repository(),
            uri::segment(&request.head.id)
        );
        self.api
            .transport
            .query::<IgnoredAny>(&path, &body, "write the commit status")
            .map(drop)
    }
}
