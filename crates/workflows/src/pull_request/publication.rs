//! Plans what has to be published.

use std::collections::{BTreeMap, BTreeSet};

use crate::hosts::{Check, Comment, CommentId, NewComment, OwnComment, RequestState};
use crate::pull_request::input::RequestReview;
use crate::pull_request::marker;
use crate::pull_request::placement::{self, CommentPlace};
use crate::pull_request::replies::replies;
use crate::pull_request::standing::RequestStanding;
use crate::pull_request::statements::{self, ThreadChange};
use crate::pull_request::threads::{self, FindingThread};
use crate::pull_request::{check, doubled, text};
use glee_model::domain::{FindingId, SettledFinding};
use glee_store::config::choices::CommentOn;

/// The maximum number of findings that one thread tells.
const MEMBERS: usize = 10;

/// The changes that have to be published. The fields are in the order of publication.
#[derive(Clone, Debug, PartialEq)]
pub struct Publication {
    /// Comments that repeat an older one.
    pub doubled: Vec<OwnComment>,
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
        self.doubled.is_empty()
            && self.comments.is_empty()
            && self.threads.is_empty()
            && self.summary.is_none()
    }
}

/// Plans the publication of a review. The plan depends only on the input. After the plan is applied, a second plan
/// for the changed conversation is empty. On a closed pull request, Glee publishes only the check.
pub fn plan(review: &RequestReview<'_>) -> Publication {
    let threads = threads::of(review);
    let replies = replies(review);
    let mut publication = Publication {
        doubled: Vec::new(),
        comments: Vec::new(),
        threads: Vec::new(),
        summary: None,
        check: check::check(review, text::verdict(review), String::new()),
        notices: marker::rulings(review.conversation).notices,
    };
    let Untold {
        comments,
        new,
        unplaced,
    } = untold(review, &threads);
    let summary = text::summary(review, &unplaced, replies.ignored);
    publication.check.summary.clone_from(&summary);
    if review.request.state != RequestState::Open {
        publication
            .notices
            .push("the pull request is closed, so only the check is published".to_owned());
        return publication;
    }
    publication.doubled = doubled::of(review.conversation);
    publication.comments = comments;
    for (index, thread) in threads.iter().enumerate() {
        let new = new.get(&index).map_or(&[][..], Vec::as_slice);
        publication
            .threads
            .extend(statements::due(review, thread, new, &replies));
    }
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
    if existing.is_none_or(|old| marker::unified(&old.body) != body) {
        publication.summary = Some(SummaryChange {
            existing: existing.map(|comment| comment.id.clone()),
            body,
        });
    }
    publication
}

/// The open findings that no thread tells yet.
#[derive(Default)]
struct Untold<'a> {
    /// The comments that start new threads.
    comments: Vec<NewComment>,
    /// The new members of the group of a thread, by the index of the thread.
    new: BTreeMap<usize, Vec<&'a SettledFinding>>,
    /// The findings that get no comment.
    unplaced: Vec<&'a SettledFinding>,
}

fn untold<'a>(review: &RequestReview<'a>, threads: &[FindingThread<'a>]) -> Untold<'a> {
    let run = &review.outcome.run;
    let told: BTreeSet<FindingId> = threads
        .iter()
        .flat_map(|thread| &thread.told)
        .filter_map(|told| Some(told.finding?.finding.id))
        .collect();
    let started = threads
        .iter()
        .filter(|thread| {
            thread
                .told
                .first()
                .is_some_and(|lead| lead.mark.name.run == *run && !lead.is_duplicate)
        })
        .count();
    let mut room = usize::try_from(review.settings.max_comments)
        .unwrap_or(usize::MAX)
        .saturating_sub(started);
    let mut groups: Vec<Vec<&SettledFinding>> = Vec::new();
    for group in review.outcome.groups() {
        let mut open: Vec<&SettledFinding> = group.iter().collect();
        open.retain(|settled| {
            RequestStanding::of(review, settled).is_open() && !told.contains(&settled.finding.id)
        });
        open.sort_by_key(|settled| text::importance(settled));
        if !open.is_empty() {
            groups.push(open);
        }
    }
    groups.sort_by_key(|group| text::importance(group[0]));
    let mut untold = Untold::default();
    for group in groups {
        let head = &group[0].finding;
        let is_wanted = group[0].finding.mandatory || review.settings.comment_on == CommentOn::All;
        // A finding without a file cannot be recognised in a later run, so the summary tells it.
        let (mut placed, mut unplaced): (Vec<&SettledFinding>, Vec<&SettledFinding>) = group
            .into_iter()
            .partition(|settled| settled.finding.raw.file.is_some());
        if let Some(at) = threads.iter().position(|thread| thread.is_of_group(head)) {
            let most = MEMBERS.saturating_sub(threads[at].told.len());
            unplaced.extend(placed.split_off(most.min(placed.len())));
            if !placed.is_empty() {
                untold.new.insert(at, placed);
            }
        } else {
            let mut places = placed
                .iter()
                .enumerate()
                .filter_map(|(index, settled)| Some((index, placement::place(review, settled)?)));
            match places.next().filter(|_| is_wanted && room > 0) {
                Some((lead, place)) => {
                    room -= 1;
                    let lead = placed.remove(lead);
                    placed.insert(0, lead);
                    unplaced.extend(placed.split_off(MEMBERS.min(placed.len())));
                    untold.comments.push(comment(review, &placed, place));
                }
                None => unplaced.append(&mut placed),
            }
        }
        untold.unplaced.append(&mut unplaced);
    }
    untold
}

/// The comment that starts a thread. The first member is at the place of the comment.
fn comment(
    review: &RequestReview<'_>,
    members: &[&SettledFinding],
    place: CommentPlace,
) -> NewComment {
    let markers = statements::told_markers(review, members);
    let said = text::comment(review, members, &place, statements::room(&markers));
    let body = text::with_markers(&said, &markers);
    NewComment {
        path: place.path,
        line: place.line,
        start_line: place.start_line,
        body,
    }
}
