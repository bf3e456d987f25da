//! `glee help`: prints the help of the program or of a command.

use crate::cli::context::{CommandError, CommandResult, print};
use crate::cli::parser::help;
use crate::cli::parser::overview;
use glee_store::config;

/// Print this help, that of a command, or all commands
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  glee help --all\n  glee help runs undo")]
pub(crate) struct Args {
    /// Print all commands
    #[arg(long, conflicts_with = "command")]
    all: bool,
    /// A command, such as `review` or `runs undo`
    command: Vec<String>,
}

pub(crate) fn run(args: &Args, mut program: clap::Command) -> CommandResult {
    if args.all {
        let template = overview::template(&program, true, help::screen());
        program = program.help_template(template);
    }
    program.build();
    let mut command = &mut program;
    for name in &args.command {
        let names = command.get_subcommands().map(clap::Command::get_name);
        let hint = match config::closest(name, names) {
            Some(name) => format!("did you mean `{name}`?"),
            None => "`glee help --all` lists all commands".to_owned(),
        };
        command = command.find_subcommand_mut(name).ok_or_else(|| {
            CommandError::usage(format!("there is no command `{name}`")).hint(hint)
        })?;
    }
    let text = if args.command.is_empty() {
        command.render_help()
    } else {
        command.render_long_help()
    };
    print(text.to_string())
}
