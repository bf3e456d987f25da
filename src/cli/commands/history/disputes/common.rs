//! Functions that several `glee disputes` commands share.

use std::collections::BTreeSet;

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, Zoned};

use crate::cli::context::{CommandError, Globals, history, place, settings};
use glee_model::domain::{Anchor, Disposition, DisputeNumber, RulingRef, RunId};
use glee_store::config::settings::MaxAge;
use glee_store::history::JournalError;
use glee_store::history::queries::rows::{Binding, DisputeRecord};
use glee_store::history::store::Journal;
use glee_workflows::review::recorded::view;
use glee_workspace::root::Workspace;

/// Returns disputes about code that was removed from the tree. The rulings on these disputes are still in force.
pub(crate) fn gone(
    globals: &Globals,
    journal: &Journal,
) -> Result<Vec<DisputeNumber>, CommandError> {
    let workspace = place::workspace(globals)?;
    let mut bindings = journal.bindings()?;
    bindings.retain(|binding| binding.disposition.is_some() && binding.ended.is_none());
    let standing = standing(&workspace, &bindings)?;
    let gone = bindings
        .iter()
        .filter(|binding| !standing.contains(&binding.dispute));
    let gone: BTreeSet<DisputeNumber> = gone.filter_map(Binding::number).collect();
    Ok(gone.into_iter().collect())
}

/// The disputes of which the tree still contains a block of code.
pub(crate) fn standing(
    workspace: &Workspace,
    bindings: &[Binding],
) -> Result<BTreeSet<RulingRef>, CommandError> {
    let anchors = bindings.iter().flat_map(|binding| {
        let anchors = binding.anchors();
        anchors.map(move |anchor| (&binding.dispute, anchor))
    });
    let (disputes, anchors): (Vec<&RulingRef>, Vec<&Anchor>) = anchors.unzip();
    let places = workspace.places(&anchors)?;
    let standing = disputes.into_iter().zip(places);
    let standing = standing.filter(|(_, place)| place.is_some());
    Ok(standing.map(|(dispute, _)| dispute.clone()).collect())
}

pub(crate) fn max_age(globals: &Globals) -> Result<MaxAge, CommandError> {
    Ok(settings::load(globals)?.settings.rulings.max_age)
}

pub(crate) fn outcome(disposition: &Disposition) -> String {
    match disposition {
        Disposition::Deferred { reference } => format!("deferred to {reference}"),
        Disposition::Duplicate { of } => format!("duplicate of {of}"),
        Disposition::Enforced
        | Disposition::Refuted
        | Disposition::Discarded
        | Disposition::AcceptedRisk
        | Disposition::NotMandatory => disposition.as_str().to_owned(),
    }
}

/// Parses a date, a time or an age such as `3d`. Dates and times without a UTC offset are in the local time zone.
pub(crate) fn since(text: &str) -> Result<Timestamp, String> {
    let time = text.parse().ok();
    time.or_else(|| local(text.parse::<Date>().ok()?.to_datetime(Time::midnight())))
        .or_else(|| local(text.parse().ok()?))
        .or_else(|| Some(Zoned::now().checked_sub(age(text)?).ok()?.timestamp()))
        .ok_or_else(|| {
            "give a date (2026-11-01), a time (2026-11-01T10:00) or an age (3d, 2h)".to_owned()
        })
}

fn local(time: DateTime) -> Option<Timestamp> {
    Some(time.to_zoned(TimeZone::system()).ok()?.timestamp())
}

fn age(text: &str) -> Option<Span> {
    text.parse::<Span>().ok().filter(|age| age.is_positive())
}

/// Parses a date, or a period such as `90d` that `count` counts from today (UTC).
fn day(text: &str, count: impl FnOnce(Date, Span) -> Option<Date>) -> Option<Date> {
    let day = text.parse().ok();
    day.or_else(|| count(today(), age(text)?))
}

fn today() -> Date {
    Timestamp::now().to_zoned(TimeZone::UTC).date()
}

/// Parses the first day of a period of statistics: a date, or an age in days.
pub(crate) fn first_day(text: &str) -> Result<Date, String> {
    let first = day(text, |today, age| today.checked_sub(age).ok());
    first.ok_or_else(|| "give a date (2026-11-01) or an age in days (90d)".to_owned())
}

/// Parses the last day on which a ruling applies. The parameter `text` is a date, or a period such as `90d` that
/// starts today.
pub(crate) fn last_day(text: &str) -> Result<Date, String> {
    let last = day(text, |today, age| today.checked_add(age).ok());
    let today = today();
    match last.ok_or("give a date (2026-11-01) or a period from today (90d)")? {
        last if last < today => Err(format!("{last} is in the past; give a day from {today} on")),
        last => Ok(last),
    }
}

/// Prints the command that goes on with a run after a ruling.
pub(crate) fn say_next(globals: &Globals, run: &RunId) -> Result<(), CommandError> {
    if let Some(journal) = history::open_read_here(globals)?
        && let Some((command, purpose)) = view::after_ruling(run, &journal.events(run)?)
    {
        globals.say(format!("Next: `{command}` {purpose}"));
    }
    Ok(())
}

pub(crate) fn find(
    globals: &Globals,
    number: DisputeNumber,
) -> Result<DisputeRecord, CommandError> {
    let record = match history::open_read_here(globals)? {
        Some(journal) => journal.dispute(number)?,
        None => None,
    };
    Ok(record.ok_or(JournalError::UnknownDispute(number))?)
}
