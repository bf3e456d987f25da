//! `glee consensus ask`: one stage.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use crate::cli::context::execute_stage::{StageRequest, Table};
use crate::cli::context::globals::Globals;
use crate::cli::context::input::{Input, unreadable};
use crate::cli::error::{CommandError, CommandResult};
use crate::config::files::stages as files;
use crate::workflows::consensus::{self, Asking};
use crate::workflows::review;

/// The size of a request that is read at most, in MiB.
const LARGEST: u64 = 1;

/// Arguments of `glee consensus ask`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What to ask; `-`: standard input
    #[arg(value_name = "PROMPT", conflicts_with = "file")]
    prompt: Option<String>,
    /// Read it from this file
    #[arg(short, long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// The stage: ask, plan, tasks, implement, validate, audit, unlock, or one of .glee/stages
    #[arg(long, value_name = "NAME", default_value = "ask")]
    stage: String,
    #[command(flatten)]
    asked: StageRequest,
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    let prompt = prompt(args.prompt.as_deref(), args.file.as_deref(), globals)?;
    let table = Table::new(globals, args.asked.format)?;
    let new = review::new_run();
    let id = args.asked.id.as_deref().unwrap_or(new.short());
    files::name(id)?;
    let root = table.workspace.root();
    let described = files::stage(&table.project, &args.stage)?;
    let asking = Asking { id, agents: &args.asked.agents, prompt, input: None, resolved: None };
    let plan = consensus::stage(&table.settings, root, &described, asking)?;
    let outcome = table.ask(plan, args.asked.fresh(globals))?;
    let exit = outcome.exit;
    table.report(&[outcome], true)?;
    Ok(exit)
}

/// The request from the command line, a file or standard input.
pub(crate) fn prompt(given: Option<&str>, file: Option<&Path>, globals: &Globals) -> Result<String, CommandError> {
    let text = match (given, file) {
        (Some(text), _) if text != "-" => text.to_owned(),
        (None, None) if std::io::stdin().is_terminal() => String::new(),
        (given, file) => {
            let input = Input::open(globals, file.filter(|_| given.is_none()))?;
            let name = input.name.clone();
            let text = String::from_utf8(input.bytes(LARGEST)?);
            text.map_err(|error| unreadable(&name, std::io::Error::other(error)))?
        }
    };
    if text.trim().is_empty() {
        return Err(CommandError::usage("nothing is asked")
            .hint("say it: `glee consensus ask 'How should ...?'`, or name a file with `--file`"));
    }
    Ok(text)
}
