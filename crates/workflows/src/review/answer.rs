//! Records the answer of a coder that Glee did not start (`glee answer`) as a run of its own. The run takes over the
//! finding and the reviewers of the run that raised it, without asking them again, and continues with what an answer
//! of any coder leads to: re-checks of a change, or a dispute.

use std::collections::{BTreeMap, BTreeSet};

use crate::review::state::NOTHING;
use crate::review::{EndedReview, prepared, rest};
use crate::run::error::RunError;
use crate::run::ports::DisputeResolver;
use crate::run::redaction::Redaction;
use crate::run::resources::RunSetup;
use crate::run::workflow::Workflow as _;
use crate::run::write_guard::WriteGuard;
use glee_model::domain::event::{
    CallAnswer, CallId, EventKind, Mode, PartlyChanged, Plan, Purpose, ReviewEvent, RunEvent,
    TreeChange,
};
use glee_model::domain::{
    Agent, Answer, Coverage, FileChange, Finding, Location, Response, Reuse, ReusedFrom, Role,
    RunId, Untrusted,
};
use glee_protocol::request::SourceFile;
use glee_store::config::choices::{DebateRounds, Validate};
use glee_store::config::settings::Settings;
use glee_workspace::code::anchors::Blocks;
use glee_workspace::diff::unified;
use glee_workspace::root::Workspace;

/// The answer of the caller to the members of one group of findings.
#[derive(Clone, Debug)]
pub struct CallerAnswer {
    /// The run that raised the findings.
    pub from: RunId,
    pub findings: Vec<Finding>,
    /// The code that was reviewed in the round of the findings.
    pub reviewed: Vec<SourceFile>,
    pub answer: Answer,
    pub reason: Untrusted,
    pub evidence: Vec<Untrusted>,
}

const ROUND: u32 = 1;

/// Adapts the settings to a run that only answers: the findings are merged already, and the reviewers look for no others.
pub fn settings(settings: &mut Settings) {
    settings.review.rounds = ROUND;
    settings.review.debate = DebateRounds::Off;
    settings.review.consensus.validate = Validate::Off;
}

/// Starts the run of an answer. An answer `IMPLEMENTED` is checked: the code of the findings must have changed, and the
/// reviewers that raised them are asked about the change. An answer `DISAGREE` to a mandatory finding opens a dispute,
/// which is settled as with `--arbitrate`. `plan` has the agents of the run that raised the findings, without coders.
///
/// Fails for the same reasons as [`start`](super::start).
pub async fn start(
    setup: RunSetup,
    resolver: Box<dyn DisputeResolver>,
    run: RunId,
    mut plan: Plan,
    given: CallerAnswer,
) -> Result<EndedReview, RunError> {
    let guard = WriteGuard::begun(&setup.workspace);
    let tree = setup.workspace.snapshot(&setup.state_dir)?.0;
    plan.settings = setup.settings.recorded();
    plan.mode = match given.answer {
        Answer::Implemented => Mode::Fix,
        Answer::Disagree | Answer::Discarded => Mode::Arbitrate,
    };
    plan.shards = vec![coverage(&given)];
    plan.agents.push(Agent::caller());
    let mut review = prepared(setup, resolver, run, &plan)?;
    super::leave_out_variables(&mut plan);
    let workspace = &review.resources.workspace;
    let redaction = review.resources.redaction();
    let mut change = TreeChange {
        call: CallId {
            agent: Agent::caller().name,
            purpose: Purpose::Respond { round: ROUND },
            attempt: 1,
        },
        tree,
        changes: Vec::new(),
        put_back: Vec::new(),
        touched: [].into(),
        partly: Vec::new(),
    };
    if given.answer == Answer::Implemented {
        change.changes = changes(&given.reviewed, workspace, redaction);
        mark(&given.findings, workspace, &mut change);
    }
    let events = events(plan, &given, change);
    review.keep(ROUND, given.reviewed)?;
    // One transaction: an interrupted answer is recorded whole, so it can be resumed, or not at all.
    review.append_all(events)?;
    review.resources.guard = guard;
    rest(review).await
}

