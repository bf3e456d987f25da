//! The words that several flags take.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::cli::report::Format;
use crate::domain::Route;
use crate::rules::consensus::claim::Policy;

/// The words of a flag, each with what it stands for and its line in the help, if it needs one.
pub(crate) type Words<T> = &'static [(&'static str, T, &'static str)];

pub(crate) const FORMATS: Words<Format> = &[
    ("text", Format::Text, "For people"),
    ("json", Format::Json, "The whole outcome as one JSON object"),
    ("jsonl", Format::Jsonl, "Every event as a line of JSON, as it happens"),
];

pub(crate) const ROUTES: Words<Route> = &[
    ("judge", Route::Judge, "Ask the AI judge"),
    ("human", Route::Human, "Leave it to a person"),
    ("discard", Route::Discard, "Discard the reviewer's opinion"),
];

pub(crate) const POLICIES: Words<Policy> = &[
    ("panel", Policy::Panel, "Agreement ranks and gates, and never deletes"),
    ("specification", Policy::Specification, "The debate arbitrator's phases to the letter"),
];

/// Reads one of some words.
pub(crate) fn one_of<T: Copy + Send + Sync + 'static>(words: Words<T>) -> impl TypedValueParser<Value = T> {
    let values = words.iter().map(|(word, _, help)| match *help {
        "" => PossibleValue::new(*word),
        help => PossibleValue::new(*word).help(help),
    });
    PossibleValuesParser::new(values).map(|given| {
        let known = words.iter().find(|(word, ..)| *word == given);
        known.expect("clap takes no other word").1
    })
}
