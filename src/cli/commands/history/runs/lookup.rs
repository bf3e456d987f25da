//! Finds recorded runs, and loads the data with which they can be resumed.

use std::path::Path;
use std::sync::Arc;

use crate::cli::context::{
    CommandError, Globals, RunTree, execute, history, local_time, place, stream,
};
use crate::cli::report::outputs::Outputs;
use crate::cli::report::written::{self, WrittenReport};
use crate::cli::style::{self, Style};
use glee_model::domain::event::{Event, EventKind, Mode, Plan, RunEvent};
use glee_model::domain::{Agent, ExitReason, Role, Route, RunId, WorktreeState};
use glee_protocol::text::printable;
use glee_store::config::settings::Settings;
use glee_store::history::queries::rows::RunRow;
use glee_store::history::shared_log::LoggedRun;
use glee_store::history::store::Journal;
use glee_store::history::submission::SubmissionState;
use glee_workflows::review::recorded::view;
use glee_workflows::review::{self, ReviewPlanError};
use glee_workspace::TreeId;
use glee_workspace::root::Workspace;

pub(crate) fn table(rows: &[RunRow], look: Style) -> String {
    let heads = [
        "RUN", "STARTED", "MODE", "FINDINGS", "DISPUTES", "COST", "ENDED", "TARGET",
    ];
    look.listing(heads, rows.iter().map(cells), &[3, 5])
}

/// The runs of all repositories.
pub(crate) fn logged(runs: &[LoggedRun], look: Style) -> String {
    let heads = ["REPOSITORY", "RUN", "STARTED", "BY", "ENDED", "TARGET"];
    let rows = runs.iter().map(|row| {
        [
            printable::line(&row.repository),
            row.run.short().to_owned(),
            local_time(row.started),
            printable::line(&row.by),
            match &row.submission {
                None => how(row.exit, row.works).to_owned(),
                Some(state) => printable::line(&submitted(state)),
            },
            printable::line(&short_commits(&row.target)),
        ]
    });
    look.listing(heads, rows, &[])
}

/// How far a submitted run is.
pub(crate) fn submitted(state: &SubmissionState) -> String {
    match state {
        SubmissionState::WaitsForPlace => "waits for a place of its tenant".to_owned(),
        SubmissionState::Queued { labels } if labels.is_empty() => "waits for a worker".to_owned(),
        SubmissionState::Queued { labels } => {
            format!("waits for a worker with {}", labels.join(", "))
        }
        SubmissionState::Carried {
            worker,
            waits_for: None,
        } => format!("works on {worker}"),
        SubmissionState::Carried {
            worker,
            waits_for: Some(vendor),
        } => format!("works on {worker}, waits for {vendor}"),
        SubmissionState::Stopping => "is being stopped".to_owned(),
        SubmissionState::Ended { exit, failed } => {
            let exit = ExitReason::with_code(u8::try_from(*exit).unwrap_or(u8::MAX));
            let how = how(Some(exit), false);
            match failed {
                // Only the queue knows the budget of a tenant.
                Some(why) if exit == ExitReason::Budget => format!("{how}: {why}"),
                _ => how.to_owned(),
            }
        }
    }
}

/// Returns the id, the start, the mode, the findings, the disputes, the cost, the end and the target of a run.
pub(crate) fn cells(row: &RunRow) -> [String; 8] {
    let disputes = match row.open_disputes {
        // No dispute of this run is open, but a finding of this run has an open dispute from an earlier run.
        0 if row.exit == Some(ExitReason::DisputeOpen) => {
            format!("{} (earlier open)", row.disputes)
        }
        0 => row.disputes.to_string(),
        open => format!("{} ({open} open)", row.disputes),
    };
    let mode = match row.mode {
        Mode::Review => "review",
        Mode::Fix => "fix",
        Mode::Arbitrate => "arbitrate",
    };
    let mode = if row.fixed && row.mode == Mode::Review {
        format!("{mode}, fix")
    } else {
        mode.to_owned()
    };
    [
        row.run.short().to_owned(),
        local_time(row.started),
        mode,
        style::thousands(row.findings),
        disputes,
        style::cost(row.usd, row.unpriced_calls).unwrap_or_else(|| "-".to_owned()),
        ended(row),
        printable::line(&short_commits(&row.target)),
    ]
}

