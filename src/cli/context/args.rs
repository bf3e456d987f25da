//! Flags and arguments that several commands share, and the words that flags accept.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use serde::Serialize;

use super::globals::Globals;
use super::output::print;
use crate::cli::error::CommandResult;
use crate::cli::report::{Format, json::pretty};
use crate::domain::Route;
use crate::rules::consensus::Policy;

/// The words that a flag accepts. Each word has a value and a help text, which may be empty.
pub(crate) type Words<T> = &'static [(&'static str, T, &'static str)];

const FORMATS: Words<Format> = &[
    ("text", Format::Text, "For people"),
    ("json", Format::Json, "The outcome as one JSON object"),
    ("jsonl", Format::Jsonl, "Each event as a line of JSON, as it happens"),
];

pub(crate) const ROUTES: Words<Route> = &[
    ("judge", Route::Judge, "Ask the AI judge"),
    ("human", Route::Human, "Leave the decision to a person"),
    ("discard", Route::Discard, "Discard the reviewer's opinion"),
];

pub(crate) const POLICIES: Words<Policy> = &[
    (
        "panel",
        Policy::Panel,
        "Agreement of the reviewers decides which findings are accepted and how they rank; no finding is deleted",
    ),
    ("specification", Policy::Specification, "The phases of the debate arbitrator in the specification"),
];

pub(crate) fn one_of<T: Copy + Send + Sync + 'static>(words: Words<T>) -> impl TypedValueParser<Value = T> {
    let values = words.iter().map(|(word, _, help)| match *help {
        "" => PossibleValue::new(*word),
        help => PossibleValue::new(*word).help(help),
    });
    PossibleValuesParser::new(values).map(|given| {
        let known = words.iter().find(|(word, ..)| *word == given);
        known.expect("clap accepts only these words").1
    })
}

/// Parses a whole number from `least` to `most`. If `most` is [`u64::MAX`], there is no upper limit.
pub(crate) fn number<T>(least: u64, most: u64) -> impl Fn(&str) -> Result<T, String> + Clone
where
    T: TryFrom<u64> + Clone + Send + Sync + 'static,
{
    move |text| {
        let number = text.trim().parse().ok().filter(|number| (least..=most).contains(number));
        number.and_then(|number| T::try_from(number).ok()).ok_or_else(|| match most {
            u64::MAX => format!("give a whole number of at least {least}"),
            _ => format!("give a whole number from {least} to {most}"),
        })
    }
}

// The structs below have no doc comments, because clap would use a doc comment as the help of every command that
// flattens the struct.

#[derive(Debug, clap::Args)]
pub(crate) struct ReportFormat {
    /// The format of the report
    #[arg(long, value_parser = one_of(FORMATS), value_name = "FORMAT", default_value = "text",
        default_value_if("json", "true", "json"))]
    pub(crate) format: Format,
    /// Print JSON, like `--format json`
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct JsonFlag {
    /// Print JSON
    #[arg(long, default_value_if("format", "json", "true"))]
    pub(crate) json: bool,
    #[arg(long, hide = true, value_parser = ["text", "json"], conflicts_with = "json")]
    format: Option<String>,
}

impl JsonFlag {
    pub(crate) fn print<T: Serialize + ?Sized>(&self, value: &T, text: impl FnOnce() -> String) -> CommandResult {
        print(&if self.json { pretty(value) } else { text() })
    }
}

/// For commands that always print JSON.
#[derive(Debug, clap::Args)]
pub(crate) struct AlwaysJson {
    #[arg(long, hide = true)]
    json: bool,
    #[arg(long, hide = true, value_parser = ["json"], conflicts_with = "json")]
    format: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RunArg {
    /// The run: its id, the first or last digits of the id, or `last`
    #[arg(value_name = "RUN", default_value = "last")]
    pub(crate) run: String,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ReasonFlag {
    /// The reason, which is recorded
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub(crate) reason: String,
}

#[derive(Debug, clap::Args)]
pub(crate) struct UserFlag {
    /// Use your own configuration file instead of the project's
    #[arg(long)]
    pub(crate) user: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct FreshFlag {
    /// Ignore the answers and the state of earlier runs
    #[arg(long)]
    fresh: bool,
    #[arg(long, hide = true, conflicts_with = "fresh")]
    afresh: bool,
}

impl FreshFlag {
    pub(crate) fn is_given(&self, globals: &Globals) -> bool {
        self.fresh | globals.is_earlier(self.afresh, "--afresh", "--fresh")
    }
}
