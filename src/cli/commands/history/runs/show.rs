//! `glee runs show`: prints the report or the log of a recorded run.

use crate::cli::commands::history::runs::lookup::{open, plan};
use crate::cli::context::{
    CommandError, CommandResult, Format, Globals, Outputs, execute, json_line, place, pretty,
    print, stream,
};
use crate::cli::report::filter::ReportFilter;
use crate::cli::report::stage;
use glee_model::domain::event::{ConsensusEvent, Event, EventKind, WatchEvent};
use glee_model::domain::{ExitReason, RunId};
use glee_protocol::text::printable;
use glee_store::history::store::Journal;
use glee_system::log as run_log;
use glee_workflows::consensus;
use glee_workflows::review::recorded::view::{self, Recorded};
use glee_workspace::root::Workspace;

/// Prints the report of a recorded run. The parameter `text` is the id of the run, or the value of the option
/// `--id` of a stage or checkpoint.
pub(crate) fn run(
    globals: &Globals,
    text: &str,
    outputs: &Outputs,
    filter: &ReportFilter,
) -> CommandResult {
    let globals = &globals.silent_if(outputs.is_silent());
    let (workspace, journal) = open(globals)?;
    match journal.find_run(text) {
        Ok(run) => {
            outputs.check_filter(&filter.flags())?;
            review(globals, &workspace, &journal, &run, outputs, filter)
        }
        Err(unknown) => {
            let runs = others(&journal, text)?;
            if runs.is_empty() {
                return Err(unknown.into());
            }
            show_others(globals, &journal, &runs, outputs, filter)
        }
    }
}

fn review(
    globals: &Globals,
    workspace: &Workspace,
    journal: &Journal,
    run: &RunId,
    outputs: &Outputs,
    filter: &ReportFilter,
) -> CommandResult {
    let events = journal.events(run)?;
    if outputs.stdout == Format::Jsonl {
        print_events(&events)?;
        if outputs.files.is_empty() && !outputs.is_opened {
            return Ok(ExitReason::Clean);
        }
    }
    let Recorded {
        outcome, reviewed, ..
    } = view::recorded(workspace, &place::state_dir()?, journal, run)?;
    let fix = execute::fix_command(globals, &plan(&events, run)?);
    let report = execute::reports::RunReport {
        outcome: &outcome,
        reviewed: &reviewed,
        events: &events,
        fix: &fix,
        only: &[],
        filter: Some(filter),
        was_asked: false,
    };
    report.write(globals, outputs, workspace.root())?;
    Ok(ExitReason::Clean)
}

fn print_events(events: &[Event]) -> std::io::Result<()> {
    events
        .iter()
        .try_for_each(|event| stream::out(json_line(event)))
}

/// Finds the stages and checkpoints that were run with `text` as the value of the option `--id`, and returns the
/// last run of each. If no stage or checkpoint was run with this value, returns the run whose id starts or ends
/// with `text`.
fn others(journal: &Journal, text: &str) -> Result<Vec<RunId>, CommandError> {
    let mut last: Vec<(String, RunId)> = Vec::new();
    for row in journal.stages()?.into_iter().filter(|row| row.id == text) {
        last.retain(|(stage, _)| *stage != row.stage);
        last.push((row.stage, row.run));
    }
    if last.is_empty() {
        return Ok(journal.find_any_run(text).into_iter().collect());
    }
    Ok(last.into_iter().map(|(_, run)| run).collect())
}

/// Prints stages and checkpoints. A watch or an audit can be printed only as events, in the format `jsonl`.
fn show_others(
    globals: &Globals,
    journal: &Journal,
    runs: &[RunId],
    outputs: &Outputs,
    filter: &ReportFilter,
) -> CommandResult {
    let events: Vec<Vec<Event>> = runs
        .iter()
        .map(|run| journal.events(run))
        .collect::<Result<_, _>>()?;
    let first = events
        .first()
        .and_then(|events| events.first())
        .map(|event| &event.kind);
    let is_stage = matches!(
        first,
        Some(EventKind::Consensus(ConsensusEvent::StageStarted { .. }))
    );
    let (kind, hint) = match first {
        _ if is_stage => (
            "a stage without findings",
            "use the format `text`, `json` or `jsonl`",
        ),
        Some(EventKind::Watch(WatchEvent::WatchStarted { .. })) => (
            "a watch",
            "list the issues with `glee watch issues`, or use the format `jsonl`",
        ),
        _ => (
            "an audit of rulings",
            "print the counts with `glee stats`, or use the format `jsonl`",
        ),
    };
    match outputs.stdout {
        _ if *outputs != Outputs::only(outputs.stdout) || !filter.flags().is_empty() => {}
        Format::Jsonl => {
            events.iter().try_for_each(|events| print_events(events))?;
            return Ok(ExitReason::Clean);
        }
        Format::Json | Format::Text if is_stage => {
            let outcomes = runs.iter().map(|run| consensus::recorded(journal, run));
            return print(match outcomes.collect::<Result<Vec<_>, _>>()?.as_slice() {
                several if outputs.stdout == Format::Text => several
                    .iter()
                    .map(|outcome| stage::text(globals.style(), outcome))
                    .collect(),
                [only] => pretty(only),
                several => pretty(several),
            });
        }
        _ => {}
    }
    let names: Vec<&str> = runs.iter().map(RunId::short).collect();
    Err(CommandError::usage(format!("run {} is {kind}", names.join(", "))).hint(hint))
}

pub(crate) fn log(globals: &Globals, text: &str) -> CommandResult {
    let (_, journal) = open(globals)?;
    let run = journal.find_any_run(text)?;
    let path = journal.folder_of(&run).join(run_log::FILE);
    let text = std::fs::read(&path).map_err(|error| {
        CommandError::usage(format!("the log of run {} cannot be read: {}: {error}", run.short(), path.display()))
            .hint("choose a newer run: early versions of Glee wrote no log, and `glee runs prune` deletes logs")
    })?;
    print(printable::block(&String::from_utf8_lossy(&text)))
}
