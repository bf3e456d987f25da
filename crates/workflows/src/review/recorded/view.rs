//! Reads the outcomes of recorded runs from their events.

use std::collections::BTreeSet;
use std::path::Path;

use crate::review::code::coder_changes::{self, Trees};
use crate::review::code::sources::Sources;
use crate::review::disputes::rulings::{self, SharedRulings};
use crate::review::findings::{convergence, debate, numbers};
use crate::review::{
    findings::earlier_records::Past,
    findings::round::{MergeSettings, RoundContext},
    outcome,
    state::ReviewState,
};
use crate::run::{error::RunError, redaction::Redaction};
use glee_model::domain::event::{Event, EventKind, Mode, Plan, RunEvent};
use glee_model::domain::{
    Disposition, Dispute, DisputeNumber, ExitReason, Outcome, RunId, RunWorktree,
};
use glee_model::rules::consensus::Policy;
use glee_store::history::store::Journal;
use glee_workspace::guard::control_files::{ControlKind, control_kind};
use glee_workspace::{TreeId, root::Workspace};

#[derive(Debug)]
pub struct Recorded {
    pub outcome: Outcome,
    pub reviewed: Sources,
}

pub fn recorded(
    workspace: &Workspace,
    state_dir: &Path,
    journal: &Journal,
    run: &RunId,
) -> Result<Recorded, RunError> {
    let trees = Trees {
        workspace,
        state_dir,
    };
    let mut state = ReviewState::of(&journal.events(run)?);
    // A folder that this made would look as if the run was made on this machine.
    let mut sources = Sources::new(&journal.folder_of(run), Redaction::ON);
    // An error is ignored, because the code is needed only for the excerpts of the report.
    drop(sources.load(state.round(), None));
    if state.ended.is_none() && state.unmerged().next().is_some() {
        let lists = MergeSettings {
            policy: Policy::Panel,
            ..MergeSettings::of(&state.settings.review)
        };
        let past = Some(Past::of(journal, trees));
        let round = state.round();
        let known = journal.known_problems()?;
        let context = RoundContext {
            state: &state,
            round,
            lists,
            sources: &sources,
            workspace,
            past,
            run,
            known: &known,
        };
        // If the commit with the shared rulings no longer exists, no shared rulings apply.
        let shared = state
            .plan
            .as_ref()
            .and_then(|plan| SharedRulings::of_plan(workspace, plan).ok());
        let shared = shared.unwrap_or_default().bindings();
        let max_age = &state.settings.rulings.max_age;
        let merged = context.merge(&rulings::known(Some(journal), &shared, max_age)?);
        state.apply_all(&merged);
    }
    let exit = exit_of(&state).unwrap_or(ExitReason::AgentFailed);
    let millis = state.ended.map_or(0, |(_, millis)| millis);
    let outcome = outcome_of(&state, run, trees, journal, exit, millis)?;
    Ok(Recorded {
        outcome,
        reviewed: sources,
    })
}

pub(crate) fn outcome_of(
    state: &ReviewState,
    run: &RunId,
    trees: Trees<'_>,
    journal: &Journal,
    exit: ExitReason,
    millis: u64,
) -> Result<Outcome, RunError> {
    // If the recorded trees no longer exist, the recorded changes of all calls count.
    let changes = trees
        .all_changes(state)
        .unwrap_or_else(|_| state.file_changes().cloned().collect());
    let changes = Redaction::ON.value(changes);
    let outcome = outcome::outcome(state, run, exit, millis, changes);
    let mut outcome = outcome.ok_or_else(|| RunError::NotStarted(run.clone()))?;
    add_earlier(&mut outcome, state, journal)?;
    Ok(outcome)
}

/// Applies another policy to a recorded run, without making calls or recording events. Returns the merged findings
/// of each round in the JSON format of the specification. Fails if the history or the code cannot be read, or if
/// the run was never started.
pub fn decided_again(
    workspace: &Workspace,
    journal: &Journal,
    run: &RunId,
    policy: Policy,
) -> Result<Vec<serde_json::Value>, RunError> {
    let state = ReviewState::of(&journal.events(run)?);
    if state.plan.is_none() {
        return Err(RunError::NotStarted(run.clone()));
    }
    let mut sources = Sources::new(&journal.transcripts(run)?, Redaction::ON);
    sources.load(state.round(), None)?;
    let known = numbers::of_run(run, &state);
    let decided = (1..=state.round()).map(|round| {
        let context = RoundContext {
            state: &state,
            round,
            lists: MergeSettings {
                policy,
                ..MergeSettings::of(&state.settings.review)
            },
            sources: &sources,
            workspace,
            past: None,
            run,
            known: &known,
        };
        debate::MergedRound::of(&context).json(policy, Some(&run.0))
    });
    Ok(decided.collect())
}

