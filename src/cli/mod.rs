//! The command line: one file a command.
//!
//! A command returns the reason behind its exit code or an error with a hint; only [`main`] turns either into text and
//! a number.

mod agents;
mod change;
mod check;
mod completions;
mod config;
mod connect;
mod consensus;
mod disconnect;
mod disputes;
mod doctor;
mod dry_run;
mod emit;
mod error;
mod gate;
mod history;
mod init;
mod input;
mod internal;
mod interrupt;
mod load;
mod man;
mod merge;
mod parse;
mod review;
mod rules;
mod runs;
mod sitting;
mod stage;
mod stats;
mod trust;
mod vote;
mod watch;
mod words;

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};

use crate::agents::own_process;
use crate::domain::ExitReason;
use crate::log;
use crate::protocol::{printable, secrets};
use crate::ui::stream;
use error::CommandError;

/// Several AI coding agents on the same code, and their disagreements settled
#[derive(Debug, Parser)]
#[command(name = "glee", version, max_term_width = 100, propagate_version = false)]
struct Cli {
    #[command(flatten)]
    globals: Globals,
    #[command(subcommand)]
    command: Command,
}

/// Options that every command takes.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Globals {
    /// Run as if started in this folder
    #[arg(short = 'C', long = "directory", value_name = "DIR", global = true)]
    pub(crate) directory: Option<PathBuf>,
    /// When to use colours
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Color::Auto, global = true)]
    pub(crate) color: Color,
    /// Say only what is asked for, and errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Print more of what is going on; twice, what a bug report needs (`GLEE_LOG` filters it)
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Never ask; take the configured defaults
    #[arg(long, global = true)]
    pub(crate) no_input: bool,
    /// Use this history database instead of the project's own
    #[arg(long, value_name = "PATH", global = true)]
    pub(crate) history: Option<PathBuf>,
    /// Trust the project's configuration if it has this hash (`blake3:...`)
    #[arg(long, value_name = "HASH", global = true)]
    pub(crate) trust: Option<String>,
}

/// `--color`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless `NO_COLOR` is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl Globals {
    pub(crate) fn directory(&self) -> PathBuf {
        self.directory.clone().unwrap_or_else(|| PathBuf::from("."))
    }

    pub(crate) fn color_stdout(&self) -> bool {
        self.color_on(std::io::stdout().is_terminal())
    }

    pub(crate) fn color_stderr(&self) -> bool {
        self.color_on(std::io::stderr().is_terminal())
    }

    fn color_on(&self, terminal: bool) -> bool {
        match self.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => {
                terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) && !is_dumb()
            }
        }
    }

    /// Whether a person can be asked: both ends of the conversation are a terminal that can move
    /// its cursor, and nobody forbade it.
    pub(crate) fn interactive(&self) -> bool {
        !self.no_input && std::io::stdin().is_terminal() && std::io::stderr().is_terminal() && !is_dumb()
    }
}

/// Whether the terminal says that it cannot move its cursor.
fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Set Glee up in this project: find installed agents and connect them
    Init(init::Args),
    /// Connect an agent in a role
    Connect(connect::Args),
    /// Remove a connected agent
    Disconnect(disconnect::Args),
    /// List connected agents: is the program there, which version; try what each really does
    Agents(agents::Args),
    /// Read and change settings
    Config(config::Args),
    /// Allow this project's configuration to run the programs it names
    Trust(trust::Args),
    /// Review code, hand the findings to the coder, settle disputes
    Review(review::Args),
    /// List, show, settle and verify disputes
    Disputes(disputes::Args),
    /// List runs; show, diff, undo or resume one
    Runs(runs::Args),
    /// Exchange runs, outcomes and disputes with other clones by a git remote
    History(history::exchange::Args),
    /// Merge findings of several reviewers into one answer, offline
    Merge(merge::Args),
    /// Print what Glee reads in an agent's answer
    Parse(parse::Args),
    /// Have several agents agree on a plan before code: synthesis, conflicts, an arbiter
    Consensus(consensus::Args),
    /// Put questions about the requirements to three agents; a person answers what they cannot
    Gate(gate::Args),
    /// Watch agents at work and have their work reviewed by the others, triggered by events
    Watch(watch::Args),
    /// Tell the watch what an agent does: a milestone, a blocker, a note
    Emit(emit::Args),
    /// Count over the history
    Stats(stats::Args),
    /// Decide by the votes of three, by fixed rules
    Vote(vote::Args),
    /// List and test the embedded reviewer's rules
    Rules(rules::Args),
    /// Print everything that a bug report needs, without secrets
    Doctor(doctor::Args),
    /// Print shell completions
    Completions(completions::Args),
    /// Print the manual page
    Man(man::Args),
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
    if let Some(code) = internal::dispatch(&args) {
        return code;
    }
    own_process::prepare();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    if let Ok(state_dir) = crate::config::paths::state_dir() {
        // A folder that cannot be changed belongs to somebody else, who says who may read it.
        drop(crate::private::tighten(&state_dir));
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
        interrupt::take();
    }
    match command {
        Command::Init(args) => init::run(args, globals),
        Command::Connect(args) => connect::run(args, globals),
        Command::Disconnect(args) => disconnect::run(args, globals),
        Command::Agents(args) => agents::run(args, globals),
        Command::Config(args) => config::run(args, globals),
        Command::Trust(args) => trust::run(args, globals),
        Command::Review(args) => review::run(args, globals),
        Command::Disputes(args) => disputes::run(args, globals),
        Command::Runs(args) => runs::run(args, globals),
        Command::History(args) => history::exchange::run(args, globals),
        Command::Merge(args) => merge::run(args, globals),
        Command::Parse(args) => parse::run(args, globals),
        Command::Consensus(args) => consensus::run(args, globals),
        Command::Gate(args) => gate::run(args, globals),
        Command::Watch(args) => watch::run(args, globals),
        Command::Emit(args) => emit::run(args, globals),
        Command::Stats(args) => stats::run(args, globals),
        Command::Vote(args) => vote::run(args, globals),
        Command::Rules(args) => rules::run(args, globals),
        Command::Doctor(args) => doctor::run(args, globals),
        Command::Completions(args) => completions::run(args, globals),
        Command::Man(args) => man::run(args, globals),
    }
}
