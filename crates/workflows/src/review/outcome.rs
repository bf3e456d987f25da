//! Computes the outcome and the exit reason of a run from its state.

use std::collections::BTreeMap;

use crate::review::code::coverage;
use crate::review::state::ReviewState;
use glee_model::domain::event::{CallAnswer, Plan, Purpose};
use glee_model::domain::{
    Agent, AgentName, AnswerProblem, AnswerStatus, Coverage, ExitReason, Failure, FailureKind,
    FileChange, Finding, FindingState, NoLongerRaised, Outcome, Proof, Reused, ReusedFrom,
    ReviewerReport, Role, RunId, SettledFinding, Skip, Untrusted,
};
use glee_model::rules::review::{demonstrations, exit_status};
use glee_store::config::choices::Skipped;
use glee_store::config::settings::ReviewSettings;

mod notices;

pub fn exit(state: &ReviewState, review: &ReviewSettings) -> ExitReason {
    if let Some(plan) = state.plan.as_ref().filter(|plan| plan.shards.is_empty()) {
        return exit_of_nothing(plan, review.skipped);
    }
    let reviewers = reviewers(state);
    let mandatory: Vec<FindingState> = state
        .findings
        .iter()
        .filter(|finding| finding.mandatory)
        .map(|finding| state.finding_state(finding))
        .collect();
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    exit_status::exit(&exit_status::Facts {
        mandatory,
        dispute_open: state.disputes.values().any(|dispute| dispute.is_open()),
        reviewers: count(reviewers.len()),
        complete: count(
            reviewers
                .iter()
                .filter(|report| {
                    let mut silent = state.silent_debaters.iter();
                    report.status.is_complete() && silent.all(|(silent, _)| *silent != report.name)
                })
                .count(),
        ),
        quorum: review.quorum,
        agent_failed: agent_failed(state),
        exhausted: state.last_calls().iter().any(|(id, call)| {
            !id.purpose.is_comparison()
                && matches!(&call.answer, CallAnswer::Failed { cause: Some(cause), .. } if cause.is_exhausted())
        }),
        violated: !state.violated.is_empty(),
        verify_failed: state.failing().next().is_some(),
        unread: state.blind
            || coverage::is_blind(state)
            || match review.skipped {
                Skipped::Note => false,
                Skipped::Auto => state.skipped.iter().any(|skip| skip.reason.is_incomplete()),
                Skipped::Fail => unread(state).next().is_some() || !coverage::unread(state).is_empty(),
            },
    })
}

/// The exit of a run that sent no file. It is clean only if there was nothing to read.
fn exit_of_nothing(plan: &Plan, skipped: Skipped) -> ExitReason {
    // Nobody raises Glee's own findings about a change of which no file is sent.
    let is_unread = plan.skipped.iter().any(|skip| match skipped {
        Skipped::Fail => skip.reason.is_unread(),
        Skipped::Auto | Skipped::Note => skip.reason.is_incomplete(),
    });
    if is_unread || !plan.own.is_empty() {
        ExitReason::AgentFailed
    } else {
        ExitReason::Clean
    }
}

/// The files that could not be reviewed. Ignored and deleted files are not included.
fn unread(state: &ReviewState) -> impl Iterator<Item = &Skip> {
    state.skipped.iter().filter(|skip| skip.reason.is_unread())
}

/// Whether the coder failed, a judge failed in an open dispute, or a re-check got no answer.
fn agent_failed(state: &ReviewState) -> bool {
    let unconfirmed = |finding| state.finding_state(finding) == FindingState::Unconfirmed;
    state.findings.iter().any(unconfirmed)
        || state.last_calls().into_iter().any(|(id, call)| {
            call.answer.is_missing()
                && match &id.purpose {
                    Purpose::Respond { .. } | Purpose::Enforce { .. } => true,
                    // A failed repair call counts as a failure only if the commands of `review.verify` still
                    // fail.
                    Purpose::Repair { .. } => state.failing().next().is_some(),
                    Purpose::Judge { dispute } | Purpose::JudgeAgain { dispute } => state
                        .disputes
                        .get(dispute)
                        .is_some_and(|dispute| dispute.is_open()),
                    // A failed review is ignored here. The only effect of the failure is that fewer answers count
                    // towards the quorum. A failed re-check gives the finding the state `Unconfirmed`. The closure
                    // `unconfirmed` recognises this state.
                    _ => false,
                }
        })
}

