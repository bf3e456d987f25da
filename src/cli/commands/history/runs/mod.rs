//! `glee runs`: list runs; show, diff, undo, resume, prune or decide one again.

pub(crate) mod lookup;
mod prune;
mod replay;
mod undo;

use std::sync::Arc;

use clap::Subcommand;

use crate::cli::commands::history::runs::lookup::{Recalled, find, journal, programs, recall, table};
use crate::cli::context::execute::{self, CommandContext};
use crate::cli::context::globals::Globals;
use crate::cli::context::words::{FORMATS, ROUTES, one_of};
use crate::cli::context::{history, place};
use crate::cli::error::{CommandError, CommandResult};
use crate::cli::report::Format;
use crate::cli::report::json::pretty;
use crate::cli::ui::stream;
use crate::domain::event::{EventKind, RunEvent};
use crate::domain::{ExitReason, Route, RunId};
use crate::protocol::text::printable;
use crate::system::log;
use crate::workflows::review;
use crate::workflows::review::recorded::view::{self, Recorded};
use crate::workspace::TreeId;
use crate::workspace::root::Workspace;

/// Arguments of `glee runs`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  glee runs                  the newest runs of this repository
  glee runs show last        the report of the last run again
  glee runs diff 5f3a91c2    what its coder changed
  glee runs undo 5f3a91c2    take back what its coder did, file by file
  glee runs undo --redo      bring back what that undo replaced
  glee runs resume           carry on the last run that was interrupted or waited for a person
  glee runs resume --on-dispute judge   let the judge rule on what waits
  glee runs replay           decide the last run again from its record, without asking anybody")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// List only the newest N
    #[arg(long, value_name = "N", default_value_t = 20)]
    recent: u32,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show the report of a run again
    Show {
        /// A run: its id, the first or last digits of it, or `last`
        #[arg(value_name = "RUN", default_value = "last")]
        run: String,
        /// The form of the report
        #[arg(long, value_parser = one_of(FORMATS), value_name = "FORMAT", default_value = "text")]
        format: Format,
        /// Print its log instead: every call with its process, exit, bytes, tokens and time. Also of stages and watches
        #[arg(long, conflicts_with = "format")]
        log: bool,
    },
    /// Show what the coder changed in a run
    Diff {
        /// A run: its id, the first or last digits of it, or `last`
        #[arg(value_name = "RUN", default_value = "last")]
        run: String,
    },
    /// Take back what the coder of a run did, file by file
    Undo(undo::Args),
    /// Carry on a run that was interrupted, or whose disputes wait or were settled meanwhile
    Resume {
        /// A run: its id, the first or last digits of it, or `last`
        #[arg(value_name = "RUN", default_value = "last")]
        run: String,
        /// Settle every dispute that waits this way, without asking for it [default: what the run was started with]
        #[arg(long, value_parser = one_of(ROUTES), value_name = "ROUTE")]
        on_dispute: Option<Route>,
        /// The form of the report
        #[arg(long, value_parser = one_of(FORMATS), value_name = "FORMAT", default_value = "text")]
        format: Format,
    },
    /// Decide a recorded run again, under other rules if you like, without asking anybody
    Replay(replay::Args),
    /// Free the disk space of old runs; what was found and ruled stays
    Prune(prune::Args),
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    match &args.command {
        None => list(args, globals),
        Some(Command::Show { run, log: true, .. }) => show_log(globals, run),
        Some(Command::Show { run, format, .. }) => show(globals, run, *format),
        Some(Command::Diff { run }) => diff(globals, run),
        Some(Command::Undo(args)) => undo::run(args, globals),
        Some(Command::Resume { run, on_dispute, format }) => resume(globals, run, *on_dispute, *format),
        Some(Command::Replay(args)) => replay::run(args, globals),
        Some(Command::Prune(args)) => prune::run(args, globals),
    }
}

fn list(args: &Args, globals: &Globals) -> CommandResult {
    let workspace = place::workspace(globals)?;
    let rows = match history::open_read(globals, &workspace)? {
        Some(journal) => journal.runs(Some(args.recent))?,
        None => Vec::new(),
    };
    if args.json {
        stream::out(&pretty(&rows))?;
    } else if rows.is_empty() {
        stream::out("No runs yet. Start one with `glee review`.\n")?;
    } else {
        stream::out(&table(&rows))?;
    }
    Ok(ExitReason::Clean)
}

