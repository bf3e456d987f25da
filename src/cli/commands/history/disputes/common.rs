//! Functions that several `glee disputes` commands share.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, Zoned};

use crate::cli::context::{CommandError, Globals, history, place, settings};
use crate::config::settings::MaxAge;
use crate::domain::{Anchor, Disposition, DisputeNumber};
use crate::history::queries::rows::DisputeRecord;
use crate::history::store::Journal;
use crate::history::{Author, JournalError};

/// Returns disputes about code that was removed from the tree. The rulings on these disputes are still in force.
pub(crate) fn gone(
    globals: &Globals,
    journal: &Journal,
) -> Result<Vec<DisputeNumber>, CommandError> {
    let workspace = place::workspace(globals)?;
    let mut bindings = journal.bindings()?;
    bindings.retain(|binding| binding.disposition.is_some() && binding.ended.is_none());
    let anchors: Vec<&Anchor> = bindings.iter().map(|binding| &binding.anchor).collect();
    let gone = workspace.gone(&anchors)?;
    let gone = bindings
        .iter()
        .zip(gone)
        .filter(|(_, gone)| *gone)
        .filter_map(|(binding, _)| binding.number());
    Ok(gone.collect())
}

pub(crate) fn max_age(globals: &Globals) -> Result<MaxAge, CommandError> {
    Ok(settings::load(globals)?.1.settings.rulings.max_age)
}

pub(crate) fn from(author: &Author, source: &str) -> String {
    let Author { name, email } = author;
    match (name.is_empty(), email.is_empty()) {
        (true, true) => format!("from {source}"),
        (false, _) => format!("by {name}, from {source}"),
        (true, false) => format!("by {email}, from {source}"),
    }
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
    let local = |time: DateTime| {
        time.to_zoned(TimeZone::system())
            .ok()
            .map(|time| time.timestamp())
    };
    let age = || {
        Zoned::now()
            .checked_sub(text.parse::<Span>().ok().filter(|age| age.is_positive())?)
            .ok()
    };
    let time = text.parse::<Timestamp>().ok();
    time.or_else(|| local(text.parse::<Date>().ok()?.to_datetime(Time::midnight())))
        .or_else(|| local(text.parse().ok()?))
        .or_else(|| Some(age()?.timestamp()))
        .ok_or_else(|| {
            "give a date (2026-11-01), a time (2026-11-01T10:00) or an age (3d, 2h)".to_owned()
        })
}

/// Parses the last day on which a ruling applies. The parameter `text` is a date, or a period such as `90d` that
/// starts today.
pub(crate) fn last_day(text: &str) -> Result<Date, String> {
    let today = Timestamp::now().to_zoned(TimeZone::UTC).date();
    let age = || text.parse::<Span>().ok().filter(|age| age.is_positive());
    let day = text
        .parse::<Date>()
        .ok()
        .or_else(|| today.checked_add(age()?).ok());
    match day.ok_or("give a date (2026-11-01) or a period from today (90d)")? {
        day if day < today => Err(format!("{day} is in the past; give a day from {today} on")),
        day => Ok(day),
    }
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