/// `changes` are all changes of the coder in the run. The caller provides `exit` and `millis`, because both
/// values are missing in the state of an interrupted run.
pub fn outcome(
    state: &ReviewState,
    run: &RunId,
    exit: ExitReason,
    millis: u64,
    changes: Vec<FileChange>,
) -> Option<Outcome> {
    let plan = state.plan.as_ref()?;
    let has_coders = state.agents(Role::Coder).nth(1).is_some();
    let mut findings = Vec::new();
    let mut hidden_older = 0;
    for finding in &state.findings {
        let progress = state.progress(finding.id).clone();
        if state.is_hidden(finding) {
            hidden_older += u32::from(!finding.is_rejected());
            continue;
        }
        findings.push(SettledFinding {
            finding: with_fix(state, finding),
            state: state.finding_state(finding),
            response: progress.response,
            coder: progress.received_by.filter(|_| has_coders),
            unchanged: state.unchanged_part(finding),
            lowered: progress.lowered,
            insisted: progress.insisted,
            earlier: progress.related,
            demonstrations: demonstrations::demonstrated(&progress.demonstrations),
            undemonstrated: progress.undemonstrated,
        });
    }
    Some(Outcome {
        schema: Outcome::SCHEMA,
        run: run.clone(),
        exit,
        proof: Proof {
            commit: plan.commit.clone(),
            tree: plan.tree.clone(),
            target: plan.target.clone(),
            covered: covered(plan),
            skipped: state.skipped.clone(),
            unread: coverage::unread(state),
            reviewers: reviewers(state)
                .into_iter()
                .map(|report| with_unread(state, report))
                .collect(),
            reused: reused(state),
            millis,
            usage: state.spent.usage,
            calls: state.spent.calls,
            caps: state.settings.budget.caps(),
        },
        findings,
        hidden_older,
        loosened: plan.loosened.clone(),
        disputes: state.disputes.values().cloned().collect(),
        no_longer_raised: no_longer_raised(state),
        undoable: state.before.is_some() && !changes.is_empty() && !state.undone && !state.pruned,
        worktree: state.worktree(),
        failures: failures(state),
        rounds: state.round(),
        notices: notices::all(state, run, &changes),
        changes,
    })
}

/// Removes the exact fix if the coder changed the file after the finding was raised.
fn with_fix(state: &ReviewState, finding: &Finding) -> Finding {
    let later = state
        .tree_changes
        .iter()
        .filter(|change| change.call.purpose.round() >= Some(finding.round));
    let mut paths = later
        .flat_map(|change| &change.changes)
        .map(|change| &change.file);
    let is_changed = paths.any(|path| Some(path) == finding.raw.file.as_ref());
    let exact_fix = finding.exact_fix.clone().filter(|_| !is_changed);
    Finding {
        exact_fix,
        ..finding.clone()
    }
}

/// The files under review, with the lines that were sent in all parts of a file.
fn covered(plan: &Plan) -> Vec<Coverage> {
    let mut files: Vec<Coverage> = Vec::new();
    for part in plan.shards.iter().flatten() {
        match files.last_mut() {
            Some(file) if file.file == part.file => file.lines += part.lines,
            _ => files.push(Coverage {
                ranges: Vec::new(),
                ..part.clone()
            }),
        }
    }
    files
}

fn reused(state: &ReviewState) -> Vec<Reused> {
    let mut by_run: BTreeMap<(&AgentName, &RunId), ReusedFrom> = BTreeMap::new();
    for ((reviewer, _), reuse) in &state.reused {
        for from in &reuse.from {
            let all = by_run
                .entry((reviewer, &from.run))
                .or_insert_with(|| ReusedFrom {
                    run: from.run.clone(),
                    ..ReusedFrom::default()
                });
            all.reads_unknown |= from.reads_unknown;
            all.files.extend(from.files.iter().cloned());
            all.in_part.extend(from.in_part.iter().cloned());
        }
    }
    by_run
        .into_iter()
        .map(|((reviewer, _), from)| Reused {
            reviewer: reviewer.clone(),
            from,
        })
        .collect()
}

/// A new finding repeats an earlier finding of the same reviewer in the same file if the line numbers of the two
/// findings differ by at most this number.
const NEAR: u32 = 5;

/// Returns the earlier findings about changed code. Findings that the same reviewer raised again are left out. The
/// function considers only complete new answers.
fn no_longer_raised(state: &ReviewState) -> Vec<NoLongerRaised> {
    let mut gone = Vec::new();
    for ((reviewer, purpose), reuse) in &state.reused {
        let answered = state
            .last_call(reviewer, purpose)
            .map(|(_, call)| &call.answer);
        let Some(CallAnswer::Review {
            status, findings, ..
        }) = answered.filter(|_| !reuse.superseded.is_empty())
        else {
            continue;
        };
        if !status.is_complete() {
            continue;
        }
        for earlier in &reuse.superseded {
            // Code can move to another file, so titles are compared across all files.
            let is_repeated = findings.iter().any(|now| now.title == earlier.title)
                || findings.iter().chain(&reuse.findings).any(|now| {
                    let lines = earlier.line.zip(now.line);
                    now.file == earlier.file
                        && (now.title == earlier.title
                            || lines.is_none_or(|(a, b)| a.abs_diff(b) <= NEAR))
                });
            if !is_repeated {
                gone.push(NoLongerRaised {
                    reviewer: reviewer.clone(),
                    finding: earlier.clone(),
                });
            }
        }
    }
    gone
}

