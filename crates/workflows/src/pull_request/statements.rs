//! Decides which replies a thread gets, and whether the thread is resolved.
//!
//! - Glee resolves a thread before it posts the reply. If Glee stops before the reply, the next plan contains
//!   the reply. A person can open the thread again, and Glee does not resolve the thread a second time.
//! - Glee opens a resolved thread after it posts the reply. If Glee stops after the reply, the next plan for the
//!   same head commit opens the thread.
//! - A thread is resolved when each of its mandatory findings is closed. If it has none, each of its findings has to
//!   be closed.
//! - If a person resolves the thread of an open optional finding, the thread stays resolved. If a person
//!   resolves the thread of an open mandatory finding, Glee opens the thread again, but only once. After the
//!   finding was closed and raised again, Glee can open the thread once more.

use crate::hosts::Thread;
use crate::pull_request::input::RequestReview;
use crate::pull_request::marker::{self, AnswerMark, FindingMark, FindingName, ThreadStatement};
use crate::pull_request::replies::{PendingReplies, Replies};
use crate::pull_request::standing::{KnownDecision, RequestStanding};
use crate::pull_request::text;
use crate::pull_request::threads::{self, FindingThread, ToldFinding};
use glee_model::domain::{FindingId, SettledFinding};

const ENFORCED: &str = "enforced";

/// The number of characters that are reserved for the marker of a statement.
const RESERVED: usize = 4_000;
/// The minimum number of characters of a comment that its markers leave for its text.
const LEAST: usize = 24_000;

/// A change of an existing thread.
#[derive(Clone, Debug, PartialEq)]
pub enum ThreadChange {
    Reply { thread: Thread, body: String },
    Resolve { thread: Thread, is_resolved: bool },
}

/// Returns the changes that a thread needs, in the order of publication. `new` are open members of the group that
/// no thread tells yet.
pub(super) fn due(
    review: &RequestReview<'_>,
    of: &FindingThread<'_>,
    new: &[&SettledFinding],
    replies: &Replies,
) -> Vec<ThreadChange> {
    let mut due = Due::of(review, of);
    for told in of.own() {
        due.consider(review, told);
    }
    if !new.is_empty() {
        due.tell(review, new);
    }
    let refusals = replies
        .refusals
        .iter()
        .filter(|refusal| refusal.thread == of.thread.id);
    let refusals: Vec<_> = refusals.collect();
    if !refusals.is_empty() {
        let named: Vec<(String, &str)> = refusals
            .iter()
            .map(|refusal| (refusal.by.clone(), refusal.why))
            .collect();
        let answers = refusals
            .iter()
            .map(|refusal| refusal.comment.0.clone())
            .collect();
        due.replies.push(DueReply {
            answers,
            ..DueReply::new(ThreadStatement::Refused, text::refused(&named), Vec::new())
        });
    }
    due.changes(of)
}

/// Returns the hidden markers of a comment that tells findings: one for each finding, and then those that record the
/// decisions about the findings.
pub(crate) fn told_markers(review: &RequestReview<'_>, members: &[&SettledFinding]) -> Vec<String> {
    let mut markers = Vec::new();
    for settled in members {
        let anchor = threads::anchor(&settled.finding);
        markers.push(FindingMark::new(&review.outcome.run, &settled.finding, anchor).written());
    }
    for settled in members {
        let standing = RequestStanding::of(review, settled);
        let (RequestStanding::Enforced(decision)
        | RequestStanding::Escalated(decision)
        | RequestStanding::Closed(decision)) = &standing
        else {
            continue;
        };
        let about = vec![name(review, settled.finding.id)];
        let statement = statement(&standing, decision);
        markers.push(AnswerMark::new(statement, about, &review.request.head.id).written());
        let ruling = decision.shared.and_then(marker::ruling);
        // A ruling on several members is written once. Rulings have no room beside many members.
        if let Some(ruling) = ruling
            && !markers.contains(&ruling)
            && ruling.len() + LEAST < room(&markers)
        {
            markers.push(ruling);
        }
    }
    markers
}

/// The number of characters beside the markers of a comment.
pub(super) fn room(markers: &[String]) -> usize {
    let size: usize = markers.iter().map(|marker| marker.len() + 1).sum();
    text::LONGEST.saturating_sub(size + RESERVED)
}

fn name(review: &RequestReview<'_>, finding: FindingId) -> FindingName {
    FindingName {
        run: review.outcome.run.clone(),
        finding,
    }
}

fn statement(standing: &RequestStanding<'_>, decision: &KnownDecision<'_>) -> ThreadStatement {
    let disposition = match standing {
        RequestStanding::Escalated(_) => return ThreadStatement::Escalated,
        RequestStanding::Enforced(_) => ENFORCED,
        _ => decision
            .disposition
            .map_or("discarded", glee_model::domain::Disposition::as_str),
    };
    ThreadStatement::Ruled {
        disposition: disposition.to_owned(),
    }
}