fn events(plan: Plan, given: &CallerAnswer, change: TreeChange) -> Vec<EventKind> {
    let reviewers: Vec<Agent> = plan
        .agents
        .iter()
        .filter(|agent| agent.role == Role::Reviewer)
        .cloned()
        .collect();
    let files: Vec<String> = plan.shards[0]
        .iter()
        .map(|covered| covered.file.clone())
        .collect();
    let mut events = vec![EventKind::from(ReviewEvent::RunStarted {
        plan: Box::new(plan),
    })];
    for reviewer in reviewers {
        let own = given
            .findings
            .iter()
            .filter(|finding| finding.raised_by.contains(&reviewer.name));
        let reuse = Reuse {
            from: vec![ReusedFrom {
                run: given.from.clone(),
                files: files.clone(),
                ..ReusedFrom::default()
            }],
            findings: own.clone().map(|finding| finding.raw.clone()).collect(),
            origins: own.map(|finding| Some(finding.id)).collect(),
            ..Reuse::default()
        };
        let call = CallId {
            agent: reviewer.name,
            purpose: Purpose::Review {
                round: ROUND,
                shard: 0,
            },
            attempt: 1,
        };
        let reuse = Box::new(reuse);
        events.push(ReviewEvent::AnswersReused { call, reuse }.into());
    }
    let findings = given.findings.iter().map(|finding| Finding {
        round: ROUND,
        reverses: None,
        ..finding.clone()
    });
    events.push(
        ReviewEvent::FindingsMerged {
            round: ROUND,
            findings: findings.collect(),
            restated: Vec::new(),
        }
        .into(),
    );
    let responses = given.findings.iter().map(|finding| Response {
        finding: finding.id,
        answer: given.answer,
        text: given.reason.clone(),
        evidence: given.evidence.clone(),
        demonstration: None,
    });
    events.push(
        RunEvent::CallFinished {
            call: change.call.clone(),
            answer: CallAnswer::Respond {
                responses: responses.collect(),
                complete: true,
            },
            transcript: None,
            millis: 0,
            usage: Box::new(NOTHING),
            told: Box::default(),
        }
        .into(),
    );
    events.push(ReviewEvent::TreeChanged(change).into());
    events
}

/// The reviewed files that contain the findings, or all reviewed files if a finding names no file.
fn coverage(given: &CallerAnswer) -> Vec<Coverage> {
    let has_place = |finding: &Finding| finding.raw.files().next().is_some();
    let is_placed = given.findings.iter().all(has_place);
    let named = given
        .findings
        .iter()
        .flat_map(|finding| finding.raw.files());
    let named: BTreeSet<&str> = named.collect();
    let files = given
        .reviewed
        .iter()
        .filter(|file| !is_placed || named.contains(file.path.as_str()));
    files
        .map(|file| Coverage {
            file: file.path.clone(),
            lines: u32::try_from(file.text.lines().count()).unwrap_or(u32::MAX),
            ranges: Vec::new(),
        })
        .collect()
}

/// What changed in the reviewed files since the review.
fn changes(
    reviewed: &[SourceFile],
    workspace: &Workspace,
    redaction: Redaction,
) -> Vec<FileChange> {
    let mut changes = Vec::new();
    for file in reviewed {
        let now = workspace.read(&file.path);
        // The reviewed code is kept without its secrets.
        let now_text = redaction.text(now.as_deref().unwrap_or_default());
        if now_text == redaction.text(&file.text) {
            continue;
        }
        let path = Some(file.path.as_bytes());
        let diff = unified::between(
            (path, &redaction.text(&file.text)),
            (path.filter(|_| now.is_some()), &now_text),
        );
        changes.push(FileChange {
            file: file.path.clone(),
            added: diff.added,
            removed: diff.removed,
            diff: Some(diff.text),
        });
    }
    changes
}

/// Marks the findings whose code is no longer in the tree as it was reviewed. A finding without a place counts as changed
/// if any reviewed file changed.
fn mark(findings: &[Finding], workspace: &Workspace, change: &mut TreeChange) {
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    for finding in findings {
        let mut unchanged: Vec<Location> = Vec::new();
        let mut places = 0;
        for (place, anchor) in finding.anchored() {
            let text = texts
                .entry(anchor.file.clone())
                .or_insert_with(|| workspace.read(&anchor.file).unwrap_or_default());
            places += 1;
            if Blocks::of(&anchor.file, text).place(anchor).is_some() {
                unchanged.push(place);
            }
        }
        let is_touched = match places {
            0 => !change.changes.is_empty(),
            _ => unchanged.is_empty(),
        };
        if is_touched {
            change.touched.insert(finding.id);
        } else if unchanged.len() < places {
            let finding = finding.id;
            change.partly.push(PartlyChanged { finding, unchanged });
        }
    }
}
