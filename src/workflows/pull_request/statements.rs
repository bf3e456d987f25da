//! Decides which replies a thread gets, and whether the thread is resolved.
//!
//! - Glee resolves a thread before it posts the reply. If Glee stops before the reply, the next plan contains
//!   the reply. A person can open the thread again, and Glee does not resolve the thread a second time.
//! - Glee opens a resolved thread after it posts the reply. If Glee stops after the reply, the next plan for the
//!   same head commit opens the thread.
//! - If a person resolves the thread of an open optional finding, the thread stays resolved. If a person
//!   resolves the thread of an open mandatory finding, Glee opens the thread again, but only once. After the
//!   finding was closed and raised again, Glee can open the thread once more.

use crate::workflows::hosts::Thread;
use crate::workflows::pull_request::input::RequestReview;
use crate::workflows::pull_request::marker::{self, AnswerMark, ThreadStatement};
use crate::workflows::pull_request::replies::{PendingReplies, Replies};
use crate::workflows::pull_request::standing::{KnownDecision, RequestStanding};
use crate::workflows::pull_request::text;
use crate::workflows::pull_request::threads::FindingThread;

const ENFORCED: &str = "enforced";

/// A change of an existing thread.
#[derive(Clone, Debug, PartialEq)]
pub enum ThreadChange {
    Reply { thread: Thread, body: String },
    Resolve { thread: Thread, is_resolved: bool },
}

/// Returns the changes that a thread needs, in the order of publication.
pub(crate) fn due(
    review: &RequestReview<'_>,
    of: &FindingThread<'_>,
    replies: &Replies,
) -> Vec<ThreadChange> {
    let mut due = Due::of(review, of.thread);
    match of.finding {
        None if of.is_duplicate => {}
        None => {
            let is_over = matches!(due.last(), Some(ThreadStatement::Fixed)) || due.is_closed();
            if !is_over && of.is_reviewed(review) && of.is_gone(review) {
                due.close(
                    ThreadStatement::Fixed,
                    text::fixed(due.head),
                    Vec::new(),
                    Vec::new(),
                );
            }
        }
        Some(settled) => due.continued(
            &RequestStanding::of(review, settled),
            settled.finding.mandatory,
        ),
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
        due.reply(
            ThreadStatement::Refused,
            &text::refused(&named),
            answers,
            Vec::new(),
            false,
        );
    }
    due.changes
}

/// Returns the hidden markers that record the decision about a finding. The comment that starts the thread
/// contains these markers.
pub(crate) fn markers(review: &RequestReview<'_>, standing: &RequestStanding<'_>) -> Vec<String> {
    let (RequestStanding::Enforced(decision)
    | RequestStanding::Escalated(decision)
    | RequestStanding::Closed(decision)) = standing
    else {
        return Vec::new();
    };
    let mark = AnswerMark::new(statement(standing, decision), &review.request.head.id);
    std::iter::once(mark.written())
        .chain(decision.shared.and_then(marker::ruling))
        .collect()
}

fn statement(standing: &RequestStanding<'_>, decision: &KnownDecision<'_>) -> ThreadStatement {
    match standing {
        RequestStanding::Escalated(_) => ThreadStatement::Escalated,
        RequestStanding::Enforced(_) => ThreadStatement::Ruled {
            disposition: ENFORCED.to_owned(),
        },
        _ => {
            let disposition = decision
                .disposition
                .map_or("discarded", crate::domain::Disposition::as_str);
            ThreadStatement::Ruled {
                disposition: disposition.to_owned(),
            }
        }
    }
}

struct Due<'a> {
    thread: &'a Thread,
    head: &'a str,
    pending: PendingReplies,
    /// The statements of Glee in the thread, without refusals.
    said: Vec<AnswerMark>,
    changes: Vec<ThreadChange>,
}

impl<'a> Due<'a> {
    fn of(review: &RequestReview<'a>, thread: &'a Thread) -> Self {
        let answers = thread
            .comments
            .iter()
            .filter_map(marker::marks)
            .flat_map(|marks| marks.answers);
        let said = answers
            .filter(|mark| mark.statement != ThreadStatement::Refused)
            .collect();
        let pending = PendingReplies::of(review, thread);
        Self {
            thread,
            head: &review.request.head.id,
            pending,
            said,
            changes: Vec::new(),
        }
    }

    fn last(&self) -> Option<&ThreadStatement> {
        self.said.last().map(|mark| &mark.statement)
    }

