//! Converts an error of the command-line parser to an error of Glee: one sentence, and one hint.

use std::error::Error as _;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, Command, FromArgMatches as _};

use crate::cli::context::globals::Globals;
use crate::cli::error::CommandError;
use glee_store::config::closest;

/// An invalid command line.
pub(crate) struct WrongUsage {
    /// The innermost subcommand in the command line.
    command: Command,
    /// `None` if a global option is invalid.
    pub(crate) globals: Option<Globals>,
}

impl WrongUsage {
    pub(crate) fn find(mut program: Command) -> Self {
        program.build();
        let matches = program
            .clone()
            .ignore_errors(true)
            .try_get_matches()
            .unwrap_or_default();
        let globals = Globals::from_arg_matches(&matches).ok();
        Self {
            command: deepest(&program, &matches).clone(),
            globals,
        }
    }

    pub(crate) fn describe(&mut self, error: &clap::Error) -> CommandError {
        // If a required argument of a subcommand is missing, clap does not return the subcommand. Glee then
        // takes the subcommand from the usage line.
        if let Some(ContextValue::StyledStr(usage)) = error.get(ContextKind::Usage) {
            let usage = usage.to_string();
            let words = usage.split_whitespace().skip(1);
            self.command = words.fold(self.command.clone(), |command, word| {
                match command.find_subcommand(word) {
                    Some(inner) => inner.clone(),
                    None => command,
                }
            });
        }
        let name = self.command.get_bin_name().unwrap_or("glee");
        let argument = strings(error, ContextKind::InvalidArg);
        let first = argument
            .first()
            .map(|argument| bare(argument))
            .unwrap_or_default();
        let value = strings(error, ContextKind::InvalidValue)
            .pop()
            .unwrap_or_default();
        let help = || format!("`{name} --help` explains the command");
        let (message, hint) = match error.kind() {
            ErrorKind::InvalidSubcommand => {
                let word = strings(error, ContextKind::InvalidSubcommand)
                    .pop()
                    .unwrap_or_default();
                let hint = match closest(&word, self.commands()) {
                    Some(command) => format!("did you mean `{name} {command}`?"),
                    None => self.choose(),
                };
                (format!("`{name}` has no command `{word}`"), hint)
            }
            ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
                (format!("`{name}` needs a command"), self.choose())
            }
            ErrorKind::UnknownArgument if first.starts_with('-') => {
                let hint = match self.closest_option(&first) {
                    Some(option) => format!("did you mean `{option}`?"),
                    None => format!("`{name} --help` lists the options"),
                };
                (format!("`{name}` has no option `{first}`"), hint)
            }
            ErrorKind::UnknownArgument => (
                format!("unexpected argument `{}`", argument.concat()),
                format!("the usage is `{}`", self.usage(error)),
            ),
            ErrorKind::InvalidValue if value.is_empty() => (
                format!("`{first}` needs a value"),
                choice(error).unwrap_or_else(|| format!("use `{}`", argument.concat())),
            ),
            ErrorKind::InvalidValue => (
                format!("invalid value `{value}` for `{first}`"),
                choice(error).unwrap_or_else(help),
            ),
            ErrorKind::ValueValidation => {
                let reason = error.source().map(ToString::to_string);
                (
                    format!("invalid value `{value}` for `{first}`"),
                    reason.unwrap_or_else(help),
                )
            }
            ErrorKind::MissingRequiredArgument => {
                let named = argument.iter().map(|argument| format!("`{argument}`"));
                let named = list(&named.collect::<Vec<_>>(), "and");
                (
                    format!("`{name}` needs {named}"),
                    format!("the usage is `{}`", self.usage(error)),
                )
            }
            ErrorKind::ArgumentConflict => self.conflict(error, &first),
            ErrorKind::TooManyValues => (
                format!("`{first}` takes no value"),
                format!("use `{first}` without a value"),
            ),
            _ => {
                let text = error.to_string();
                let line = text.lines().next().unwrap_or_default();
                (
                    line.trim_start_matches("error: ").replace('\'', "`"),
                    help(),
                )
            }
        };
        CommandError::usage(message).hint(hint)
    }

    fn conflict(&self, error: &clap::Error, first: &str) -> (String, String) {
        let prior = strings(error, ContextKind::PriorArg);
        let prior: Vec<String> = prior
            .iter()
            .map(|argument| format!("`{}`", bare(argument)))
            .collect();
        if let [word] = &*strings(error, ContextKind::InvalidSubcommand) {
            let hint = format!("write options after `{word}`, as far as it has them");
            return (
                format!(
                    "{} cannot be given before the command `{word}`",
                    list(&prior, "and")
                ),
                hint,
            );
        }
        match prior.as_slice() {
            [same] if *same == format!("`{first}`") => (
                format!("`{first}` is given twice"),
                format!("give `{first}` once"),
            ),
            [] => (
                format!("`{first}` cannot be combined with the other arguments"),
                "leave it out".to_owned(),
            ),
            others => {
                let others = list(others, "and");
                (
                    format!("`{first}` cannot be combined with {others}"),
                    format!("leave out `{first}` or {others}"),
                )
            }
        }
    }

    fn commands(&self) -> impl Iterator<Item = &str> {
        let names = self.command.get_subcommands().map(Command::get_name);
        names.filter(|name| *name != "help")
    }

    fn choose(&self) -> String {
        match self.command.get_bin_name() {
            Some(name) if name.contains(' ') => {
                format!(
                    "choose {}",
                    list(&self.commands().collect::<Vec<_>>(), "or")
                )
            }
            _ => "`glee --help` lists the commands".to_owned(),
        }
    }

    fn closest_option(&self, typed: &str) -> Option<String> {
        let names: Vec<String> = self
            .command
            .get_arguments()
            .filter_map(|argument| Some(format!("--{}", argument.get_long()?)))
            .collect();
        closest(typed, names.iter().map(String::as_str)).map(ToOwned::to_owned)
    }

    /// Returns the usage line in `error`, or the usage line of the command if `error` contains none. The line
    /// lists the choices for each argument.
    fn usage(&self, error: &clap::Error) -> String {
        let usage = match error.get(ContextKind::Usage) {
            Some(ContextValue::StyledStr(usage)) => usage.clone(),
            _ => self.command.clone().render_usage(),
        };
        let usage = usage.to_string();
        let usage = usage
            .lines()
            .next()
            .unwrap_or_default()
            .trim_start_matches("Usage: ")
            .to_owned();
        self.command
            .get_positionals()
            .fold(usage, |usage, argument| {
                let choices: Vec<String> = argument
                    .get_possible_values()
                    .iter()
                    .map(|value| value.get_name().to_owned())
                    .collect();
                let name = format!("<{}>", bare(&argument.to_string()));
                if choices.is_empty() {
                    usage
                } else {
                    usage.replace(&name, &choices.join("|"))
                }
            })
    }
}

