//! The content of pages as values that templates insert. Secrets are redacted; the templates escape all texts.

pub(crate) mod templates;
pub(crate) mod tree_findings;

use clap::ValueEnum;
use jiff::Timestamp;
use minijinja::value::Value;
use serde::{Deserialize, Serialize};

use crate::cli::commands::history::disputes::common::outcome;
use crate::cli::commands::history::disputes::list;
use crate::cli::commands::history::runs::lookup;
use crate::cli::report::html::environment::{self, tone, values};
use crate::cli::report::html::page::{Excerpts, disputes};
use crate::cli::style::count;
use glee_model::domain::{DisputeId, ExitReason};
use glee_protocol::secrets;
use glee_store::history::queries::rows::{DisputeRecord, DisputeRow, RunRow};

/// Returns what a value has in JSON, without secrets.
pub(crate) fn value(recorded: &impl Serialize) -> Value {
    let json = serde_json::to_value(recorded).expect("recorded types are representable in JSON");
    environment::value(&secrets::redact_value(json))
}

pub(crate) fn run(row: &RunRow) -> Value {
    let [short, started, mode, findings, disputes, cost, ended, _] = lookup::cells(row);
    let (ended, tone) = match row.exit {
        None if row.undone => (ended, "minor"),
        None => ("running or interrupted".to_owned(), "minor"),
        Some(ExitReason::Clean) => (ended, "good"),
        Some(ExitReason::FindingsOpen | ExitReason::DisputeOpen) => (ended, "warn"),
        Some(_) => (ended, "bad"),
    };
    values! { short, started, mode, findings, disputes, cost, ended, tone, ..value(row) }
}

pub(crate) fn dispute_row(row: &DisputeRow) -> Value {
    let (color, words) = list::ruling(row);
    let by = row.ruled_by.as_ref().map(ToString::to_string);
    let place = row.location.as_ref().map(ToString::to_string);
    values! {
        tone => tone(color),
        words => value(&words),
        by => value(&by),
        place => value(&place),
        ..value(row)
    }
}

/// `next` is the command that continues the run of a settled dispute.
pub(crate) fn dispute(record: DisputeRecord, next: Option<String>) -> Value {
    let record = secrets::redact_value(record);
    let dispute = &record.dispute;
    let (state, tone) = match &dispute.disposition {
        None => ("open".to_owned(), "warn"),
        Some(ended) if ended.closes() => (outcome(ended), "good"),
        Some(ended) => (outcome(ended), "bad"),
    };
    let settlement = record.settlement.as_ref();
    let ruled = dispute.rulings.last().map(|last| &last.ruling.rationale);
    values! {
        id => DisputeId::of(&record.run, dispute.finding.id),
        state,
        tone,
        by => settlement.map(|settlement| settlement.by.to_string()),
        ended_as => settlement.map(|settlement| outcome(&settlement.disposition)),
        is_told => ruled == settlement.map(|settlement| &settlement.reason),
        next,
        dispute => disputes::view(dispute, None, &Excerpts::default()),
        ..environment::value(&record)
    }
}

/// The fields of the form in which a person rules on a dispute, as the browser sends them.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct RulingForm {
    pub(super) token: String,
    pub(super) word: String,
    #[serde(rename = "as")]
    pub(super) kind: String,
    #[serde(rename = "ref")]
    pub(super) reference: String,
    pub(super) reason: String,
    pub(super) until: String,
}

/// The options of a form, each with its help text.
pub(crate) fn choices<T: ValueEnum>(offered: &[T]) -> Vec<Value> {
    let values = offered.iter().filter_map(ValueEnum::to_possible_value);
    values
        .map(|choice| {
            let help = choice.get_help().map(ToString::to_string);
            values! { value => choice.get_name(), help }
        })
        .collect()
}

/// Formats the time since an event, as in `3 minutes ago`.
pub(crate) fn age(at: Timestamp) -> String {
    let seconds = (Timestamp::now() - at)
        .total(jiff::Unit::Second)
        .unwrap_or_default()
        .max(0.0) as u64;
    match seconds {
        0..60 => "less than a minute ago".to_owned(),
        60..3600 => format!("{} ago", count(seconds / 60, "minute")),
        3600..86_400 => format!("{} ago", count(seconds / 3600, "hour")),
        _ => format!("{} ago", count(seconds / 86_400, "day")),
    }
}
