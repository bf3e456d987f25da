//! `glee runs`: lists, shows, compares, undoes, applies, resumes, waits for, stops, replays and prunes runs.

mod apply;
mod calls;
mod chosen;
pub(crate) mod lookup;
mod prune;
mod replay;
pub(crate) mod show;
pub(crate) mod submitted;
mod undo;
mod wait;

use std::sync::Arc;
use std::time::Duration;

use clap::Subcommand;
use jiff::Timestamp;
use serde_json::json;

use crate::cli::CommandError;
use crate::cli::commands::history::runs::lookup::{ContinuedRun, Recalled, find, table};
use crate::cli::commands::work::findings::fix;
use crate::cli::context::{
    CommandContext, CommandResult, Globals, JsonFlag, Outputs, ROUTES, ReportOutputs, RunArg,
    execute, history, number, one_of, place, pretty, print, server, stream,
};
use crate::cli::report::filter::ReportFilter;
use crate::cli::style;
use glee_model::domain::{ExitReason, Route};
use glee_protocol::text::printable;
use glee_store::history::queries::rows::RunRow;
use glee_workflows::review;
use glee_workflows::review::recorded::view::{self, Recorded};

/// List, show, undo, resume, wait for and stop runs
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  glee runs                  list the newest runs of this repository
  glee runs --all            list those of all repositories on the server
  glee runs show last        print the report of the last run again
  glee runs show --open --severity must,high   print only its open findings of these severities
  glee runs show --calls     print every prompt and raw answer of the last run
  glee runs diff 5f3a91c2    print the changes of the run's coder
  glee runs undo 5f3a91c2    undo the changes of the run's coder
  glee runs undo F12 src/    undo those in the files of F12 and below src, of the last run that changed something
  glee runs undo --redo      restore the changes that the last undo reverted
  glee runs apply            bring the changes of the last run's worktree into this tree
  glee runs drop             forget them
  glee runs resume           resume the last run if it was interrupted or waits for a person
  glee runs resume --on-dispute judge   have the judge rule on open disputes
  glee runs wait last        wait for a run in the background, and print its report
  glee runs stop last        end a run that works; it can be resumed
  glee runs resume --fix     have the coder fix the findings of the last run
  glee runs replay           decide the last run again from its record, without calls")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    list: RunFilters,
}

#[derive(clap::Args)]
struct RunFilters {
    /// List only the N newest runs
    #[arg(long, value_name = "N", default_value_t = 20, allow_negative_numbers = true, value_parser = number::<u32>(0, u64::MAX))]
    recent: u32,
    /// List the runs of all repositories on the server that its role sees
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    output: JsonFlag,
}

#[derive(Subcommand)]
enum Command {
    /// List the newest runs (the default command)
    List(RunFilters),
    /// Print the report of a run again; RUN can also be the id of a stage or checkpoint
    #[command(after_help = "\
Examples:
  glee runs show                          the report of the newest run
  glee runs show --format sarif=a.sarif   the same for an editor
  glee runs show --format html=a.html     one page that can be mailed")]
    Show {
        #[command(flatten)]
        run: RunArg,
        #[command(flatten)]
        report: ReportOutputs,
        #[command(flatten)]
        filter: ReportFilter,
        /// Print the log of the run instead of the report: every call with its process, exit status, bytes, tokens
        /// and time
        #[arg(long, conflicts_with_all = ["format", "json"])]
        log: bool,
        /// Instead of the report, print the prompts and raw answers of all calls, of one call or of one agent
        #[arg(long, value_name = "CALL", num_args = 0..=1, conflicts_with_all = ["format", "log"])]
        calls: Option<Option<String>>,
    },
    /// Print the changes that the coder made in a run
    Diff {
        #[command(flatten)]
        run: RunArg,
        #[command(flatten)]
        output: JsonFlag,
    },
    Undo(undo::Args),
    Apply(apply::Args),
    Drop(apply::DropArgs),
    /// Resume a run that was interrupted or that waits for a person
    Resume {
        #[command(flatten)]
        run: RunArg,
        /// How to settle every open dispute without asking the user [default: the choice of the run]
        #[arg(long, value_parser = one_of(ROUTES), value_name = "ROUTE")]
        on_dispute: Option<Route>,
        /// Hand the open mandatory findings of an ended run to the coder, as `glee fix` does
        #[arg(long, conflicts_with = "on_dispute")]
        fix: bool,
        /// Wait until the limits end that the agents of the run have reached
        #[arg(long)]
        when_reset: bool,
        #[command(flatten)]
        report: ReportOutputs,
    },
    Wait(wait::Args),
    Stop(wait::StopArgs),
    Replay(replay::Args),
    Prune(prune::Args),
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    match &args.command {
        None => list(&args.list, globals),
        Some(Command::List(args)) => list(args, globals),
        Some(Command::Show { run, log: true, .. }) => show::log(globals, &run.run),
        Some(Command::Show {
            run,
            calls: Some(only),
            report,
            ..
        }) => calls::run(globals, &run.run, only.as_deref(), report.json),
        Some(Command::Show {
            run,
            report,
            filter,
            ..
        }) => show::run(globals, &run.run, &report.check(globals)?, filter),
        Some(Command::Diff { run, output }) => diff(globals, &run.run, output),
        Some(Command::Undo(args)) => undo::run(args, globals),
        Some(Command::Apply(args)) => apply::run(args, globals),
        Some(Command::Drop(args)) => apply::forget(args, globals),
        Some(Command::Resume {
            run,
            on_dispute,
            fix,
            when_reset,
            report,
        }) => {
            let outputs = report.check(globals)?;
            let globals = &globals.silent_if(outputs.is_silent());
            if *when_reset {
                wait_for_reset(globals, &run.run)?;
            }
            if *fix {
                fix::run_all(globals, &run.run, &outputs)
            } else {
                resume(globals, &run.run, *on_dispute, &outputs)
            }
        }
        Some(Command::Wait(args)) => wait::run(args, globals),
        Some(Command::Stop(args)) => wait::stop(args, globals),
        Some(Command::Replay(args)) => replay::run(args, globals),
        Some(Command::Prune(args)) => prune::run(args, globals),
    }
}

