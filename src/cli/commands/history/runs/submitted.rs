//! Runs of workers, which `glee runs wait` and `glee runs stop` find in the queue of the server.

use std::thread;
use std::time::{Duration, Instant};

use super::{lookup, show};
use crate::cli::context::{CommandError, CommandResult, Globals, Outputs, history, server};
use crate::cli::report::filter::ReportFilter;
use glee_model::domain::{ExitReason, RunId};
use glee_protocol::text::printable;
use glee_store::history::queue::Queue;
use glee_store::history::submission::{SubmissionState, SubmittedRun};

/// How often the server is asked about a run of another machine.
pub(super) const ELSEWHERE: Duration = Duration::from_secs(1);
/// The time that a run gets to end its agents.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// A submitted run, and the queue that it is in.
type FoundRun = (Box<dyn Queue>, RunId);

/// Returns `None` if no run with this id was submitted.
pub(crate) fn find(id: &str, globals: &Globals) -> Result<Option<FoundRun>, CommandError> {
    let is_id = id.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
    if !is_id || globals.history.is_some() {
        return Ok(None);
    }
    let Some(server) = server::configured(globals)? else {
        return Ok(None);
    };
    let mut queue = server.queue()?;
    let mut found = queue.find(id)?.into_iter();
    match (found.next(), found.next()) {
        (None, _) => Ok(None),
        (Some(one), None) => Ok(Some((queue, one.run))),
        (Some(_), Some(_)) => Err(CommandError::usage(format!(
            "several submitted runs match `{id}`"
        ))
        .hint("give more digits of the id")),
    }
}

/// Waits for the end of the run, and prints its report.
pub(crate) fn wait(
    globals: &Globals,
    queue: &mut dyn Queue,
    run: &RunId,
    timeout: Option<Duration>,
    outputs: &Outputs,
    filter: &ReportFilter,
) -> CommandResult {
    let began = Instant::now();
    let mut told = None;
    let (repository, exit, failed) = loop {
        match queue.find(&run.0) {
            Ok(found) => match found.into_iter().next() {
                Some(SubmittedRun {
                    repository,
                    state: SubmissionState::Ended { exit, failed },
                    ..
                }) => break (repository, exit, failed),
                Some(found) => {
                    let words = lookup::submitted(&found.state);
                    if told.as_ref() != Some(&words) {
                        globals.say(&words);
                        told = Some(words);
                    }
                }
                None => return Err(CommandError::usage("the run is gone from the server")),
            },
            Err(error) if error.is_passing() => {}
            Err(error) => return Err(error.into()),
        }
        if timeout.is_some_and(|most| began.elapsed() >= most) {
            return Err(still_running(run));
        }
        thread::sleep(ELSEWHERE);
    };
    let exit = ExitReason::with_code(u8::try_from(exit).unwrap_or(u8::MAX));
    let journal = history::open_read_here(globals)?;
    let length = journal.map(|journal| journal.length(run)).transpose()?;
    if length.is_some_and(|length| length > 0) {
        show::run(globals, &run.0, outputs, filter)?;
    } else if failed.is_none() {
        let id = run.short();
        let repository = printable::line(&repository);
        globals.say(format!(
            "note: run {id} is of the repository `{repository}`; `glee runs show {id}` prints its report there"
        ));
    }
    match failed {
        None => Ok(exit),
        Some(failed) => {
            let message = format!("run {} did not come to its end: {failed}", run.short());
            Err(CommandError::ending(exit, message))
        }
    }
}

pub(crate) fn stop(globals: &Globals, queue: &mut dyn Queue, run: &RunId) -> CommandResult {
    let id = run.short();
    if !queue.stop(run)? {
        return Err(CommandError::usage(format!("run {id} has ended"))
            .hint(format!("print its report with `glee runs show {id}`")));
    }
    let began = Instant::now();
    loop {
        let found = queue.find(&run.0)?;
        let is_over = found
            .first()
            .is_none_or(|run| matches!(run.state, SubmissionState::Ended { .. }));
        if is_over {
            globals.say(format!("run {id} has been stopped"));
            return Ok(ExitReason::Clean);
        }
        if began.elapsed() >= PATIENCE {
            globals.say(format!(
                "run {id} ends when its worker renews its lease; `glee runs --all` shows it"
            ));
            return Ok(ExitReason::Clean);
        }
        thread::sleep(ELSEWHERE);
    }
}

pub(super) fn still_running(run: &RunId) -> CommandError {
    let id = run.short();
    let message = format!("run {id} still works");
    CommandError::ending(ExitReason::StillRunning, message)
        .hint(format!("wait longer, or end it with `glee runs stop {id}`"))
}
