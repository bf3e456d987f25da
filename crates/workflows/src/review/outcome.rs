//! Computes the outcome and the exit reason of a run from its state.

use std::collections::{BTreeMap, BTreeSet};

use crate::review::code::coverage;
use crate::review::findings::convergence;
use crate::review::state::{RecordedCall, ReviewState};
use glee_model::domain::event::{CallAnswer, CallId, Plan, Purpose};
use glee_model::domain::{
    AdvisoryStatus, Agent, AgentName, AnswerProblem, AnswerStatus, Coverage, ExitReason, Failure,
    FailureKind, FileChange, Finding, FindingState, NoLongerRaised, Outcome, Proof, Reused,
    ReusedFrom, ReviewerReport, Role, RunId, SettledFinding, Skip, Tag, Untrusted, number_of,
};
use glee_model::rules::review::{demonstrations, exit_status};
use glee_protocol::text::printable;
use glee_store::config::settings::{ReviewSettings, Skipped};

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
        exhausted: last_calls(state).iter().any(|(id, call)| {
            !compares(&id.purpose)
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
        || last_calls(state).into_iter().any(|(id, call)| {
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

/// Whether a call only asks whether findings are the same. Without an answer, the findings stay side by side, so a
/// failure of such a call is a notice.
fn compares(purpose: &Purpose) -> bool {
    matches!(purpose, Purpose::Same { .. } | Purpose::Compare { .. })
}

fn last_calls(state: &ReviewState) -> Vec<(&CallId, &RecordedCall)> {
    let mut last = BTreeMap::new();
    for (id, call) in &state.calls {
        // An agent's calls for one purpose are sorted by attempt. Each later attempt replaces the earlier attempt
        // in the map, so the map keeps the last attempt.
        last.insert((&id.agent, &id.purpose), (id, call));
    }
    last.into_values().collect()
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
        notices: notices(state)
            .into_iter()
            .chain(put_back(state))
            .chain(unasked(state, run, &changes))
            .collect(),
        changes,
    })
}

/// Names the files that were put back after a call of a coder.
fn put_back(state: &ReviewState) -> Option<String> {
    let changes = state.tree_changes.iter();
    let files: BTreeSet<&str> = changes
        .flat_map(|change| &change.put_back)
        .map(String::as_str)
        .collect();
    let list = files.iter().copied().collect::<Vec<_>>().join(", ");
    (!files.is_empty()).then(|| {
        format!(
            "the coder also edited files that no finding names, and they were put back (`review.fix.scope: \
             findings`): {list}"
        )
    })
}

/// Names the files that the coder changed although no finding names them.
fn unasked(state: &ReviewState, run: &RunId, changes: &[FileChange]) -> Option<String> {
    let places = state.findings.iter().flat_map(|finding| {
        let raw = &finding.raw;
        let others = raw.places.iter().map(|place| &place.file);
        raw.file.iter().chain(others)
    });
    let named: BTreeSet<&String> = places.collect();
    let files = changes.iter().map(|change| &change.file);
    let unasked: Vec<String> = files
        .filter(|file| !named.contains(file))
        .cloned()
        .collect();
    let run = run.short();
    let list = unasked.join(", ");
    (!unasked.is_empty()).then(|| {
        format!(
            "the coder also changed files that no finding names: {list}; `glee runs undo {run} PATH` takes a file back"
        )
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

fn notices(state: &ReviewState) -> Vec<String> {
    let mut notices = state.notices.clone();
    notices.extend(not_reviewed(state));
    notices.extend(not_compared(state));
    notices.extend(withdrawn(state));
    notices.extend(lowered(state));
    notices.extend(optional(state));
    notices.extend(convergence::notice(state));
    for verified in state.failing() {
        let tries = state.repairs(verified.round);
        let tried = match tries {
            0 => String::new(),
            1 => ", even after one repair".to_owned(),
            tries => format!(", even after {tries} repairs"),
        };
        notices.push(format!(
            "`{}` {}{tried}",
            verified.command,
            Outcome::VERIFY_FAILS
        ));
    }
    for finding in &state.findings {
        if let Some(dispute) = state.progress(finding.id).enforced_by() {
            let then = if state.agents(Role::Coder).next().is_some() {
                "; the finding was sent directly to the coder"
            } else {
                ""
            };
            notices.push(format!(
                "{} was enforced in dispute {dispute}{then}",
                finding.id
            ));
        }
    }
    notices
}

/// Counts the findings that reviewers withdrew because their places do not exist.
fn withdrawn(state: &ReviewState) -> Vec<String> {
    let mut notices = Vec::new();
    for (id, call) in &state.calls {
        let CallAnswer::Close { places, .. } = &call.answer else {
            continue;
        };
        let withdrawn = places.iter().filter(|given| given.place.is_none()).count();
        if withdrawn > 0 {
            let findings = number_of(withdrawn, "finding");
            let place = "because there is no such place";
            notices.push(format!("`{}` withdrew {findings}, {place}", id.agent));
        }
    }
    notices
}

fn not_compared(state: &ReviewState) -> Vec<String> {
    let mut notices = Vec::new();
    for (id, call) in last_calls(state) {
        let (CallAnswer::Failed { error, .. } | CallAnswer::Invalid { error }) = &call.answer
        else {
            continue;
        };
        let what = match id.purpose {
            Purpose::Same { .. } => "findings that may be the same",
            Purpose::Compare { .. } => "findings with earlier disputes",
            _ => continue,
        };
        notices.push(format!("`{}` did not compare {what}: {error}", id.agent));
    }
    notices
}

/// Names the findings whose tags an advisory lowered.
fn lowered(state: &ReviewState) -> Vec<String> {
    let optional = state.findings.iter().filter(|finding| !finding.mandatory);
    let lowered = optional.filter_map(|finding| {
        let mut evidence = finding.raw.evidence.iter();
        let why = evidence.find(|text| text.as_written().ends_with(AdvisoryStatus::LOWERED))?;
        let id = finding.id;
        let tag = &finding.raw.severity;
        Some(printable::line(
            &why.labelled(&format!("{id} is {tag} here: ")),
        ))
    });
    lowered.collect()
}

/// Counts the findings whose tags are mandatory by default, and which the settings make optional.
fn optional(state: &ReviewState) -> Vec<String> {
    let review = &state.settings.review;
    let opinions = ("opinions", &review.opinions.mandatory);
    let issues = ("issues", &review.issues.mandatory);
    let tags = [
        (Tag::Critical, issues),
        (Tag::Must, opinions),
        (Tag::High, issues),
    ];
    let mut notices = Vec::new();
    for (tag, (section, list)) in tags {
        let findings = state.findings.iter();
        let count = findings
            .filter(|finding| {
                finding.raw.severity.tag == Some(tag) && !finding.mandatory && !finding.older
            })
            .count();
        if count > 0 {
            let verb = if count == 1 { "is" } else { "are" };
            notices.push(format!(
                "{} with the tag {tag} {verb} optional here: `review.{section}.mandatory` is [{}]",
                number_of(count, "finding"),
                list.join(", ")
            ));
        }
    }
    notices
}

const NAMED: usize = 20;

/// Names the files that were not reviewed, those that a rule leaves out in a sentence of their own.
fn not_reviewed(state: &ReviewState) -> Vec<String> {
    let (by_rule, others): (Vec<&Skip>, Vec<&Skip>) = state
        .skipped
        .iter()
        .filter(|skip| skip.reason.is_unread() || skip.reason.is_by_rule())
        .partition(|skip| skip.reason.is_by_rule());
    let mut notices = Vec::new();
    for (files, by) in [(others, ""), (by_rule, " by rule")] {
        let mut named: Vec<String> = files
            .iter()
            .take(NAMED)
            .map(|skip| format!("{} ({})", printable::line(&skip.file), skip.reason.as_str()))
            .collect();
        if files.len() > NAMED {
            named.push(format!("and {} more", files.len() - NAMED));
        }
        if !named.is_empty() {
            notices.push(format!(
                "{}{by}: {}",
                Outcome::NOT_REVIEWED,
                named.join(", ")
            ));
        }
    }
    notices
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
                    files: Vec::new(),
                    in_part: Vec::new(),
                    reads_unknown: false,
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
    let calls = last_calls(state);
    let own = calls
        .iter()
        .filter(|(id, _)| id.agent == agent.name && is_review(&id.purpose));
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
fn with_unread(state: &ReviewState, report: ReviewerReport) -> ReviewerReport {
    let (unread, is_all) = coverage::unread_by(state, &report.name);
    let is_blind = is_all && !unread.is_empty();
    let status = if is_blind {
        AnswerStatus::NotReviewed
    } else {
        report.status
    };
    ReviewerReport {
        status,
        unread,
        ..report
    }
}

fn is_review(purpose: &Purpose) -> bool {
    matches!(purpose, Purpose::Review { .. })
}

/// The failures of the last calls. Calls that failed for one reason, such as an outage, have one entry.
fn failures(state: &ReviewState) -> Vec<Failure> {
    let mut failures: Vec<Failure> = Vec::new();
    let all = last_calls(state)
        .into_iter()
        // Without an answer about an answer, the review is asked for again. Without a demonstration that a judge asked
        // for, the judge rules all the same, and says so.
        .filter(|(id, _)| {
            let purpose = &id.purpose;
            !compares(purpose)
                && !matches!(purpose, Purpose::Close { .. } | Purpose::Demonstrate { .. })
        })
        .filter_map(|(id, call)| {
            let (error, hint, cause) = match &call.answer {
                CallAnswer::Failed { error, hint, cause } => (error.clone(), hint.clone(), *cause),
                CallAnswer::Invalid { error } => (error.clone(), None, None),
                _ => return None,
            };
            let role = match id.purpose {
                Purpose::Same { .. } => Role::Aggregator,
                Purpose::Judge { .. } | Purpose::JudgeAgain { .. } | Purpose::Compare { .. } => {
                    Role::Judge
                }
                _ if id.purpose.is_coder() => Role::Coder,
                _ => Role::Reviewer,
            };
            let is_in_output = match &call.answer {
                CallAnswer::Invalid { .. } => true,
                _ => cause.is_some_and(FailureKind::is_in_output),
            };
            let call = is_in_output.then(|| id.file_stem());
            Some(Failure {
                agent: id.agent.clone(),
                role,
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
