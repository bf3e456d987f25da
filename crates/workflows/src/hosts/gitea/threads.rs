//! Threads of comments on lines.
//!
//! The host has no threads. The host's web pages show all comments on a line as one list. A reply belongs to the
//! review of the preceding comment. One line can have several findings. Therefore, the hidden first line of Glee's
//! reply names the comment that starts the thread. Glee reads hidden lines only in comments of the token's user.
//!
//! - If a comment of Glee has no hidden first line that names another comment, the comment starts a thread.
//! - A person's comment continues a thread if the thread is on the same line and contains a comment of the same
//!   review. If several threads match, the comment continues the newest one. If no thread contains a comment of
//!   the same review, the person's comment continues the newest thread on the same line of the same commit. If no
//!   thread matches, the person's comment starts a thread.
//!
//! The host does not support comments on whole files. Instead, Glee publishes a comment on the pull request, and
//! marks this comment with a hidden first line. The host does not support replies to such a comment. Therefore,
//! the thread of the comment contains only replies that Glee publishes.

use std::collections::{BTreeMap, BTreeSet};

use super::answers::GiteaComment;
use crate::hosts::model::{Comment, Conversation, Thread, ThreadId};
use glee_model::domain::Untrusted;

const REPLY: &str = "<!-- glee-reply:";
const FILE: &str = "<!-- glee-file -->\n";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ThreadPlace {
    /// The id of the first comment.
    pub first: u64,
    /// `None` for a comment on the whole file.
    pub line: Option<PlaceOnLine>,
    /// The reviews that contain comments of the thread.
    reviews: BTreeSet<u64>,
}

/// The file, line and review of a comment on the diff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlaceOnLine {
    pub path: String,
    /// The number of the line in the new file. 0 if the comment is about a line of the old file.
    pub line: u32,
    pub review: u64,
    /// The head commit when the review was submitted.
    commit: String,
}

/// A comment on a line of the diff. `commit` is the commit that the comment's review is about.
pub(crate) struct LineComment {
    pub comment: GiteaComment,
    pub review: u64,
    pub commit: String,
}

impl ThreadPlace {
    pub(super) fn reviews(&self) -> impl Iterator<Item = u64> {
        self.reviews.iter().copied()
    }
}

pub(crate) fn reply_body(first: u64, body: &str) -> String {
    format!("{REPLY}{first} -->\n{body}")
}

pub(crate) fn file_body(body: &str) -> String {
    format!("{FILE}{body}")
}

/// Whether the text ends with a marker of Glee. Glee wrote the text if the author is the token's user.
pub(crate) fn has_marker(body: &Untrusted) -> bool {
    let last = body
        .as_written()
        .trim_end()
        .lines()
        .next_back()
        .map(str::trim);
    last.is_some_and(|line| line.starts_with("<!-- glee:") && line.ends_with("-->"))
}

pub(crate) fn is_by_glee(comment: &Comment) -> bool {
    comment.is_own && has_marker(&comment.body)
}

/// Returns the id of the comment that a reply of Glee names.
fn replied(comment: &GiteaComment) -> Option<u64> {
    let (first, _) = comment
        .body
        .as_written()
        .strip_prefix(REPLY)?
        .split_once(" -->")?;
    first.parse().ok()
}

/// Returns the conversation of a pull request. The second returned value maps the id of each thread to the first
/// comment, the line and the reviews of the thread. `head` is the head commit.
pub(super) fn of(
    on_lines: Vec<LineComment>,
    on_request: Vec<GiteaComment>,
    user: Option<i64>,
    head: &str,
) -> (Conversation, BTreeMap<ThreadId, ThreadPlace>) {
    let mut all: Vec<(GiteaComment, Option<PlaceOnLine>)> =
        on_lines.into_iter().map(LineComment::placed).collect();
    all.extend(on_request.into_iter().map(|comment| (comment, None)));
    // Comments of one review can have the same creation time. The host creates ids in ascending order, but sends
    // the comments of a review in any order.
    all.sort_by_key(|(comment, _)| (comment.created_at, comment.id));
    let mut threads = Vec::<Thread>::new();
    let mut places = Vec::<ThreadPlace>::new();
    let mut comments: Vec<Comment> = Vec::new();
    for (comment, line) in all {
        let is_glee = comment.is_own(user) && has_marker(&comment.body);
        let is_file = is_glee && comment.body.as_written().starts_with(FILE);
        let known = match replied(&comment).filter(|_| is_glee) {
            Some(named) => places.iter().position(|place| place.first == named),
            None if is_glee => None,
            None => line.as_ref().and_then(|line| continued(&places, line)),
        };
        if let Some(at) = known {
            places[at].reviews.extend(line.map(|line| line.review));
            threads[at].comments.push(comment.into_comment(user));
            continue;
        }
        if line.is_none() && !is_file {
            comments.push(comment.into_comment(user));
            continue;
        }
        let reviews = line.iter().map(|line| line.review).collect();
        let place = ThreadPlace {
            first: comment.id,
            line,
            reviews,
        };
        // The host does not move the lines of comments when the head commit changes.
        let current = place
            .line
            .as_ref()
            .filter(|line| line.line > 0 && line.commit == head);
        threads.push(Thread {
            id: ThreadId(comment.id.to_string()),
            path: place.line.as_ref().map(|line| line.path.clone()),
            line: current.map(|line| line.line),
            is_resolved: comment.resolver.is_some(),
            comments: vec![comment.into_comment(user)],
        });
        places.push(place);
    }
    let places = threads
        .iter()
        .map(|thread| thread.id.clone())
        .zip(places)
        .collect();
    (Conversation { threads, comments }, places)
}

/// Returns the index of the thread to which a person's comment belongs. `at` is the place of the comment.
fn continued(places: &[ThreadPlace], at: &PlaceOnLine) -> Option<usize> {
    let is_here = |line: &PlaceOnLine| line.path == at.path && line.line == at.line;
    places
        .iter()
        .rposition(|place| {
            place.reviews.contains(&at.review) && place.line.as_ref().is_some_and(is_here)
        })
        .or_else(|| {
            places.iter().rposition(|place| {
                place
                    .line
                    .as_ref()
                    .is_some_and(|line| is_here(line) && line.commit == at.commit)
            })
        })
}

impl LineComment {
    fn placed(self) -> (GiteaComment, Option<PlaceOnLine>) {
        let Self {
            comment,
            review,
            commit,
        } = self;
        let line = PlaceOnLine {
            path: comment.path.clone(),
            line: comment.position,
            review,
            commit,
        };
        (comment, Some(line))
    }
}
