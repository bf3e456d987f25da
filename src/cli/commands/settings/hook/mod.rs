//! `glee hook`: installs, removes, lists and runs the hooks of git that review commits and pushes.

mod install;
mod list;
mod managers;
mod run;
mod script;

use std::time::Duration;

use clap::Subcommand;
use serde::Serialize;

use crate::cli::context::{CommandResult, Globals, JsonFlag, Words, one_of};
use crate::config::schema::units;

/// Review each commit or push in a hook of git
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The hook `pre-commit` reviews the staged changes quickly, with one reviewer and one round. The hook `pre-push` reviews \
the commits that the push adds to branches of the remote. A hook asks no questions, ends at a time limit, and does \
nothing if `glee` is not on the PATH. In the mode `warn`, a hook prints the report and lets git go on.

Examples:
  glee hook install pre-commit                 print a report at each commit
  glee hook install pre-push --mode block      refuse a push with open mandatory findings
  glee hook uninstall pre-push                 restore the hook that was there before
  git commit --no-verify                       skip the hook once")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Install(install::Args),
    Uninstall(install::UninstallArgs),
    /// List the hooks of this repository
    List(JsonFlag),
    Run(run::Args),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Hook {
    PreCommit,
    PrePush,
}

const HOOKS: Words<Hook> = &[
    ("pre-commit", Hook::PreCommit, "Review the staged changes before a commit"),
    ("pre-push", Hook::PrePush, "Review the new commits before a push"),
];

impl Hook {
    const ALL: [Self; 2] = [Self::PreCommit, Self::PrePush];

    fn name(self) -> &'static str {
        match self {
            Self::PreCommit => "pre-commit",
            Self::PrePush => "pre-push",
        }
    }

    /// The git command that runs the hook.
    fn operation(self) -> &'static str {
        match self {
            Self::PreCommit => "commit",
            Self::PrePush => "push",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum HookMode {
    Warn,
    Block,
}

const MODES: Words<HookMode> = &[
    ("warn", HookMode::Warn, "Print the report and let git go on"),
    ("block", HookMode::Block, "Stop git unless the review ends without open mandatory findings"),
];

impl HookMode {
    fn word(self) -> &'static str {
        match self {
            Self::Warn => "warn",
            Self::Block => "block",
        }
    }
}

// The struct has no doc comment, because clap would use it as the help of the commands.
#[derive(Clone, Debug, clap::Args)]
struct HookOptions {
    /// What happens if the review finds something or fails
    #[arg(long, value_parser = one_of(MODES), value_name = "MODE", default_value = "warn")]
    mode: HookMode,
    /// The maximum duration of the review; a shorter `budget.duration` applies too
    #[arg(long, value_parser = time, value_name = "TIME", default_value = "10m")]
    timeout: Duration,
}

fn time(text: &str) -> Result<Duration, String> {
    let time = units::duration(text).filter(|time| !time.is_zero());
    time.ok_or_else(|| "give a duration such as `90s` or `10m`".to_owned())
}

impl Args {
    /// Whether the command reviews, and therefore starts agents.
    pub(crate) fn runs_agents(&self) -> bool {
        matches!(self.command, Command::Run(_))
    }
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    match &args.command {
        Command::Install(args) => install::install(args, globals),
        Command::Uninstall(args) => install::uninstall(args, globals),
        Command::List(output) => list::run(output, globals),
        Command::Run(args) => run::run(args, globals),
    }
}
