//! `glee consensus resolve`: a person ends a deadlock.

use crate::cli::context::execute_stage::Table;
use crate::cli::context::globals::Globals;
use crate::cli::context::words::{FORMATS, one_of};
use crate::cli::error::{CommandError, CommandResult};
use crate::cli::report::Format;
use crate::workflows::consensus::{self, Last, NextStep};

/// Arguments of `glee consensus resolve`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What the work is called
    #[arg(value_name = "ID")]
    id: String,
    /// An agent whose approach is taken, `approach_a` and so on, or `hybrid`; without it you are asked
    #[arg(value_name = "DECISION")]
    decision: Option<String>,
    /// The stage, where several wait
    #[arg(long, value_name = "NAME")]
    stage: Option<String>,
    /// Why
    #[arg(long, value_name = "TEXT", default_value = "")]
    reason: String,
    /// What changes in the approach; may be repeated
    #[arg(long = "modify", value_name = "TEXT")]
    modifications: Vec<String>,
    /// The form of the report
    #[arg(long, value_parser = one_of(FORMATS), value_name = "FORMAT", default_value = "text")]
    format: Format,
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    let table = Table::new(globals, args.format)?;
    let mut journal = table.journal()?;
    let last = waiting(consensus::waiting(&journal, &args.id)?, args)?;
    let outcome = match &args.decision {
        Some(word) => {
            let (reason, modifications) = (args.reason.clone(), args.modifications.clone());
            let outcome = consensus::decide(&mut journal, &last.outcome.run, word, reason, modifications)?;
            table.write(&outcome)?;
            outcome
        }
        None if globals.interactive() => {
            drop(journal);
            table.carry_on(last.outcome.run.clone(), &last.plan)?
        }
        None => {
            return Err(CommandError::usage("no decision is named, and nobody can be asked")
                .hint(format!("name an agent or `hybrid`: `glee consensus resolve {} <decision>`", args.id)));
        }
    };
    let exit = outcome.exit;
    table.report(&[outcome], true)?;
    Ok(exit)
}

/// The one stage that is meant.
fn waiting(all: Vec<Last>, args: &Args) -> Result<Last, CommandError> {
    let is_meant = |last: &Last| {
        matches!(last.outcome.step, NextStep::Stage { .. })
            && args.stage.as_ref().is_none_or(|stage| *stage == last.outcome.stage)
    };
    let mut all: Vec<Last> = all.into_iter().filter(is_meant).collect();
    match (all.pop(), all.as_slice()) {
        (Some(last), []) => Ok(last),
        (Some(_), _) => Err(CommandError::usage(format!("several stages of `{}` wait", args.id))
            .hint("name one with `--stage`; `glee consensus` lists them")),
        (None, _) => Err(CommandError::usage(format!("no stage of `{}` waits for a decision", args.id))
            .hint("`glee consensus` lists what was asked")),
    }
}
