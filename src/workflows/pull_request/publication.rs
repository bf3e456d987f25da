//! Plans what has to be published.

use crate::config::settings::CommentOn;
use crate::domain::SettledFinding;
use crate::workflows::hosts::{Check, Comment, CommentId, NewComment, RequestState};
use crate::workflows::pull_request::input::RequestReview;
use crate::workflows::pull_request::marker::{self, FindingMark};
use crate::workflows::pull_request::placement::{self, CommentPlace};
use crate::workflows::pull_request::replies::replies;
use crate::workflows::pull_request::standing::RequestStanding;
use crate::workflows::pull_request::statements::{self, ThreadChange};
use crate::workflows::pull_request::threads::{self, FindingThread};
use crate::workflows::pull_request::{check, text};

/// The changes that have to be published. The fields are in the order of publication.
#[derive(Clone, Debug, PartialEq)]
pub struct Publication {
    pub comments: Vec<NewComment>,
    /// The changes in existing threads, to be applied in this order.
    pub threads: Vec<ThreadChange>,
    pub summary: Option<SummaryChange>,
    pub check: Check,
    /// Notices for the user of the command, one line each.
    pub notices: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SummaryChange {
    /// The summary comment, if it exists.
    pub existing: Option<CommentId>,
    pub body: String,
}

impl Publication {
    /// Whether the conversation needs no change. The check is always published.
    pub fn is_empty(&self) -> bool {
        self.comments.is_empty() && self.threads.is_empty() && self.summary.is_none()
    }
}

/// Plans the publication of a review. The plan depends only on the input. After the plan is applied, a second plan
/// for the changed conversation is empty. On a closed pull request, Glee publishes only the check.
pub fn plan(review: &RequestReview<'_>) -> Publication {
    let threads = threads::of(review);
    let replies = replies(review);
    let mut publication = Publication {
        comments: Vec::new(),
        threads: Vec::new(),
        summary: None,
        check: check::check(review, text::verdict(review), String::new()),
        notices: marker::rulings(review.conversation).notices,
    };
    let (comments, unplaced) = comments(review, &threads);
    let summary = text::summary(review, &unplaced, replies.ignored);
    publication.check.summary.clone_from(&summary);
    if review.request.state != RequestState::Open {
        publication
            .notices
            .push("the pull request is closed, so only the check is published".to_owned());
        return publication;
    }
    publication.comments = comments;
    publication.threads = threads
        .iter()
        .flat_map(|thread| statements::due(review, thread, &replies))
        .collect();
    let body = text::with_markers(&summary, &[marker::summary()]);
    let is_summary =
        |comment: &&Comment| marker::marks(comment).is_some_and(|marks| marks.is_summary);
    // On GitLab, a reply to the summary converts the summary to the first comment of a thread.
    let replied = review
        .conversation
        .threads
        .iter()
        .filter_map(|thread| thread.comments.first());
    let existing = review
        .conversation
        .comments
        .iter()
        .chain(replied)
        .find(is_summary);
    // Hosts can change the line breaks of a text, and the white space at its end.
    let is_same = |old: &Comment| old.body.as_written().replace("\r\n", "\n").trim_end() == body;
    if !existing.is_some_and(is_same) {
        publication.summary = Some(SummaryChange {
            existing: existing.map(|comment| comment.id.clone()),
            body,
        });
    }
    publication
}

/// Returns the comments that start new threads, and the open findings without a thread.
fn comments<'a>(
    review: &RequestReview<'a>,
    threads: &[FindingThread<'a>],
) -> (Vec<NewComment>, Vec<&'a SettledFinding>) {
    let run = &review.outcome.run;
    let has_thread = |settled: &SettledFinding| {
        let mut found = threads.iter().filter_map(|thread| thread.finding);
        found.any(|found| found.finding.id == settled.finding.id)
    };
    let started = threads
        .iter()
        .filter(|thread| thread.mark.run == *run)
        .count();
    let mut room = usize::try_from(review.settings.max_comments)
        .unwrap_or(usize::MAX)
        .saturating_sub(started);
    let mut open: Vec<&SettledFinding> = review.outcome.findings.iter().collect();
    open.retain(|settled| RequestStanding::of(review, settled).is_open() && !has_thread(settled));
    open.sort_by_key(|settled| text::importance(settled));
    let (mut comments, mut unplaced) = (Vec::new(), Vec::new());
    for settled in open {
        let is_wanted = settled.finding.mandatory || review.settings.comment_on == CommentOn::All;
        match placement::place(review, settled).filter(|_| is_wanted && room > 0) {
            Some(place) => {
                room -= 1;
                comments.push(comment(review, settled, place));
            }
            None => unplaced.push(settled),
        }
    }
    (comments, unplaced)
}

fn comment<'a>(
    review: &RequestReview<'a>,
    settled: &'a SettledFinding,
    place: CommentPlace,
) -> NewComment {
    let standing = RequestStanding::of(review, settled);
    let finding = &settled.finding;
    let mark = FindingMark::new(&review.outcome.run, finding, threads::anchor(finding));
    let mut markers = vec![mark.written()];
    markers.extend(statements::markers(review, &standing));
    let body = text::with_markers(&text::comment(settled, &standing, &place), &markers);
    NewComment {
        path: place.path,
        line: place.line,
        start_line: place.start_line,
        body,
    }
}
