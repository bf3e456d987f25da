//! The proof of review: which reviewers read each file, and why some files were not read.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;

use super::calls::TimedCall;
use crate::cli::style::{count, duration, thousands};
use glee_model::domain::event::{CallAnswer, Event, EventKind, Mode, Plan, Purpose, ReviewEvent};
use glee_model::domain::{
    AgentName, AnswerStatus, NoLongerRaised, Outcome, Proof, Reused, ReviewerReport, UnreadFile,
};
use glee_protocol::text::printable;

#[derive(Debug, Serialize)]
pub(crate) struct ProofView {
    facts: Vec<FactView>,
    reviewers: Vec<ReviewerView>,
    not_read: Vec<NotReadView>,
    gone: Vec<GoneView>,
    columns: Vec<String>,
    files: Vec<ReadView>,
    files_total: String,
}

#[derive(Debug, Serialize)]
struct FactView {
    name: &'static str,
    value: String,
    is_id: bool,
}

#[derive(Debug, Serialize)]
struct ReviewerView {
    name: String,
    status: &'static str,
    tone: &'static str,
    facts: Vec<String>,
    lines: Vec<String>,
}

#[derive(Debug, Serialize)]
struct NotReadView {
    name: String,
    why: String,
}

#[derive(Debug, Serialize)]
struct GoneView {
    title: String,
    place: String,
    by: String,
}

#[derive(Debug, Serialize)]
struct ReadView {
    name: String,
    lines: String,
    marks: Vec<MarkView>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
struct MarkView {
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

/// Returns the status of a reviewer's answer in words, and the CSS class of this status.
pub(crate) fn status(reviewer: &ReviewerReport) -> (&'static str, &'static str) {
    match reviewer.status {
        _ if reviewer.failure.is_some() => ("failed", "bad"),
        AnswerStatus::Complete => ("complete", "good"),
        AnswerStatus::Clean => ("clean", "good"),
        AnswerStatus::Incomplete => ("incomplete", "warn"),
        AnswerStatus::NotReviewed
            if !reviewer.unread.is_empty() && reviewer.problems.is_empty() =>
        {
            ("not reviewed", "warn")
        }
        AnswerStatus::NotReviewed => ("not reviewed", "bad"),
    }
}

pub(crate) fn view(
    outcome: &Outcome,
    events: &[Event],
    calls: &[TimedCall<'_>],
    plan: Option<&Plan>,
) -> ProofView {
    let proof = &outcome.proof;
    let unread = proof.unread.iter().map(|unread| NotReadView {
        name: printable::line(&unread.file),
        why: format!(
            "no reviewer has rules for {}",
            printable::line(&unread.language)
        ),
    });
    let skipped = proof.skipped.iter().map(|skip| NotReadView {
        name: printable::line(&skip.file),
        why: skip.reason.as_str().to_owned(),
    });
    let gone = |NoLongerRaised { reviewer, finding }: &NoLongerRaised| GoneView {
        title: printable::line(&finding.title),
        place: super::findings::place(finding),
        by: printable::line(&reviewer.0),
    };
    let columns: Vec<Column<'_>> = proof
        .reviewers
        .iter()
        .map(|reviewer| Column::of(reviewer, proof, events, calls, plan))
        .collect();
    let files = proof.covered.iter().map(|covered| ReadView {
        name: printable::line(&covered.file),
        lines: thousands(u64::from(covered.lines)),
        marks: columns
            .iter()
            .map(|column| column.mark(&covered.file))
            .collect(),
    });
    let lines: u64 = proof.covered.iter().map(|file| u64::from(file.lines)).sum();
    ProofView {
        facts: facts(outcome, plan),
        reviewers: proof
            .reviewers
            .iter()
            .map(|report| reviewer(report, &proof.reused))
            .collect(),
        not_read: unread.chain(skipped).collect(),
        gone: outcome.no_longer_raised.iter().map(gone).collect(),
        columns: proof
            .reviewers
            .iter()
            .map(|reviewer| printable::line(&reviewer.name.0))
            .collect(),
        files: files.collect(),
        files_total: format!(
            "{}, {} under review",
            count(proof.covered.len(), "file"),
            count(lines, "line")
        ),
    }
}

fn facts(outcome: &Outcome, plan: Option<&Plan>) -> Vec<FactView> {
    let proof = &outcome.proof;
    let mut facts = vec![("Target", printable::line(&proof.target))];
    facts.extend(
        proof
            .commit
            .as_ref()
            .map(|commit| ("Commit", printable::line(commit))),
    );
    facts.push(("Reviewed content", printable::line(&proof.tree)));
    facts.push(("Run", printable::line(&outcome.run.0)));
    facts.extend(plan.map(|plan| ("Mode", mode(plan.mode).to_owned())));
    facts.push(("Rounds", outcome.rounds.to_string()));
    facts.push(("Calls", thousands(proof.calls)));
    facts.push(("Time", duration(proof.millis)));
    let is_id = |name| matches!(name, "Commit" | "Reviewed content" | "Run");
    facts
        .into_iter()
        .map(|(name, value)| FactView {
            name,
            value,
            is_id: is_id(name),
        })
        .collect()
}

pub(crate) fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Review => "review only",
        Mode::Fix => "review and fix",
        Mode::Arbitrate => "review, fix and settle disputes",
    }
}

fn reviewer(report: &ReviewerReport, reused: &[Reused]) -> ReviewerView {
    let (status, tone) = status(report);
    let mut facts = vec![count(report.findings, "finding")];
    if report.millis > 0 {
        facts.push(duration(report.millis));
    }
    let mut lines: Vec<String> = report.failure.iter().map(printable::line).collect();
    lines.extend(report.problems.iter().map(|problem| {
        format!(
            "{} ({})",
            printable::line(&problem.problem),
            printable::line(&problem.call)
        )
    }));
    if !report.unread.is_empty() {
        let files = count(report.unread.len(), "file");
        lines.push(format!(
            "{files} not read: no rules for {}",
            printable::line(&UnreadFile::languages(&report.unread))
        ));
    }
    if !report.said.is_blank() {
        lines.push(format!("says: {}", printable::line(&report.said)));
    }
    for Reused { from, .. } in reused
        .iter()
        .filter(|reused| reused.reviewer == report.name)
    {
        let files = count(from.files.len() + from.in_part.len(), "file");
        let part = if from.in_part.is_empty() {
            ""
        } else {
            ", some of them in part"
        };
        let reads = if from.reads_unknown {
            "; what it read beside is unknown"
        } else {
            ""
        };
        lines.push(format!(
            "{files} reused from run {}{part}{reads}",
            printable::line(from.run.short())
        ));
    }
    ReviewerView {
        name: printable::line(&report.name.0),
        status,
        tone,
        facts,
        lines,
    }
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
        if let EventKind::Review(ReviewEvent::AnswersReused { call, asked, .. }) = &event.kind
            && let Purpose::Review { round: 1, shard } = call.purpose
            && call.agent == *reviewer
        {
            shown.insert(
                shard,
                asked.iter().map(|asked| asked.file.as_str()).collect(),
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
