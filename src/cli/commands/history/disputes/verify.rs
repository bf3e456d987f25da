//! `glee disputes verify`: checks whether the history was altered.

use crate::cli::context::{CommandError, CommandResult, Globals, JsonFlag, history, print};
use crate::cli::style;
use glee_model::domain::ExitReason;
use glee_protocol::text::printable;

/// Check that no record of the history was changed, removed or moved
#[derive(clap::Args)]
#[command(
    after_help = "Exit codes: 0 the history is intact, 7 the history was altered.
Glee prints the hash of the last record. If you store this hash outside of the history, you can detect a \
complete replacement of the history.

Example: glee disputes verify"
)]
pub(crate) struct Args {
    #[command(flatten)]
    output: JsonFlag,
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    let Some(journal) = history::open_read_here(globals)? else {
        return print(if args.output.json {
            "null\n"
        } else {
            "No history yet: nothing to verify.\n"
        });
    };
    let check = journal.verify()?;
    args.output.print(&check, || {
        let records = style::count(check.records, "record");
        let are = if check.records == 1 { "is" } else { "are" };
        let end = if check.fault.is_some() {
            " before the first fault"
        } else {
            ""
        };
        let text = format!(
            "{records} {are} in order{end}; the last record has the hash\n{}\n",
            check.head
        );
        style::fit(&text, globals.table_style().width)
    })?;
    match check.fault {
        None => Ok(ExitReason::Clean),
        Some(fault) => {
            let message = printable::line(&fault.to_string());
            Err(CommandError::ending(ExitReason::History, message).hint(
                "restore a backup of the history, or start a new history with `--history <path>`",
            ))
        }
    }
}
