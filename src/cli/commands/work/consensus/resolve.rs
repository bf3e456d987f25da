//! `glee consensus resolve`: ends a deadlock by recording a person's decision.

use crate::cli::context::{
    CommandError, CommandResult, Globals, ReasonFlag, ReportFormat, StageContext, names,
};
use glee_workflows::consensus::{self, Last, NextStep};

/// End a deadlock by deciding the conflict yourself
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The name of the recorded run or pipeline (its `--id`)
    #[arg(value_name = "ID")]
    id: String,
    /// The approach to take: an agent's name, a label such as `approach_a`, or `hybrid` [default: Glee asks you]
    #[arg(value_name = "DECISION")]
    decision: Option<String>,
    /// The stage to decide (required if several stages wait for a decision)
    #[arg(long, value_name = "NAME")]
    stage: Option<String>,
    #[command(flatten)]
    reason: ReasonFlag,
    /// A change to the chosen approach (repeatable)
    #[arg(long = "modify", value_name = "TEXT")]
    modifications: Vec<String>,
    #[command(flatten)]
    report: ReportFormat,
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    let context = StageContext::new(globals, args.report.format)?;
    let mut journal = context.journal()?;
    let last = waiting(consensus::waiting(&journal, &args.id)?, args)?;
    let run = last.outcome.run;
    let outcome = match &args.decision {
        Some(word) => {
            let word = &names::full(&last.plan.agents, word, None)?;
            let reason = args.reason.reason.clone();
            let modifications = args.modifications.clone();
            let outcome = consensus::decide(&mut journal, &run, word, reason, modifications)?;
            context.write(&outcome)?;
            outcome
        }
        None if globals.interactive() => {
            drop(journal);
            context.resume(run, &last.plan)?
        }
        None => {
            return Err(
                CommandError::usage("without a terminal, a decision is required").hint(format!(
                    "choose an agent or `hybrid`: `glee consensus resolve {} <decision>`",
                    args.id
                )),
            );
        }
    };
    context.finish(outcome)
}

fn waiting(mut all: Vec<Last>, args: &Args) -> Result<Last, CommandError> {
    all.retain(|last| {
        matches!(last.outcome.step, NextStep::Stage { .. })
            && args
                .stage
                .as_ref()
                .is_none_or(|stage| *stage == last.outcome.stage)
    });
    match (all.pop(), all.as_slice()) {
        (Some(last), []) => Ok(last),
        (Some(_), _) => Err(CommandError::usage(format!(
            "several stages of `{}` wait for a decision",
            args.id
        ))
        .hint("choose a stage with `--stage`; `glee consensus` lists the stages")),
        (None, _) => Err(CommandError::usage(format!(
            "no stage of `{}` waits for a decision",
            args.id
        ))
        .hint("`glee consensus` lists the recorded stages")),
    }
}
