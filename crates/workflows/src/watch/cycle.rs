//! Computes a cycle's requests, ballots and notifications from the state of the watch.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::state::{Cycle, WatchState};
use crate::run::attempts;
use glee_agents::CommandInput;
use glee_model::domain::event::{CallAnswer, CallId, Purpose};
use glee_model::domain::{
    Action, AgentName, Ballot, FileChange, OpenConcern, PeerIssue, PeerReview, ReviewRequest,
    RunId, Untrusted, Verdict, WatchPlan, number_of,
};
use glee_protocol::text::printable;

const CHANGES: usize = 256 << 10;
/// The maximum number of open issues in a review request.
const CONCERNS: usize = 50;
/// The maximum number of rejected issues in a review request.
const REJECTED: usize = 50;

pub(super) fn requests(state: &WatchState, plan: &WatchPlan) -> Vec<ReviewRequest> {
    let concerns = concerns(state);
    let requests = plan.reviewers.iter().map(|agent| {
        let reviewer = &agent.name;
        let targets: Vec<AgentName> = state
            .agents
            .keys()
            .filter(|name| *name != reviewer)
            .cloned()
            .collect();
        let context: BTreeMap<String, Untrusted> = targets
            .iter()
            .map(|name| (format!("{}_summary", name.0), summary(state, name)))
            .collect();
        ReviewRequest {
            form: ReviewRequest::FORM.to_owned(),
            reviewer: reviewer.clone(),
            targets,
            context,
            focus_areas: plan.focus_areas.clone(),
            max_words: plan.max_words,
            open_concerns: concerns.clone(),
        }
    });
    requests.collect()
}

/// The latest open issues, ordered by number. The list does not include issues that only record a missing
/// verdict.
fn concerns(state: &WatchState) -> Vec<OpenConcern> {
    let open: Vec<OpenConcern> = state
        .open_issues()
        .filter(|issue| !issue.is_absence())
        .map(|issue| OpenConcern {
            number: issue.number,
            raised_by: issue.reviewer.clone(),
            issue: issue.issue.clone(),
        })
        .collect();
    open[open.len().saturating_sub(CONCERNS)..].to_vec()
}

/// Returns the issues that a cycle closes. For each of these issues, the reviewer's verdict is now `approved`. The
/// verdict `approved` always closes the reviewer's issues that only record a missing verdict. Any other issue is
/// closed only if its reviewer received the issue in the request of this cycle.
pub(super) fn settled(
    state: &WatchState,
    cycle: &Cycle,
    ballots: &[Ballot],
) -> Vec<(u32, AgentName)> {
    let approved = ballots
        .iter()
        .filter(|ballot| ballot.verdict == Some(Verdict::Approved));
    let approved: BTreeSet<&AgentName> = approved.map(|ballot| &ballot.reviewer).collect();
    state
        .open_issues()
        .filter(|issue| {
            let own = cycle
                .requests
                .iter()
                .find(|request| request.reviewer == issue.reviewer);
            let mut shown = own.into_iter().flat_map(|own| &own.open_concerns);
            approved.contains(&issue.reviewer)
                && issue.cycle < cycle.number
                && (issue.is_absence() || shown.any(|shown| shown.number == issue.number))
        })
        .map(|issue| (issue.number, issue.reviewer.clone()))
        .collect()
}

fn summary(state: &WatchState, name: &AgentName) -> Untrusted {
    let Some(seen) = state.agents.get(name) else {
        return Untrusted::default();
    };
    let mut parts = Vec::new();
    if let Some(answer) = state
        .clarification
        .as_ref()
        .and_then(|asked| asked.answers.get(name))
    {
        parts.push(answer.labelled("clarification: "));
    }
    if seen.told_more > 0 {
        parts.push(format!("({})", number_of(seen.told_more, "earlier event")).into());
    }
    parts.extend(seen.told.iter().cloned());
    if !seen.files.is_empty() {
        let files: Vec<&str> = seen.files.iter().map(String::as_str).collect();
        parts.push(format!("files: {}", files.join(", ")).into());
    }
    if parts.is_empty() {
        parts.push("no events since the last review".into());
    }
    Untrusted::joined(&parts, "\n")
}

