use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, Zoned};

use crate::cli::context::globals::Globals;
use crate::cli::context::{place, settings};
use crate::cli::error::CommandError;
use crate::cli::style::Style;
use crate::cli::ui::screen;
use crate::config::settings::MaxAge;
use crate::domain::{Anchor, Disposition, DisputeNumber};
use crate::history::Author;
use crate::history::store::Journal;

/// How text may look on stdout: as wide as the terminal, or as long as it is where nobody looks at columns.
pub(crate) fn look(globals: &Globals) -> Style {
    let width = console::Term::stdout().size_checked().map_or(usize::MAX, |(_, columns)| usize::from(columns));
    Style { color: globals.color_stdout(), unicode: screen::speaks_utf8(), width }
}

/// Minutes in the user's time zone.
pub(crate) fn when(at: Timestamp) -> String {
    at.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string()
}

/// The rulings of the history that bind and whose code is gone from the tree, by the number of their dispute.
pub(crate) fn gone(globals: &Globals, journal: &Journal) -> Result<Vec<DisputeNumber>, CommandError> {
    let workspace = place::workspace(globals)?;
    let mut bindings = journal.bindings()?;
    bindings.retain(|binding| binding.disposition.is_some() && binding.ended.is_none());
    let anchors: Vec<&Anchor> = bindings.iter().map(|binding| &binding.anchor).collect();
    let gone = workspace.gone(&anchors)?;
    let gone = bindings.iter().zip(gone).filter(|(_, gone)| *gone).filter_map(|(binding, _)| binding.number());
    Ok(gone.collect())
}

/// How long rulings bind, as it is configured.
pub(crate) fn max_age(globals: &Globals) -> Result<MaxAge, CommandError> {
    Ok(settings::settings(globals, Vec::new())?.1.settings.rulings.max_age)
}

/// Who sent a dispute of another history, and where it came from.
pub(crate) fn from(author: &Author, source: &str) -> String {
    let Author { name, email } = author;
    match (name.is_empty(), email.is_empty()) {
        (true, true) => format!("from {source}"),
        (false, _) => format!("by {name}, from {source}"),
        (true, false) => format!("by {email}, from {source}"),
    }
}

/// How a dispute ended, with what it refers to.
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

/// Reads a date or a time (local unless it says otherwise), or an age.
pub(crate) fn since(text: &str) -> Result<Timestamp, String> {
    let zone = TimeZone::system();
    let local = |time: DateTime| time.to_zoned(zone.clone()).ok().map(|time| time.timestamp());
    let read = || {
        if let Ok(time) = text.parse::<Timestamp>() {
            return Some(time);
        }
        if let Ok(date) = text.parse::<Date>() {
            return local(date.to_datetime(jiff::civil::Time::midnight()));
        }
        if let Ok(time) = text.parse::<DateTime>() {
            return local(time);
        }
        let age = text.parse::<Span>().ok().filter(|age| age.is_positive())?;
        Some(Zoned::now().checked_sub(age).ok()?.timestamp())
    };
    read().ok_or_else(|| "not a date (2026-11-01), a time (2026-11-01T10:00) or an age (3d, 2h)".to_owned())
}
