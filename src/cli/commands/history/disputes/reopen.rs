//! `glee disputes reopen`: a ruling no longer binds, and its dispute waits again.

use crate::cli::context::globals::Globals;
use crate::cli::context::{history, place};
use crate::cli::error::CommandResult;
use crate::cli::ui::stream;
use crate::config::files::rulings;
use crate::domain::{DisputeId, DisputeNumber, ExitReason};
use crate::history::JournalError;

/// Arguments of `glee disputes reopen`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The rulings that were given stay in the record.

Example: glee disputes reopen 7 --reason 'the caller passes user input now'")]
pub(crate) struct Args {
    /// The dispute's number
    number: u64,
    /// Why
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    reason: String,
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    let number = DisputeNumber(args.number);
    // Looked at first, so that a wrong number makes no history where there is none.
    let record = match history::read_here(globals, |journal| journal.dispute(number))? {
        Some((_, Some(damage))) => return Err(damage),
        Some((Some(record), None)) => record,
        Some((None, None)) | None => return Err(JournalError::UnknownDispute(number).into()),
    };
    history::open_here(globals)?.reopen(number, args.reason.clone())?;
    stream::out(&format!("Dispute {number} waits again.\n"))?;
    let id = DisputeId::of(&record.run, record.dispute.finding.id);
    let shared = rulings::path(place::workspace(globals)?.root(), &id);
    if !globals.quiet {
        if shared.exists() {
            stream::err(&format!(
                "note: elsewhere the ruling binds as long as `{}/{id}.yml` is there\n",
                rulings::FOLDER
            ));
        }
        stream::err(&format!("Next: `glee disputes resolve {number}`\n"));
    }
    Ok(ExitReason::Clean)
}
