//! `glee consensus`: lists the recorded stages and checkpoints.

use crate::cli::context::{
    CommandError, CommandResult, Globals, JsonFlag, history, local_time, number, place, print, tell,
};
use crate::cli::report::stage as report;
use glee_protocol::text::printable;
use glee_workflows::consensus::{self, StageOutcome};

#[derive(clap::Args)]
pub(crate) struct StageFilters {
    /// List only the N newest stages
    #[arg(long, value_name = "N", default_value_t = 20, allow_negative_numbers = true, value_parser = number::<usize>(0, u64::MAX))]
    recent: usize,
    #[command(flatten)]
    output: JsonFlag,
}

pub(crate) fn run(args: &StageFilters, globals: &Globals) -> CommandResult {
    let mut listed: Vec<(StageOutcome, String)> = Vec::new();
    if let Some(journal) = history::open_read(globals, &place::workspace(globals)?)? {
        let newest = journal.stages()?.into_iter().rev().take(args.recent);
        let listing = newest.map(|row| {
            Ok((
                consensus::recorded(&journal, &row.run)?,
                local_time(row.started),
            ))
        });
        listed = listing.collect::<Result<_, CommandError>>()?;
    }
    if args.output.json {
        let outcomes: Vec<_> = listed.into_iter().map(|(outcome, _)| outcome).collect();
        return args.output.print(&outcomes, String::new);
    }
    if listed.is_empty() {
        return tell(
            globals,
            "No stage is recorded yet. Start a stage with `glee consensus ask`.\n",
        );
    }
    let rows = listed.into_iter().map(|(outcome, started)| {
        [
            printable::line(&outcome.id),
            printable::line(&outcome.stage),
            started,
            report::state(&outcome),
        ]
    });
    let heads = ["ID", "STAGE", "STARTED", "ENDED"];
    print(globals.table_style().listing(heads, rows, &[]))
}