/// What is due in a thread.
struct Due<'a> {
    thread: &'a Thread,
    head: &'a str,
    pending: PendingReplies,
    /// The statements of Glee in the thread, without refusals.
    said: Vec<AnswerMark>,
    /// Whether the last comment of Glee said for this head that the thread is opened.
    is_opening: bool,
    /// The mandatory findings that are open, and about which there is nothing new to say.
    kept: Vec<FindingName>,
    /// Whether the review raises a finding of the thread, and the finding is open.
    is_raised: bool,
    is_mandatory_open: bool,
    is_optional_open: bool,
    is_any_mandatory: bool,
    replies: Vec<DueReply>,
}

struct DueReply {
    statement: ThreadStatement,
    text: String,
    about: Vec<FindingName>,
    /// The comments that the reply answers.
    answers: Vec<String>,
    /// The markers beside the marker of the statement.
    markers: Vec<String>,
}

impl DueReply {
    fn new(statement: ThreadStatement, text: String, about: Vec<FindingName>) -> Self {
        Self {
            statement,
            text,
            about,
            answers: Vec::new(),
            markers: Vec::new(),
        }
    }
}

impl<'a> Due<'a> {
    fn of(review: &RequestReview<'a>, of: &FindingThread<'a>) -> Self {
        let head = review.request.head.id.as_str();
        let mut said = Vec::new();
        let mut is_opening = false;
        for marks in of.thread.comments.iter().filter_map(marker::marks) {
            let mut answers = marks.answers;
            answers.retain(|mark| mark.statement != ThreadStatement::Refused);
            if !answers.is_empty() {
                is_opening = answers.iter().any(|mark| mark.reopens && mark.head == head);
            }
            said.append(&mut answers);
        }
        Self {
            thread: of.thread,
            head,
            pending: PendingReplies::of(review, of),
            said,
            is_opening,
            kept: Vec::new(),
            is_raised: false,
            is_mandatory_open: false,
            is_optional_open: false,
            is_any_mandatory: false,
            replies: Vec::new(),
        }
    }

    /// The statements about a finding, the newest first.
    fn said<'s>(&'s self, name: &'s FindingName) -> impl Iterator<Item = &'s ThreadStatement> {
        let said = self.said.iter().rev();
        said.filter(|mark| mark.about.contains(name))
            .map(|mark| &mark.statement)
    }

    fn consider(&mut self, review: &RequestReview<'_>, told: &ToldFinding<'_>) {
        let name = &told.mark.name;
        let is_mandatory = match told.finding {
            Some(settled) => settled.finding.mandatory,
            None => told.mark.mandatory,
        };
        let is_open = match told.finding {
            None => self.is_still_open(review, told),
            Some(settled) => {
                let standing = RequestStanding::of(review, settled);
                let is_said = self.raised(name, &standing);
                let is_open = standing.is_open();
                if is_open && is_said && is_mandatory {
                    self.kept.push(name.clone());
                }
                self.is_raised |= is_open;
                is_open
            }
        };
        self.is_any_mandatory |= is_mandatory;
        self.is_mandatory_open |= is_open && is_mandatory;
        self.is_optional_open |= is_open && !is_mandatory;
    }

    /// Decides about a finding that the review does not raise. Returns whether the finding stays open.
    fn is_still_open(&mut self, review: &RequestReview<'_>, told: &ToldFinding<'_>) -> bool {
        let name = &told.mark.name;
        let is_over = self.said(name).next().is_some_and(closes);
        if is_over || !told.is_reviewed(review) || !told.is_gone(review) {
            return !is_over;
        }
        let about = vec![name.clone()];
        let text = text::fixed(self.head);
        self.reply(DueReply::new(ThreadStatement::Fixed, text, about));
        false
    }

    /// Decides about a finding that the review raises. Returns whether the thread already states the standing.
    fn raised(&mut self, name: &FindingName, standing: &RequestStanding<'_>) -> bool {
        let about = vec![name.clone()];
        let last = self.said(name).next();
        let is_closed = last.is_some_and(closes);
        let (is_stated, decision) = match standing {
            RequestStanding::Quiet => return true,
            RequestStanding::Open | RequestStanding::Undecided => {
                if is_closed {
                    let text = text::raised_again(self.head);
                    self.reply(DueReply::new(ThreadStatement::RaisedAgain, text, about));
                }
                return !is_closed;
            }
            RequestStanding::Closed(decision) => {
                let is_ruled = matches!(last, Some(ThreadStatement::Ruled { .. }));
                (is_ruled && is_closed, decision)
            }
            RequestStanding::Enforced(decision) | RequestStanding::Escalated(decision) => {
                let mut said = self.said(name);
                let said = said.find(|said| **said != ThreadStatement::KeptOpen);
                (said == Some(&statement(standing, decision)), decision)
            }
        };
        let answers = self.pending.answered_by_ruling(name, decision.is_new);
        if is_stated && (answers.is_empty() || !decision.is_new) {
            return true;
        }
        let markers = decision.shared.and_then(marker::ruling);
        self.reply(DueReply {
            answers,
            markers: markers.into_iter().collect(),
            ..DueReply::new(statement(standing, decision), text::ruling(decision), about)
        });
        false
    }

