//! `glee consensus`: what was asked, and what came of it.

use crate::cli::context::globals::Globals;
use crate::cli::context::{history, place};
use crate::cli::error::{CommandError, CommandResult};
use crate::cli::report::json::pretty;
use crate::cli::report::stage as report;
use crate::cli::ui::stream;
use crate::domain::ExitReason;
use crate::protocol::text::printable;
use crate::workflows::consensus;

/// Which stages and checkpoints to list.
#[derive(Debug, clap::Args)]
pub(crate) struct StageFilters {
    /// List only the newest N
    #[arg(long, value_name = "N", default_value_t = 20)]
    recent: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &StageFilters, globals: &Globals) -> CommandResult {
    let workspace = place::workspace(globals)?;
    let Some(journal) = history::open_read(globals, &workspace)? else { return empty(args) };
    let rows = journal.stages()?;
    let newest = rows.into_iter().rev().take(args.recent);
    let listed = newest.map(|row| Ok((consensus::recorded(&journal, &row.run)?, row.started)));
    let listed = listed.collect::<Result<Vec<_>, CommandError>>()?;
    if listed.is_empty() {
        return empty(args);
    }
    if args.json {
        let outcomes: Vec<_> = listed.into_iter().map(|(outcome, _)| outcome).collect();
        stream::out(&pretty(outcomes.as_slice()))?;
        return Ok(ExitReason::Clean);
    }
    let width = listed.iter().map(|(outcome, _)| outcome.id.len()).max().unwrap_or(0).clamp(2, 30);
    let mut out = format!("{:<width$}  {:<14}  {:<16}  ENDED\n", "ID", "STAGE", "STARTED");
    for (outcome, started) in listed {
        let started = started.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string();
        let (id, stage) = (printable::line(&outcome.id), printable::line(&outcome.stage));
        out.push_str(&format!("{id:<width$}  {stage:<14}  {started:<16}  {}\n", report::state(&outcome)));
    }
    stream::out(&out)?;
    Ok(ExitReason::Clean)
}

fn empty(args: &StageFilters) -> CommandResult {
    stream::out(if args.json { "[]\n" } else { "Nothing was asked yet. Ask with `glee consensus ask`.\n" })?;
    Ok(ExitReason::Clean)
}
