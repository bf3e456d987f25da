//! `glee disputes verify`: was anything recorded altered, removed or moved?

use crate::cli::context::globals::Globals;
use crate::cli::context::history;
use crate::cli::error::{CommandError, CommandResult};
use crate::cli::report::json::pretty;
use crate::cli::style;
use crate::cli::ui::stream;
use crate::domain::ExitReason;
use crate::protocol::text::printable;

/// Arguments of `glee disputes verify`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes: 0 everything is as it was written, 7 it is not.
Keep the printed hash elsewhere to notice a history that was rewritten as a whole.

Example: glee disputes verify")]
pub(crate) struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    let Some(check) = history::check_here(globals)? else {
        stream::out(if args.json { "null\n" } else { "No history yet: nothing to verify.\n" })?;
        return Ok(ExitReason::Clean);
    };
    if args.json {
        stream::out(&pretty(&check))?;
    } else {
        let records = style::thousands(check.records);
        let end = if check.fault.is_some() { "are in order before the first fault" } else { "are in order" };
        stream::out(&format!("{records} records {end}; the last has the hash\n{}\n", check.head))?;
    }
    match check.fault {
        None => Ok(ExitReason::Clean),
        Some(fault) => {
            let message = anyhow::Error::msg(printable::line(&fault.to_string()));
            Err(CommandError::new(ExitReason::History, message).hint(
                "nothing was changed; go back to a copy of the history, or begin a new one with `--history <path>`",
            ))
        }
    }
}
