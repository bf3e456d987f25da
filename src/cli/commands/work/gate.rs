//! `glee gate`: asks agents questions about the requirements. If the agents disagree, Glee asks a person.

use std::path::{Path, PathBuf};

use crate::cli::context::{
    CommandError, CommandResult, Globals, ReasonFlag, ReportFormat, StageContext, StageRequest,
};
use glee_model::domain::StagePlan;
use glee_store::config::files::stages::{self as files, CHECKPOINTS};
use glee_workflows::consensus::{self, NextStep};

/// Have three or more agents answer questions about the requirements, and let a person answer if the agents
/// disagree
#[derive(clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "\
Every question goes to three or more agents. If all agents give the same answer, the question is resolved. If \
a majority of the agents gives the same answer, a validator (an agent with the role judge) confirms or rejects \
the answer. Glee asks you every question that the agents cannot resolve. Without a terminal, an unresolved question \
remains open, and the exit code is 3.

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

#[derive(clap::Subcommand)]
enum Command {
    Answer(Answer),
}

#[derive(clap::Args)]
struct Ask {
    /// The checkpoint: pre-planning, post-plan or post-tasks
    #[arg(value_name = "CHECKPOINT", required = true)]
    checkpoint: Option<String>,
    /// The YAML or JSON file with the questions
    #[arg(long, value_name = "FILE", required = true)]
    questions: Option<PathBuf>,
    #[command(flatten)]
    request: StageRequest,
}

/// Answer a question that waits for a person
#[derive(clap::Args)]
struct Answer {
    /// The name of the recorded run or pipeline (its `--id`)
    #[arg(value_name = "ID")]
    id: String,
    /// The id of the question
    #[arg(value_name = "QUESTION")]
    question: String,
    /// Your answer to the question
    #[arg(value_name = "VALUE")]
    value: String,
    /// The checkpoint with the question (required if several checkpoints have the question)
    #[arg(long, value_name = "NAME")]
    checkpoint: Option<String>,
    #[command(flatten)]
    reason: ReasonFlag,
    #[command(flatten)]
    report: ReportFormat,
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
            "a checkpoint and its questions are required: `glee gate CHECKPOINT --questions FILE`",
        ));
    };
    let questions = globals.directory().join(questions);
    args.request.ask(globals, |context, id, agents| {
        plan(context, id, checkpoint, &questions, agents)
    })
}

pub(crate) fn plan(
    context: &StageContext<'_>,
    id: &str,
    checkpoint: &str,
    questions: &Path,
    agents: &[String],
) -> Result<StagePlan, CommandError> {
    files::name(id)?;
    let Some(checkpoint) = files::checkpoint(checkpoint) else {
        return Err(
            CommandError::usage(format!("there is no checkpoint `{checkpoint}`")).hint(format!(
                "choose one of the checkpoints {}",
                CHECKPOINTS.join(", ")
            )),
        );
    };
    let questions = files::questions(questions)?;
    Ok(consensus::checkpoint(
        &context.settings,
        context.workspace.root(),
        id,
        checkpoint,
        agents,
        questions,
    )?)
}

fn answer(args: &Answer, globals: &Globals) -> CommandResult {
    let context = StageContext::new(globals, args.report.format)?;
    let mut journal = context.journal()?;
    let mut waiting = consensus::waiting(&journal, &args.id)?;
    waiting.retain(|last| match &last.outcome.step {
        NextStep::Checkpoint { open, .. } => {
            let is_named =
                |name: &String| files::checkpoint(name).unwrap_or(name) == last.outcome.stage;
            args.checkpoint.as_ref().is_none_or(is_named)
                && open.iter().any(|open| open.question.id == args.question)
        }
        NextStep::Stage { .. } => false,
    });
    let last = match (waiting.pop(), waiting.as_slice()) {
        (Some(last), []) => last,
        (Some(_), _) => {
            let message = format!(
                "question `{}` waits at several checkpoints of `{}`",
                args.question, args.id
            );
            return Err(
                CommandError::usage(message).hint("choose a checkpoint with `--checkpoint`")
            );
        }
        (None, _) => {
            let message = format!(
                "no question `{}` of `{}` waits for an answer",
                args.question, args.id
            );
            return Err(CommandError::usage(message)
                .hint("`glee consensus` lists the recorded checkpoints"));
        }
    };
    let outcome = consensus::answer(
        &mut journal,
        &last.outcome.run,
        &args.question,
        &args.value,
        args.reason.reason.clone(),
    )?;
    context.write(&outcome)?;
    context.finish(outcome)
}