/// Cuts the ids of commits in a target, which a hook gives in full, to 12 digits.
fn short_commits(target: &str) -> String {
    let is_hex = |c: char| c.is_ascii_hexdigit();
    let mut short = String::new();
    for part in target.split_inclusive(|c| !is_hex(c)) {
        let digits = part.trim_end_matches(|c| !is_hex(c));
        match digits.len() {
            40 | 64 => short += &(digits[..12].to_owned() + &part[digits.len()..]),
            _ => short += part,
        }
    }
    short
}

pub(crate) fn find(
    globals: &Globals,
    text: &str,
) -> Result<(Workspace, Journal, RunId), CommandError> {
    let (workspace, journal) = open(globals)?;
    let run = journal.find_run(text)?;
    Ok((workspace, journal, run))
}

pub(crate) fn open(globals: &Globals) -> Result<(Workspace, Journal), CommandError> {
    let workspace = place::workspace(globals)?;
    let journal = journal(globals, &workspace)?;
    Ok((workspace, journal))
}

pub(crate) struct Recalled {
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) settings: Settings,
    pub(crate) plan: Plan,
    pub(crate) events: Vec<Event>,
    /// The route that the user chose for disputes, in this command or at the start of the run.
    pub(crate) chosen: Option<Route>,
    /// Contains the judges in the current settings if the plan of the run contains no judge. Otherwise, the list
    /// is empty.
    pub(crate) judges: Vec<Agent>,
}

/// The parameter `named` is the route that the user chose for disputes in the current command line.
pub(crate) fn recall(
    globals: &Globals,
    mut workspace: Workspace,
    journal: &Journal,
    run: &RunId,
    named: Option<Route>,
) -> Result<Recalled, CommandError> {
    refuse_pruned(journal, run)?;
    let events = journal.events(run)?;
    let plan = plan(&events, run)?;
    // If the coder edited `.glee` during the run, Glee reads the settings from the version that was recorded
    // before the edit.
    let steering = match (&plan.steered_by, view::tree_before_steering(&events)) {
        (Some(commit), _) => Some(workspace.control_files_at(commit)),
        (None, Some(tree)) => Some(workspace.control_files_in(&tree, &place::state_dir()?)),
        (None, None) => None,
    };
    let steering = steering.transpose()?;
    if let Some(request) = plan
        .pull_request
        .as_ref()
        .filter(|_| plan.mode == Mode::Review)
    {
        workspace.use_commit(&request.head);
    }
    let chosen = named.or(plan.on_dispute);
    let flags = chosen.map(|route| {
        (
            "review.on_dispute.default".to_owned(),
            route.as_str().into(),
        )
    });
    let (mut settings, _) = execute::settings(
        globals,
        flags.into_iter().collect(),
        &mut workspace,
        steering.as_ref(),
    )?;
    execute::leave_out_runners(globals, &mut settings, workspace.root())?;
    let planned = plan.agents.iter().any(|agent| agent.role == Role::Judge);
    let judges = if planned {
        Vec::new()
    } else {
        review::judges(&settings)?
    };
    let judges: Vec<Agent> = judges.into_iter().cloned().collect();
    if named == Some(Route::Judge) && !planned && judges.is_empty() {
        return Err(ReviewPlanError::NoJudge.into());
    }
    Ok(Recalled {
        workspace: Arc::new(workspace),
        settings,
        plan,
        events,
        chosen,
        judges,
    })
}

/// A run that goes on in its tree.
pub(crate) struct ContinuedRun {
    pub(crate) recalled: Recalled,
    pub(crate) tree: RunTree,
    pub(crate) reports: ReportsInTree,
}

