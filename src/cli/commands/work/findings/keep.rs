//! `glee keep`: writes the tests that show a finding into the tree.

use super::{RunFindings, RunOption, finding_word};
use crate::cli::context::{CommandError, CommandResult, Globals, stream};
use glee_model::domain::{Demonstrated, DemonstrationResult, ExitReason};
use glee_protocol::text::printable;
use glee_workflows::review::demonstrations::running;

/// Write the test that shows a finding into the tree
///
/// A test is kept if it failed on the reviewed code, or if it is the coder's and passed there. It is written as a new
/// file, and not staged. Nothing is written over a file, through a link or outside of the tree.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  glee keep F3                  the test of F3, as the newest run that raised it saw it
  glee keep F3 --run 5f3a91c2   its test in another run")]
pub(crate) struct Args {
    /// The number of the finding, such as F3, or at least four digits of its id
    #[arg(value_name = "FINDING", value_parser = finding_word)]
    finding: String,
    #[command(flatten)]
    run: RunOption,
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    let (found, ids) = RunFindings::with(globals, [&args.finding], &args.run)?;
    let mut held: Vec<&Demonstrated> = Vec::new();
    for id in &ids {
        let all = &found.finding(*id)?.demonstrations;
        held.extend(
            all.iter().filter(|one| {
                one.result.failed_before() || one.result == DemonstrationResult::Passes
            }),
        );
    }
    let finding = ids[0].group();
    if held.is_empty() {
        let run = found.run.short();
        return Err(CommandError::usage(format!(
            "no test of {finding} failed or passed on the reviewed code of run {run}"
        ))
        .hint(format!("`glee show {finding}` prints what its tests show")));
    }
    for one in held {
        let path = printable::line(&one.demonstration.path);
        running::keep(found.workspace.root(), &one.demonstration).map_err(|why| {
            let why = printable::line(&why);
            CommandError::usage(format!("`{path}` is not written: {why}"))
        })?;
        stream::out(format!("{path}\n"))?;
        globals.say(format!(
            "The test of the {}: {}. It is new and not staged: read it before you commit it.",
            one.by, one.result
        ));
    }
    Ok(ExitReason::Clean)
}