    /// Plans a reply. Findings about which Glee says the same share a reply.
    fn reply(&mut self, reply: DueReply) {
        let known = self.replies.iter_mut().find(|known| {
            known.statement == reply.statement
                && known.text == reply.text
                && known.markers == reply.markers
        });
        let Some(known) = known else {
            self.replies.push(reply);
            return;
        };
        known.about.extend(reply.about);
        for answer in reply.answers {
            if !known.answers.contains(&answer) {
                known.answers.push(answer);
            }
        }
    }

    /// Tells further members of the group.
    fn tell(&mut self, review: &RequestReview<'_>, new: &[&SettledFinding]) {
        for settled in new {
            let is_mandatory = settled.finding.mandatory;
            self.is_any_mandatory |= is_mandatory;
            self.is_mandatory_open |= is_mandatory;
            self.is_optional_open |= !is_mandatory;
        }
        let markers = told_markers(review, new);
        let text = text::told(review, new, room(&markers));
        let about = new.iter().map(|settled| name(review, settled.finding.id));
        self.replies.push(DueReply {
            markers,
            ..DueReply::new(ThreadStatement::Told, text, about.collect())
        });
    }

    fn is_over(&self) -> bool {
        !self.is_mandatory_open && (self.is_any_mandatory || !self.is_optional_open)
    }

    /// Whether the thread, which is resolved, has to be opened.
    fn opens(&mut self) -> bool {
        if self.replies.iter().any(|reply| opens(&reply.statement)) {
            return true;
        }
        if !self.is_raised || self.is_opening {
            return self.is_raised;
        }
        let mut kept = std::mem::take(&mut self.kept);
        kept.retain(|name| {
            let mut since = self.said(name).take_while(|said| !closes(said));
            !since.any(|said| *said == ThreadStatement::KeptOpen)
        });
        let is_any = !kept.is_empty();
        for name in kept {
            let text = text::kept_open(self.head);
            self.reply(DueReply::new(ThreadStatement::KeptOpen, text, vec![name]));
        }
        is_any
    }

    fn changes(mut self, of: &FindingThread<'_>) -> Vec<ThreadChange> {
        let mut changes = Vec::new();
        let is_over = self.is_over();
        let is_closing = self.replies.iter().any(|reply| closes(&reply.statement));
        if is_over && is_closing && !self.thread.is_resolved {
            changes.push(ThreadChange::Resolve {
                thread: self.thread.clone(),
                is_resolved: true,
            });
        }
        let reopens = self.thread.is_resolved && !is_over && self.opens();
        for reply in self.replies {
            let is_refusal = reply.statement == ThreadStatement::Refused;
            let is_of_some = of.own().any(|told| !reply.about.contains(&told.mark.name));
            let said = if is_of_some && !is_refusal && reply.statement != ThreadStatement::Told {
                text::about(&reply.about, &reply.text)
            } else {
                reply.text
            };
            let mark = AnswerMark {
                reopens: reopens && !is_refusal,
                answers: reply.answers,
                ..AnswerMark::new(reply.statement, reply.about, self.head)
            };
            let markers: Vec<String> = std::iter::once(mark.written())
                .chain(reply.markers)
                .collect();
            changes.push(ThreadChange::Reply {
                thread: self.thread.clone(),
                body: text::with_markers(&said, &markers),
            });
        }
        if reopens {
            changes.push(ThreadChange::Resolve {
                thread: self.thread.clone(),
                is_resolved: false,
            });
        }
        changes
    }
}

/// Whether a statement says that a finding is open.
fn opens(statement: &ThreadStatement) -> bool {
    match statement {
        ThreadStatement::RaisedAgain | ThreadStatement::Escalated | ThreadStatement::Told => true,
        ThreadStatement::Ruled { disposition } => disposition == ENFORCED,
        ThreadStatement::Fixed | ThreadStatement::KeptOpen | ThreadStatement::Refused => false,
    }
}

/// Whether a statement closes the finding.
fn closes(statement: &ThreadStatement) -> bool {
    match statement {
        ThreadStatement::Fixed => true,
        ThreadStatement::Ruled { disposition } => disposition != ENFORCED,
        _ => false,
    }
}