/// Recalls a run that goes on. Fails if it was undone, or if its tree has changed since.
pub(crate) fn continue_run(
    globals: &Globals,
    workspace: Workspace,
    journal: &Journal,
    run: &RunId,
    named: Option<Route>,
) -> Result<ContinuedRun, CommandError> {
    let recalled = recall(globals, workspace, journal, run, named)?;
    let events = &recalled.events;
    refuse_undone(events, run)?;
    let home = Arc::clone(&recalled.workspace);
    let tree = RunTree::of_run(globals, home, journal, run, &recalled.plan, events)?;
    let reports = refuse_changed(&tree.workspace, &journal.folder_of(run), events, run)?;
    Ok(ContinuedRun {
        recalled,
        tree,
        reports,
    })
}

pub(crate) fn plan(events: &[Event], run: &RunId) -> Result<Plan, CommandError> {
    view::plan(events).ok_or_else(|| {
        CommandError::usage(format!("run {} was never started", run.short()))
            .hint("`glee runs` lists the runs")
    })
}

/// The reviews whose code this machine has, newest first.
pub(crate) fn of_this_machine(journal: &Journal) -> Result<Vec<RunRow>, CommandError> {
    let mut rows = Vec::new();
    for row in journal.runs(None)? {
        if !journal.is_elsewhere(&row.run)? {
            rows.push(row);
        }
    }
    Ok(rows)
}

/// Fails if this machine does not have the code of the run.
pub(crate) fn refuse_pruned(journal: &Journal, run: &RunId) -> Result<(), CommandError> {
    let events = journal.events(run)?;
    let Some(pruned) = events
        .iter()
        .find(|event| matches!(event.kind, EventKind::Run(RunEvent::RunPruned { .. })))
    else {
        return Ok(journal.require_here(run)?);
    };
    let day = pruned.at.to_zoned(jiff::tz::TimeZone::system()).date();
    let id = run.short();
    Err(CommandError::usage(format!("the stored code of run {id} was pruned on {day}")).hint(format!(
        "print the findings or the changes of the run: `glee runs show {id}`, `glee runs diff {id}`"
    )))
}

fn refuse_undone(events: &[Event], run: &RunId) -> Result<(), CommandError> {
    let last = events.iter().rev().find_map(|event| match event.kind {
        EventKind::Run(RunEvent::RunUndone { .. }) => Some(true),
        EventKind::Run(RunEvent::RunRedone { .. } | RunEvent::RunApplied { .. }) => Some(false),
        _ => None,
    });
    if last == Some(true) {
        let message = format!("run {} was undone, so it cannot be resumed", run.short());
        return Err(CommandError::usage(message).hint(
            "restore the changes of the run with `glee runs undo --redo`, or start a new run with `glee \
                   review`",
        ));
    }
    Ok(())
}

/// The reports that a run wrote into the reviewed tree. Each pair in the field `reports` contains a report and, if
/// the report replaced a file, the previous content of the file.
pub(crate) struct ReportsInTree {
    reports: Vec<(WrittenReport, Option<Vec<u8>>)>,
}

impl ReportsInTree {
    /// Restores the files that the reports replaced, so that Glee does not attribute the reports to the coder.
    /// Returns a copy of `outputs` that also contains the reports. Glee thus writes the reports again when the
    /// resumed run ends.
    pub(crate) fn put_aside(self, root: &Path, outputs: &Outputs) -> Result<Outputs, CommandError> {
        let mut outputs = outputs.clone();
        for (report, content) in self.reports {
            report
                .put_aside(root, content.as_deref())
                .map_err(|error| {
                    let path = printable::line(&report.path);
                    CommandError::caused(
                        format!("the report {path} is in the reviewed tree and cannot be replaced"),
                        error,
                    )
                    .hint("move the file out of the tree")
                })?;
            outputs.files.extend(
                report
                    .output(root)
                    .filter(|(_, path)| outputs.files.iter().all(|(_, it)| it != path)),
            );
        }
        Ok(outputs)
    }
}

