//! What people said to Glee in its threads.

mod commands;

use crate::hosts::{Comment, CommentId, Permission, Thread, ThreadId};
use crate::pull_request::input::RequestReview;
use crate::pull_request::marker::FindingName;
use crate::pull_request::replies::commands::ReplyKind;
use crate::pull_request::standing::RequestStanding;
use crate::pull_request::threads::FindingThread;
use crate::pull_request::{marker, threads};
use glee_model::domain::{FindingId, RulingWord, SettledFinding, Untrusted};

/// The replies that Glee has not answered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Replies {
    /// Each finding of a thread is in at most one entry. A finding on which a person ruled is in no entry.
    pub objections: Vec<ReplyObjection>,
    /// For each finding, the last ruling by a person who is allowed to rule.
    pub rulings: Vec<PersonRuling>,
    pub refusals: Vec<RefusedRuling>,
    /// The number of comments by bots and by people who do not belong to the repository.
    pub ignored: usize,
}

/// All objections that people wrote to open mandatory findings of a thread. A judge has to rule on these objections.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplyObjection {
    pub thread: ThreadId,
    /// The ids of the findings in the outcome: members of one group.
    pub findings: Vec<FindingId>,
    /// The comments that contain the objections, the oldest first.
    pub comments: Vec<CommentId>,
    /// The login names of the people who object, without repetitions.
    pub by: Vec<String>,
    pub text: Untrusted,
    /// Locations of the form `path:line` in the text.
    pub evidence: Vec<Untrusted>,
    /// Whether an earlier ruling enforces the findings. If so, the objection requests another ruling.
    pub is_reopening: bool,
}