fn show(globals: &Globals, text: &str, format: Format) -> CommandResult {
    let workspace = place::workspace(globals)?;
    let (journal, run) = find(globals, &workspace, text)?;
    if format == Format::Jsonl {
        for event in journal.events(&run)? {
            let line = serde_json::to_string(&event)?;
            stream::out(&format!("{}\n", printable::json(line)))?;
        }
    } else {
        let recorded = view::recorded(&workspace, &place::state_dir()?, &journal, &run)?;
        execute::report(globals, format, &recorded.outcome, &recorded.reviewed, "glee review --fix")?;
    }
    Ok(ExitReason::Clean)
}

fn show_log(globals: &Globals, text: &str) -> CommandResult {
    let journal = journal(globals, &place::workspace(globals)?)?;
    let run = journal.find_any_run(text)?;
    let path = journal.folder_of(&run).join(log::FILE);
    let text = std::fs::read(&path).map_err(|error| {
        CommandError::usage(format!("the log of run {} cannot be read: {}: {error}", run.short(), path.display()))
            .hint("`glee runs prune` removes it with the raw answers, and older versions kept none")
    })?;
    stream::out(&printable::block(&String::from_utf8_lossy(&text)))?;
    Ok(ExitReason::Clean)
}

fn diff(globals: &Globals, text: &str) -> CommandResult {
    let workspace = place::workspace(globals)?;
    let (journal, run) = find(globals, &workspace, text)?;
    let Recorded { outcome, .. } = view::recorded(&workspace, &place::state_dir()?, &journal, &run)?;
    if outcome.changes.is_empty() {
        stream::err(&format!("Run {} changed no file.\n", run.short()));
    }
    for change in &outcome.changes {
        match &change.diff {
            Some(diff) => stream::out(&printable::block(diff))?,
            None => stream::out(&format!(
                "{}: +{} -{} (no text, or too large to keep)\n",
                printable::line(&change.file),
                change.added,
                change.removed
            ))?,
        }
    }
    Ok(ExitReason::Clean)
}

fn resume(globals: &Globals, text: &str, named: Option<Route>, format: Format) -> CommandResult {
    let workspace = place::workspace(globals)?;
    let (journal, run) = find(globals, &workspace, text)?;
    let recalled = recall(globals, workspace, &journal, &run, named)?;
    drop(journal);
    refuse_undone(&recalled.events, &run)?;
    refuse_changed(&recalled.workspace, &recalled.events, &run)?;
    let Recalled { workspace, settings, plan, chosen, judges, .. } = recalled;
    let agents = programs(&plan, &judges, &workspace)?;
    let sitting = CommandContext { format, mode: plan.mode, chosen, globals };
    execute::sit(&sitting, Arc::new(workspace), settings, agents, &run.clone(), |setup, decider| {
        review::resume(setup, decider, run, named, judges)
    })
}

fn refuse_undone(events: &[crate::domain::event::Event], run: &RunId) -> Result<(), CommandError> {
    let last = events.iter().rev().find_map(|event| match event.kind {
        EventKind::Run(RunEvent::RunUndone { .. }) => Some(true),
        EventKind::Run(RunEvent::RunRedone { .. }) => Some(false),
        _ => None,
    });
    if last == Some(true) {
        let message = format!("run {} was undone, there is nothing to carry on", run.short());
        return Err(CommandError::usage(message)
            .hint("bring it back with `glee runs undo --redo`, or start a new one with `glee review`"));
    }
    Ok(())
}

/// A coder goes on only on the tree that it left (N4): anything else would mix its work with somebody else's.
fn refuse_changed(
    workspace: &Workspace,
    events: &[crate::domain::event::Event],
    run: &RunId,
) -> Result<(), CommandError> {
    let Some(expected) = view::tree_left(events) else { return Ok(()) };
    let state_dir = place::state_dir()?;
    let now = workspace.snapshot_of(run, &state_dir)?;
    let expected = TreeId(expected);
    if now == expected {
        return Ok(());
    }
    let changes = workspace.changes(&expected, &now, &state_dir)?;
    for change in changes.iter().filter_map(|change| change.diff.as_deref()) {
        stream::err(&printable::block(change));
    }
    let files = changes.iter().map(|change| printable::line(&change.file)).collect::<Vec<_>>().join(", ");
    let message = format!("the tree has changed since run {} was left: {files}", run.short());
    Err(CommandError::new(ExitReason::DisputeOpen, anyhow::Error::msg(message))
        .hint("bring it back to where the run left it, or start a new run with `glee review`"))
}
