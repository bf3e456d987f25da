//! `glee disputes reopen`: revokes a ruling and opens its dispute again.

use super::common::find;
use crate::cli::context::{
    CommandResult, Globals, ReasonFlag, history, number, place, refuse_agent, tell,
};
use glee_model::domain::{DisputeId, DisputeNumber, ExitReason};
use glee_protocol::text::printable;
use glee_store::config::files::rulings::{self, FOLDER};

/// Revoke the ruling of a settled dispute, and open the dispute again
#[derive(clap::Args)]
#[command(after_help = "\
The history keeps the earlier rulings.

Example: glee disputes reopen 7 --reason 'the caller passes user input now'")]
pub(crate) struct Args {
    /// The number of the dispute
    #[arg(value_parser = number::<u64>(1, u64::MAX))]
    number: u64,
    #[command(flatten)]
    reason: ReasonFlag,
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    refuse_agent()?;
    let number = DisputeNumber(args.number);
    let record = find(globals, number)?;
    history::open_here(globals)?.reopen(number, args.reason.reason.clone())?;
    let headline = printable::line(&record.dispute.finding.headline());
    tell(
        globals,
        format!("{headline}\n  Dispute {number} is open again.\n"),
    )?;
    let id = DisputeId::of(&record.run, record.dispute.finding.id);
    let shared = rulings::path(place::workspace(globals)?.root(), &id);
    if shared.exists() {
        globals.say(format!(
            "note: the ruling applies in other clones while `{FOLDER}/{id}.yml` exists"
        ));
    }
    globals.say(format!("Next: `glee disputes resolve {number}`"));
    Ok(ExitReason::Clean)
}
