//! The proof of review: which reviewers read each file, and why some files were not read.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;

use crate::cli::report::calls::TimedCall;
use glee_model::domain::event::{CallAnswer, Event, EventKind, Plan, Purpose, ReviewEvent};
use glee_model::domain::{AgentName, AnswerStatus, Outcome, Proof, Reused, ReviewerReport};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct MarkView {
    word: &'static str,
    tone: &'static str,
}

const READ: MarkView = MarkView {
    word: "read",
    tone: "good",
};
const REUSED: MarkView = MarkView {
    word: "reused",
    tone: "good",
};
const REUSED_IN_PART: MarkView = MarkView {
    word: "read in part, reused in part",
    tone: "good",
};
const NO_RULES: MarkView = MarkView {
    word: "no rules",
    tone: "minor",
};
const INCOMPLETE: MarkView = MarkView {
    word: "incomplete",
    tone: "warn",
};
const FAILED: MarkView = MarkView {
    word: "failed",
    tone: "bad",
};
const NOT_ASKED: MarkView = MarkView {
    word: "not asked",
    tone: "warn",
};

/// What each reviewer did with each file under review, in the order of the reviewers and of the files.
pub(crate) fn columns(
    outcome: &Outcome,
    events: &[Event],
    calls: &[TimedCall<'_>],
    plan: Option<&Plan>,
) -> Vec<Vec<MarkView>> {
    let proof = &outcome.proof;
    let mut columns = Vec::new();
    for reviewer in &proof.reviewers {
        let column = Column::of(reviewer, proof, events, calls, plan);
        let marks = proof.covered.iter().map(|file| column.mark(&file.file));
        columns.push(marks.collect());
    }
    columns
}

/// For each file: whether one reviewer read the file and, if not, the reason.
struct Column<'a> {
    unread: BTreeSet<&'a str>,
    reused: HashMap<&'a str, MarkView>,
    asked: HashMap<&'a str, MarkView>,
    /// The result for each file that is in none of the fields `unread`, `reused` and `asked`.
    otherwise: MarkView,
}

impl<'a> Column<'a> {
    fn of(
        reviewer: &'a ReviewerReport,
        proof: &'a Proof,
        events: &'a [Event],
        calls: &'a [TimedCall<'a>],
        plan: Option<&'a Plan>,
    ) -> Self {
        let mut reused = HashMap::new();
        for Reused { from, .. } in proof
            .reused
            .iter()
            .filter(|reused| reused.reviewer == reviewer.name)
        {
            reused.extend(from.files.iter().map(|file| (file.as_str(), REUSED)));
            reused.extend(
                from.in_part
                    .iter()
                    .map(|file| (file.as_str(), REUSED_IN_PART)),
            );
        }
        let otherwise = match reviewer.status {
            _ if plan.is_some() => NOT_ASKED,
            _ if reviewer.failure.is_some() => FAILED,
            status => of_status(status),
        };
        Self {
            unread: reviewer
                .unread
                .iter()
                .map(|unread| unread.file.as_str())
                .collect(),
            reused,
            asked: asked(&reviewer.name, events, calls, plan),
            otherwise,
        }
    }

    fn mark(&self, file: &str) -> MarkView {
        if self.unread.contains(file) {
            return NO_RULES;
        }
        match (self.reused.get(file), self.asked.get(file)) {
            (Some(reused), None | Some(&READ)) => *reused,
            (_, Some(asked)) => *asked,
            (None, None) => self.otherwise,
        }
    }
}

/// Returns what the reviewer did with each file of the first round. If several calls showed a file to the
/// reviewer, the last call determines the result.
fn asked<'a>(
    reviewer: &AgentName,
    events: &'a [Event],
    calls: &'a [TimedCall<'a>],
    plan: Option<&'a Plan>,
) -> HashMap<&'a str, MarkView> {
    let mut shown: BTreeMap<u32, Vec<&str>> = BTreeMap::new();
    for (shard, files) in (0..).zip(plan.iter().flat_map(|plan| &plan.shards)) {
        shown.insert(
            shard,
            files.iter().map(|covered| covered.file.as_str()).collect(),
        );
    }
    for event in events {
        if let EventKind::Review(ReviewEvent::AnswersReused { call, reuse }) = &event.kind
            && let Purpose::Review { round: 1, shard } = call.purpose
            && call.agent == *reviewer
        {
            shown.insert(
                shard,
                reuse
                    .asked
                    .iter()
                    .map(|asked| asked.file.as_str())
                    .collect(),
            );
        }
    }
    let mut marks = HashMap::new();
    for call in calls.iter().filter(|call| call.id.agent == *reviewer) {
        let Purpose::Review { round: 1, shard } = call.id.purpose else {
            continue;
        };
        let mark = match call.ended.as_ref().map(|end| end.answer) {
            Some(CallAnswer::Review { status, .. }) => of_status(*status),
            _ => FAILED,
        };
        marks.extend(
            shown
                .get(&shard)
                .into_iter()
                .flatten()
                .map(|file| (*file, mark)),
        );
    }
    marks
}

fn of_status(status: AnswerStatus) -> MarkView {
    match status {
        AnswerStatus::Complete | AnswerStatus::Clean => READ,
        AnswerStatus::Incomplete => INCOMPLETE,
        AnswerStatus::NotReviewed => FAILED,
    }
}