fn deepest<'a>(command: &'a Command, matches: &ArgMatches) -> &'a Command {
    let inner = matches
        .subcommand()
        .and_then(|(name, matches)| Some((command.find_subcommand(name)?, matches)));
    inner.map_or(command, |(command, matches)| deepest(command, matches))
}

fn strings(error: &clap::Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => vec![text.clone()],
        Some(ContextValue::Strings(texts)) => texts.clone(),
        _ => Vec::new(),
    }
}

/// Returns the name of an argument, such as `--format` for `--format <FORMAT>`, or `SHELL` for `<SHELL>`.
fn bare(argument: &str) -> String {
    let name = argument.split([' ', '=']).next().unwrap_or_default();
    name.trim_end_matches("...")
        .trim_matches(['<', '>', '[', ']'])
        .to_owned()
}

fn choice(error: &clap::Error) -> Option<String> {
    let values = strings(error, ContextKind::ValidValue);
    (!values.is_empty()).then(|| format!("choose {}", list(&values, "or")))
}

/// Joins words, as in `a, b or c`.
fn list<T: AsRef<str>>(words: &[T], last: &str) -> String {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match words.as_slice() {
        [] => String::new(),
        [word] => (*word).to_owned(),
        [first @ .., end] => format!("{} {last} {end}", first.join(", ")),
    }
}
