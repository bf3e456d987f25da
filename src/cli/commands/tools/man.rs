//! `glee man`: print the manual page.

use crate::cli::error::{CommandError, CommandResult};
use crate::cli::ui::stream;
use crate::domain::ExitReason;

/// Arguments of `glee man`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  glee man | man -l -\n  glee man review > glee-review.1")]
pub(crate) struct Args {
    /// The command whose page to print, instead of the program's
    #[arg(value_name = "COMMAND")]
    command: Option<String>,
}

pub(crate) fn run(args: &Args, mut program: clap::Command) -> CommandResult {
    program.build();
    let page = match &args.command {
        None => program,
        Some(name) => {
            let found =
                program.get_subcommands().find(|command| command.get_name() == name && !command.is_hide_set());
            let Some(command) = found.cloned() else {
                let message = format!("there is no command `{name}`");
                return Err(CommandError::usage(message).hint("`glee --help` lists the commands"));
            };
            // clap keeps names for as long as the program runs.
            let full: &'static str = Box::leak(format!("glee-{name}").into_boxed_str());
            command.name(full)
        }
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(page).render(&mut text)?;
    stream::out(&String::from_utf8_lossy(&text))?;
    Ok(ExitReason::Clean)
}
