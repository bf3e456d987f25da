//! The command line: one file a command.
//!
//! A command returns the reason behind its exit code or an error with a hint; only [`main`] turns either into text and
//! a number.

pub(crate) mod commands;
pub(crate) mod context;
mod error;
pub(crate) mod reexec;
pub mod report;
pub(crate) mod signals;
pub mod style;
pub mod ui;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};

use crate::agents::process::own_process;
use crate::cli::context::globals::Globals;
use crate::cli::ui::stream;
use crate::domain::ExitReason;
use crate::protocol::secrets;
use crate::protocol::text::printable;
use crate::system::log;
use error::CommandError;

/// The commands in groups, on one screen of 24 lines.
const HELP: &str = "\
{about}

Usage: glee [OPTIONS] <COMMAND>

Work      review       Review code, have findings fixed, settle disputes
          consensus    Agree on a plan before code; `gate` asks questions
          watch        Review agents at work; `emit` sends the watch an event
People    init         Find installed agents and connect them
          connect      Connect an agent in a role; `disconnect` removes one
          agents       List connected agents, and check each
History   runs         List, show, compare, undo and resume runs
          disputes     List, show, settle and verify disputes
          stats        Count over the history
          history      Exchange runs and rulings with other clones
Settings  config       Read and change settings
          trust        Allow this project's configuration to run programs
          rules        List and test the rules of the embedded reviewer
          doctor       Print what a bug report needs, without secrets
Tools     merge        Merge findings; `vote` decides, `parse` reads an answer
          completions  Print shell completions; `man` prints the manual page

Options   -C <DIR>, -q, -v, --color, --no-input, --history, --trust, -h, -V
`glee <COMMAND> --help` explains a command and the options.
";

/// Several AI coding agents review code; Glee settles what they disagree on
#[derive(Debug, Parser)]
#[command(name = "glee", version, max_term_width = 100, propagate_version = false, help_template = HELP)]
struct Cli {
    #[command(flatten)]
    globals: Globals,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Set Glee up in this project: find installed agents and connect them
    Init(commands::people::init::Args),
    /// Connect an agent in a role
    Connect(commands::people::connect::Args),
    /// Remove a connected agent
    Disconnect(commands::people::disconnect::Args),
    /// List connected agents: is the program there, which version; try what each really does
    Agents(commands::people::agents::Args),
    /// Read and change settings
    Config(commands::settings::config::Args),
    /// Allow this project's configuration to run the programs it names
    Trust(commands::settings::trust::Args),
    /// Review code, hand the findings to the coder, settle disputes
    Review(commands::work::review::Args),
    /// List, show, settle and verify disputes
    Disputes(commands::history::disputes::Args),
    /// List runs; show, diff, undo or resume one
    Runs(commands::history::runs::Args),
    /// Exchange runs, outcomes and disputes with other clones by a git remote
    History(commands::history::exchange::Args),
    /// Merge findings of several reviewers into one answer, offline
    Merge(commands::tools::merge::Args),
    /// Print what Glee reads in an agent's answer
    Parse(commands::tools::parse::Args),
    /// Have several agents agree on a plan before code: synthesis, conflicts, an arbiter
    Consensus(commands::work::consensus::Args),
    /// Put questions about the requirements to three agents; a person answers what they cannot
    Gate(commands::work::gate::Args),
    /// Watch agents at work and have their work reviewed by the others, triggered by events
    Watch(commands::work::watch::Args),
    /// Tell the watch what an agent does: a milestone, a blocker, a note
    Emit(commands::work::emit::Args),
    /// Count over the history
    Stats(commands::history::stats::Args),
    /// Decide by the votes of three, by fixed rules
    Vote(commands::tools::vote::Args),
    /// List and test the embedded reviewer's rules
    Rules(commands::settings::rules::Args),
    /// Print everything that a bug report needs, without secrets
    Doctor(commands::settings::doctor::Args),
    /// Print shell completions
    Completions(commands::tools::completions::Args),
    /// Print the manual page
    Man(commands::tools::man::Args),
}

impl Command {
    /// Whether it may begin or carry on a run; all other commands leave the signals their usual effect.
    fn runs_agents(&self) -> bool {
        matches!(self, Self::Review(_) | Self::Runs(_) | Self::Consensus(_) | Self::Gate(_) | Self::Watch(_))
    }
}