/// One report for each reviewer. The status in a reviewer's report is the worst status among the reviewer's
/// answers.
fn reviewers(state: &ReviewState) -> Vec<ReviewerReport> {
    state
        .agents(Role::Reviewer)
        .map(|agent| report(state, agent))
        .collect()
}

fn report(state: &ReviewState, agent: &Agent) -> ReviewerReport {
    let mut report = ReviewerReport {
        name: agent.name.clone(),
        status: AnswerStatus::Clean,
        findings: 0,
        millis: 0,
        failure: None,
        problems: Vec::new(),
        unread: Vec::new(),
        said: Untrusted::default(),
    };
    let mut said: Vec<&str> = Vec::new();
    let mut answered = 0;
    let expected: usize = state.rounds.iter().map(Vec::len).sum();
    let calls = state.last_calls();
    let own = calls
        .iter()
        .filter(|(id, _)| id.agent == agent.name && matches!(id.purpose, Purpose::Review { .. }));
    for (id, call) in own {
        answered += 1;
        let part = state.reuse(id);
        let carried = part
            .filter(|part| !part.asked.is_empty())
            .map_or(0, |part| part.findings.len());
        report.millis = report.millis.max(call.millis);
        let status = match &call.answer {
            CallAnswer::Review {
                status,
                findings,
                problem,
                notes,
                ..
            } => {
                said.extend(Some(notes.trim()).filter(|notes| !notes.is_empty()));
                let lack = (!status.is_complete()).then_some("the answer is not complete");
                let problem = problem.as_deref().or(lack);
                report.problems.extend(problem.map(|problem| AnswerProblem {
                    call: id.file_stem(),
                    problem: problem.to_owned(),
                }));
                report.findings += u32::try_from(findings.len() + carried).unwrap_or(u32::MAX);
                if *status == AnswerStatus::Clean && carried > 0 {
                    AnswerStatus::Complete
                } else {
                    *status
                }
            }
            CallAnswer::Failed { error, .. } | CallAnswer::Invalid { error } => {
                report.failure.get_or_insert_with(|| error.clone());
                AnswerStatus::NotReviewed
            }
            _ => continue,
        };
        if rank(status) < rank(report.status) {
            report.status = status;
        }
    }
    if answered < expected {
        report.status = AnswerStatus::NotReviewed;
    }
    report.said = Untrusted::from(said.join("\n\n")).first(ReviewerReport::SAID);
    report
}

fn rank(status: AnswerStatus) -> u8 {
    match status {
        AnswerStatus::NotReviewed => 0,
        AnswerStatus::Incomplete => 1,
        AnswerStatus::Complete => 2,
        AnswerStatus::Clean => 3,
    }
}

/// Adds the files that the reviewer could not read. The status is `NotReviewed` if the reviewer could read no file.
fn with_unread(state: &ReviewState, mut report: ReviewerReport) -> ReviewerReport {
    let (unread, is_blind) = coverage::unread_by(state, &report.name);
    if is_blind {
        report.status = AnswerStatus::NotReviewed;
    }
    report.unread = unread;
    report
}

/// The failures of the last calls. Calls that failed for one reason, such as an outage, have one entry.
fn failures(state: &ReviewState) -> Vec<Failure> {
    let mut failures: Vec<Failure> = Vec::new();
    let all = state
        .last_calls()
        .into_iter()
        // A comparison that failed is a notice. Without an answer about an answer, the review is asked for again. Without a demonstration that a judge asked
        // for, the judge rules all the same, and says so.
        .filter(|(id, _)| {
            let purpose = &id.purpose;
            !purpose.is_comparison()
                && !matches!(purpose, Purpose::Close { .. } | Purpose::Demonstrate { .. })
        })
        .filter_map(|(id, call)| {
            let (error, hint, cause) = match &call.answer {
                CallAnswer::Failed { error, hint, cause } => (error.clone(), hint.clone(), *cause),
                CallAnswer::Invalid { error } => (error.clone(), None, None),
                _ => return None,
            };
            let is_in_output = matches!(call.answer, CallAnswer::Invalid { .. })
                || cause.is_some_and(FailureKind::is_in_output);
            let asked_in = call.asked_in.as_ref().unwrap_or(id);
            let call = is_in_output.then(|| asked_in.file_stem());
            Some(Failure {
                agent: id.agent.clone(),
                role: id.purpose.role(),
                error,
                hint,
                cause,
                call,
            })
        });
    for failure in all {
        if !failures.contains(&failure) {
            failures.push(failure);
        }
    }
    failures
}
