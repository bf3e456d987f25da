//! `glee completions`: prints shell completions.

use clap_complete::Shell;

use crate::cli::context::{CommandResult, print};

/// Print shell completions
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  glee completions bash > ~/.local/share/bash-completion/completions/glee")]
pub(crate) struct Args {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run(args: &Args, mut program: clap::Command) -> CommandResult {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut program, "glee", &mut script);
    print(&String::from_utf8_lossy(&script))
}
