//! Sends a publication, which is a set of planned changes to a pull request, to the host.
//!
//! Glee sends the changes in a fixed order: what is deleted, comments, changes of threads, summary, check. Each publication is
//! computed from the conversation on the host. After an interruption, the next publication therefore contains only
//! the missing changes.

use super::connection::RequestOnHost;
use crate::cli::context::Globals;
use crate::cli::style::count;
use glee_protocol::text::printable;
use glee_workflows::hosts::{HostError, NewComment};
use glee_workflows::pull_request::{Publication, ThreadChange};

/// The numbers of planned comments and of planned changes of the thread state that the host did not make.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Unapplied {
    /// The number of doubled comments that are still there.
    doubled: usize,
    /// The number of comments that the host refused.
    comments: usize,
    /// The number of comment threads that Glee could not mark as resolved.
    open: usize,
    /// The number of comment threads that Glee could not reopen.
    resolved: usize,
}

pub(crate) fn apply(
    on_host: &RequestOnHost,
    publication: &Publication,
    globals: &Globals,
) -> Result<Unapplied, HostError> {
    let RequestOnHost { host, request } = on_host;
    let mut unapplied = Unapplied::default();
    if !publication.doubled.is_empty() {
        unapplied.doubled = host.delete(&publication.doubled)?;
    }
    for comments in batches(&publication.comments, host.batch()) {
        match host.comment(request, comments) {
            Err(HostError::Refused { .. }) => {
                unapplied.comments += one_by_one(on_host, comments, globals)?
            }
            done => done?,
        }
    }
    for change in &publication.threads {
        match change {
            ThreadChange::Reply { thread, body } => host.reply(request, thread, body)?,
            ThreadChange::Resolve {
                thread,
                is_resolved,
            } => {
                // The host or the access token possibly does not permit this change. The thread then stays as it
                // is.
                if !host.set_resolved(thread, *is_resolved)? {
                    unapplied.open += usize::from(*is_resolved);
                    unapplied.resolved += usize::from(!is_resolved);
                }
            }
        }
    }
    if let Some(summary) = &publication.summary {
        host.summarise(summary.existing.as_ref(), &summary.body)?;
    }
    host.check(request, &publication.check)?;
    if let Some(there) = several(unapplied.doubled, "comment is there", "comments are there") {
        globals.say(format!(
            "note: {there} twice, because the host or the token is not able to delete comments"
        ));
    }
    let left = unapplied.open + unapplied.resolved;
    if let Some(threads) = several(left, "thread has", "threads have") {
        globals.say(format!(
            "note: {threads} the wrong state, because the host or the token is not able to resolve threads; change the state \
             on the page of the pull request"
        ));
    }
    Ok(unapplied)
}

/// Splits comments into batches. A batch contains up to `size` comments on lines, or a single comment on a file.
/// The host accepts or refuses a batch as a whole.
fn batches(comments: &[NewComment], size: usize) -> impl Iterator<Item = &[NewComment]> {
    let groups = comments.chunk_by(|one, next| one.line.is_some() && next.line.is_some());
    groups.flat_map(move |group| group.chunks(size.max(1)))
}

/// Sends each comment of a refused batch on its own. If the host refuses a comment on a line, Glee sends the text
/// as a comment on the whole file. Returns the number of comments that the host refused on the line and also on
/// the file.
fn one_by_one(
    on_host: &RequestOnHost,
    comments: &[NewComment],
    globals: &Globals,
) -> Result<usize, HostError> {
    let RequestOnHost { host, request } = on_host;
    let mut refused = 0;
    for comment in comments {
        let Err(error) = host.comment(request, std::slice::from_ref(comment)) else {
            continue;
        };
        if !matches!(error, HostError::Refused { .. }) {
            return Err(error);
        }
        let of_file = NewComment {
            line: None,
            start_line: None,
            ..comment.clone()
        };
        match host.comment(request, &[of_file]) {
            Err(HostError::Refused { why, .. }) => {
                refused += 1;
                let path = printable::line(&comment.path);
                let why = printable::line(&why);
                globals.say(format!(
                    "note: the host refused a comment on `{path}`: {why}"
                ));
            }
            done => done?,
        }
    }
    Ok(refused)
}

fn several(number: usize, one: &str, many: &str) -> Option<String> {
    match number {
        0 => None,
        1 => Some(format!("1 {one}")),
        number => Some(format!("{number} {many}")),
    }
}

/// Lists the changes that the host made, as in `2 comments, 1 reply, the check`.
pub(crate) fn summary(publication: &Publication, unapplied: Unapplied) -> String {
    let comments = publication
        .comments
        .len()
        .saturating_sub(unapplied.comments);
    let mut replies = 0;
    let mut resolved = 0_usize;
    let mut reopened = 0_usize;
    for change in &publication.threads {
        match change {
            ThreadChange::Reply { .. } => replies += 1,
            ThreadChange::Resolve {
                is_resolved: true, ..
            } => resolved += 1,
            ThreadChange::Resolve { .. } => reopened += 1,
        }
    }
    let parts = [
        several(
            publication.doubled.len().saturating_sub(unapplied.doubled),
            "doubled comment deleted",
            "doubled comments deleted",
        ),
        (comments > 0).then(|| count(comments, "comment")),
        several(replies, "reply", "replies"),
        several(
            resolved.saturating_sub(unapplied.open),
            "thread resolved",
            "threads resolved",
        ),
        several(
            reopened.saturating_sub(unapplied.resolved),
            "thread opened again",
            "threads opened again",
        ),
        publication
            .summary
            .as_ref()
            .map(|_| "the summary".to_owned()),
        Some("the check".to_owned()),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// If a batch contained comments on lines and on a file, the host could accept the comments on lines and
    /// then refuse the comment on the file. After the refusal, Glee would send all comments of the batch again.
    #[test]
    fn a_comment_on_a_file_is_a_batch_of_its_own() {
        let comment = |line| NewComment {
            path: "a".to_owned(),
            line,
            start_line: None,
            body: String::new(),
        };
        let comments = [Some(1), Some(2), Some(3), None, None, Some(4)].map(comment);
        let lines = |size| -> Vec<Vec<Option<u32>>> {
            batches(&comments, size)
                .map(|batch| batch.iter().map(|comment| comment.line).collect())
                .collect()
        };
        assert_eq!(
            lines(30),
            [
                vec![Some(1), Some(2), Some(3)],
                vec![None],
                vec![None],
                vec![Some(4)]
            ],
            "of a large size"
        );
        assert_eq!(lines(2)[..2], [vec![Some(1), Some(2)], vec![Some(3)]]);
        assert_eq!(lines(0).len(), 6);
    }
}
