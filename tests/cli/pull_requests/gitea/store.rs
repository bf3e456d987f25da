//! The state of reviews, drafts and comments on lines.

use std::process::Command;

use serde_json::{Value, json};

use super::other;
use super::people::user;
use crate::pull_requests::double::{Discussion, Said, State};

/// The reviews: an array of objects with `id`, `by`, `state` and `commit`.
pub(super) const REVIEWS: &str = "reviews";

/// The comments of reviews that are not submitted: objects with `review`, `path`, `line` and `body`.
pub(super) const DRAFTS: &str = "drafts";

/// The review of each comment on a line, by its id. A reply by a person belongs to the review of its thread.
pub(super) const REVIEW_OF: &str = "review_of";

/// The commit that changed the line of a comment last, when the comment was created.
pub(super) const BLAME: &str = "blame";

/// The ids of resolved comments that start no thread.
pub(super) const RESOLVED: &str = "resolved";

/// The server fails after it has stored this number of comments of the next review.
pub(crate) const FAILS_AFTER: &str = "fails_after";

/// The place of a comment on a line.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) review: u64,
    pub(super) path: String,
    pub(super) line: u32,
}

/// The time at which an object was created. Two objects each have the same time.
pub(super) fn time(id: u64) -> String {
    let begin: jiff::Timestamp = "2026-01-01T00:00:00Z".parse().expect("a time");
    let seconds = i64::try_from(id / 2).expect("a small id");
    (begin + jiff::SignedDuration::from_secs(seconds)).to_string()
}

pub(super) fn said(said: &Said, is_updated: bool) -> Value {
    let created = time(said.id);
    let updated = if is_updated {
        time(said.id + 10_000)
    } else {
        created.clone()
    };
    json!({
        "id": said.id, "body": said.body, "user": user(&said.by), "created_at": created, "updated_at": updated,
    })
}

pub(super) fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}

pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

pub(super) fn array<'a>(state: &'a mut State, name: &str) -> &'a mut Vec<Value> {
    other(state, name, json!([]))
        .as_array_mut()
        .expect("an array")
}

pub(super) fn exists(state: &State, commit: &str) -> bool {
    let object = format!("{commit}^{{commit}}");
    let output = Command::new("git")
        .current_dir(&state.repository)
        .args(["cat-file", "-e", &object])
        .output();
    output.expect("git is installed").status.success()
}

/// The commit that changed a line last. `None` if the file or the line does not exist at `commit`.
pub(super) fn blame(state: &State, commit: &str, path: &str, line: u32) -> Option<String> {
    let range = format!("{line},{line}");
    let arguments = ["blame", "--porcelain", "-L", &range, commit, "--", path];
    let output = Command::new("git")
        .current_dir(&state.repository)
        .args(arguments)
        .output();
    let output = output.expect("git is installed");
    let found = String::from_utf8_lossy(&output.stdout)
        .split_whitespace()
        .next()
        .map(str::to_owned);
    found.filter(|_| output.status.success())
}

/// A person begins a review on the pages of the host, with a draft of a comment, and does not submit it.
pub(crate) fn draft(state: &mut State, by: &str, path: &str, line: u32, body: &str) {
    let (review, head) = (state.id(), state.head());
    array(state, REVIEWS)
        .push(json!({ "id": review, "by": by, "state": "PENDING", "commit": head }));
    let draft =
        json!({ "id": state.id(), "review": review, "path": path, "line": line, "body": body });
    array(state, DRAFTS).push(draft);
}

/// A person submits a review with one comment on a line.
pub(crate) fn review(state: &mut State, by: &str, path: &str, line: u32, body: &str) {
    let (review, head) = (state.id(), state.head());
    array(state, REVIEWS)
        .push(json!({ "id": review, "by": by, "state": "COMMENT", "commit": head }));
    let said = state.said(by, "MEMBER", body);
    other(state, REVIEW_OF, json!({}))[said.id.to_string()] = json!(review);
    let (path, line) = (path.to_owned(), Some(line));
    state.threads.push(Discussion {
        path,
        line,
        is_resolved: false,
        comments: vec![said],
    });
}

/// The number of the drafts that are not submitted.
pub(crate) fn drafts(state: &mut State) -> usize {
    array(state, DRAFTS).len()
}

/// The review of the thread's comment, which for a reply of a person is the review of the first comment.
pub(super) fn review_of(state: &State, thread: &Discussion, said: &Said) -> u64 {
    let known = state.other.get(REVIEW_OF);
    let of = |id: u64| {
        known
            .map(|known| number(&known[id.to_string()]))
            .filter(|review| *review > 0)
    };
    of(said.id)
        .or_else(|| of(thread.comments[0].id))
        .expect("a thread belongs to a review")
}

/// The positions of the comments of a review: the thread, and the comment in the thread.
pub(super) fn of_review(state: &State, review: u64) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for (at, thread) in state.threads.iter().enumerate() {
        for (index, said) in thread.comments.iter().enumerate() {
            if review_of(state, thread, said) == review {
                found.push((at, index));
            }
        }
    }
    found
}

/// The thread of a comment, and the position of the comment in the thread.
pub(super) fn find(state: &State, id: &str) -> Option<(usize, usize)> {
    state.threads.iter().enumerate().find_map(|(at, thread)| {
        let index = thread
            .comments
            .iter()
            .position(|said| said.id.to_string() == id)?;
        Some((at, index))
    })
}
