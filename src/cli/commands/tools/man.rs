//! `glee man`: prints the manual page.

use crate::cli::context::{CommandError, CommandResult, print};

/// Print the manual page
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  glee man | man -l -\n  glee man review > glee-review.1")]
pub(crate) struct Args {
    /// The command to describe [default: the whole program]
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
            let command = found.cloned().ok_or_else(|| {
                CommandError::usage(format!("there is no command `{name}`"))
                    .hint("`glee --help` lists the commands")
            })?;
            // clap requires a name with a static lifetime, which `Box::leak` provides.
            let full: &'static str = Box::leak(format!("glee-{name}").into_boxed_str());
            command.name(full)
        }
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(page).render(&mut text)?;
    print(&String::from_utf8_lossy(&text))
}
