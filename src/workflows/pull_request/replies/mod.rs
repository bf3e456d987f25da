//! What people said to Glee in its threads.

mod commands;

use crate::domain::{FindingId, RulingWord, Untrusted};
use crate::workflows::hosts::{Comment, CommentId, Permission, Thread, ThreadId};
use crate::workflows::pull_request::input::RequestReview;
use crate::workflows::pull_request::replies::commands::ReplyKind;
use crate::workflows::pull_request::standing::RequestStanding;
use crate::workflows::pull_request::{marker, threads};

/// The replies that Glee has not answered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Replies {
    /// A thread has at most one entry in the list. A thread that contains a person's ruling has no entry.
    pub objections: Vec<ReplyObjection>,
    /// For each thread, the last ruling by a person who is allowed to rule.
    pub rulings: Vec<PersonRuling>,
    pub refusals: Vec<RefusedRuling>,
    /// The number of comments by bots and by people who do not belong to the repository.
    pub ignored: usize,
}

/// All objections that people wrote in the thread of an open mandatory finding. A judge has to rule on these
/// objections.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplyObjection {
    pub thread: ThreadId,
    /// The id of the finding in the outcome.
    pub finding: FindingId,
    /// The comments that contain the objections, the oldest first.
    pub comments: Vec<CommentId>,
    /// The login names of the people who object, without repetitions.
    pub by: Vec<String>,
    pub text: Untrusted,
    /// Locations of the form `path:line` in the text.
    pub evidence: Vec<Untrusted>,
    /// Whether an earlier ruling enforces the finding. If so, the objection requests another ruling.
    pub is_reopening: bool,
}

/// The ruling of a person who is allowed to rule.
#[derive(Clone, Debug, PartialEq)]
pub struct PersonRuling {
    pub thread: ThreadId,
    /// The id of the finding in the outcome.
    pub finding: FindingId,
    pub comment: CommentId,
    /// The login name.
    pub by: String,
    /// `Enforce` or `Dismiss`.
    pub word: RulingWord,
    /// The reason can be empty.
    pub reason: Untrusted,
}

/// A command that is not carried out.
#[derive(Clone, Debug, PartialEq)]
pub struct RefusedRuling {
    pub thread: ThreadId,
    pub comment: CommentId,
    /// The login name.
    pub by: String,
    /// The reason in one sentence, without a full stop.
    pub why: &'static str,
}

const AUTHOR: &str =
    "the author of a change is not allowed to rule on it, unless `pr.author_may_rule` is set";
const NOT_MAINTAINER: &str = "only people who are allowed to merge changes can rule; reply with `@glee object <reason>` \
                              to object";
const NOT_RAISED: &str =
    "there is nothing to rule on, because the last review does not raise this finding";

/// Reads what people wrote to Glee and Glee has not answered.
pub fn replies(review: &RequestReview<'_>) -> Replies {
    let mut replies = Replies::default();
    for thread in threads::of(review) {
        let pending = PendingReplies::of(review, thread.thread);
        replies.ignored += pending.ignored;
        replies.refusals.extend(pending.refusals.iter().cloned());
        let Some(settled) = thread.finding else {
            if !thread.is_duplicate && thread.is_reviewed(review) {
                replies.refusals.extend(
                    pending
                        .rulings
                        .into_iter()
                        .map(|said| said.refused(NOT_RAISED)),
                );
            }
            continue;
        };
        let finding = settled.finding.id;
        if let Some(said) = pending.rulings.last() {
            replies.rulings.push(said.ruling(finding));
            continue;
        }
        let is_reopening = match RequestStanding::earlier(review, settled) {
            RequestStanding::Open | RequestStanding::Undecided => false,
            RequestStanding::Enforced(_) => true,
            RequestStanding::Escalated(_) | RequestStanding::Closed(_) | RequestStanding::Quiet => {
                continue;
            }
        };
        let counts =
            |said: &&SaidObjection| settled.finding.mandatory && (said.is_command || !is_reopening);
        let said: Vec<&SaidObjection> = pending.objections.iter().filter(counts).collect();
        replies
            .objections
            .extend(objection(thread.thread, finding, &said, is_reopening));
    }
    replies
}

