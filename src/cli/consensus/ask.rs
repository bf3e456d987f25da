//! `glee consensus ask`: one stage.

use std::io::{IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};

use crate::cli::Globals;
use crate::cli::error::{CommandError, CommandResult};
use crate::cli::stage::{Asked, Table};
use crate::config::stages as files;
use crate::pipeline;
use crate::pipeline::stages::{self, Asking};

/// The bytes of a request that are read at most.
const LARGEST: u64 = 1 << 20;

/// Arguments of `glee consensus ask`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
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
    asked: Asked,
}

pub(super) fn run(args: &Args, globals: &Globals) -> CommandResult {
    let prompt = prompt(args.prompt.as_deref(), args.file.as_deref())?;
    let table = Table::new(globals, args.asked.format)?;
    let new = pipeline::new_run();
    let id = args.asked.id.as_deref().unwrap_or(new.short());
    files::name(id)?;
    let root = table.workspace.root();
    let described = files::stage(&table.project, &args.stage)?;
    let asking = Asking { id, agents: &args.asked.agents, prompt, input: None, resolved: None };
    let plan = stages::stage(&table.settings, root, &described, asking)?;
    let outcome = table.ask(plan, args.asked.fresh(globals))?;
    let exit = outcome.exit;
    table.report(&[outcome], true)?;
    Ok(exit)
}

/// The request from the command line, a file or standard input.
pub(super) fn prompt(given: Option<&str>, file: Option<&Path>) -> Result<String, CommandError> {
    let read = |name: String, source: std::io::Result<Box<dyn std::io::Read>>| {
        let mut text = String::new();
        let result = source.and_then(|source| source.take(LARGEST + 1).read_to_string(&mut text));
        result.map_err(|error| CommandError::caused(format!("failed to read the request from {name}"), error))?;
        if text.len() as u64 > LARGEST {
            return Err(CommandError::usage(format!("the request from {name} is larger than 1 MiB")));
        }
        Ok(text)
    };
    let stdin = || read("standard input".to_owned(), Ok(Box::new(std::io::stdin())));
    let text = match (given, file) {
        (Some("-"), _) => stdin()?,
        (Some(text), _) => text.to_owned(),
        (None, Some(path)) => {
            let opened = crate::files::input(path).map(|file| Box::new(file) as Box<dyn std::io::Read>);
            read(format!("`{}`", path.display()), opened)?
        }
        (None, None) if !std::io::stdin().is_terminal() => stdin()?,
        (None, None) => String::new(),
    };
    if text.trim().is_empty() {
        return Err(CommandError::usage("nothing is asked")
            .hint("say it: `glee consensus ask 'How should ...?'`, or name a file with `--file`"));
    }
    Ok(text)
}