    fn is_closed(&self) -> bool {
        self.last().is_some_and(closes)
    }

    fn continued(&mut self, standing: &RequestStanding<'_>, is_mandatory: bool) {
        match standing {
            RequestStanding::Quiet => {}
            RequestStanding::Closed(decision) => {
                let is_said =
                    matches!(self.last(), Some(ThreadStatement::Ruled { .. })) && self.is_closed();
                if let Some(answers) = self.answers(is_said, decision) {
                    let markers = decision
                        .shared
                        .and_then(marker::ruling)
                        .into_iter()
                        .collect();
                    self.close(
                        statement(standing, decision),
                        text::ruling(decision),
                        answers,
                        markers,
                    );
                }
            }
            RequestStanding::Enforced(decision) | RequestStanding::Escalated(decision) => {
                let statement = statement(standing, decision);
                let is_kept = self.last() == Some(&ThreadStatement::KeptOpen);
                let before = self
                    .said
                    .iter()
                    .rev()
                    .find(|mark| mark.statement != ThreadStatement::KeptOpen);
                let is_said = if is_kept {
                    before.map(|mark| &mark.statement)
                } else {
                    self.last()
                } == Some(&statement);
                match self.answers(is_said, decision) {
                    Some(answers) => {
                        let markers = decision
                            .shared
                            .and_then(marker::ruling)
                            .into_iter()
                            .collect();
                        self.open(statement, &text::ruling(decision), answers, markers);
                    }
                    None => self.keep_open(is_mandatory),
                }
            }
            RequestStanding::Open | RequestStanding::Undecided if self.is_closed() => {
                self.open(
                    ThreadStatement::RaisedAgain,
                    &text::raised_again(self.head),
                    Vec::new(),
                    Vec::new(),
                );
            }
            RequestStanding::Open | RequestStanding::Undecided => self.keep_open(is_mandatory),
        }
    }

    /// Returns the comments that the decision answers, or `None` if the thread already states the decision.
    fn answers(&self, is_said: bool, decision: &KnownDecision<'_>) -> Option<Vec<String>> {
        let answers = self.pending.answered_by_ruling(decision.is_new);
        (!is_said || decision.is_new && !answers.is_empty()).then_some(answers)
    }

    fn close(
        &mut self,
        statement: ThreadStatement,
        said: String,
        answers: Vec<String>,
        more: Vec<String>,
    ) {
        if !self.thread.is_resolved {
            self.changes.push(ThreadChange::Resolve {
                thread: self.thread.clone(),
                is_resolved: true,
            });
        }
        self.reply(statement, &said, answers, more, false);
    }

    fn open(
        &mut self,
        statement: ThreadStatement,
        said: &str,
        answers: Vec<String>,
        more: Vec<String>,
    ) {
        let is_resolved = self.thread.is_resolved;
        self.reply(statement, said, answers, more, is_resolved);
        if is_resolved {
            self.changes.push(ThreadChange::Resolve {
                thread: self.thread.clone(),
                is_resolved: false,
            });
        }
    }

    fn keep_open(&mut self, is_mandatory: bool) {
        if !self.thread.is_resolved {
            return;
        }
        if self
            .said
            .last()
            .is_some_and(|mark| mark.reopens && mark.head == self.head)
        {
            self.changes.push(ThreadChange::Resolve {
                thread: self.thread.clone(),
                is_resolved: false,
            });
            return;
        }
        let since = self
            .said
            .iter()
            .rev()
            .take_while(|mark| !closes(&mark.statement));
        let is_repeated = since
            .into_iter()
            .any(|mark| mark.statement == ThreadStatement::KeptOpen);
        if is_mandatory && !is_repeated {
            self.open(
                ThreadStatement::KeptOpen,
                &text::kept_open(self.head),
                Vec::new(),
                Vec::new(),
            );
        }
    }

    fn reply(
        &mut self,
        statement: ThreadStatement,
        said: &str,
        answers: Vec<String>,
        more: Vec<String>,
        reopens: bool,
    ) {
        let mark = AnswerMark {
            reopens,
            answers,
            ..AnswerMark::new(statement, self.head)
        };
        let markers: Vec<String> = std::iter::once(mark.written()).chain(more).collect();
        self.changes.push(ThreadChange::Reply {
            thread: self.thread.clone(),
            body: text::with_markers(said, &markers),
        });
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
