//! The command-line interface. A command returns an exit reason, or an error with a hint. [`main`] prints the error
//! and returns the exit code.

pub(crate) mod commands;
pub(crate) mod context;
mod error;
mod parser;
pub(crate) mod reexec;
pub mod report;
pub(crate) mod serve;
pub(crate) mod signals;
pub mod style;
pub mod ui;

use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use clap_complete::CompleteEnv;
use commands::{history, people, settings, tools, work};
use context::{Globals, detached};
use error::{CommandError, CommandResult};
use parser::{complete, help, overview, usage::WrongUsage};
use ui::stream;

use glee_agents::process::own_process;
use glee_model::domain::ExitReason;
use glee_protocol::{secrets, text::printable};
use glee_store::config::files::paths;
use glee_store::history::store::HISTORIES;
use glee_system::{log, private};

/// Review code with several AI coding agents and settle their disagreements
#[derive(Parser)]
#[command(
    name = "glee",
    version,
    propagate_version = false,
    disable_help_subcommand = true
)]
struct Cli {
    #[command(flatten)]
    globals: Globals,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Init(people::init::Args),
    Connect(people::connect::Args),
    Disconnect(people::disconnect::Args),
    Agents(people::agents::Args),
    Config(settings::config::Args),
    Trust(settings::trust::Args),
    Review(work::review::Args),
    Findings(work::findings::list::Args),
    Show(work::findings::show::Args),
    Answer(work::findings::answer::Args),
    Fix(work::findings::fix::Args),
    Dismiss(work::findings::dismiss::Args),
    Keep(work::findings::keep::Args),
    Disputes(history::disputes::Args),
    Runs(history::runs::Args),
    Merge(tools::merge::Args),
    Parse(tools::parse::Args),
    Consensus(work::consensus::Args),
    Gate(work::gate::Args),
    Watch(work::watch::Args),
    Pr(work::pr::Args),
    Emit(work::emit::Args),
    Stats(history::stats::Args),
    Serve(history::serve::Args),
    Vote(tools::vote::Args),
    Rules(settings::rules::Args),
    Hook(settings::hook::Args),
    Integrate(settings::integrate::Args),
    Server(settings::server::Args),
    Worker(work::worker::Args),
    Doctor(settings::doctor::Args),
    Completions(tools::completions::Args),
    Man(tools::man::Args),
    #[cfg(feature = "mcp")]
    Mcp(tools::mcp::Args),
    Help(tools::help::Args),
}

impl Command {
    /// Whether Glee begins to handle signals when the command starts. If false, signals keep their default effect
    /// until the command starts a run.
    fn runs_agents(&self) -> bool {
        match self {
            Self::Review(_)
            | Self::Answer(_)
            | Self::Fix(_)
            | Self::Runs(_)
            | Self::Consensus(_)
            | Self::Gate(_)
            | Self::Watch(_)
            | Self::Pr(_) => true,
            Self::Hook(args) => args.runs_agents(),
            _ => false,
        }
    }
}

