//! `glee completions`: prints the script that completes Glee's command lines in a shell.

use clap_complete::{Shell, env::Shells};

use crate::cli::context::{CommandError, CommandResult, print};
use crate::cli::parser::complete::VARIABLE;

/// Print shell completions
#[derive(clap::Args)]
#[command(after_help = "\
The script runs `glee` to list the runs, disputes, agents and keys of the current project. The script works \
only with this version of Glee, so load the script each time the shell starts.

Examples:
  echo 'source <(glee completions bash)' >> ~/.bashrc
  echo 'source <(glee completions zsh)' >> ~/.zshrc
  echo 'glee completions fish | source' > ~/.config/fish/completions/glee.fish")]
pub(crate) struct Args {
    /// The shell that needs completions
    shell: Shell,
}

pub(crate) fn run(args: &Args) -> CommandResult {
    let name = args.shell.to_string();
    let shells = Shells::builtins();
    let Some(shell) = shells.completer(&name) else {
        return Err(
            CommandError::usage(format!("there are no completions for `{name}`"))
                .hint("choose another shell"),
        );
    };
    let mut script = Vec::new();
    shell.write_registration(VARIABLE, "glee", "glee", "glee", &mut script)?;
    print(String::from_utf8_lossy(&script))
}