pub(super) fn shown(changes: &[FileChange]) -> Untrusted {
    let mut text = String::new();
    let mut left_out = 0_usize;
    for change in changes {
        let diff = change
            .diff
            .as_deref()
            .unwrap_or("(binary, or too large to be shown)");
        if text.len() + diff.len() > CHANGES {
            left_out += 1;
            continue;
        }
        if !diff.contains(&change.file) {
            text.push_str(&format!("{}\n", change.file));
        }
        text.push_str(diff);
        if !text.ends_with('\n') {
            text.push('\n');
        }
    }
    if left_out > 0 {
        let files = number_of(left_out, "more file");
        text.push_str(&format!(
            "(the changes to {files} are left out; read them in the tree)\n"
        ));
    }
    text.into()
}

pub(super) fn rejected(state: &WatchState) -> Vec<Untrusted> {
    let rejected = state
        .issues
        .iter()
        .rev()
        .filter(|issue| issue.is_rejected())
        .take(REJECTED);
    rejected.map(|issue| line(&issue.issue)).collect()
}

/// The issues in this cycle's reviews. Reviews with the verdict `approved` are ignored.
pub(super) fn raised(cycle: &Cycle) -> impl Iterator<Item = (&AgentName, &PeerIssue)> {
    identified(cycle).map(|(_, reviewer, issue)| (reviewer, issue))
}

/// The issues of [`raised`], with their ids in an [`UnsurePair`](glee_model::domain::UnsurePair).
pub(super) fn identified(cycle: &Cycle) -> impl Iterator<Item = (String, &AgentName, &PeerIssue)> {
    let reviews = reviews(cycle).filter(|(_, review)| review.verdict != Verdict::Approved);
    reviews.flat_map(|(agent, review)| {
        let issues = review.issues.iter().enumerate();
        issues.map(move |(index, issue)| (Cycle::issue_id(agent, index), agent, issue))
    })
}

fn reviews(cycle: &Cycle) -> impl Iterator<Item = (&AgentName, &PeerReview)> {
    cycle
        .answers
        .iter()
        .filter_map(|(call, answer)| match answer {
            CallAnswer::Peer { review } => Some((&call.agent, review.as_ref())),
            _ => None,
        })
}

/// The issues of all reviews, also of those with the verdict `approved`.
fn told(cycle: &Cycle) -> impl Iterator<Item = (&AgentName, &PeerIssue)> {
    reviews(cycle).flat_map(|(agent, review)| review.issues.iter().map(move |issue| (agent, issue)))
}

fn line(issue: &PeerIssue) -> Untrusted {
    let place = issue
        .file
        .as_ref()
        .map(|file| format!("{}: ", file.as_written()))
        .unwrap_or_default();
    format!("{place}{}", issue.description.as_written()).into()
}

pub(super) fn due(cycle: &Cycle) -> Vec<Result<Ballot, CallId>> {
    cycle
        .requests
        .iter()
        .map(|request| due_for(cycle, &request.reviewer))
        .collect()
}

fn due_for(cycle: &Cycle, reviewer: &AgentName) -> Result<Ballot, CallId> {
    let purpose = Purpose::Peer {
        cycle: cycle.number,
    };
    if let Some(due) = attempts::next_valid(&cycle.answers, reviewer, purpose.clone()) {
        return Err(due);
    }
    let (verdict, absent) = match attempts::last(&cycle.answers, reviewer, &purpose) {
        Some((_, CallAnswer::Peer { review })) => (Some(review.verdict), None),
        Some((_, CallAnswer::Invalid { error } | CallAnswer::Failed { error, .. })) => {
            (None, Some(error.as_str()))
        }
        _ => (None, Some("it gave another kind of answer")),
    };
    Ok(Ballot {
        reviewer: reviewer.clone(),
        verdict,
        absent: absent.map(Into::into),
    })
}

