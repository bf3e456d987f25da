//! `glee gate`: questions about the requirements, answered by agents where they agree and by a person where not.

use std::path::{Path, PathBuf};

use crate::cli::context::execute_stage::{StageRequest, Table};
use crate::cli::context::globals::Globals;
use crate::cli::context::words::{FORMATS, one_of};
use crate::cli::error::{CommandError, CommandResult};
use crate::cli::report::Format;
use crate::config::files::stages as files;
use crate::config::files::stages::CHECKPOINTS;
use crate::domain::StagePlan;
use crate::workflows::consensus::{self, NextStep};
use crate::workflows::review;

/// Arguments of `glee gate`.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "\
Every question goes to three or more agents. All agree: resolved. A majority: a validator (a
judge) is asked whether it is right. Otherwise, or if it says no, you are asked; without a
terminal the exit code is 3.

Examples:
  glee gate pre-planning --questions questions.yml --id SPEC-25
  glee gate answer SPEC-25 database SQLite --reason 'one writer'"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    ask: Ask,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Answer a question that waits for a person
    Answer(Answer),
}

#[derive(Debug, clap::Args)]
struct Ask {
    /// The checkpoint: pre-planning, post-plan or post-tasks
    #[arg(value_name = "CHECKPOINT", required = true)]
    checkpoint: Option<String>,
    /// The questions, YAML or JSON
    #[arg(long, value_name = "FILE", required = true)]
    questions: Option<PathBuf>,
    #[command(flatten)]
    asked: StageRequest,
}

#[derive(Debug, clap::Args)]
struct Answer {
    /// What the work is called
    #[arg(value_name = "ID")]
    id: String,
    /// The question
    #[arg(value_name = "QUESTION")]
    question: String,
    /// The answer
    #[arg(value_name = "VALUE")]
    value: String,
    /// The checkpoint, where several wait
    #[arg(long, value_name = "NAME")]
    checkpoint: Option<String>,
    /// Why
    #[arg(long, value_name = "TEXT", default_value = "")]
    reason: String,
    /// The form of the report
    #[arg(long, value_parser = one_of(FORMATS), value_name = "FORMAT", default_value = "text")]
    format: Format,
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    match &args.command {
        None => ask(&args.ask, globals),
        Some(Command::Answer(args)) => answer(args, globals),
    }
}

fn ask(args: &Ask, globals: &Globals) -> CommandResult {
    let (Some(checkpoint), Some(questions)) = (&args.checkpoint, &args.questions) else {
        return Err(CommandError::usage(
            "a checkpoint and its questions are named: `glee gate CHECKPOINT --questions FILE`",
        ));
    };
    let new = review::new_run();
    let id = args.asked.id.as_deref().unwrap_or(new.short());
    let table = Table::new(globals, args.asked.format)?;
    let plan = plan(&table, id, checkpoint, &globals.directory().join(questions), &args.asked.agents)?;
    let outcome = table.ask(plan, args.asked.fresh(globals))?;
    let exit = outcome.exit;
    table.report(&[outcome], true)?;
    Ok(exit)
}

pub(crate) fn plan(
    table: &Table<'_>,
    id: &str,
    checkpoint: &str,
    questions: &Path,
    agents: &[String],
) -> Result<StagePlan, CommandError> {
    files::name(id)?;
    let Some(checkpoint) = files::checkpoint(checkpoint) else {
        return Err(CommandError::usage(format!("there is no checkpoint `{checkpoint}`"))
            .hint(format!("checkpoints are {}", CHECKPOINTS.join(", "))));
    };
    let questions = files::questions(questions)?;
    Ok(consensus::checkpoint(&table.settings, table.workspace.root(), id, checkpoint, agents, questions)?)
}

fn answer(args: &Answer, globals: &Globals) -> CommandResult {
    let table = Table::new(globals, args.format)?;
    let mut journal = table.journal()?;
    let mut waiting = consensus::waiting(&journal, &args.id)?;
    waiting.retain(|last| match &last.outcome.step {
        NextStep::Checkpoint { open, .. } => {
            let is_named = |name: &String| files::checkpoint(name).unwrap_or(name) == last.outcome.stage;
            args.checkpoint.as_ref().is_none_or(is_named)
                && open.iter().any(|open| open.question.id == args.question)
        }
        NextStep::Stage { .. } => false,
    });
    let last = match (waiting.pop(), waiting.as_slice()) {
        (Some(last), []) => last,
        (Some(_), _) => {
            let message = format!("question `{}` waits at several checkpoints of `{}`", args.question, args.id);
            return Err(CommandError::usage(message).hint("name one with `--checkpoint`"));
        }
        (None, _) => {
            let message = format!("no question `{}` of `{}` waits for an answer", args.question, args.id);
            return Err(CommandError::usage(message).hint("`glee consensus` lists what was asked"));
        }
    };
    let outcome =
        consensus::answer(&mut journal, &last.outcome.run, &args.question, &args.value, args.reason.clone())?;
    table.write(&outcome)?;
    let exit = outcome.exit;
    table.report(&[outcome], true)?;
    Ok(exit)
}
