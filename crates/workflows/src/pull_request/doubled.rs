//! Finds the comments that Glee published twice.
//!
//! A worker that is suspended between its last check and the request sends the request when the machine wakes up, and
//! another worker has published the same meanwhile. Of two comments of Glee with the same text and the same markers, the
//! newer one has to go. A comment below which others wrote stays.

use std::collections::BTreeSet;

use crate::hosts::{Comment, Conversation, OwnComment, Thread};
use crate::pull_request::marker::{self, FindingName, Marks};
use crate::pull_request::text;

pub(super) fn of(conversation: &Conversation) -> Vec<OwnComment> {
    let mut doubled = Vec::new();
    let mut told = BTreeSet::new();
    for thread in &conversation.threads {
        let Some((first, _)) = thread.comments.first().and_then(said) else {
            continue;
        };
        if told.insert(first) {
            let replies = 1..thread.comments.len();
            let again = replies.filter(|at| is_said_again(thread, *at));
            doubled.extend(again.map(|at| own(&thread.comments[at], Some(thread))));
        } else if let [first] = thread.comments.as_slice() {
            doubled.push(own(first, Some(thread)));
        }
    }
    let summaries = conversation.comments.iter().filter(|comment| {
        marker::marks(comment).is_some_and(|marks| marks.is_summary)
            && marker::unified(&comment.body).starts_with(text::SUMMARY)
    });
    doubled.extend(summaries.skip(1).map(|comment| own(comment, None)));
    doubled
}

/// Whether the reply repeats a reply of Glee, without another statement about its findings between both.
fn is_said_again(thread: &Thread, at: usize) -> bool {
    let (before, rest) = thread.comments.split_at(at);
    let Some((body, marks)) = said(&rest[0]) else {
        return false;
    };
    let about = names(&marks);
    let mut before = before[1..].iter().rev().filter_map(said);
    let older = before.find(|(older, marks)| *older == body || !names(marks).is_disjoint(&about));
    older.is_some_and(|(older, _)| older == body) && rest.iter().all(|comment| comment.is_own)
}

/// The text of a comment of Glee that tells or answers something, and its markers.
fn said(comment: &Comment) -> Option<(String, Marks)> {
    let marks = marker::marks(comment)?;
    let is_said = !marks.findings.is_empty() || !marks.answers.is_empty();
    is_said.then(|| (marker::unified(&comment.body), marks))
}

fn names(marks: &Marks) -> BTreeSet<FindingName> {
    let answers = marks.answers.iter();
    answers
        .flat_map(|mark| mark.about.iter().cloned())
        .collect()
}

fn own(comment: &Comment, thread: Option<&Thread>) -> OwnComment {
    OwnComment {
        id: comment.id.clone(),
        thread: thread.map(|thread| thread.id.clone()),
    }
}
