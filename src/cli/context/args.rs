//! Flags and arguments that several commands share, and the words that flags accept.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use serde::Serialize;

use super::globals::Globals;
use super::output::print;
use crate::cli::error::{CommandError, CommandResult};
use crate::cli::report::outputs::{Outputs, ReportOutput};
use crate::cli::report::{BasicFormat, Format, formats::json::pretty};
use glee_model::domain::Route;
use glee_model::rules::consensus::Policy;
use glee_store::config::schema::units;

/// The words that a flag accepts. Each tuple contains a word, the value that the word stands for, and a help
/// text. The help text can be empty.
pub(crate) type Words<T> = &'static [(&'static str, T, &'static str)];

const BASIC_FORMATS: Words<BasicFormat> = &[
    ("text", BasicFormat::Text, "A report for people"),
    ("json", BasicFormat::Json, "The outcome as one JSON object"),
    (
        "jsonl",
        BasicFormat::Jsonl,
        "One line of JSON for each event of the run, at the time of the event",
    ),
];

pub(crate) const ROUTES: Words<Route> = &[
    ("judge", Route::Judge, "The AI judge rules on the dispute"),
    ("human", Route::Human, "A person decides the dispute"),
    (
        "discard",
        Route::Discard,
        "The finding is discarded without a ruling",
    ),
];

pub(crate) const POLICIES: Words<Policy> = &[
    (
        "panel",
        Policy::Panel,
        "Accept and rank findings by the agreement of the reviewers, and delete no finding",
    ),
    (
        "specification",
        Policy::Specification,
        "Merge findings by exactly the debate rules of Glee's specification",
    ),
];

pub(crate) fn one_of<T: Copy + Send + Sync + 'static>(
    words: Words<T>,
) -> impl TypedValueParser<Value = T> {
    let values = words.iter().map(|(word, _, help)| match *help {
        "" => PossibleValue::new(*word),
        help => PossibleValue::new(*word).help(help),
    });
    PossibleValuesParser::new(values).map(|given| {
        let known = words.iter().find(|(word, ..)| *word == given);
        known.expect("clap accepts only these words").1
    })
}

/// Parses a label of workers.
pub(crate) fn label(text: &str) -> Result<String, String> {
    let is_valid = !text.is_empty()
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
    if is_valid {
        Ok(text.to_owned())
    } else {
        Err("a label has letters, digits, `-`, `_` and `.`".to_owned())
    }
}

/// Parses a whole number between `least` and `most`. If `most` is [`u64::MAX`], the error message mentions no
/// upper limit.
pub(crate) fn number<T>(least: u64, most: u64) -> impl Fn(&str) -> Result<T, String> + Clone
where
    T: TryFrom<u64> + Clone + Send + Sync + 'static,
{
    move |text| {
        let number = text
            .trim()
            .parse()
            .ok()
            .filter(|number| (least..=most).contains(number));
        number
            .and_then(|number| T::try_from(number).ok())
            .ok_or_else(|| match most {
                u64::MAX => format!("give a whole number of at least {least}"),
                _ => format!("give a whole number from {least} to {most}"),
            })
    }
}

/// Parses a duration such as `10m`, which is not zero.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let time = units::duration(text).filter(|time| !time.is_zero());
    time.ok_or_else(|| "give a duration such as `90s` or `10m`".to_owned())
}

// The structs below have no doc comments, because clap would use a doc comment as the help of every command that
// flattens the struct.

#[derive(clap::Args)]
pub(crate) struct ReportFormat {
    /// The format of the report
    #[arg(long, value_parser = one_of(BASIC_FORMATS), value_name = "FORMAT", default_value = "text",
        default_value_if("json", "true", "json"))]
    pub(crate) format: BasicFormat,
    /// Print the outcome as JSON, like `--format json`
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

#[derive(clap::Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct ReportOutputs {
    /// The format of the report, and optionally a file for the report instead of standard output (repeatable)
    #[arg(long, value_parser = OutputParser, value_name = "FORMAT[=FILE]", default_value = "text")]
    format: Vec<ReportOutput>,
    /// Print the outcome as JSON, like `--format json`
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
    /// Open the HTML report in the browser (`--format html=FILE` sets the file of the report)
    #[arg(long)]
    web: bool,
}

impl ReportOutputs {
    pub(crate) fn check(&self, globals: &Globals) -> Result<Outputs, CommandError> {
        let outputs = if self.json {
            Outputs::only(Format::Json)
        } else {
            Outputs::check(&self.format, &globals.directory())?
        };
        Ok(outputs.opened(self.web))
    }
}

/// Parses `FORMAT`, `FORMAT=FILE` and `FORMAT=-`.
#[derive(Clone)]
pub(crate) struct OutputParser;

impl TypedValueParser for OutputParser {
    type Value = ReportOutput;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<ReportOutput, clap::Error> {
        let mut parts = value
            .as_bytes()
            .splitn(2, |byte| *byte == b'=')
            .map(OsStr::from_bytes);
        let name = parts.next().unwrap_or_default();
        let format = one_of(Format::ALL).parse_ref(command, argument, name)?;
        let file = match parts.next() {
            Some(file) if file.is_empty() => return Err(names_no_file(command, argument, name)),
            file => file.filter(|file| *file != "-").map(PathBuf::from),
        };
        Ok(ReportOutput { format, file })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(Format::ALL.iter().map(|(word, _, help)| {
            PossibleValue::new(*word).help(*help)
        })))
    }
}

fn names_no_file(
    command: &clap::Command,
    argument: Option<&clap::Arg>,
    format: &OsStr,
) -> clap::Error {
    let format = format.to_string_lossy();
    let mut error = clap::Error::new(ErrorKind::InvalidValue).with_cmd(command);
    let mut add = |kind, text: String| error.insert(kind, ContextValue::String(text));
    add(
        ContextKind::InvalidArg,
        argument.map(ToString::to_string).unwrap_or_default(),
    );
    add(ContextKind::InvalidValue, format!("{format}="));
    error.insert(
        ContextKind::ValidValue,
        ContextValue::Strings(vec![format!("{format}=FILE"), format.into_owned()]),
    );
    error
}

#[derive(clap::Args)]
pub(crate) struct JsonFlag {
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

impl JsonFlag {
    pub(crate) fn print<T: Serialize + ?Sized>(
        &self,
        value: &T,
        text: impl FnOnce() -> String,
    ) -> CommandResult {
        print(if self.json { pretty(value) } else { text() })
    }
}

#[derive(clap::Args)]
pub(crate) struct RunArg {
    /// The run's id, the first or last digits of the id, or `last` for the newest run
    #[arg(value_name = "RUN", default_value = "last")]
    pub(crate) run: String,
}

#[derive(clap::Args)]
pub(crate) struct ReasonFlag {
    /// The reason for your decision, to be recorded in the history
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true
    )]
    pub(crate) reason: String,
}

#[derive(Clone, clap::Args)]
pub(crate) struct UserFlag {
    /// Use the user's configuration file instead of the project's file
    #[arg(long)]
    pub(crate) user: bool,
}