fn list(args: &RunFilters, globals: &Globals) -> CommandResult {
    if args.all {
        let runs = server::required(globals)?.runs(args.recent)?;
        return args.output.print(&runs, || match runs.as_slice() {
            [] => "No runs yet.\n".to_owned(),
            runs => lookup::logged(runs, globals.table_style()),
        });
    }
    let workspace = place::workspace(globals)?;
    let (rows, stages) = match history::open_read(globals, &workspace)? {
        Some(journal) => (journal.runs(Some(args.recent))?, journal.stages()?.len()),
        None => (Vec::new(), 0),
    };
    args.output.print(&rows, || match rows.as_slice() {
        [] if stages > 0 => {
            "No reviews yet. `glee consensus` lists the stages and checkpoints.\n".to_owned()
        }
        [] => "No runs yet. Start a run with `glee review`.\n".to_owned(),
        rows => {
            let style = globals.table_style();
            let is_part = |row: &RunRow| row.usd.is_some() && row.unpriced_calls > 0;
            let note = if rows.iter().any(is_part) {
                "`+`: and calls whose cost is unknown\n"
            } else {
                ""
            };
            table(rows, style) + &style::fit(note, style.width)
        }
    })
}

fn diff(globals: &Globals, text: &str, output: &JsonFlag) -> CommandResult {
    let (workspace, journal, run) = find(globals, text)?;
    let Recorded { outcome, .. } =
        view::recorded(&workspace, &place::state_dir()?, &journal, &run)?;
    if output.json {
        let mut form = json!({ "schema": 1, "run": run, "changes": outcome.changes });
        if let Some(worktree) = &outcome.worktree {
            form["worktree"] = json!(worktree);
        }
        return print(pretty(&form));
    }
    if outcome.changes.is_empty() {
        stream::err(format!("Run {} changed no file.\n", run.short()));
    }
    for change in &outcome.changes {
        match &change.diff {
            Some(diff) => stream::out(printable::block(diff))?,
            None => {
                stream::out(format!(
                    "{}: +{} -{} (not text, or too large to keep)\n",
                    printable::line(&change.file),
                    change.added,
                    change.removed
                ))?;
            }
        }
    }
    Ok(ExitReason::Clean)
}

/// Waits until every limit ends that an agent of the run reported with its end.
fn wait_for_reset(globals: &Globals, text: &str) -> Result<(), CommandError> {
    // A computer that sleeps stops the clock of a long wait, so the wait looks at the time of day.
    const STEP: Duration = Duration::from_secs(20);
    let (workspace, journal, run) = find(globals, text)?;
    let Recorded { outcome, .. } =
        view::recorded(&workspace, &place::state_dir()?, &journal, &run)?;
    let resets = outcome
        .failures
        .iter()
        .filter_map(|failure| failure.cause?.reset());
    let Some(reset) = resets.max() else {
        let message = format!(
            "run {} has reached no limit whose end is known",
            run.short()
        );
        return Err(CommandError::usage(message).hint(format!(
            "resume it now with `glee runs resume {}`",
            run.short()
        )));
    };
    let left = || Duration::try_from(reset.duration_since(Timestamp::now())).ok();
    if left().is_some() {
        globals.say(format!(
            "run {} is resumed at {}; Ctrl-C ends the wait, and nothing is lost",
            run.short(),
            style::moment(reset)
        ));
    }
    while let Some(left) = left() {
        std::thread::sleep(left.min(STEP));
    }
    Ok(())
}

fn resume(globals: &Globals, text: &str, named: Option<Route>, outputs: &Outputs) -> CommandResult {
    let (workspace, journal, run) = find(globals, text)?;
    let ContinuedRun {
        recalled,
        tree,
        reports,
    } = lookup::continue_run(globals, workspace, &journal, &run, named)?;
    drop(journal);
    let Recalled {
        settings,
        plan,
        chosen,
        judges,
        ..
    } = recalled;
    let workspace = Arc::clone(&tree.workspace);
    let agents = execute::programs_of(&plan, &judges, &workspace)?;
    let outputs = &reports.put_aside(workspace.root(), outputs)?;
    let context = CommandContext {
        outputs,
        mode: plan.mode,
        chosen,
        globals,
        findings: &[],
        filter: None,
        subject: None,
    };
    let fix = execute::fix_command(globals, &plan);
    let exit = execute::review(
        &context,
        workspace,
        settings,
        agents,
        &run,
        &fix,
        |setup, resolver| review::resume(setup, resolver, run.clone(), named, judges),
    );
    tree.leave(globals, &run);
    exit
}
