//! `glee runs wait` and `glee runs stop`: wait for a run of another process, and end it.

use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::submitted::{self, ELSEWHERE, PATIENCE, still_running};
use super::{lookup, show};
use crate::cli::context::{CommandError, CommandResult, Globals, ReportOutputs, RunArg, duration};
use crate::cli::report::filter::ReportFilter;
use glee_model::domain::{ExitReason, RunId};
use glee_store::history::store::Journal;
use glee_workflows::review::recorded::view;

/// Wait until a run has ended, print its report, and exit as the run did
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  glee runs wait                       wait for the newest run
  glee runs wait 5f3a91c2 --timeout 10m --format agent

Exit codes: those of the run; 124 if the run still works when the time is over; 128+n if a signal ended the run, 137 if \
its process was killed.")]
pub(crate) struct Args {
    #[command(flatten)]
    run: RunArg,
    /// The maximum time to wait
    #[arg(long, value_name = "TIME", value_parser = duration)]
    timeout: Option<Duration>,
    #[command(flatten)]
    report: ReportOutputs,
    #[command(flatten)]
    filter: ReportFilter,
}

/// End a run that works, as Ctrl-C does: its agents end, and the run can be resumed
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  glee runs stop 5f3a91c2
  glee runs stop && glee runs resume")]
pub(crate) struct StopArgs {
    #[command(flatten)]
    run: RunArg,
}

/// How often the run is looked at.
const STEP: Duration = Duration::from_millis(50);

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    let outputs = args.report.check(globals)?;
    outputs.check_filter(&args.filter.flags())?;
    if let Some((mut queue, run)) = submitted::find(&args.run.run, globals)? {
        let queue = queue.as_mut();
        return submitted::wait(globals, queue, &run, args.timeout, &outputs, &args.filter);
    }
    let (_, mut journal, run) = lookup::find(globals, &args.run.run)?;
    let is_elsewhere = journal.is_elsewhere(&run)?;
    let began = Instant::now();
    let mut length = 0;
    let ended = loop {
        // Asked first: a process that ends has recorded everything.
        let works = journal.is_held(&run)?;
        if is_elsewhere {
            journal.catch_up()?;
        }
        let now = journal.length(&run)?;
        if now > length || !works {
            length = now;
            let ended = view::exit_now(&journal.events(&run)?);
            if ended.is_some() || !works {
                break ended;
            }
        }
        if args.timeout.is_some_and(|most| began.elapsed() >= most) {
            return Err(still_running(&run));
        }
        std::thread::sleep(if is_elsewhere { ELSEWHERE } else { STEP });
    };
    show::run(globals, &run.0, &outputs, &args.filter)?;
    match (ended, journal.left(&run)) {
        (Some(exit), _) => Ok(exit),
        (None, Some(exit)) => Err(interrupted(&run, exit, "was interrupted")),
        (None, None) => {
            let killed = ExitReason::Signal(9);
            Err(interrupted(&run, killed, "was killed before its end"))
        }
    }
}

fn interrupted(run: &RunId, exit: ExitReason, how: &str) -> CommandError {
    let id = run.short();
    CommandError::ending(exit, format!("run {id} {how}")).hint(format!(
        "go on with `glee runs resume {id}`; answers that were given are kept"
    ))
}

pub(crate) fn stop(args: &StopArgs, globals: &Globals) -> CommandResult {
    if let Some((mut queue, run)) = submitted::find(&args.run.run, globals)? {
        return submitted::stop(globals, queue.as_mut(), &run);
    }
    let (_, journal, run) = lookup::find(globals, &args.run.run)?;
    journal.require_here(&run)?;
    let id = run.short();
    let Some(process) = journal.process_of(&run)? else {
        return Err(not_working(&journal, &run)?);
    };
    if process <= 0 {
        let message = format!("the process of run {id} cannot be seen from here");
        return Err(
            CommandError::usage(message).hint("stop the run in the container in which it works")
        );
    }
    kill(Pid::from_raw(process), Signal::SIGTERM).map_err(|error| {
        CommandError::caused(
            format!("cannot stop process {process} of run {id}"),
            error.into(),
        )
    })?;
    let began = Instant::now();
    while journal.is_held(&run)? {
        if began.elapsed() >= PATIENCE {
            return Err(CommandError::usage(format!(
                "process {process} of run {id} does not end"
            ))
            .hint(format!(
                "kill it with `kill -9 {process}`; its agents end with it, and the run can be resumed"
            )));
        }
        std::thread::sleep(STEP);
    }
    globals.say(format!(
        "run {id} has been stopped; go on with `glee runs resume {id}`"
    ));
    Ok(ExitReason::Clean)
}

fn not_working(journal: &Journal, run: &RunId) -> Result<CommandError, CommandError> {
    let id = run.short();
    Ok(if view::is_ended(&journal.events(run)?) {
        CommandError::usage(format!("run {id} has ended"))
            .hint(format!("print its report with `glee runs show {id}`"))
    } else {
        CommandError::usage(format!(
            "no process works on run {id}, which was interrupted"
        ))
        .hint(format!("go on with `glee runs resume {id}`"))
    })
}