/// Fails if the tree has changed since the run stopped. A resumed run must not mix the coder's changes with other
/// changes (reliability requirement N4). Reports that Glee wrote into the tree do not count as changes. The
/// parameter `folder` is the path of the run's folder.
fn refuse_changed(
    workspace: &Workspace,
    folder: &Path,
    events: &[Event],
    run: &RunId,
) -> Result<ReportsInTree, CommandError> {
    let mut reports = Vec::new();
    let Some(expected) = view::tree_left(events) else {
        return Ok(ReportsInTree { reports });
    };
    let state_dir = place::state_dir()?;
    let now = workspace.snapshot_of(run, &state_dir)?;
    let expected = TreeId(expected);
    if now == expected {
        return Ok(ReportsInTree { reports });
    }
    let mut changes = workspace.changes(&expected, &now, &state_dir)?;
    let root = workspace.root();
    let written: Vec<WrittenReport> = written::read(folder)
        .into_iter()
        .filter(|report| report.is_unchanged(root))
        .collect();
    changes.retain(
        |change| match written.iter().find(|report| report.path == change.file) {
            Some(report) => {
                reports.push((
                    report.clone(),
                    workspace.read_at(&expected, &change.file, &state_dir),
                ));
                false
            }
            None => true,
        },
    );
    if changes.is_empty() {
        return Ok(ReportsInTree { reports });
    }
    for change in changes.iter().filter_map(|change| change.diff.as_deref()) {
        stream::err(printable::block(change));
    }
    let files = changes
        .iter()
        .map(|change| printable::line(&change.file))
        .collect::<Vec<_>>()
        .join(", ");
    let id = run.short();
    let message = format!("the tree has changed since run {id} stopped: {files}");
    let hint = if workspace.has_home() {
        format!("forget the run with `glee runs drop {id}`, and start a new one with `glee review`")
    } else {
        "restore the tree as it was at the end of the run, or start a new run with `glee review`"
            .to_owned()
    };
    Err(CommandError::ending(ExitReason::DisputeOpen, message).hint(hint))
}

/// How a run ended, in a few words.
pub(crate) fn ended(row: &RunRow) -> String {
    let text = match row.exit {
        Some(ExitReason::Clean) if row.is_empty => "nothing to review",
        Some(ExitReason::AgentFailed) if row.unread => "not reviewed",
        exit => how(exit, row.works),
    };
    match (row.worktree, row.undone) {
        (Some(WorktreeState::NotApplied), _) => format!("{text}, not applied"),
        (Some(WorktreeState::Dropped), _) => format!("{text}, dropped"),
        (_, true) => format!("{text}, undone"),
        (_, false) => text.to_owned(),
    }
}

fn how(exit: Option<ExitReason>, works: bool) -> &'static str {
    match exit {
        None if works => "works",
        None => "interrupted",
        Some(ExitReason::Clean) => "clean",
        Some(ExitReason::FindingsOpen) => "findings open",
        Some(ExitReason::DisputeOpen) => "dispute open",
        Some(ExitReason::AgentFailed) => "agent failed",
        Some(ExitReason::Budget) => "over budget",
        Some(ExitReason::Limited) => "limited",
        Some(ExitReason::ReadOnlyViolation) => "files modified",
        Some(ExitReason::Signal(_)) => "stopped",
        Some(
            ExitReason::Usage
            | ExitReason::Locked
            | ExitReason::History
            | ExitReason::Untrusted
            | ExitReason::StillRunning,
        ) => "failed",
    }
}

pub(crate) fn journal(globals: &Globals, workspace: &Workspace) -> Result<Journal, CommandError> {
    history::open_read(globals, workspace)?.ok_or_else(|| {
        CommandError::usage("this repository has no runs yet")
            .hint("start a run with `glee review`")
    })
}

#[cfg(test)]
mod tests {
    use super::short_commits;

    #[test]
    fn only_whole_ids_of_commits_are_cut() {
        let one = "0123456789abcdef0123456789abcdef01234567";
        let other = "f".repeat(40);
        assert_eq!(
            short_commits(&format!("changes {one}..{other}, src/é")),
            "changes 0123456789ab..ffffffffffff, src/é"
        );
        assert_eq!(short_commits("abcdef1234567 src"), "abcdef1234567 src");
    }
}
