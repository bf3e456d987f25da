//! `glee man`: shows the manual page in a pager, or prints the source of the page if stdout is not a terminal.

use std::io::{self, IsTerminal as _, Write as _};
use std::process::{Command, Stdio};

use crate::cli::context::{CommandError, CommandResult, print, stream};
use crate::cli::ui::pager::Pager;
use glee_model::domain::ExitReason;

/// Show the manual page
#[derive(clap::Args)]
#[command(after_help = "\
On a terminal, `man` formats the page, and a pager shows the page: the program in `GLEE_PAGER`, else the \
program in `PAGER`, else `less`. If the output is a file or a pipe, Glee prints the roff source of the manual \
page.

Examples:
  glee man review
  glee man review > glee-review.1")]
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
            let found = program
                .get_subcommands()
                .find(|command| command.get_name() == name);
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
    clap_mangen::Man::new(page.clone()).render(&mut text)?;
    if !std::io::stdout().is_terminal() {
        return print(String::from_utf8_lossy(&text));
    }
    // If `man` fails, the pager shows the long help, which has the same content as the page.
    if format(&text).is_err() {
        let help = page.clone().render_long_help().to_string();
        match Pager::of_user() {
            Some(pager) => pager.show(&help)?,
            None => stream::out(&help)?,
        }
    }
    Ok(ExitReason::Clean)
}

/// Runs `man`, which formats the page and starts the pager.
fn format(page: &[u8]) -> io::Result<()> {
    let mut man = Command::new("man");
    man.args(["-l", "-"])
        .stdin(Stdio::piped())
        .stderr(Stdio::null());
    if let Ok(pager) = std::env::var("GLEE_PAGER")
        && !pager.trim().is_empty()
    {
        man.env("MANPAGER", pager);
    }
    let mut child = man.spawn()?;
    // Write errors are ignored, because writing fails if the user quits the pager early.
    if let Some(mut input) = child.stdin.take() {
        drop(input.write_all(page));
    }
    if child.wait()?.success() {
        Ok(())
    } else {
        Err(io::Error::other("the program failed"))
    }
}