/// The ruling of a person who is allowed to rule.
#[derive(Clone, Debug, PartialEq)]
pub struct PersonRuling {
    pub thread: ThreadId,
    /// The ids of the findings in the outcome: members of one group.
    pub findings: Vec<FindingId>,
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
const NOT_TOLD: &str = "this thread has no finding with this id";

/// Reads what people wrote to Glee and Glee has not answered.
pub fn replies(review: &RequestReview<'_>) -> Replies {
    let mut replies = Replies::default();
    for thread in threads::of(review) {
        let pending = PendingReplies::of(review, &thread);
        replies.ignored += pending.ignored;
        replies.refusals.extend(pending.refusals.iter().cloned());
        let mut raised: Vec<(&FindingName, &SettledFinding)> = Vec::new();
        for told in &thread.told {
            raised.extend(told.finding.map(|settled| (&told.mark.name, settled)));
        }
        let mut objections = Vec::new();
        let mut rulings = Vec::new();
        for (name, settled) in raised {
            let mut said = pending.rulings.iter();
            if let Some(last) = said.rposition(|said| addresses(&said.named, name)) {
                add(&mut rulings, last, settled.finding.id);
            } else if let Some(said) = objected(review, &pending, name, settled) {
                add(&mut objections, said, settled.finding.id);
            }
        }
        let is_read = thread.own().any(|told| told.is_reviewed(review));
        for (index, said) in pending.rulings.iter().enumerate() {
            let on = rulings.iter().filter(|(last, _)| *last == index);
            replies.rulings.extend(on.map(|(_, findings)| PersonRuling {
                findings: findings.clone(),
                ..said.ruling.clone()
            }));
            if is_read && !is_raised(&thread, said) {
                replies
                    .refusals
                    .push(said.ruling.clone().refused(NOT_RAISED));
            }
        }
        for ((said, is_reopening), findings) in objections {
            let said: Vec<&SaidObjection> = said
                .into_iter()
                .map(|index| &pending.objections[index])
                .collect();
            replies
                .objections
                .push(objection(thread.thread, findings, &said, is_reopening));
        }
    }
    replies
}

/// Adds a finding to the entry of its group with this key.
fn add<K: PartialEq>(entries: &mut Vec<(K, Vec<FindingId>)>, key: K, finding: FindingId) {
    let mut known = entries.iter_mut();
    match known.find(|(known, ids)| *known == key && ids[0].number == finding.number) {
        Some((_, findings)) => findings.push(finding),
        None => entries.push((key, vec![finding])),
    }
}

fn is_raised(thread: &FindingThread<'_>, said: &SaidRuling) -> bool {
    let mut told = thread.told.iter();
    told.any(|told| told.finding.is_some() && addresses(&said.named, &told.mark.name))
}

/// The indices of the objections to a finding, and whether they ask for another ruling. `None` if nobody objects, or
/// if an objection cannot change the standing of the finding.
fn objected(
    review: &RequestReview<'_>,
    pending: &PendingReplies,
    name: &FindingName,
    settled: &SettledFinding,
) -> Option<(Vec<usize>, bool)> {
    let is_reopening = match RequestStanding::earlier(review, settled) {
        RequestStanding::Open | RequestStanding::Undecided => false,
        RequestStanding::Enforced(_) => true,
        RequestStanding::Escalated(_) | RequestStanding::Closed(_) | RequestStanding::Quiet => {
            return None;
        }
    };
    let all = pending.objections.iter().enumerate();
    let said: Vec<usize> = all
        .filter(|(_, said)| {
            addresses(&said.named, name)
                && settled.finding.mandatory
                && (said.is_command || !is_reopening)
        })
        .map(|(index, _)| index)
        .collect();
    (!said.is_empty()).then_some((said, is_reopening))
}

fn objection(
    thread: &Thread,
    findings: Vec<FindingId>,
    said: &[&SaidObjection],
    is_reopening: bool,
) -> ReplyObjection {
    let mut by = Vec::new();
    let mut evidence = Vec::new();
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
    ReplyObjection {
        thread: thread.id.clone(),
        findings,
        comments: said.iter().map(|said| said.comment.clone()).collect(),
        by,
        text: Untrusted::joined(&texts, "\n\n"),
        evidence,
        is_reopening,
    }
}

struct SaidObjection {
    comment: CommentId,
    by: String,
    /// The findings that the reply names. Without names, it is about all findings of the thread.
    named: Vec<FindingId>,
    text: Untrusted,
    evidence: Vec<Untrusted>,
    is_command: bool,
}

struct SaidRuling {
    named: Vec<FindingId>,
    /// The ruling, without its findings.
    ruling: PersonRuling,
}

fn addresses(named: &[FindingId], name: &FindingName) -> bool {
    named.is_empty() || named.iter().any(|named| named.addresses(name.finding))
}

impl PersonRuling {
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
    pub(super) fn of(review: &RequestReview<'_>, of: &FindingThread<'_>) -> Self {
        let thread = of.thread;
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
            let id = comment.id.clone();
            let by = comment.author.login.clone();
            let (kind, named) = commands::parse(&comment.body, review.settings.replies_object);
            if kind != ReplyKind::Other
                && !is_stranger
                && !named.iter().all(|named| {
                    let mut told = of.told.iter();
                    told.any(|told| named.addresses(told.mark.name.finding))
                })
            {
                pending.refusals.push(RefusedRuling {
                    thread: thread.id.clone(),
                    comment: id,
                    by,
                    why: NOT_TOLD,
                });
                continue;
            }
            match kind {
                ReplyKind::Ruling { word, reason } => {
                    let ruling = PersonRuling {
                        thread: thread.id.clone(),
                        findings: Vec::new(),
                        comment: id,
                        by,
                        word,
                        reason,
                    };
                    if comment.permission != Permission::Maintainer {
                        pending.refusals.push(ruling.refused(NOT_MAINTAINER));
                    } else if is_author && !review.settings.author_may_rule {
                        pending.refusals.push(ruling.refused(AUTHOR));
                    } else {
                        pending.rulings.push(SaidRuling { named, ruling });
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
                        named,
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

    /// Returns the comments to which the judge's ruling on a finding replies. A ruling of the current run (`is_new` is true)
    /// replies to all objections and to all rulings by people. An earlier ruling replies only to objections
    /// without the command `@glee object`.
    pub(crate) fn answered_by_ruling(&self, name: &FindingName, is_new: bool) -> Vec<String> {
        let objections = self
            .objections
            .iter()
            .filter(|said| addresses(&said.named, name) && (is_new || !said.is_command))
            .map(|said| &said.comment);
        let rulings = self
            .rulings
            .iter()
            .filter(|said| addresses(&said.named, name) && is_new)
            .map(|said| &said.ruling.comment);
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