/// Chooses the agents that have to clarify a cycle's issues, and writes the question. Returns `None` if no agent
/// is suitable.
pub(super) fn clarification(cycle: &Cycle) -> Option<(Vec<AgentName>, Untrusted)> {
    let raised: Vec<(&AgentName, &PeerIssue)> = raised(cycle).collect();
    let named: BTreeSet<&str> = raised
        .iter()
        .filter_map(|(_, issue)| Some(issue.file.as_ref()?.as_written()))
        .collect();
    let targets: BTreeSet<&AgentName> = cycle
        .requests
        .iter()
        .flat_map(|request| &request.targets)
        .collect();
    let reviewers: BTreeSet<&AgentName> = cycle
        .requests
        .iter()
        .map(|request| &request.reviewer)
        .collect();
    let mut asked: Vec<AgentName> = targets
        .iter()
        .filter(|name| {
            let mut files = cycle.files.get(**name).into_iter().flatten();
            files.any(|file| named.contains(file.as_str()))
        })
        .map(|name| (*name).clone())
        .collect();
    if asked.is_empty() {
        asked = targets
            .iter()
            .filter(|name| !reviewers.contains(*name))
            .map(|name| (*name).clone())
            .collect();
    }
    if asked.is_empty() {
        return None;
    }
    let issues: Vec<Untrusted> = raised
        .iter()
        .map(|(reviewer, issue)| {
            line(issue).labelled(&format!(
                "- {} ({}): ",
                reviewer.0,
                issue.severity.as_written()
            ))
        })
        .collect();
    let number = cycle.number;
    let prompt = format!(
        "Reviewers raised concerns in cycle {number}, and the work pauses until they are cleared up:\n{}\nSay for each \
         what you will change, or why it is right as it is: one event of type `note` with `clarifies` {number} and the \
         answer as its summary.",
        Untrusted::joined(&issues, "\n").as_written()
    );
    Some((asked, prompt.into()))
}

/// The maximum size of each environment variable of a notification, in bytes.
const VARIABLE: usize = 16 << 10;

fn joined(lines: Vec<String>, between: &str) -> String {
    let text = lines.join(between);
    text[..text.floor_char_boundary(VARIABLE)].to_owned()
}

/// The input of a `watch.notify` command. The `GLEE_*` variables contain a summary of the cycle, and stdin
/// contains all data about the cycle as JSON.
pub(super) fn notification(
    run: &RunId,
    cycle: &Cycle,
    action: Action,
    ballots: &[Ballot],
) -> CommandInput {
    let summary = |name: &AgentName| cycle.review(name).map(|review| review.summary.clone());
    let reviewers: Vec<Value> = ballots
        .iter()
        .map(|ballot| {
            let Ballot { reviewer, verdict, absent } = ballot;
            json!({"reviewer": reviewer, "verdict": verdict, "summary": summary(reviewer), "absent": absent})
        })
        .collect();
    let issues: Vec<Value> = told(cycle)
        .map(|(reviewer, issue)| {
            let PeerIssue { severity, description, file } = issue;
            json!({"raised_by": reviewer, "severity": severity, "description": description, "file": file})
        })
        .collect();
    let context = cycle
        .requests
        .iter()
        .flat_map(|request| request.context.clone());
    let details = json!({
        "type": "watch_notification",
        "run": run,
        "cycle": cycle.number,
        "triggers": cycle.triggers,
        "action": action.as_str(),
        "reviewers": reviewers,
        "context": context.collect::<BTreeMap<String, Untrusted>>(),
        "issues": issues,
        "resume": "glee watch resume --reason WHY",
    });
    let env = [
        ("GLEE_RUN", run.0.clone()),
        ("GLEE_CYCLE", cycle.number.to_string()),
        ("GLEE_ACTION", action.as_str().to_owned()),
        (
            "GLEE_REVIEWERS",
            joined(
                ballots
                    .iter()
                    .map(|ballot| {
                        format!(
                            "{}: {}",
                            ballot.reviewer.0,
                            ballot.verdict.map_or("absent", Verdict::as_str)
                        )
                    })
                    .collect(),
                ", ",
            ),
        ),
        (
            "GLEE_SUMMARIES",
            joined(
                ballots
                    .iter()
                    .filter_map(|ballot| {
                        let summary =
                            summary(&ballot.reviewer).or_else(|| ballot.absent.clone())?;
                        Some(printable::line(
                            &summary.labelled(&format!("{}: ", ballot.reviewer.0)),
                        ))
                    })
                    .collect(),
                "\n",
            ),
        ),
        (
            "GLEE_ISSUES",
            joined(
                told(cycle)
                    .map(|(reviewer, issue)| {
                        let label = format!("{} ({}): ", reviewer.0, issue.severity.as_written());
                        printable::line(&line(issue).labelled(&label))
                    })
                    .collect(),
                "\n",
            ),
        ),
    ];
    CommandInput {
        env: env.into(),
        stdin: format!("{details}\n").into_bytes(),
        confinement: None,
    }
}