pub fn main() -> ExitCode {
    let args: Vec<_> = std::env::args_os().skip(1).collect();
    own_process::reset_signals();
    if let Some(code) = reexec::dispatch(&args) {
        return code;
    }
    own_process::prepare();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    if let Ok(state_dir) = crate::config::files::paths::state_dir() {
        // A folder that cannot be changed belongs to somebody else, who says who may read it.
        drop(crate::system::private::tighten(&state_dir));
    }
    let filter = std::env::var(log::VARIABLE).ok();
    if let Err(error) = log::begin(cli.globals.verbose, filter.as_deref(), clean) {
        let error = CommandError::usage(error.to_string()).hint(format!(
            "`{}=debug`, or `{}=glee::agents=trace,info`",
            log::VARIABLE,
            log::VARIABLE
        ));
        stream::err(&error.render(cli.globals.color_stderr()));
        return ExitCode::from(error.exit().code());
    }
    match run(&cli.command, &cli.globals) {
        Ok(reason) => ExitCode::from(reason.code()),
        Err(error) => {
            stream::err(&error.render(cli.globals.color_stderr()));
            ExitCode::from(error.exit().code())
        }
    }
}

/// A line of the log as it may be shown and kept.
fn clean(line: &str) -> String {
    let mut clean = printable::line(&*secrets::redact(line.trim_end_matches('\n')));
    clean.push('\n');
    clean
}

/// Prints help and version to stdout with exit 0, everything else to stderr with exit 2.
fn usage(error: &clap::Error) -> ExitCode {
    // Writing can only fail when nobody reads any more.
    drop(error.print());
    ExitCode::from(if error.use_stderr() { ExitReason::Usage.code() } else { 0 })
}

fn run(command: &Command, globals: &Globals) -> error::CommandResult {
    if command.runs_agents() {
        signals::take();
    }
    match command {
        Command::Init(args) => commands::people::init::run(args, globals),
        Command::Connect(args) => commands::people::connect::run(args, globals),
        Command::Disconnect(args) => commands::people::disconnect::run(args, globals),
        Command::Agents(args) => commands::people::agents::run(args, globals),
        Command::Config(args) => commands::settings::config::run(args, globals),
        Command::Trust(args) => commands::settings::trust::run(args, globals),
        Command::Review(args) => commands::work::review::run(args, globals),
        Command::Disputes(args) => commands::history::disputes::run(args, globals),
        Command::Runs(args) => commands::history::runs::run(args, globals),
        Command::History(args) => commands::history::exchange::run(args, globals),
        Command::Merge(args) => commands::tools::merge::run(args, globals),
        Command::Parse(args) => commands::tools::parse::run(args, globals),
        Command::Consensus(args) => commands::work::consensus::run(args, globals),
        Command::Gate(args) => commands::work::gate::run(args, globals),
        Command::Watch(args) => commands::work::watch::run(args, globals),
        Command::Emit(args) => commands::work::emit::run(args, globals),
        Command::Stats(args) => commands::history::stats::run(args, globals),
        Command::Vote(args) => commands::tools::vote::run(args, globals),
        Command::Rules(args) => commands::settings::rules::run(args, globals),
        Command::Doctor(args) => commands::settings::doctor::run(args, globals),
        Command::Completions(args) => commands::tools::completions::run(args, Cli::command()),
        Command::Man(args) => commands::tools::man::run(args, Cli::command()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_names_every_command_on_one_screen() {
        let help = Cli::command().render_help().to_string();
        assert!(help.lines().count() <= 24, "{help}");
        assert!(help.lines().all(|line| line.chars().count() <= 80), "{help}");
        let words: Vec<&str> = help.split(|c: char| !c.is_alphanumeric()).collect();
        for command in Cli::command().get_subcommands().filter(|command| !command.is_hide_set()) {
            assert!(words.contains(&command.get_name()), "{}", command.get_name());
        }
    }

    /// Every help text in one file, to be read in one sitting.
    #[test]
    fn help_of_every_command() {
        fn add(command: &mut clap::Command, all: &mut String) {
            let help = command.clone().term_width(100).render_long_help().to_string();
            let lines = help.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
            all.push_str(&format!("==== {}\n{lines}\n\n", command.get_bin_name().unwrap_or_default()));
            for child in command.get_subcommands_mut().filter(|child| child.get_name() != "help") {
                add(child, all);
            }
        }
        let mut program = Cli::command();
        program.build();
        let mut all = String::new();
        add(&mut program, &mut all);
        insta::assert_snapshot!(all);
    }
}