/// Returns the plan of a run, after the changes that the run's fix requests made to the plan.
pub fn plan(events: &[Event]) -> Option<Plan> {
    ReviewState::of(events).plan
}

/// Returns the exit reason of an ended run. If the run ended with the exit reason `Clean`, `FindingsOpen` or
/// `DisputeOpen`, later rulings and an undo can change the exit reason. The exit reason of a failed or stopped run does
/// not change.
pub fn exit_now(events: &[Event]) -> Option<ExitReason> {
    exit_of(&ReviewState::of(events))
}

fn exit_of(state: &ReviewState) -> Option<ExitReason> {
    let (exit, _) = state.ended?;
    let is_conclusive = matches!(
        exit,
        ExitReason::Clean | ExitReason::FindingsOpen | ExitReason::DisputeOpen
    );
    Some(if is_conclusive {
        outcome::exit(state, &state.settings.review)
    } else {
        exit
    })
}

/// The worktree of a run; `None` if the run worked in the user's tree.
pub fn worktree(events: &[Event]) -> Option<RunWorktree> {
    ReviewState::of(events).worktree()
}

/// Whether the run worked in a worktree, and no change was brought into the user's tree.
pub fn is_never_applied(events: &[Event]) -> bool {
    let is_applied =
        |event: &Event| matches!(event.kind, EventKind::Run(RunEvent::RunApplied { .. }));
    worktree(events).is_some() && !events.iter().any(is_applied)
}

pub fn is_ended(events: &[Event]) -> bool {
    ReviewState::of(events).ended.is_some()
}

/// The command that goes on with a review after a ruling, with its purpose. A run that ended with its result is only
/// shown, unless its coder has to implement an enforced finding. Returns `None` if the run is no review.
pub fn after_ruling(run: &RunId, events: &[Event]) -> Option<(String, &'static str)> {
    let state = ReviewState::of(events);
    state.plan.as_ref()?;
    let run = run.short();
    let is_over = matches!(
        state.ended,
        Some((ExitReason::Clean | ExitReason::FindingsOpen, _))
    );
    let mut disputes = state.disputes.values();
    let is_enforced = disputes.any(|dispute| {
        dispute.disposition == Some(Disposition::Enforced) && !state.is_done(dispute.finding.id)
    });
    Some(match (is_enforced, is_over) {
        (true, true) if state.mode() == Mode::Review => (
            format!("glee runs resume {run} --fix"),
            "to have a coder implement it",
        ),
        (true, _) => (
            format!("glee runs resume {run}"),
            "to have the coder implement it",
        ),
        (false, false) => (format!("glee runs resume {run}"), "to finish the run"),
        (false, true) => (format!("glee runs show {run}"), "to see what is left"),
    })
}

/// Returns the tree after the coder's last recorded call. If no call is recorded, returns the tree before the
/// coder's first call.
pub fn tree_left(events: &[Event]) -> Option<String> {
    coder_changes::last_tree(&ReviewState::of(events)).cloned()
}

/// Returns the tree before the coder's first call, or `None` if the coder edited no control files of Glee.
pub fn tree_before_steering(events: &[Event]) -> Option<TreeId> {
    let state = ReviewState::of(events);
    let is_steered = state
        .file_changes()
        .any(|change| control_kind(&change.file) == Some(ControlKind::Glee));
    state
        .before
        .filter(|_| is_steered)
        .map(|(_, tree)| TreeId(tree))
}

/// Adds what earlier runs contribute to the outcome: an open dispute if a finding of this run repeats the dispute, and
/// that the reviews of the target do not converge.
pub(crate) fn add_earlier(
    outcome: &mut Outcome,
    state: &ReviewState,
    journal: &Journal,
) -> Result<(), RunError> {
    let known: BTreeSet<DisputeNumber> = outcome
        .disputes
        .iter()
        .map(|dispute| dispute.number)
        .collect();
    let repeated: BTreeSet<DisputeNumber> =
        state.still_disputed().map(|(number, _)| number).collect();
    let missing: Vec<DisputeNumber> = repeated.difference(&known).copied().collect();
    for record in journal.disputes_numbered(&missing)?.into_values() {
        outcome.disputes.push(Dispute {
            opened_by: Some(record.run),
            ..record.dispute
        });
    }
    outcome.disputes.sort_by_key(|dispute| dispute.number);
    let notice = convergence::notice_of_reviews(state, &outcome.run, journal)?;
    outcome.notices.extend(notice);
    Ok(())
}
