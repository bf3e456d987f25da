//! `glee consensus ask`: executes a single stage.

use std::io::{Error, IsTerminal as _};
use std::path::{Path, PathBuf};

use crate::cli::context::{CommandError, CommandResult, Globals, Input, StageRequest, unreadable};
use glee_store::config::files::stages as files;
use glee_workflows::consensus::{self, Asking};

/// The maximum size of a request, in MiB.
const LARGEST: u64 = 1;

/// Ask several agents the same question and settle their conflicts
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The question, or `-` to read the question from standard input
    #[arg(value_name = "PROMPT", conflicts_with = "file")]
    prompt: Option<String>,
    /// Read the question from this file
    #[arg(short, long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// The stage to run: ask, plan, tasks, implement, validate, audit, unlock, or a stage from .glee/stages
    #[arg(long, value_name = "NAME", default_value = "ask")]
    stage: String,
    #[command(flatten)]
    request: StageRequest,
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    let prompt = prompt(args.prompt.as_deref(), args.file.as_deref(), globals)?;
    args.request.ask(globals, |context, id, agents| {
        files::name(id)?;
        let stage = files::stage(&context.project, &args.stage)?;
        let asking = Asking {
            id,
            agents,
            prompt,
            input: None,
            resolved: None,
        };
        Ok(consensus::stage(
            &context.settings,
            context.workspace.root(),
            &stage,
            asking,
        )?)
    })
}

pub(crate) fn prompt(
    given: Option<&str>,
    file: Option<&Path>,
    globals: &Globals,
) -> Result<String, CommandError> {
    let text = match (given, file) {
        (Some(text), _) if text != "-" => text.to_owned(),
        (None, None) if std::io::stdin().is_terminal() => String::new(),
        (given, file) => {
            let input = Input::open(globals, file.filter(|_| given.is_none()))?;
            let name = input.name.clone();
            String::from_utf8(input.bytes(LARGEST)?)
                .map_err(|error| unreadable(&name, Error::other(error)))?
        }
    };
    if text.trim().is_empty() {
        return Err(CommandError::usage("the request is empty").hint(
            "pass the request as an argument: `glee consensus ask 'How should ...?'`, or from a file with \
                   `--file`",
        ));
    }
    Ok(text)
}
