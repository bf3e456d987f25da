//! Publishes comments on lines.
//!
//! The host first stores the comments of a new review one by one in a draft review, and submits the draft at the
//! end. Two cases require special treatment:
//!
//! - The user of the token began a review on the pages of the host. The host would add Glee's comments to this
//!   review, and would submit the user's drafts. Therefore, Glee publishes no comments until the user has
//!   submitted or discarded the review.
//! - The server failed while it stored Glee's comments. Only the user of the token can see the stored comments.
//!   If Glee published the comments again, the next review would also submit the stored comments. Therefore,
//!   Glee first deletes the stored comments.

use std::collections::BTreeSet;

use serde::de::IgnoredAny;
use serde_json::json;

use super::answers::{GiteaComment, GiteaReview};
use super::api::{GiteaApi, MOST};
use super::threads::{ThreadPlace, has_marker};
use crate::hosts::model::{HostError, NewComment, PullRequest};

const READ: &str = "read the conversation";

/// Splits the line comments into several reviews. Each review contains at most one comment for each line. If one
/// review contained several comments on a line, the host would show these comments as one conversation.
pub(super) fn split(comments: &[NewComment]) -> Vec<Vec<&NewComment>> {
    let mut reviews: Vec<Vec<&NewComment>> = Vec::new();
    for comment in comments.iter().filter(|comment| comment.line.is_some()) {
        let free = reviews.iter_mut().find(|review| {
            !review
                .iter()
                .any(|other| (&other.path, other.line) == (&comment.path, comment.line))
        });
        match free {
            Some(review) => review.push(comment),
            None => reviews.push(vec![comment]),
        }
    }
    reviews
}

impl GiteaApi {
    pub(super) fn reviews(&self) -> Result<Vec<GiteaReview>, HostError> {
        self.transport
            .get_numbered(&format!("{}/reviews?limit=50", self.pull()), MOST, READ)
    }

    /// Returns the comments of a review. Returns an empty list if the review was deleted.
    pub(super) fn review_comments(&self, review: u64) -> Result<Vec<GiteaComment>, HostError> {
        match self
            .transport
            .get(&format!("{}/reviews/{review}/comments", self.pull()), READ)
        {
            Err(HostError::NotFound { .. }) => Ok(Vec::new()),
            done => done,
        }
    }

    pub(super) fn create_review(
        &self,
        request: &PullRequest,
        comments: &[&NewComment],
        what: &str,
    ) -> Result<(), HostError> {
        self.clear_unsubmitted()?;
        let comments: Vec<_> = comments.iter().map(|comment| {
 json!({ "path": comment.path, "new_position": comment.line, "body": comment.body })
}).collect();
        let body =
            json!({ "event": "COMMENT", "commit_id": request.head.id, "comments": comments });
        self.transport
            .create::<IgnoredAny>(&format!("{}/reviews", self.pull()), &body, what)
            .map(drop)
    }

    /// Deletes the draft reviews that interrupted HTTP requests left on the host. Fails if a draft contains a
    /// comment that Glee did not write.
    fn clear_unsubmitted(&self) -> Result<(), HostError> {
        let user = self.transport.user()?;
        let unsubmitted = self.reviews()?.into_iter().filter(|review| {
            review.is_pending()
                && review.user.as_ref().map(|user| user.id) == user
                && review.comments_count > 0
        });
        for review in unsubmitted {
            let comments = self.review_comments(review.id)?;
            if !comments.iter().all(|comment| has_marker(&comment.body)) {
                return Err(HostError::PendingReview {
                    host: self.transport.host().to_owned(),
                });
            }
            self.transport.delete(
                &format!("{}/reviews/{}", self.pull(), review.id),
                "clear an unfinished review",
            )?;
        }
        Ok(())
    }

    /// Deletes those of the reviews whose comments are all in `ids`. Returns the number of deleted comments.
    pub(super) fn delete_reviews(
        &self,
        reviews: &BTreeSet<u64>,
        ids: &BTreeSet<String>,
    ) -> Result<usize, HostError> {
        let mut deleted = 0;
        for review in reviews {
            let comments = self.review_comments(*review)?;
            if !comments
                .iter()
                .all(|comment| ids.contains(&comment.id.to_string()))
            {
                continue;
            }
            let path = format!("{}/reviews/{review}", self.pull());
            match self.transport.delete(&path, "delete a review") {
                Err(HostError::Forbidden { .. }) => {}
                done => {
                    done?;
                    deleted += comments.len();
                }
            }
        }
        Ok(deleted)
    }

    /// Replies in a thread. Gitea has an API for replies since version 1.27. Forgejo has an API that adds a
    /// comment to an existing review. Glee adds the reply to the review that contains the thread. If the host has
    /// neither API, Glee replies by a new review on the same line. The host's web pages show this review in the
    /// thread.
    pub(crate) fn reply_at(
        &self,
        request: &PullRequest,
        place: &ThreadPlace,
        body: &str,
        what: &str,
    ) -> Result<(), HostError> {
        let Some(at) = place.line.as_ref().filter(|at| at.line > 0) else {
            return self.create_comment(body, what);
        };
        let path = format!("{}/comments/{}/replies", self.pull(), place.first);
        match self
            .transport
            .create::<IgnoredAny>(&path, &json!({ "body": body }), what)
        {
            Err(HostError::NotFound { .. }) => {}
            done => return done.map(drop),
        }
        let comment = NewComment {
            path: at.path.clone(),
            line: Some(at.line),
            start_line: None,
            body: body.to_owned(),
        };
        let path = format!("{}/reviews/{}/comments", self.pull(), at.review);
        let form =
            json!({ "path": comment.path, "new_position": comment.line, "body": comment.body });
        match self.transport.create::<IgnoredAny>(&path, &form, what) {
            // After a force-push, the commit of the thread possibly no longer exists.
            Err(HostError::NotFound { .. }) => self.create_review(request, &[&comment], what),
            done => done.map(drop),
        }
    }
}