pub fn main() -> ExitCode {
    let args: Vec<_> = std::env::args_os().skip(1).collect();
    own_process::reset_signals();
    if let Some(code) = reexec::dispatch(&args) {
        return code;
    }
    own_process::prepare();
    match CompleteEnv::with_factory(|| complete::with_candidates(program(help::WIDEST)))
        .var(complete::VARIABLE)
        .try_complete(std::env::args_os(), std::env::current_dir().ok().as_deref())
    {
        Ok(false) => {}
        Ok(true) => return ExitCode::SUCCESS,
        Err(error) => return usage(&error),
    }
    // Wrapping all help texts takes a third of a start, and only an error can hold one of them.
    let cli = Cli::try_parse().or_else(|_| {
        let matches = program(help::screen()).try_get_matches()?;
        Cli::from_arg_matches(&matches)
    });
    let cli = match cli {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    match run(&cli.command, &cli.globals) {
        Ok(reason) => ExitCode::from(reason.code()),
        Err(error) => {
            stream::err(error.render(cli.globals.color_stderr()));
            code(error.exit())
        }
    }
}

/// The exit code of an error. Claude Code takes exit 2 of a hook for "block", so an error of Glee in the hook of an agent,
/// even wrong usage, ends with 0 and an empty answer.
fn code(exit: ExitReason) -> ExitCode {
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    let is_agent_hook = words
        .windows(2)
        .any(|pair| pair[0] == "hook" && pair[1] == "agent");
    if is_agent_hook {
        drop(stream::out("{}\n"));
        return ExitCode::SUCCESS;
    }
    ExitCode::from(exit.code())
}

fn clean(line: &str) -> String {
    printable::line(&*secrets::redact(line.trim_end_matches('\n'))) + "\n"
}

/// Creates the parser. The help texts of the parser fit a screen of `width` columns.
fn program(width: usize) -> clap::Command {
    let program = Cli::command();
    let template = overview::template(&program, false, width);
    help::fit(program.help_template(template), width)
}

fn usage(error: &clap::Error) -> ExitCode {
    let is_bare = std::env::args_os().count() <= 1;
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {}
        _ if is_bare => {}
        _ => {
            let mut wrong = WrongUsage::find(program(help::screen()));
            let color = wrong.globals.as_ref().is_some_and(Globals::color_stderr);
            stream::err(wrong.describe(error).render(color));
            return code(ExitReason::Usage);
        }
    }
    // An error of `print` is ignored, because printing fails only if stdout or stderr is closed.
    drop(error.print());
    ExitCode::from(if error.use_stderr() {
        ExitReason::Usage.code()
    } else {
        0
    })
}

