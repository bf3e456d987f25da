//! `glee consensus`: lists the recorded stages and checkpoints.

use crate::cli::context::{
    CommandError, CommandResult, Globals, JsonFlag, history, local_time, number, place, print,
};
use crate::cli::report::stage as report;
use glee_protocol::text::printable;
use glee_workflows::consensus::{self, StageOutcome};

#[derive(Debug, clap::Args)]
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
        return print("No stage is recorded yet. Start a stage with `glee consensus ask`.\n");
    }
    let width = listed
        .iter()
        .map(|(outcome, _)| outcome.id.len())
        .max()
        .unwrap_or(0)
        .clamp(2, 30);
    let mut out = format!(
        "{:<width$}  {:<14}  {:<16}  ENDED\n",
        "ID", "STAGE", "STARTED"
    );
    for (outcome, started) in listed {
        let id = printable::line(&outcome.id);
        let stage = printable::line(&outcome.stage);
        out.push_str(&format!(
            "{id:<width$}  {stage:<14}  {started:<16}  {}\n",
            report::state(&outcome)
        ));
    }
    print(&out)
}