fn objection(
    thread: &Thread,
    finding: FindingId,
    said: &[&SaidObjection],
    is_reopening: bool,
) -> Option<ReplyObjection> {
    let (mut by, mut evidence) = (Vec::new(), Vec::new());
    for said in said {
        if !by.contains(&said.by) {
            by.push(said.by.clone());
        }
        for cited in &said.evidence {
            if !evidence.contains(cited) {
                evidence.push(cited.clone());
            }
        }
    }
    let texts: Vec<Untrusted> = said.iter().map(|said| said.text.clone()).collect();
    (!said.is_empty()).then(|| ReplyObjection {
        thread: thread.id.clone(),
        finding,
        comments: said.iter().map(|said| said.comment.clone()).collect(),
        by,
        text: Untrusted::joined(&texts, "\n\n"),
        evidence,
        is_reopening,
    })
}

struct SaidObjection {
    comment: CommentId,
    by: String,
    text: Untrusted,
    evidence: Vec<Untrusted>,
    is_command: bool,
}

struct SaidRuling {
    thread: ThreadId,
    comment: CommentId,
    by: String,
    word: RulingWord,
    reason: Untrusted,
}

impl SaidRuling {
    fn ruling(&self, finding: FindingId) -> PersonRuling {
        PersonRuling {
            thread: self.thread.clone(),
            finding,
            comment: self.comment.clone(),
            by: self.by.clone(),
            word: self.word,
            reason: self.reason.clone(),
        }
    }

    fn refused(self, why: &'static str) -> RefusedRuling {
        RefusedRuling {
            thread: self.thread,
            comment: self.comment,
            by: self.by,
            why,
        }
    }
}

/// The unanswered replies in one thread.
#[derive(Default)]
pub(crate) struct PendingReplies {
    objections: Vec<SaidObjection>,
    rulings: Vec<SaidRuling>,
    refusals: Vec<RefusedRuling>,
    ignored: usize,
}

impl PendingReplies {
    pub(crate) fn of(review: &RequestReview<'_>, thread: &Thread) -> Self {
        let mut pending = Self::default();
        let answered = marker::answered(thread);
        for comment in thread
            .comments
            .iter()
            .filter(|comment| !marker::is_glee(comment))
        {
            let is_author = is_author(review, comment);
            let is_stranger = comment.permission == Permission::Outsider;
            if comment.author.is_bot || (is_stranger && !is_author) {
                pending.ignored += 1;
                continue;
            }
            if answered.contains(&comment.id) {
                continue;
            }
            let (id, by) = (comment.id.clone(), comment.author.login.clone());
            match commands::parse(&comment.body, review.settings.replies_object) {
                ReplyKind::Ruling { word, reason } => {
                    let said = SaidRuling {
                        thread: thread.id.clone(),
                        comment: id,
                        by,
                        word,
                        reason,
                    };
                    if comment.permission != Permission::Maintainer {
                        pending.refusals.push(said.refused(NOT_MAINTAINER));
                    } else if is_author && !review.settings.author_may_rule {
                        pending.refusals.push(said.refused(AUTHOR));
                    } else {
                        pending.rulings.push(said);
                    }
                }
                // Glee ignores the objections of the pull request's author if the author does not belong to the
                // repository.
                ReplyKind::Objection { .. } if is_stranger => pending.ignored += 1,
                ReplyKind::Objection {
                    text,
                    evidence,
                    is_command,
                } => {
                    pending.objections.push(SaidObjection {
                        comment: id,
                        by,
                        text,
                        evidence,
                        is_command,
                    });
                }
                ReplyKind::Other => {}
            }
        }
        pending
    }

    /// Returns the comments to which the judge's ruling replies. A ruling of the current run (`is_new` is true)
    /// replies to all objections and to all rulings by people. An earlier ruling replies only to objections
    /// without the command `@glee object`.
    pub(crate) fn answered_by_ruling(&self, is_new: bool) -> Vec<String> {
        let objections = self
            .objections
            .iter()
            .filter(|said| is_new || !said.is_command)
            .map(|said| &said.comment);
        let rulings = self
            .rulings
            .iter()
            .filter(|_| is_new)
            .map(|said| &said.comment);
        objections
            .chain(rulings)
            .map(|comment| comment.0.clone())
            .collect()
    }
}

/// Whether the author of the pull request wrote the comment. Hosts ignore the letter case of login names. All
/// deleted users have the same empty name.
fn is_author(review: &RequestReview<'_>, comment: &Comment) -> bool {
    comment.author.login.to_lowercase() == review.request.author.login.to_lowercase()
}