fn run(command: &Command, globals: &Globals) -> CommandResult {
    if let Ok(state_dir) = paths::state_dir() {
        // A folder of another user cannot be closed; what Glee writes into it is closed by itself.
        drop(private::close(&state_dir, HISTORIES));
    }
    let variable = log::VARIABLE;
    let filter = std::env::var(variable).ok();
    log::begin(globals.verbose, filter.as_deref(), clean).map_err(|error| {
        CommandError::usage(error.to_string()).hint(format!(
            "set `{variable}=debug`, or `{variable}=glee_agents=trace,info`"
        ))
    })?;
    if let Some(folder) = globals.directory.as_ref().filter(|folder| !folder.is_dir()) {
        return Err(
            CommandError::usage(format!("there is no folder `{}`", folder.display()))
                .hint("give an existing folder after `-C`"),
        );
    }
    detached::begin(globals);
    if command.runs_agents() {
        signals::receive();
    }
    match command {
        Command::Init(args) => people::init::run(args, globals),
        Command::Connect(args) => people::connect::run(args, globals),
        Command::Disconnect(args) => people::disconnect::run(args, globals),
        Command::Agents(args) => people::agents::run(args, globals),
        Command::Config(args) => settings::config::run(args, globals),
        Command::Trust(args) => settings::trust::run(args, globals),
        Command::Review(args) => work::review::run::run(args, globals),
        Command::Findings(args) => work::findings::list::run(args, globals),
        Command::Show(args) => work::findings::show::run(args, globals),
        Command::Answer(args) => work::findings::answer::run(args, globals),
        Command::Fix(args) => work::findings::fix::run(args, globals),
        Command::Dismiss(args) => work::findings::dismiss::run(args, globals),
        Command::Keep(args) => work::findings::keep::run(args, globals),
        Command::Disputes(args) => history::disputes::run(args, globals),
        Command::Runs(args) => history::runs::run(args, globals),
        Command::Merge(args) => tools::merge::run(args, globals),
        Command::Parse(args) => tools::parse::run(args, globals),
        Command::Consensus(args) => work::consensus::run(args, globals),
        Command::Gate(args) => work::gate::run(args, globals),
        Command::Watch(args) => work::watch::run(args, globals),
        Command::Pr(args) => work::pr::run(args, globals),
        Command::Emit(args) => work::emit::run(args, globals),
        Command::Stats(args) => history::stats::run(args, globals),
        Command::Serve(args) => history::serve::run(args, globals),
        Command::Vote(args) => tools::vote::run(args, globals),
        Command::Rules(args) => settings::rules::run(args, globals),
        Command::Hook(args) => settings::hook::run(args, globals),
        Command::Integrate(args) => settings::integrate::run(args, globals),
        Command::Server(args) => settings::server::run(args, globals),
        Command::Worker(args) => work::worker::run(args, globals),
        Command::Doctor(args) => settings::doctor::run(args, globals),
        Command::Completions(args) => tools::completions::run(args),
        Command::Man(args) => tools::man::run(args, program(help::WIDEST)),
        #[cfg(feature = "mcp")]
        Command::Mcp(_) => tools::mcp::server::run(globals),
        Command::Help(args) => tools::help::run(args, program(help::screen())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_help_fits_one_screen_and_the_other_names_every_command_once() {
        let first = program(80).render_help().to_string();
        assert!(first.lines().count() <= 24, "{first}");
        let is_wide = |line: &str| line.chars().count() > 80;
        assert!(!first.lines().any(is_wide), "{first}");
        let all = overview::template(&program(100), true, 100);
        for command in Cli::command().get_subcommands() {
            let row = format!(
                " {:<11}  {}",
                command.get_name(),
                command.get_about().expect("a command says what it does")
            );
            assert_eq!(
                all.replace("\n                         ", " ")
                    .matches(&row)
                    .count(),
                1,
                "{row}"
            );
        }
    }

    #[test]
    fn help_fits_the_screen() {
        fn check(command: &mut clap::Command, width: usize) {
            for line in command.render_help().to_string().lines() {
                // The parser cannot wrap a long word, and does not wrap the lines of the usage.
                let long = line.contains("[OPTIONS]")
                    || line
                        .split(' ')
                        .any(|word| word.chars().count() + 30 > width);
                assert!(long || line.chars().count() <= width, "{width}: {line}");
            }
            command
                .get_subcommands_mut()
                .for_each(|inner| check(inner, width));
        }
        for width in [50, 80, 100] {
            check(&mut program(width), width);
        }
    }

    /// The commands without the option `--json`. Each of these commands changes something, prints a text for a shell
    /// or a person, or prints nothing but JSON.
    const NO_JSON: &[&str] = &[
        "init",
        "connect",
        "disconnect",
        "config set",
        "config unset",
        "config edit",
        "dismiss",
        "keep",
        "disputes resolve",
        "disputes reopen",
        "disputes prune",
        "disputes share",
        "runs undo",
        "runs apply",
        "runs drop",
        "runs stop",
        "runs prune",
        "watch review",
        "watch pause",
        "watch resume",
        "watch issues close",
        "watch stop",
        "hook install",
        "hook uninstall",
        "hook run",
        "hook agent",
        "hook print",
        "integrate",
        "pr publish",
        "pr arbitrate",
        "emit",
        "serve",
        "completions",
        "man",
        "mcp",
        "help",
        "merge",
        "vote",
        "parse",
        "config schema",
        "agents schema",
        "server init",
        "server limit",
        "server budget",
        "worker",
    ];

    #[test]
    fn every_command_with_results_prints_json() {
        fn check(command: &clap::Command, path: &str) {
            let has_json = command
                .get_arguments()
                .any(|arg| arg.get_long() == Some("json"));
            if !path.is_empty() && !command.is_subcommand_required_set() {
                assert_eq!(has_json, !NO_JSON.contains(&path), "--json of `{path}`");
            }
            for inner in command
                .get_subcommands()
                .filter(|inner| inner.get_name() != "help")
            {
                check(inner, format!("{path} {}", inner.get_name()).trim_start());
            }
        }
        let mut program = program(100);
        program.build();
        check(&program, "");
    }

    #[test]
    fn help_of_every_command() {
        fn add(command: &mut clap::Command, all: &mut String) {
            let help = command.clone().render_long_help().to_string();
            let lines = help
                .lines()
                .map(str::trim_end)
                .collect::<Vec<_>>()
                .join("\n");
            all.push_str(&format!(
                "==== {}\n{lines}\n\n",
                command.get_bin_name().unwrap_or_default()
            ));
            for child in command
                .get_subcommands_mut()
                .filter(|child| child.get_name() != "help")
            {
                add(child, all);
            }
        }
        let mut program = program(100);
        program.build();
        let mut all = String::new();
        add(&mut program, &mut all);
        insta::assert_snapshot!(all);
    }
}
